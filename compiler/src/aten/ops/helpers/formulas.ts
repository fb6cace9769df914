// Node sequences that several operators share.
import { type GraphBuilder, PyFloat, type Scalar } from "../../types";
import { aten, equalsNumber, fl, isIntegralDType } from "./define";
import { fullLike } from "./trace";

/** x == x and |x| != inf; all True on integers */
export function finiteMask<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  if (isIntegralDType(b.meta(x).dtype)) return fullLike(b, x, true, "bool");
  const bounded = f("ne.Scalar", f("abs.default", x), fl(Infinity));
  return f("mul.Tensor", f("eq.Tensor", x, x), bounded);
}

/** an integer's default, which is not told from what was given; 1.0 is */
const isDefault = (given: Scalar, number: number): boolean =>
  !(given instanceof PyFloat) && equalsNumber(given, number);

/** log(1 + exp(x)), x itself where that is large; a beta that was given as 1 is multiplied with, unlike the default's */
export function softplus<T>(b: GraphBuilder<T>, x: T, beta: Scalar = 1, threshold: Scalar = 20): T {
  const f = aten(b);
  const plain = isDefault(beta, 1) && isDefault(threshold, 20);
  const scaled = plain ? x : f("mul.Tensor", x, beta);
  let soft = f("log1p.default", f("exp.default", scaled));
  if (!plain) soft = f("div.Tensor", soft, beta);
  return f("where.self", f("gt.Scalar", scaled, threshold), x, soft);
}
