// Operators that one trace calls again with arguments of the same form: equal layers, forward and backward. In: a bound
// call. Out: its result; the nodes of a known form are made again with the new arguments, without the operator's rules,
// decompositions and bindings. Promises: what is kept is only what follows from the form: no symbolic size (working one
// out may add guards), no literal of the graph (its name is counted), nothing but the arguments' own nodes.
import type { Bound } from "../aten/bind";
import { isExpr } from "../aten/dim_math";
import { FloatParameter } from "../aten/float_parameter";
import {
  type ArgValue,
  DeviceArg,
  DTypeArg,
  LayoutArg,
  MemoryFormatArg,
  type OpRecord,
  PyFloat,
  type Result,
} from "../aten/types";
import type { FxGraph } from "../fx/graph";
import {
  type Argument,
  type FakeTensor,
  type FakeValue,
  type FxNode,
  mapKeywords,
  mapNodes,
  visitNodes,
} from "../fx/types";
import { many, TracedTensor } from "./traced_tensor";

/** A node of a form: its arguments hold the form's own nodes, which stand for those of a later call. */
interface MadeNode {
  readonly node: FxNode;
  readonly target: string;
  readonly args: readonly Argument[];
  readonly kwargs: ReadonlyMap<string, Argument>;
  readonly val: FakeValue;
}

/** A result: an argument itself, or what a node computes. */
type MadeResult = { readonly argument: number } | { readonly node: FxNode; readonly meta: FakeTensor } | null;

interface Form {
  readonly inputs: readonly FxNode[];
  readonly nodes: readonly MadeNode[];
  readonly results: readonly MadeResult[];
  /** the operator has one result, not a list of them */
  readonly single: boolean;
}

/** what the tracer does for a node of a form */
type Create = (
  target: string,
  args: readonly Argument[],
  kwargs: ReadonlyMap<string, Argument>,
  val: FakeValue,
) => FxNode;

/** Calls of one trace by their form. The nodes of a known one get the names and places of the call in hand. */
export class TracedCalls {
  /** null: a form whose nodes can't be made again */
  private readonly forms = new Map<string, Form | null>();

  constructor(
    private readonly graph: FxGraph,
    private readonly create: Create,
  ) {}

  /** `run` traces the call as if for the first time. */
  call(record: OpRecord, bound: Bound<TracedTensor>, run: () => Result<TracedTensor>): Result<TracedTensor> {
    const tensors: TracedTensor[] = [];
    const key = this.keyOf(record, bound, tensors);
    if (key === null) return run();
    const known = this.forms.get(key);
    if (known) return this.again(known, tensors);
    const start = this.graph.nodes.length;
    const result = run();
    if (known === undefined) this.forms.set(key, formOf(tensors, this.graph.nodes.slice(start), result));
    return result;
  }

  private again(form: Form, tensors: readonly TracedTensor[]): Result<TracedTensor> {
    const now = new Map<FxNode, FxNode>();
    for (const [i, n] of form.inputs.entries()) now.set(n, (tensors[i] as TracedTensor).node);
    const map = (a: Argument): Argument => mapNodes(a, n => now.get(n) as FxNode);
    for (const m of form.nodes)
      now.set(m.node, this.create(m.target, m.args.map(map), mapKeywords(m.kwargs, map), m.val));
    const results = form.results.map(r => {
      if (r === null) return null;
      return "argument" in r
        ? (tensors[r.argument] as TracedTensor)
        : new TracedTensor(now.get(r.node) as FxNode, r.meta);
    });
    return form.single ? (results[0] as TracedTensor) : results;
  }

  /** All that a call's nodes hang on, and its tensors; null where that can't be told. */
  private keyOf(record: OpRecord, bound: Bound<TracedTensor>, tensors: TracedTensor[]): string | null {
    let key = record.name;
    for (const [name, value] of bound.values) {
      const text = this.valueKey(value, tensors);
      if (text === null) return null;
      key += ` ${name}=${text}`;
    }
    return key;
  }

