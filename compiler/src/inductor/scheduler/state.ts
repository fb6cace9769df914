// The scheduler's working state for one graph, and the small questions that every file asks of nodes.
// In: a lowered graph with configuration. Promises: nothing here decides anything; sizes are in elements, bytes where
// the name says so.

import type { DType } from "../../aten/types";
import { readBoolean, readNumber } from "../../presets";
import { itemsize } from "../ir/dtypes";
import type { TargetProperties } from "../ir/target";
import type { ComputedOperation, Layout, LoweredGraph, Operation } from "../ir/types";
import { add, type Expr, freeSymbols, int, intValue, mul, type SymExpr, sub } from "../symbolic";
import { internTable } from "../symbolic/intern";
import type { SizeVars } from "../symbolic/size_vars";
import { factsOf } from "./access_facts";
import { isIndirect } from "./dependencies";
import type { AnyNode, Dep, FusionEvent, GroupNode, Refusal, SchedulerBuffer, SchedulerNode } from "./types";

export interface SchedulerOptions {
  readonly config: ReadonlyMap<string, unknown>;
  readonly behaviours: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  /** matrix products by number, equal ones together (GraphWays) */
  readonly products?: ReadonlyMap<string, number>;
}

export interface SchedulerState extends SchedulerOptions {
  readonly graph: LoweredGraph;
  readonly sizevars: SizeVars;
  nodes: AnyNode[];
  /** buffers of this graph by name (not inputs) */
  readonly buffers: Map<string, SchedulerBuffer>;
  /** operation name -> the group it is in now */
  readonly fusedNode: Map<string, AnyNode>;
  /** inputs and constants: always there, so no dependency on them is unmet */
  readonly available: ReadonlySet<string>;
  readonly mutationRenames: Map<string, string>;
  readonly mutationRealName: Map<string, string>;
  /** per node, the versions that its buffers had when it was created */
  readonly nodeRenames: Map<SchedulerNode, ReadonlyMap<string, string>>;
  readonly removedOps: Set<string>;
  readonly removedBuffers: Set<string>;
  readonly events: FusionEvent[];
  readonly refusals: Refusal[];
  /** each undoes what trying a pair did to a node's loops; the last comes first */
  readonly loopChanges: (() => void)[];
  round: number;
  inReorderRound: boolean;
}

/** what the size of a dependency is worked out from */
export interface DepSource {
  readonly graph: LoweredGraph;
  readonly sizevars: SizeVars;
  readonly mutationRealName: ReadonlyMap<string, string>;
}

export const isGroup = (n: AnyNode): n is GroupNode => "snodes" in n;

const memberLists = new WeakMap<AnyNode, readonly SchedulerNode[]>();

/** the single operations of a node, in fused order */
export function membersOf(n: AnyNode): readonly SchedulerNode[] {
  let list = memberLists.get(n);
  if (!list) {
    list = isGroup(n) ? n.snodes.flatMap(s => membersOf(s)) : [n];
    memberLists.set(n, list);
  }
  return list;
}

const firstName = (n: AnyNode): string => (isGroup(n) ? firstName(n.snodes[0] as AnyNode) : n.name);
const operationLists = new WeakMap<AnyNode, readonly string[]>();

export function operationNames(n: AnyNode): readonly string[] {
  let list = operationLists.get(n);
  if (!list) {
    list = membersOf(n).map(m => m.name);
    operationLists.set(n, list);
  }
  return list;
}

const outputNames = new WeakMap<AnyNode["outputs"], ReadonlySet<string>>();

export function bufferNames(n: AnyNode): ReadonlySet<string> {
  let names = outputNames.get(n.outputs);
  if (!names) {
    names = new Set(n.outputs.map(o => o.name));
    outputNames.set(n.outputs, names);
  }
  return names;
}

/** of a graph that nothing has been made of yet */
export function newState(graph: LoweredGraph, options: SchedulerOptions): SchedulerState {
  return {
    config: options.config,
    behaviours: options.behaviours,
    target: options.target,
    products: options.products,
    graph,
    sizevars: graph.sizevars,
    nodes: [],
    buffers: new Map(),
    fusedNode: new Map(),
    available: new Set([...graph.inputs.map(i => i.name), ...graph.constants.keys()]),
    mutationRenames: new Map(),
    mutationRealName: new Map(),
    nodeRenames: new Map(),
    removedOps: new Set(),
    removedBuffers: new Set(),
    events: [],
    refusals: [],
    loopChanges: [],
    round: 0,
    inReorderRound: false,
  };
}

export const currentNode = (s: SchedulerState, n: AnyNode): AnyNode => s.fusedNode.get(firstName(n)) ?? n;

/** names of all buffers read or written: reads in load order, then writes */
export function usedBufferNames(n: AnyNode): ReadonlySet<string> {
  return factsOf(n).buffers;
}

const computed = (op: Operation): ComputedOperation | null => (op.kind === "computed" ? op : null);

const REDUCTIONS: ReadonlySet<string> = new Set([
  "Reduction",
  "WelfordReduction",
  "OnlineSoftmaxReduction",
  "MultiOutputReduction",
  "Scan",
  "SplitScan",
  "Sort",
]);

/** A reduction or scan: what has reduction loops (Inductor's get_reduction_type). */
export function isReduction(n: AnyNode): boolean {
  if (isGroup(n)) return n.snodes.some(isReduction);
  const op = computed(n.operation);
  return op !== null && REDUCTIONS.has(op.loops.kind);
}

