// Ends a trace: which nodes the graph returns, the clean-ups that Dynamo makes, and the captured frame. In: the values
// that live on after the graph. Out: the output node, and the tensors that stand for it outside.
import type { FxGraph, FxNode } from "../../fx/graph";
import { type FakeValue, TupleArg } from "../../fx/types";
import { type Expr, freeSymbols, intValue, type SymExpr } from "../../inductor/symbolic/expr";
import { type Frame, PyFunction, PyGenerator } from "../interp/frame";
import {
  PyCell,
  PyDict,
  PyInstance,
  PyList,
  PyMethod,
  PyModule,
  PyObject,
  PySet,
  PySlice,
  PyTuple,
  type Value,
} from "../objects/values";
import { PySymInt, PyTensor } from "../torch/objects";
import type { Trace } from "./trace";

/** Values that need the graph, in the order in which rebuilding the program's objects meets them. */
export class OutputCollector {
  readonly nodes: FxNode[] = [];
  readonly tensors: PyTensor[] = [];
  private readonly seen = new Set<object>();

  constructor(private readonly trace: Trace) {}

  private add(node: FxNode, t: PyTensor): void {
    if (node.op === "placeholder" || this.nodes.includes(node)) return;
    this.nodes.push(node);
    this.tensors.push(t);
  }

  value(v: Value | undefined): void {
    if (!(v instanceof PyObject) || this.seen.has(v)) return;
    this.seen.add(v);
    if (v instanceof PyTensor) {
      if (v.proxy?.trace === this.trace) this.add(v.proxy.node, v);
      return;
    }
    // what is reached from the frame's sources is found there again
    if (this.trace.sources.has(v) && !this.trace.written.has(v)) return;
    this.contents(v);
  }

  private contents(v: PyObject): void {
    if (v instanceof PyTuple || v instanceof PyList) for (const x of v.items) this.value(x);
    else if (v instanceof PyDict) for (const x of v.values()) this.value(x);
    else if (v instanceof PySet) for (const x of v.entries.values()) this.value(x);
    else if (v instanceof PyMethod) this.value(v.self);
    else if (v instanceof PySlice) for (const x of [v.start, v.stop, v.step]) this.value(x);
    else if (v instanceof PyCell) this.value(v.value);
    else if (v instanceof PyFunction) {
      for (const c of v.closure) this.value(c);
      for (const d of v.defaults) this.value(d);
    } else if (v instanceof PyGenerator) for (const x of v.frame.locals) this.value(x);
    const ofProgram = v instanceof PyInstance || v instanceof PyDict || v instanceof PyList || v instanceof PyTuple;
    if (ofProgram && v.attrs) for (const x of v.attrs.values()) this.member(x); // a subclass of dict has both
  }

  /** attributes of an object: tensors, and the dicts in which a module keeps them */
  private member(v: Value): void {
    this.value(v);
  }

  /** objects from before the trace that now hold what it made */
  effects(): void {
    for (const o of this.trace.written) {
      if (o instanceof PyModule) for (const x of o.dict.values()) this.value(x);
      else if (o instanceof PyDict && o.get("__module_object__") !== undefined) {
        for (const x of o.values()) if (x instanceof PyTensor) this.value(x);
      } else if (o instanceof PyInstance && o.attrs) {
        // the last attribute that was written is put back first; a module's buffers are items of a dict
        for (const name of [...this.trace.written.attributesOf(o)].reverse()) this.value(o.attrs.get(name));
        for (const x of o.attrs.values()) {
          if (x instanceof PyDict) for (const y of x.values()) this.tensorOnly(y);
          else this.value(x);
        }
      } else this.contents(o);
    }
    const root = this.trace.root;
    for (const c of root.cells.slice(root.code.cellNames.length)) this.value(c.value);
  }
  private tensorOnly(v: Value): void {
    if (v instanceof PyTensor) this.value(v);
  }
}

const isSymbolic = (v: FakeValue | undefined): v is Expr =>
  typeof v === "object" && v !== null && "kind" in v && "args" in v;

/** closes the graph; undefined when it holds no operator and returns nothing */
export function closeGraph(trace: Trace, outputs: readonly FxNode[], gradEnabled: boolean): boolean {
  const { graph } = trace;
  applyReplacements(trace);
  graph.create("output", "output", [new TupleArg([...outputs])], new Map(), { stack: [], fromNode: [] });
  removeGradModePairs(graph, gradEnabled);
  shareSymbols(graph);
  removeUnused(graph);
  const calls = graph.nodes.some(n => n.op === "call_function" || n.op === "call_method");
  return calls || outputs.length > 0;
}

