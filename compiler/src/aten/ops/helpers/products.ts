// The calls that derivatives, compositions and lowerings of matrix products are written with.

import type { ArgValue, GraphBuilder, LoweringBuilder, Scalar } from "../../types";
import { equalsNumber, isComplexDType } from "./define";

/** x * s as derivative formulas write it, left out for 1 (autograd's maybe_multiply) */
export function maybeMultiply<T>(b: GraphBuilder<T>, x: T, s: Scalar): T {
  return equalsNumber(s, 1) ? x : b.call("aten.mul.Scalar", [x, s]);
}

export function conjIfComplex<T>(b: GraphBuilder<T>, x: T): T {
  return isComplexDType(b.meta(x).dtype) ? b.call("aten.clone.default", [b.call("aten._conj.default", [x])]) : x;
}

export const t = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.t.default", [x]);
export const mm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mm.default", [x, y]);

export const swapLast = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.transpose.int", [x, 1, 2]);
export const bmm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.bmm.default", [x, y]);

export const outer = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.outer.default", [x, y]);
export const mv = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mv.default", [x, y]);

/** a product by the library's kernel, or by a template that is chosen in its place */
export function externOut<B>(
  b: LoweringBuilder<B>,
  name: string,
  operands: readonly B[],
  kwargs: Record<string, ArgValue<B>> = {},
): B {
  // the factors come into memory before what is added to them
  const factors = operands.slice(-2).map(x => b.operand(x));
  const inputs = [...operands.slice(0, -2), ...factors];
  return b.extern({
    kind: "out",
    kernel: `extern_kernels.${name}`,
    op: `aten.${name}.default`,
    inputs,
    args: inputs as readonly ArgValue<B>[],
    kwargs,
    // of the products only these two leave their layout open to what reads them
    layout: name === "mm" || name === "addmm" ? "flexible" : "contiguous",
    // addmm's library kernel takes what is added in whatever strides it has
    strides: name === "addmm" ? "any" : "mm",
  });
}