export function isSplitScan(n: AnyNode): boolean {
  if (isGroup(n)) return n.snodes.some(isSplitScan);
  return computed(n.operation)?.loops.kind === "SplitScan";
}

const TEMPLATES: ReadonlySet<string> = new Set(["TemplateBuffer", "MultiTemplateBuffer"]);
const templateOp = (op: Operation): boolean => op.kind === "extern" && TEMPLATES.has(op.irClass);

export function isTemplate(n: AnyNode): boolean {
  return isGroup(n) ? n.snodes.some(isTemplate) : templateOp(n.operation);
}
export const isExtern = (n: AnyNode): boolean => n.type === "ExternKernelSchedulerNode";
export const isNop = (n: AnyNode): boolean => n.type === "NopKernelSchedulerNode";
export const isForeach = (n: AnyNode): n is GroupNode => n.type === "ForeachKernelSchedulerNode";
export const isMixOrder = (n: AnyNode): n is GroupNode => n.type === "FusedMixOrderReductions";
export const isNested = (n: AnyNode): n is GroupNode => n.type === "FusedNestedReductions";

export function hasAliasingOrMutation(n: AnyNode): boolean {
  return n.outputs.some(o => o.aliases.length > 0 || o.mutations.length > 0);
}

export const isGpu = (n: AnyNode): boolean => n.device.type === "cuda";

export const flag = (s: SchedulerOptions, name: string): boolean => readBoolean(s.config, name);
export const setting = (s: SchedulerOptions, name: string, otherwise: number): number =>
  readNumber(s.config, name) ?? otherwise;
export const behaves = (s: SchedulerOptions, name: string): boolean => readBoolean(s.behaviours, name);

const layouts = new WeakMap<LoweredGraph["inputs"], ReadonlyMap<string, Layout | null>>();

function inputLayouts(inputs: LoweredGraph["inputs"]): ReadonlyMap<string, Layout | null> {
  let known = layouts.get(inputs);
  if (known === undefined) {
    const map = new Map<string, Layout | null>();
    for (const i of inputs) if (!map.has(i.name)) map.set(i.name, i.layout);
    known = map;
    layouts.set(inputs, known);
  }
  return known;
}

export function layoutOf(graph: LoweredGraph, name: string): Layout | null {
  const buffer = graph.buffers.get(name);
  if (buffer) return buffer.layout;
  const input = inputLayouts(graph.inputs).get(name);
  if (input !== undefined) return input;
  const constant = graph.constants.get(name);
  if (!constant) return null;
  const size = constant.size.map(n => int(n));
  const stride: Expr[] = [];
  let step = 1;
  for (const n of [...constant.size].reverse()) {
    stride.unshift(int(step));
    step *= n;
  }
  return { kind: "fixed", device: { type: "cuda", index: 0 }, dtype: constant.dtype, size, stride, offset: int(0) };
}

export const product = (sizes: readonly Expr[]): Expr => sizes.reduce<Expr>((a, b) => mul(a, b), int(1));

const numels = new WeakMap<Layout, Expr>();

/** elements of a buffer; 1 where it has none of its own */
export function bufferNumel(graph: LoweredGraph, name: string): Expr {
  const l = layoutOf(graph, name);
  if (l === null || l.kind === "multi_output" || l.kind === "none") return int(1);
  let numel = numels.get(l);
  if (numel === undefined) {
    numel = product(l.size);
    numels.set(l, numel);
  }
  return numel;
}

export function bufferDtype(graph: LoweredGraph, name: string): DType | null {
  const l = layoutOf(graph, name);
  return l === null || l.kind === "multi_output" || l.kind === "none" ? null : l.dtype;
}

/** elements that a strided layout spans; 0 for an empty one */
export function storageSize(l: Extract<Layout, { size: readonly Expr[] }>): Expr {
  let last: Expr = l.offset;
  for (let i = 0; i < l.size.length; i++) {
    const size = l.size[i] ?? int(1);
    if (intValue(size) === 0) return int(0);
    last = add(last, mul(sub(size, 1), l.stride[i] ?? int(1)));
  }
  return add(last, 1);
}

/** the loops that move a direct access, multiplied */
function touchedElements(d: Extract<Dep, { kind: "memory" }>): Expr {
  const memo = internTable().memo<Dep, Expr>("touched_elements");
  let elements = memo.get(d);
  if (elements === undefined) {
    const free = freeSymbols(d.index);
    elements = product(d.sizes.filter((_, i) => free.has(d.vars[i] as SymExpr)));
    memo.set(d, elements);
  }
  return elements;
}

/** Elements that a dependency touches: broadcast loops do not count, an indirect access counts as the whole buffer. */
export function depNumel(s: Pick<DepSource, "graph">, d: Dep): Expr {
  switch (d.kind) {
    case "weak":
      return int(1);
    case "star":
      return bufferNumel(s.graph, d.name);
    case "memory": {
      if (isIndirect(d)) return bufferNumel(s.graph, d.name);
      return touchedElements(d);
    }
    default: {
      const never: never = d;
      return never;
    }
  }
}

/**
 * Bytes of a dependency under the example sizes; a WeakDep counts 1, a buffer without a tensor 0. What a call wrote in
 * place has the dtype of what it wrote into.
 */
export function depBytes(s: DepSource, d: Dep): number {
  if (d.kind === "weak") return 1;
  const dtype = bufferDtype(s.graph, s.mutationRealName.get(d.name) ?? d.name);
  return dtype === null ? 0 : (s.sizevars.hint(depNumel(s, d)) ?? 0) * itemsize(dtype);
}