/** symbols that guards fixed are numbers everywhere */
function applyReplacements({ graph, env }: Trace): void {
  if (env.replacements.size === 0) return;
  const fix = (v: FakeValue | undefined): FakeValue | undefined => {
    if (typeof v !== "object" || v === null) return v;
    if (Array.isArray(v)) return v.map(x => fix(x) ?? null);
    if (isSymbolic(v)) return env.simplify(v);
    if (!("shape" in v)) return v;
    const each = (xs: readonly Expr[]): Expr[] => xs.map(x => env.simplify(x));
    return { ...v, shape: each(v.shape), stride: each(v.stride), storageOffset: env.simplify(v.storageOffset) };
  };
  for (const n of graph.nodes) n.meta.val = fix(n.meta.val);
}

const setsGrad = (n: FxNode | undefined): boolean => n?.target === "torch._C._set_grad_enabled";

/** entering and leaving no_grad with nothing between leaves no trace (cleanup_graph) */
function removeGradModePairs(graph: FxGraph, initially: boolean): void {
  let enabled = initially;
  const nodes = [...graph.nodes];
  for (let i = 0; i + 1 < nodes.length; i++) {
    const [a, b] = [nodes[i], nodes[i + 1]];
    if (!a || !b || !setsGrad(a) || !graph.nodes.includes(a) || a.args[0] === enabled) continue;
    enabled = a.args[0] === true;
    if (setsGrad(b) && b.args[0] !== enabled) {
      enabled = b.args[0] === true;
      graph.erase(a);
      graph.erase(b);
    }
  }
}

/** one node per symbolic value: the placeholder of a symbol, the first node of an expression */
function shareSymbols(graph: FxGraph): void {
  const first = new Map<Expr, FxNode>();
  for (const n of [...graph.nodes]) {
    const v = n.meta.val;
    if (!isSymbolic(v)) continue;
    const number = intValue(v);
    if (number !== undefined) {
      n.replaceAllUsesWith(number);
      continue;
    }
    const known = first.get(v);
    if (known) n.replaceAllUsesWith(known);
    else first.set(v, n);
  }
}

function removable(n: FxNode): boolean {
  if (n.users.size > 0) return false;
  if (n.op === "get_attr") return true;
  if (n.op === "call_function" && n.target === "operator.getitem") return true;
  if (n.op === "call_method" && /^(size|stride|item)$/.test(n.target)) return true;
  return n.op !== "placeholder" && n.op !== "output" && isSymbolic(n.meta.val);
}

function removeUnused(graph: FxGraph): void {
  for (const n of [...graph.nodes].reverse()) if (removable(n)) graph.erase(n);
  const used = new Set<SymExpr>();
  for (const n of graph.placeholders()) {
    if (isSymbolic(n.meta.val)) continue;
    if (n.users.size === 0) graph.erase(n);
    else {
      const v = n.meta.val;
      if (v && typeof v === "object" && "shape" in v) {
        for (const d of [...v.shape, ...v.stride]) for (const s of freeSymbols(d)) used.add(s);
      }
    }
  }
  for (const n of graph.placeholders()) {
    const v = n.meta.val;
    if (isSymbolic(v) && n.users.size === 0 && !(v.kind === "sym" && used.has(v))) graph.erase(n);
  }
}

/** symbolic ints in values that leave the trace become the numbers they stand for */
export function settle(v: Value, trace: Trace, seen = new Set<object>()): Value {
  if (v instanceof PySymInt) return intValue(v.expr) ?? trace.hint(v.expr);
  if (!(v instanceof PyObject) || seen.has(v)) return v;
  seen.add(v);
  if (v instanceof PyTuple) {
    const items = v.items.map(x => settle(x, trace, seen));
    return items.some((x, i) => x !== v.items[i]) ? new PyTuple(v.cls, items) : v;
  }
  if (v instanceof PyList) {
    v.items.forEach((x, i) => {
      const y = settle(x, trace, seen);
      if (y !== x) v.set(i, y);
    });
  } else if (v instanceof PyDict) {
    for (const [k, key, x] of v.rawEntries()) {
      const y = settle(x, trace, seen);
      if (y !== x) v.setKey(k, key, y);
    }
  } else if (v instanceof PyFunction && !trace.sources.has(v)) {
    // a function that the frame made is called by the next one
    for (const c of v.closure) if (c.value !== undefined) c.value = settle(c.value, trace, seen);
    if (v.defaults.length > 0) v.defaults = v.defaults.map(x => settle(x, trace, seen));
  } else if (v instanceof PyInstance && v.attrs && !trace.sources.has(v)) settle(v.attrs, trace, seen);
  return v;
}

/** settles everything a frame still holds */
export function settleFrame(f: Frame, trace: Trace): void {
  f.locals.forEach((v, i) => {
    if (v !== undefined) f.locals[i] = settle(v, trace);
  });
  f.stack = f.stack.map(v => settle(v, trace));
  for (const c of f.cells) if (c.value !== undefined) c.value = settle(c.value, trace);
  for (const o of trace.written) {
    if (o instanceof PyDict && o.get("__module_object__") !== undefined) continue;
    if (o instanceof PyInstance && o.attrs) settle(o.attrs, trace);
    else settle(o, trace);
  }
}
