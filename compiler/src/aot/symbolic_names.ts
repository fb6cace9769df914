// Node names that symbolic arithmetic uses up. In: the tensors and operators of a trace with symbolic sizes. Out: names
// taken from the graph's namespace. torch 2.11 traces the size arithmetic behind each tensor wrapper (its storage's
// bytes) and of some decompositions; the nodes die, their names stay used. Graphs of constant sizes are untouched.
import type { Bound } from "../aten/bind";
import { isExpr } from "../aten/dim_math";
import { itemSize } from "../aten/ops/helpers/dtypes";
import { packetOf } from "../aten/registry";
import type { OpRecord, TensorMeta } from "../aten/types";
import type { FakeTensor } from "../fx/types";
import { add, type Expr, int, intValue, mul, sub } from "../inductor/symbolic/expr";
import type { Tracer } from "./tracer";

class Arithmetic {
  constructor(private readonly tracer: Tracer) {}

  private taken(name: string, a: Expr, b: Expr, result: Expr): Expr {
    if (intValue(a) === undefined || intValue(b) === undefined) this.tracer.graph.namespace.create(name);
    return result;
  }
  add(a: Expr, b: Expr): Expr {
    return this.taken("add", a, b, add(a, b));
  }
  sub(a: Expr, b: Expr): Expr {
    return this.taken("sub", a, b, sub(a, b));
  }
  /** a comparison, which no tensor waits for */
  compare(name: "eq" | "ne", a: Expr, b: Expr): void {
    this.taken(name, a, b, a);
  }
  /** a product with 1 is its other factor */
  mul(a: Expr, b: Expr): Expr {
    const result = mul(a, b);
    return intValue(a) === 1 || intValue(b) === 1 ? result : this.taken("mul", a, b, result);
  }
}

const ONE = (): Expr => int(1);

function isSymbolic(t: TensorMeta): boolean {
  return [...t.shape, ...t.stride, t.storageOffset].some(e => intValue(e as Expr) === undefined);
}

/** bytes of the storage behind a new wrapper: itemsize * (offset + 1 + sum(stride * (size - 1))) */
export function takeWrapperNames(tracer: Tracer, t: FakeTensor): void {
  if (!isSymbolic(t)) return;
  const m = new Arithmetic(tracer);
  let size = ONE();
  for (const [i, s] of t.shape.entries()) {
    m.compare("eq", s, int(0));
    size = m.add(size, m.mul(t.stride[i] as Expr, m.sub(s, ONE())));
  }
  m.mul(int(itemSize(t.dtype)), m.add(t.storageOffset, size));
}

/**
 * the walk of is_contiguous over sizes and strides, once a tensor. A tensor that a program's function asks counts its
 * elements first; in a decomposition that count is a node of another name.
 */
function takeContiguityNames(tracer: Tracer, t: TensorMeta, counts: boolean): void {
  const asked = askedIn(tracer, counts);
  if (asked.has(t) || !isSymbolic(t)) return;
  asked.add(t);
  const m = new Arithmetic(tracer);
  const [first = ONE(), ...others] = t.shape as readonly Expr[];
  let numel = first;
  for (const s of others) numel = counts ? m.mul(numel, s) : mul(numel, s);
  m.compare("eq", numel, int(0));
  let expected = ONE();
  for (let i = t.shape.length - 1; i >= 0; i--) {
    const [s, stride] = [t.shape[i] as Expr, t.stride[i] as Expr];
    if (intValue(s) === 1) continue;
    m.compare("eq", s, ONE());
    m.compare("ne", stride, expected);
    if (!tracer.math.knownEq(stride, expected)) return;
    m.mul(expected, s); // beside it, the product of sizes of at least 1
    expected = m.mul(expected, s);
  }
}

/** tensors of one trace whose contiguity is known: above and within decompositions, which see other wrappers */
const KNOWN = new WeakMap<Tracer, readonly [above: Set<TensorMeta>, below: Set<TensorMeta>]>();
function askedIn(tracer: Tracer, above: boolean): Set<TensorMeta> {
  const known = KNOWN.get(tracer) ?? [new Set(), new Set()];
  KNOWN.set(tracer, known);
  return known[above ? 0 : 1];
}

interface Wrapped {
  readonly tensor: { readonly meta: FakeTensor };
}
const tensorOf = <V extends Wrapped>(bound: Bound<V>, name: string): FakeTensor | undefined =>
  (bound.values.get(name) as V | null | undefined)?.tensor?.meta;

/** arithmetic of functions that are made of operators, before any of these */
export function takeFunctionNames<V extends Wrapped>(tracer: Tracer, record: OpRecord, bound: Bound<V>): void {
  const asks = (name: string): void => {
    const t = tensorOf(bound, name);
    if (t !== undefined) takeContiguityNames(tracer, t, true);
  };
  switch (packetOf(record.name)) {
    case "aten.linear": {
      // three dims and a bias: one addmm over the rows
      if (tensorOf(bound, "input")?.shape.length !== 3 || tensorOf(bound, "bias") === undefined) return;
      asks("bias");
      return asks("input");
    }
    case "aten.batch_norm":
    case "torch.nn.functional.batch_norm":
      return asks("input");
    case "aten.flatten":
    case "aten.reshape":
    case "aten.contiguous":
      return asks("self");
    default:
      return;
  }
}

/** arithmetic of the decompositions themselves */
export function takeOperatorNames<V extends Wrapped>(tracer: Tracer, record: OpRecord, bound: Bound<V>): void {
  switch (packetOf(record.name)) {
    case "aten.native_layer_norm":
    case "aten.native_group_norm": {
      const input = [...bound.values.values()][0] as V | undefined;
      if (input?.tensor !== undefined) takeContiguityNames(tracer, input.tensor.meta, false);
      return;
    }
    case "aten._softmax":
    case "aten._log_softmax": {
      const input = [...bound.values.values()][0] as V | undefined;
      if (input?.tensor !== undefined) takeContiguityNames(tracer, input.tensor.meta, false);
      return;
    }
    case "aten.arange": {
      const m = new Arithmetic(tracer);
      const end = bound.values.get("end");
      const start = bound.values.get("start") ?? 0;
      const as = (x: unknown): Expr => (typeof x === "number" ? int(x) : (x as Expr));
      if (![start, end].every(x => typeof x === "number" || isExpr(x))) return;
      // (end - start + step - sign) // step
      const step = ONE();
      m.sub(m.add(m.sub(as(end), as(start)), step), ONE());
      return;
    }
    default:
      return;
  }
}
