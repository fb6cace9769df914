// Tensors written out in the source (GraphLowering.get_attr, the `tensor` lowering). In: a get_attr node. Out: a box.
// Promises: a scalar and a short list are computed in place; anything longer is a constant buffer of the graph.
import { type Dim, type Loader, type Ops, PyFloat } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import { type Expr, int } from "../symbolic/expr";
import type { InputBuffer, TensorBox } from "./boxes";
import { tensorMeta } from "./constraints";
import type { Lowering } from "./context";
import { isFloatDType } from "./dtypes";
import { contiguousStrides } from "./layouts";
import { createPointwise } from "./pointwise";

/** lists up to this long become nested selections */
const MAX_INLINE = 8;

export function literalTensor(ctx: Lowering, n: FxNode): TensorBox | null {
  const t = tensorMeta(n);
  if (t === undefined) return null;
  const literal = ctx.graph.constants.get(n.target);
  const numbers = (literal?.values ?? []).map(Number);
  const { dtype, device } = t;
  const constant = <V>(ops: Ops<V>, v: number): V =>
    ops.constant(isFloatDType(dtype) ? new PyFloat(v) : dtype === "bool" ? v !== 0 : v, dtype);
  if (literal !== undefined && (t.shape.length === 0 || (t.shape.length === 1 && numbers.length <= MAX_INLINE))) {
    const inner: Loader = <V>(ops: Ops<V>, index: readonly Dim[]): V => {
      const search = (start: number, end: number): V => {
        if (end - start <= 1) return constant(ops, numbers[start] ?? 0);
        const middle = Math.floor((end - start) / 2) + start;
        const before = ops.op("lt", ops.indexExpr(index[0] as Expr, "int64"), ops.constant(middle, "int64"));
        return ops.op("where", before, search(start, middle), search(middle, end));
      };
      return search(0, numbers.length);
    };
    return createPointwise(ctx, { size: t.shape, dtype, device, inner });
  }
  const size = t.shape.map(s => ctx.sizevars.sizeHint(s));
  ctx.constants.set(n.target, { values: numbers, dtype, size });
  const b: InputBuffer = {
    kind: "input",
    irClass: "ConstantBuffer",
    name: n.target,
    origins: ctx.origins,
    originNode: null,
    layout: { kind: "fixed", device, dtype, size: t.shape, stride: contiguousStrides(t.shape), offset: int(0) },
  };
  ctx.registerInput(b);
  return ctx.boxOf(b);
}
