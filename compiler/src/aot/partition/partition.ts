// The joint graph in two. In: the joint graph after its passes. Out: forward and backward graphs and what is saved.
// Promises: names stay; the backward runs in the order of autograd's engine, with recomputed values right before their
// first use; saved symbols come before saved tensors among the backward's inputs.
import { isExpr } from "../../aten/dim_math";
import { copyNode } from "../../fx/copy";
import { FxGraph, FxNode } from "../../fx/graph";
import { isFakeTensor } from "../../fx/print";
import { type Argument, type FakeValue, stackTrace, TupleArg } from "../../fx/types";
import { compareText, type Expr, freeSymbols, type SymExpr } from "../../inductor/symbolic/expr";
import { itemsOf } from "../../passes/edit";
import { storageOf } from "../../passes/storage";
import { isImpure } from "../purity";
import { eliminateCommonSubexpressions } from "./cse";
import { chooseSavedValues } from "./saved_values";

export interface Partition {
  readonly forward: FxGraph;
  readonly backward: FxGraph;
  /** saved tensors, then saved symbols, as the forward returns them */
  readonly savedTensors: readonly string[];
  readonly savedSymbols: readonly string[];
  readonly tangents: readonly string[];
  /** positions among the backward's inputs */
  readonly donated: readonly number[];
}

export interface PartitionOptions {
  readonly forwardOutputs: number;
  /** names of parameters and buffers */
  readonly staticInputs: ReadonlySet<string>;
  readonly hint: (e: Expr) => number;
}

export function partitionJoint(graph: FxGraph, options: PartitionOptions): Partition {
  graph.eliminateDeadCode(isImpure);
  eliminateCommonSubexpressions(graph);
  for (const n of graph.nodes)
    if (n.op === "call_function" && n.meta.fromNode.length === 0 && stackTrace(n.meta.stack).length > 0)
      n.meta.fromNode = [n.name];
  const outputs = itemsOf(graph.output.args[0]);
  const forwardOutputs = outputs.slice(0, options.forwardOutputs);
  const backwardOutputs = outputs.slice(options.forwardOutputs);
  const inputs = graph.placeholders();
  const tangents = inputs.filter(n => n.target.startsWith("tangents_"));
  const primals = inputs.filter(n => !tangents.includes(n));
  const writes = new Set(graph.nodes.filter(n => n.target === "aten.copy_.default"));
  const chosen = chooseSavedValues({
    graph,
    forwardOutputs: nodesOf(forwardOutputs),
    backwardOutputs: nodesOf(backwardOutputs),
    primals,
    tangents,
    staticInputs: new Set(primals.filter(p => options.staticInputs.has(p.name))),
    forwardOnly: writes,
    hint: options.hint,
  });
  let tensors = chosen.filter(n => !isExpr(n.meta.val));
  let symbols = chosen.filter(n => isExpr(n.meta.val));
  const trial = extract(graph, [...tensors, ...symbols, ...tangents], backwardOutputs, writes);
  const unused = new Set(
    trial
      .placeholders()
      .filter(n => n.users.size === 0)
      .map(n => n.name),
  );
  tensors = tensors.filter(n => !unused.has(n.name));
  symbols = withBindings(
    graph,
    symbols.filter(n => !unused.has(n.name)),
    [...tensors, ...tangents],
  );
  const forward = extract(graph, primals, [...forwardOutputs, ...tensors, ...symbols], new Set());
  const settled = unused.size === 0 && symbols.length === 0;
  const backward = settled ? trial : extract(graph, [...symbols, ...tensors, ...tangents], backwardOutputs, writes);
  orderAsAutograd(backward);
  raiseGetitems(forward);
  raiseGetitems(backward);
  return {
    forward,
    backward,
    savedTensors: tensors.map(n => n.name),
    savedSymbols: symbols.map(n => n.name),
    tangents: tangents.map(n => n.name),
    donated: donatedInputs(tensors, symbols.length, [
      ...primals,
      ...nodesOf(forwardOutputs),
      ...nodesOf(backwardOutputs),
    ]),
  };
}

const nodesOf = (args: readonly Argument[]): FxNode[] => args.filter(a => a instanceof FxNode);

