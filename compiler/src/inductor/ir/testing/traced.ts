// Test only. In: input shapes and a function of traced tensors. Out: its ATen graph lowered. Promises: operators with a
// decomposition are taken apart as in a real trace; no pass runs.

import { TracedTensor } from "../../../aot/traced_tensor";
import { Tracer } from "../../../aot/tracer";
import { guardsOf } from "../../../aten/dim_math";
import type { ArgValue, DType, GraphBuilder } from "../../../aten/types";
import { TupleArg } from "../../../fx/types";
import { defaultBehaviours, defaultConfig } from "../../../presets";
import { int } from "../../symbolic/expr";
import { SizeVars } from "../../symbolic/size_vars";
import { lowerGraph } from "../graph_lowering";
import { targetByName } from "../target";
import type { ComputedOperation, LoweredGraph } from "../types";

type Call = (
  op: string,
  args: readonly ArgValue<TracedTensor>[],
  kwargs?: Record<string, ArgValue<TracedTensor>>,
) => TracedTensor;

export interface InputSpec {
  readonly shape: readonly number[];
  readonly dtype?: DType;
}

export function lowerTraced(
  inputs: readonly InputSpec[],
  f: (call: Call, xs: readonly TracedTensor[], b: GraphBuilder<TracedTensor>) => readonly TracedTensor[],
  config: ReadonlyMap<string, unknown> = new Map(),
): LoweredGraph {
  const sizevars = new SizeVars();
  const device = { type: "cuda" as const, index: 0 };
  const tracer = new Tracer(guardsOf(sizevars.shapeEnv), { dtype: "float32", device, config: () => undefined });
  const xs = inputs.map((spec, i) => {
    const meta = tracer.metas.tensor(spec.shape.map(int), { dtype: spec.dtype ?? "float32", device });
    const node = tracer.placeholder(`arg${i}_1`, meta as TracedTensor["meta"]);
    return new TracedTensor(node, meta as TracedTensor["meta"]);
  });
  const call: Call = (op, args, kwargs = {}) => tracer.builder.call(op, args, kwargs);
  const outputs = f(call, xs, tracer.builder).map(t => t.node);
  tracer.graph.create("output", "output", [new TupleArg(outputs)], new Map(), { stack: [], fromNode: [] });
  return lowerGraph(tracer.graph, {
    kind: "inference",
    config: new Map([...defaultConfig("torch-2.11"), ...config]),
    behaviours: defaultBehaviours("torch-2.11"),
    target: targetByName("h200"),
    sizevars,
  });
}

/** "op0 Pointwise [8,16]", "op1 Reduction [8]/[16]", "op2 extern_kernels.mm" */
export function summary(g: LoweredGraph): string[] {
  const sizes = (list: ComputedOperation["ranges"]): string =>
    `[${list.map(s => (s.kind === "int" ? s.value : "?")).join(",")}]`;
  return g.operations.map(op => {
    if (op.kind === "extern") return `${op.name} ${op.kernel ?? "unpack"}`;
    if (op.kind === "nop") return `${op.name} ${op.irClass}`;
    const reduction = op.sizes[1].length > 0 ? `/${sizes(op.sizes[1])}` : "";
    return `${op.name} ${op.loops.kind} ${sizes(op.sizes[0])}${reduction}`;
  });
}