  private valueKey(v: ArgValue<TracedTensor>, tensors: TracedTensor[]): string | null {
    if (v instanceof TracedTensor) return this.tensorKey(v, tensors);
    if (Array.isArray(v)) {
      let key = "[";
      for (const x of v as readonly ArgValue<TracedTensor>[]) {
        const text = this.valueKey(x, tensors);
        if (text === null) return null;
        key += `${text},`;
      }
      return `${key}]`;
    }
    if (typeof v === "string") return JSON.stringify(v);
    if (typeof v === "bigint") return `${v}n`;
    if (typeof v !== "object" || v === null) return Object.is(v, -0) ? "-0" : String(v);
    // by identity, so that nothing is asked for its value
    if (v instanceof FloatParameter) return `$${v.id}`;
    if (v instanceof PyFloat) return `f${Object.is(v.value, -0) ? "-0" : v.value}`;
    if (v instanceof DTypeArg) return v.dtype;
    if (v instanceof DeviceArg) return `${v.device.type}:${v.device.index}`;
    if (v instanceof LayoutArg) return v.layout;
    if (v instanceof MemoryFormatArg) return v.format;
    return isExpr(v) && v.kind === "int" ? `i${v.value}` : null;
  }

  /** its meta, and which tensor before it is the same */
  private tensorKey(t: TracedTensor, tensors: TracedTensor[]): string | null {
    const meta = metaKey(t.meta);
    if (meta === null) return null;
    const same = tensors.findIndex(x => x.node === t.node);
    // two views of one node's result: arguments are told apart by their nodes
    if (same >= 0 && tensors[same] !== t) return null;
    tensors.push(t);
    return same < 0 ? meta : `${meta}=${same}`;
  }
}

/** results of one call are arguments of later ones */
const metaKeys = new WeakMap<FakeTensor, string | null>();

function metaKey(m: FakeTensor): string | null {
  let key = metaKeys.get(m);
  if (key === undefined) {
    key = metaText(m);
    metaKeys.set(m, key);
  }
  return key;
}

/** null: a size is symbolic */
function metaText(m: FakeTensor): string | null {
  let key = `${m.dtype} ${m.device.type}:${m.device.index} ${m.requiresGrad}`;
  for (const list of [m.shape, m.stride, [m.storageOffset]]) {
    key += ";";
    for (const e of list) {
      if (e.kind !== "int") return null;
      key += `${e.value},`;
    }
  }
  return key;
}

/** whether a value's sizes are all numbers */
function isStatic(val: FakeValue | undefined): boolean {
  if (val === undefined || val === null) return true;
  if (Array.isArray(val)) return (val as readonly (FakeValue | null)[]).every(isStatic);
  return "dtype" in val && metaKey(val) !== null;
}

function formOf(
  tensors: readonly TracedTensor[],
  created: readonly FxNode[],
  result: Result<TracedTensor>,
): Form | null {
  const known = new Set(tensors.map(t => t.node));
  const nodes: MadeNode[] = [];
  for (const node of created) {
    const { op, target, args, kwargs, meta } = node;
    let own = op === "call_function" && isStatic(meta.val) && meta.val !== undefined;
    const see = (n: FxNode): void => {
      own &&= known.has(n);
    };
    for (const a of args) visitNodes(a, see);
    for (const a of kwargs.values()) visitNodes(a, see);
    if (!own) return null;
    known.add(node);
    nodes.push({ node, target, args, kwargs, val: meta.val as FakeValue });
  }
  const results: MadeResult[] = [];
  for (const r of many(result) as readonly (TracedTensor | null)[]) {
    const argument = r === null ? -1 : tensors.indexOf(r);
    if (r !== null && argument < 0 && !known.has(r.node)) return null;
    results.push(r === null ? null : argument >= 0 ? { argument } : { node: r.node, meta: r.meta });
  }
  return { inputs: tensors.map(t => t.node), nodes, results, single: !Array.isArray(result) };
}
