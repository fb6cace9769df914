// Node names that symbolic arithmetic uses up. In: the tensors and operators of a trace with symbolic sizes. Out: names
// taken from the graph's namespace. torch 2.11 traces the size arithmetic behind each tensor wrapper (its storage's
// bytes) and of some decompositions; the nodes die, their names stay used. Graphs of constant sizes are untouched.
import type { Bound } from "../aten/bind";
import { isExpr } from "../aten/dim_math";
import { ITEM_SIZE } from "../aten/promotion";
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
  /** a product with 1 is its other factor */
  mul(a: Expr, b: Expr): Expr {
    const result = mul(a, b);
    return intValue(a) === 1 || intValue(b) === 1 ? result : this.taken("mul", a, b, result);
  }
}

const ONE = (): Expr => int(1);

function isSymbolic(t: FakeTensor): boolean {
  return [...t.shape, ...t.stride, t.storageOffset].some(e => intValue(e) === undefined);
}

/** bytes of the storage behind a new wrapper: itemsize * (offset + 1 + sum(stride * (size - 1))) */
export function takeWrapperNames(tracer: Tracer, t: FakeTensor): void {
  if (!isSymbolic(t)) return;
  const m = new Arithmetic(tracer);
  let size = ONE();
  for (const [i, s] of t.shape.entries()) size = m.add(size, m.mul(t.stride[i] as Expr, m.sub(s, ONE())));
  m.mul(int(ITEM_SIZE[t.dtype]), m.add(t.storageOffset, size));
}

/** the walk of is_contiguous over sizes and strides */
function takeContiguityNames(tracer: Tracer, t: TensorMeta): void {
  const m = new Arithmetic(tracer);
  let expected = ONE();
  for (let i = t.shape.length - 1; i >= 0; i--) {
    const s = t.shape[i] as Expr;
    if (intValue(s) === 1) continue;
    if (!tracer.math.knownEq(t.stride[i] as Expr, expected)) return;
    expected = m.mul(expected, s);
  }
}

/** arithmetic of the decompositions themselves */
export function takeOperatorNames<V extends { readonly tensor: { readonly meta: FakeTensor } }>(
  tracer: Tracer,
  record: OpRecord,
  bound: Bound<V>,
): void {
  switch (packetOf(record.name)) {
    case "aten.native_layer_norm":
    case "aten.native_group_norm": {
      const input = [...bound.values.values()][0] as V | undefined;
      if (input?.tensor === undefined || !isSymbolic(input.tensor.meta)) return;
      takeContiguityNames(tracer, input.tensor.meta);
      takeContiguityNames(tracer, input.tensor.meta);
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
