// Test only. In: operations as loops with loads and one store. Out: a LoweredGraph. Promises: contiguous float32 buffers
// on one GPU; what is stored is the sum of what is loaded, reduced if asked.
import type { Device } from "../../../aten/types";
import { FxGraph } from "../../../fx/graph";
import { contiguousStrides } from "../../ir/layouts";
import type { BodyNode, LoopBody } from "../../ir/loop_body";
import type { Buffer, GraphInput, Layout, LoweredGraph, Operation, ReductionHint } from "../../ir/types";
import { int, sym } from "../../symbolic";
import { SizeVars } from "../../symbolic/size_vars";
import { parseExpr } from "./parse_expr";

export interface LoopsSpec {
  readonly sizes: readonly number[];
  readonly reduce?: readonly number[];
  readonly type?: "sum" | "max";
  readonly hint?: ReductionHint;
  /** buffer and index over p0.. */
  readonly loads: readonly (readonly [buffer: string, index: string])[];
  readonly store: string;
  /** shape of what is written; the iteration sizes by default */
  readonly shape?: readonly number[];
}

export interface GraphSpec {
  readonly inputs: Readonly<Record<string, readonly number[]>>;
  /** operation i is op{i} and writes buf{i} */
  readonly ops: readonly LoopsSpec[];
  readonly outputs: readonly string[];
}

const cuda: Device = { type: "cuda", index: 0 };

function layoutOf(shape: readonly number[]): Layout {
  const size = shape.map(n => int(n));
  return { kind: "fixed", device: cuda, dtype: "float32", size, stride: contiguousStrides(size), offset: int(0) };
}

export function buildGraph(spec: GraphSpec): LoweredGraph {
  const inputs: GraphInput[] = Object.entries(spec.inputs).map(([name, shape]) => ({ name, layout: layoutOf(shape) }));
  const buffers = new Map<string, Buffer>();
  const operations = spec.ops.map((op, i): Operation => {
    const name = `op${i}`;
    const buffer = `buf${i}`;
    buffers.set(buffer, {
      name: buffer,
      irClass: "ComputedBuffer",
      layout: layoutOf(op.shape ?? op.sizes),
      operation: name,
      originNode: null,
    });
    const body = bodyOf(op, buffer);
    const sizes = [body.iterSizes, body.reduceSizes] as const;
    const loops = op.reduce
      ? ({ kind: "Reduction", type: op.type ?? "sum", hint: op.hint ?? "INNER", srcDtype: "float32" } as const)
      : ({ kind: "Pointwise" } as const);
    return {
      kind: "computed",
      name,
      outputs: [buffer],
      device: cuda,
      origins: [],
      originNode: null,
      loops,
      ranges: sizes[0],
      reductionRanges: sizes[1],
      sizes,
      body,
    };
  });
  return {
    graph: new FxGraph(),
    kind: "inference",
    sizevars: new SizeVars(),
    inputs,
    operations,
    buffers,
    constants: new Map(),
    outputs: spec.outputs.map(buffer => ({
      buffer,
      size: [],
      stride: [],
      offset: int(0),
      dtype: "float32",
      whole: true,
    })),
    mutatedInputs: [],
    donated: new Set(),
    foreachLists: [],
    symbols: [],
  };
}

function bodyOf(op: LoopsSpec, buffer: string): LoopBody {
  const reduce = op.reduce ?? [];
  const vars = [...op.sizes, ...reduce].map((_, i) => sym(`p${i}`));
  const indexing = new Map<string, ReturnType<typeof parseExpr>>();
  const names = new Map<string, string>();
  const index = (text: string): string => {
    const name = names.get(text) ?? `index${names.size}`;
    names.set(text, name);
    indexing.set(name, parseExpr(text));
    return name;
  };
  const nodes: BodyNode[] = [];
  const add = <N extends BodyNode>(n: N): N => {
    nodes.push(n);
    return n;
  };
  let value: BodyNode | null = null;
  op.loads.forEach(([from, text], i) => {
    const at = add({ name: `get_index_${i}`, op: "get_index", index: index(text) });
    const load = add({ name: `load_${i}`, op: "load", buffer: from, at });
    value = value === null ? load : add({ name: `add_${i}`, op: "call", fn: "add", args: [value, load] });
  });
  let result: BodyNode = value ?? add({ name: "constant", op: "constant", value: 0, dtype: "float32" });
  if (op.reduce)
    result = add({
      name: "reduction",
      op: "reduction",
      dtype: "float32",
      srcDtype: "float32",
      type: op.type ?? "sum",
      value: result,
    });
  const at = add({ name: "get_index_s", op: "get_index", index: index(op.store) });
  if (op.reduce) add({ name: "store_reduction", op: "store_reduction", buffer, at, value: result });
  else add({ name: "store", op: "store", buffer, at, value: result, mode: null });
  return {
    iterVars: vars.slice(0, op.sizes.length),
    reduceVars: vars.slice(op.sizes.length),
    iterSizes: op.sizes.map(n => int(n)),
    reduceSizes: reduce.map(n => int(n)),
    indexing,
    block: { nodes, result: null },
    subblocks: new Map(),
    indirect: [],
  };
}
