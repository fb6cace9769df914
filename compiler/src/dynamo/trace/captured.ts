// A finished trace as the frame that later stages take, and the values that a call of it read. In: the trace, the frame
// and the state it began in. Out: plain data.
import type { DType } from "../../aten/types";
import { isFakeTensor } from "../../fx/print";
import type { FakeTensor, FakeValue } from "../../fx/types";
import { type Frame, PyFunction } from "../interp/frame";
import { withoutDtype } from "../objects/numpy_scalar";
import { PyDict, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import type { AutocastState, Torch } from "../torch/context";
import { type CompileOptions, PyTensor } from "../torch/objects";
import type { CapturedFrame, InputInfo, RuntimeTensor } from "../types";
import type { GlobalState } from "./guards";
import { entryFrame, type FrameSnapshot } from "./snapshot";
import type { Trace } from "./trace";

/** said of a frame whose tensors are all on the CPU */
const ON_TARGET = "tensors on the CPU are shown as on the target GPU";

export interface CompileContext {
  readonly options: CompileOptions;
  /** ids of the frames compiled under it, for lenses */
  readonly frames: number[];
}

/** the tensors of nested tuples, lists and dicts, as pytree flattens them */
export function leaves(v: Value): PyTensor[] {
  if (v instanceof PyTensor) return [v];
  if (v instanceof PyTuple || v instanceof PyList) return v.items.flatMap(leaves);
  if (v instanceof PyDict) return v.values().flatMap(leaves);
  return [];
}

/** `trace` made the graph, `now` ran this call */
export function inputValue(
  torch: Torch,
  i: InputInfo,
  trace: Trace,
  now: Trace,
  frame: Frame,
  snapshot: FrameSnapshot,
): RuntimeTensor | number {
  const known = trace.inputs.find(x => x.node === i.node);
  const entry = { frame: entryFrame(frame, snapshot) };
  if (i.kind === "tensor" && known) {
    // what this call read: by now its source may hold what the call stored there
    const read = now.inputs.find(x => x.source.name === known.source.name)?.value;
    if (read instanceof PyTensor) return torch.runtime(read);
    const v = known.source.fetch(entry) ?? (known.value instanceof PyTensor ? known.value : null);
    if (v instanceof PyTensor) return torch.runtime(v);
    return known.value instanceof PyTensor ? torch.runtime(known.value) : 0;
  }
  // a symbol: read off the tensor that it came from
  const m = /^(.*)\.(size|stride)\(\)\[(\d+)\]$/.exec(i.source);
  if (m) {
    const owner = trace.inputs.find(x => x.source.name === m[1]);
    const t = owner?.source.fetch(entry) ?? owner?.value;
    if (t instanceof PyTensor) {
      const r = torch.runtime(t);
      return (m[2] === "size" ? r.sizes : r.strides)[Number(m[3])] ?? 0;
    }
  }
  const v = withoutDtype(known?.source.fetch(entry));
  return typeof v === "number" ? v : typeof known?.value === "number" ? known.value : 0;
}

export function capturedFrame(
  torch: Torch,
  trace: Trace,
  frame: Frame,
  context: CompileContext,
  baseGrad: boolean,
  state: GlobalState,
  id: number,
  stack: CapturedFrame["stack"],
): CapturedFrame {
  const present = new Set(trace.graph.placeholders());
  const order = trace.graph.placeholders();
  const inputs: InputInfo[] = trace.inputs
    .filter(i => present.has(i.node))
    .sort((a, b) => order.indexOf(a.node) - order.indexOf(b.node))
    .map(i => ({
      node: i.node,
      source: i.source.name,
      kind: i.kind,
      parameter:
        i.source.owned === "parameter" ||
        (i.value instanceof PyTensor && i.value.cls.isSubclassOf(torch.parameterClass)),
      buffer: i.source.owned === "buffer",
      value: i.value instanceof PyTensor ? torch.runtime(i.value) : i.value,
    }));
  const config = new Map(torch.config);
  if (torch.float32Precision !== "highest") config.set("float32_matmul_precision", torch.float32Precision);
  else if (torch.allowsTf32()) config.set("float32_matmul_precision", "high");
  if (!torch.cudnnAllowsTf32()) config.set("cudnn_allow_tf32", false);
  if (torch.deterministic) config.set("deterministic", true);
  for (const [k, v] of context.options.options) config.set(k, v);
  const onCpu = liesOnCpu(trace);
  const ofSizes = inputs.flatMap(i =>
    typeof i.value === "object" && i.value !== null ? torch.dataSizes.of(i.value.id) : [],
  );
  return {
    id,
    name: frameName(frame),
    file: frame.code.file.name,
    graph: trace.graph,
    inputs,
    shapeEnv: trace.env,
    gradEnabled: baseGrad,
    fullgraph: context.options.fullgraph,
    config,
    logs: new Set(torch.logs),
    deterministic: torch.deterministic,
    autocast: ambientAutocast(state, onCpu ? "cpu" : "cuda"),
    assumed: [...new Set([...trace.assumed, ...ofSizes, ...(onCpu ? [ON_TARGET] : [])])],
    ...(onCpu ? { onCpu } : {}),
    ...(context.options.backward ? { backward: true } : {}),
    stack,
  };
}

/** the function's name; of library code in Dynamo's wrapper: what is wrapped, a module by its class */
function frameName(frame: Frame): string {
  const { code, func } = frame;
  const wrapped = code.file.library === "hidden" ? func?.closure[code.freeNames.indexOf("fn")]?.value : undefined;
  if (wrapped instanceof PyInstance) return wrapped.cls.name;
  return wrapped instanceof PyFunction ? wrapped.name : frame.shownName;
}

/** whether the graph has tensors and all of them are on the CPU; those of float arguments always are */
function liesOnCpu(trace: Trace): boolean {
  const floats = new Set(trace.inputs.filter(i => i.kind === "symfloat").map(i => i.node));
  const values = trace.graph.nodes.flatMap(n => (floats.has(n) ? [] : tensorsOf(n.meta.val ?? null)));
  return values.length > 0 && values.every(t => t.device.type === "cpu");
}

function tensorsOf(v: FakeValue): FakeTensor[] {
  if (isFakeTensor(v)) return [v];
  return Array.isArray(v) ? (v as readonly (FakeValue | null)[]).flatMap(tensorsOf) : [];
}

function ambientAutocast(state: GlobalState, on: "cpu" | "cuda"): DType | null {
  const { enabled, device, dtype } = JSON.parse(state.autocast) as AutocastState;
  return enabled && device === on ? dtype : null;
}
