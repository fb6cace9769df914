// The calls that derivatives and compositions of matrix products are written with.

import type { GraphBuilder, Scalar } from "../../types";
import { isComplex, numberOf } from "./define";

/** t * s as derivative formulas write it (maybe_multiply) */
export function maybeMultiply<T>(b: GraphBuilder<T>, x: T, s: Scalar): T {
  return numberOf(s) === 1 ? x : b.call("aten.mul.Scalar", [x, s]);
}

export function conjIfComplex<T>(b: GraphBuilder<T>, x: T): T {
  return isComplex(b.meta(x).dtype) ? b.call("aten.clone.default", [b.call("aten._conj.default", [x])]) : x;
}

export const t = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.t.default", [x]);
export const mm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mm.default", [x, y]);

export const swapLast = <T>(b: GraphBuilder<T>, x: T): T => b.call("aten.transpose.int", [x, 1, 2]);
export const bmm = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.bmm.default", [x, y]);

export const outer = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.outer.default", [x, y]);
export const mv = <T>(b: GraphBuilder<T>, x: T, y: T): T => b.call("aten.mv.default", [x, y]);
