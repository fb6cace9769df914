// Shapes of reductions, and the gradients they share.
import type { Derivative, Dim, DType, GraphBuilder, MetaBuilder, TensorMeta } from "../../types";
import { aten, each, fl } from "./define";
import { filledWith, numelOf, sizeScalar, unsqueezeDims } from "./trace";

/** dims to reduce, wrapped and checked; all of them for None and [] */
export function normalizeDims(
  m: { wrapDim(d: number, rank: number): number },
  dims: readonly number[] | null,
  rank: number,
): number[] {
  if (dims === null || dims.length === 0) return Array.from({ length: rank }, (_, i) => i);
  return dims.map(d => m.wrapDim(d, rank));
}

/** contiguous result of reducing some dims */
export function reducedMeta(
  m: MetaBuilder,
  x: TensorMeta,
  dims: readonly number[] | null,
  keepdim: boolean,
  dtype: DType = x.dtype,
): TensorMeta {
  const reduced = normalizeDims(m, dims, x.shape.length);
  if (new Set(reduced).size !== reduced.length) {
    const twice = reduced.find((d, i) => reduced.indexOf(d) !== i);
    return m.fail(`dim ${twice} appears multiple times in the list of dims`);
  }
  const shape: (Dim | number)[] = [];
  x.shape.forEach((s, i) => {
    if (!reduced.includes(i)) shape.push(s);
    else if (keepdim) shape.push(1);
  });
  return m.tensor(shape, { dtype, device: x.device });
}

/** gradient of a sum: the dims put back, then expanded */
export function expandReduced<T>(
  b: GraphBuilder<T>,
  grad: T,
  x: T,
  dims: readonly number[] | null,
  keepdim: boolean,
): T {
  const { shape } = b.meta(x);
  const back =
    dims === null || dims.length === 0 || keepdim || shape.length === 0
      ? grad
      : unsqueezeDims(b, grad, dims, shape.length);
  return b.call("aten.expand.default", [back, shape]);
}

/** gradient of a mean */
export function meanBackward<T>(
  b: GraphBuilder<T>,
  grad: T,
  x: T,
  dims: readonly number[] | null,
  keepdim: boolean,
): T {
  const count = numelOf(b, x, dims === null || dims.length === 0 ? undefined : dims);
  return aten(b)("div.Scalar", expandReduced(b, grad, x, dims, keepdim), sizeScalar(b, count));
}

/** gradient of a value picked along a dim, by its index */
export function valueSelectingBackward<T>(
  b: GraphBuilder<T>,
  grad: T,
  x: T,
  indices: T,
  dim: number,
  keepdim: boolean,
): T {
  const f = aten(b);
  let [g, index] = [grad, indices];
  if (!keepdim && b.meta(x).shape.length > 0) {
    g = f("unsqueeze.default", grad, dim);
    index = f("unsqueeze.default", indices, dim);
  }
  return f("scatter.src", filledWith(b, "zeros", b.meta(x).shape, b.meta(g)), dim, index, g);
}

/** of an operator (self, dim, keepdim) -> (values, indices) whose values are picked along dim */
export const pickedValues: Derivative = each({
  self: (b, c) =>
    valueSelectingBackward(b, c.grad(0), c.args.tensor("self"), c.result(1), c.args.int("dim"), c.args.bool("keepdim")),
});

/** gradient of max() and its kind: shared evenly among the equal values */
export function evenlyDistributed<T>(b: GraphBuilder<T>, grad: T, x: T, result: T): T {
  const f = aten(b);
  const nan = f("isnan.default", x);
  const bothNan = f("logical_and.default", nan, f("isnan.default", result));
  const mask = f("logical_or.default", f("eq.Tensor", x, result), bothNan);
  return f("mul.Tensor", mask, f("div.Tensor", grad, f("sum.default", mask)));
}

/** gradient of a p-norm over dims (norm_backward) */
export function normBackward<T>(
  b: GraphBuilder<T>,
  grad: T,
  x: T,
  result: T,
  p: number,
  dims: readonly number[] | null,
  keepdim: boolean,
): T | null {
  const f = aten(b);
  if (p === 0) return null;
  const rank = b.meta(x).shape.length;
  let [g, norm] = [grad, result];
  if (!keepdim && rank > 0 && dims !== null && dims.length > 0) {
    g = unsqueezeDims(b, grad, dims, rank);
    norm = unsqueezeDims(b, result, dims, rank);
  }
  const zeroed = (value: T, test: T): T => b.call("aten.masked_fill.Scalar", [value, f("eq.Scalar", test, 0), 0]);
  if (p === 1) return f("mul.Tensor", f("sgn.default", x), g);
  if (p === 2) return f("mul.Tensor", g, zeroed(f("div.Tensor", x, norm), norm));
  const size = f("abs.default", x);
  if (Math.abs(p) === Infinity) {
    const mask = f("logical_or.default", f("eq.Tensor", size, norm), f("isnan.default", size));
    const count = f("sum.dim_IntList", mask, dims ?? [], true);
    const shared = f("mul.Tensor", f("div.Tensor", g, count), mask);
    return f("mul.Tensor", f("sgn.default", x), shared);
  }
  if (p < 1) {
    const scaled = zeroed(f("pow.Tensor_Scalar", size, fl(p - 1)), x);
    const signed = f("mul.Tensor", f("sgn.default", x), scaled);
    const power = f("pow.Tensor_Scalar", norm, fl(1 - p)); // the right factor comes first
    return f("mul.Tensor", f("mul.Tensor", signed, g), power);
  }
  if (p < 2) {
    const scaled = f("mul.Tensor", f("sgn.default", x), f("pow.Tensor_Scalar", size, fl(p - 1)));
    return f("mul.Tensor", scaled, zeroed(f("div.Tensor", g, f("pow.Tensor_Scalar", norm, fl(p - 1))), norm));
  }
  const scaled = f("mul.Tensor", x, f("pow.Tensor_Scalar", size, fl(p - 2)));
  return f("mul.Tensor", scaled, zeroed(f("div.Tensor", g, f("pow.Tensor_Scalar", norm, fl(p - 1))), norm));
}