/** what computes `outputs` from `inputs`; nodes that need anything else are left out */
function extract(
  graph: FxGraph,
  inputs: readonly FxNode[],
  outputs: readonly Argument[],
  leaveOut: ReadonlySet<FxNode>,
): FxGraph {
  const to = new FxGraph();
  for (const [k, v] of graph.constants) to.constants.set(k, v);
  const nodes = new Map<FxNode, FxNode>();
  for (const n of inputs) {
    nodes.set(
      n,
      to.create("placeholder", n.name, [], new Map(), { ...n.meta, stack: [], fromNode: [] }, { candidate: n.name }),
    );
  }
  for (const n of graph.nodes) {
    if (n.op === "output" || n.op === "placeholder" || nodes.has(n) || leaveOut.has(n)) continue;
    if (n.inputs.every(i => nodes.has(i))) nodes.set(n, copyNode(to, n, nodes));
  }
  const result = outputs.map(o => {
    if (!(o instanceof FxNode)) return o;
    const n = nodes.get(o);
    if (n === undefined) throw new Error(`${o.name} can't be computed from the saved values`);
    return n;
  });
  to.create("output", "output", [new TupleArg(result)], new Map(), { stack: [], fromNode: [] });
  to.eliminateDeadCode(isImpure);
  return to;
}

/** saved symbols: those that bind a symbol first, and every symbol that sizes of the backward's inputs mention */
function withBindings(graph: FxGraph, saved: readonly FxNode[], others: readonly FxNode[]): FxNode[] {
  const bindings = new Map<SymExpr, FxNode>();
  for (const n of graph.placeholders())
    if (isExpr(n.meta.val) && n.meta.val.kind === "sym" && !bindings.has(n.meta.val)) bindings.set(n.meta.val, n);
  const known = new Set<SymExpr>();
  const binding: FxNode[] = [];
  const derived: FxNode[] = [];
  for (const n of saved) {
    const v = n.meta.val;
    if (isExpr(v) && v.kind === "sym" && bindings.get(v) === n) {
      known.add(v);
      binding.push(n);
    } else derived.push(n);
  }
  for (const n of [...derived, ...others]) {
    const fresh = [...symbolsOf(n.meta.val)].filter(s => !known.has(s)).sort((a, b) => compareText(a.name, b.name));
    for (const s of fresh) {
      known.add(s);
      const b = bindings.get(s);
      if (b) binding.push(b);
    }
  }
  return [...binding, ...derived];
}

function symbolsOf(v: FakeValue | undefined): ReadonlySet<SymExpr> {
  if (isExpr(v)) return freeSymbols(v);
  const all = new Set<SymExpr>();
  if (isFakeTensor(v))
    for (const e of [...v.shape, ...v.stride, v.storageOffset]) for (const s of freeSymbols(e)) all.add(s);
  return all;
}

/** from the first user of a tangent on, each node preceded by what it needs (reordering_to_mimic_autograd_engine) */
function orderAsAutograd(graph: FxGraph): void {
  const position = new Map(graph.nodes.map((n, i) => [n, i]));
  const at = (n: FxNode): number => position.get(n) ?? 0;
  const users = graph
    .placeholders()
    .filter(n => n.target.startsWith("tangents_"))
    .flatMap(n => [...n.users]);
  if (users.length === 0) return;
  const first = Math.min(...users.map(at));
  const order = new Set(graph.placeholders());
  for (const n of graph.nodes.slice(first)) {
    if (order.has(n)) continue;
    const needed = new Set<FxNode>();
    const stack = [n];
    for (let m = stack.pop(); m !== undefined; m = stack.pop()) {
      if (needed.has(m) || order.has(m)) continue;
      needed.add(m);
      stack.push(...m.inputs);
    }
    for (const m of needed.size > 1 ? [...needed].sort((a, b) => at(a) - at(b)) : needed) order.add(m);
  }
  graph.restrictTo([...order]);
}

/** every getitem right behind its tuple */
function raiseGetitems(graph: FxGraph): void {
  for (const n of graph.nodes.filter(m => m.target === "operator.getitem").reverse()) {
    const parent = n.inputs[0];
    if (parent === undefined) continue;
    graph.nodes.splice(graph.indexOf(n), 1);
    graph.nodes.splice(graph.indexOf(parent) + 1, 0, n);
  }
}

/** saved tensors that share memory with no input and no output: the backward may write over them */
function donatedInputs(saved: readonly FxNode[], before: number, visible: readonly FxNode[]): number[] {
  const kept = new Set(visible.map(storageOf));
  return saved.flatMap((n, i) => (kept.has(storageOf(n)) ? [] : [before + i]));
}
