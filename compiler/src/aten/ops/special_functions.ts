// Special functions of one tensor: erf and kin, lgamma, digamma, Bessel functions, torch.special.
// Derivatives and decompositions create their nodes in the order of PyTorch's formulas.

import type { GraphBuilder, OpRecord } from "../types";
import { aten, each, fallback, fl, type GradFormula, pointwise } from "./helpers/define";
import { where } from "./helpers/trace";
import { special, unary } from "./helpers/unary";

const TWO_OVER_SQRT_PI = 1.1283791670955126;
const HALF_SQRT_PI = 0.8862269254527579;

/** d/dx of the error function and its relatives: the constant times exp(-x**2), then times the gradient */
function gaussian(scale: number): GradFormula {
  return (b, c) => {
    const f = aten(b);
    const e = f("exp.default", f("neg.default", f("pow.Tensor_Scalar", c.args.tensor("self"), 2)));
    return f("mul.Tensor", f("mul.Scalar", e, fl(scale)), c.grad());
  };
}

const specialFunctions: OpRecord[] = [
  ...unary("erf", "int_to_float", "erf", gaussian(TWO_OVER_SQRT_PI)),
  ...unary("erfc", "int_to_float", "erfc", gaussian(-TWO_OVER_SQRT_PI)),
  ...unary("erfinv", "int_to_float", "erfinv", (b, c) => {
    const f = aten(b);
    const inverse = f("erfinv.default", c.args.tensor("self"));
    const e = f("exp.default", f("pow.Tensor_Scalar", inverse, 2));
    return f("mul.Tensor", f("mul.Scalar", e, fl(HALF_SQRT_PI)), c.grad());
  }),
  ...unary("lgamma", "int_to_float", "lgamma", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("digamma.default", c.args.tensor("self")));
  }),
  ...unary(
    "digamma",
    "int_to_float",
    "digamma",
    (b, c) => {
      const f = aten(b);
      return f("mul.Tensor", c.grad(), f("polygamma.default", 1, c.args.tensor("self")));
    },
    { lower: fallback("aten.digamma.default", ["self"], ["self"]) },
  ),
  ...unary("i0", "int_to_float", "i0", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("special_i1.default", c.args.tensor("self")));
  }),
  pointwise({
    name: "aten.polygamma.default",
    schema: "polygamma(int n, Tensor self) -> Tensor",
    python: ["torch.polygamma"],
    promotion: "int_to_float",
    lower: fallback("aten.polygamma.default", ["self"], ["n", "self"]),
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("polygamma.default", c.args.int("n") + 1, c.args.tensor("self")));
      },
    }),
  }),
  pointwise({
    name: "aten.special_i0e.default",
    schema: "special_i0e(Tensor self) -> Tensor",
    ...special("i0e"),
    promotion: "int_to_float",
    lower: fallback("aten.special_i0e.default", ["self"], ["self"]),
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        const r = c.result();
        const signed = f("mul.Tensor", f("sgn.default", x), r);
        return f("mul.Tensor", c.grad(), f("sub.Tensor", f("special_i1e.default", x), signed));
      },
    }),
  }),
  pointwise({
    name: "aten.special_i1.default",
    schema: "special_i1(Tensor self) -> Tensor",
    ...special("i1"),
    promotion: "int_to_float",
    op: "i1",
    derivative: each({ self: (b, c) => besselDerivative(b, c.grad(), c.args.tensor("self"), c.result(), false) }),
  }),
  pointwise({
    name: "aten.special_i1e.default",
    schema: "special_i1e(Tensor self) -> Tensor",
    ...special("i1e"),
    promotion: "int_to_float",
    lower: fallback("aten.special_i1e.default", ["self"], ["self"]),
    derivative: each({ self: (b, c) => besselDerivative(b, c.grad(), c.args.tensor("self"), c.result(), true) }),
  }),
  pointwise({
    name: "aten.special_entr.default",
    schema: "special_entr(Tensor self) -> Tensor",
    ...special("entr"),
    promotion: "int_to_float",
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const nan = f("isnan.default", x);
      const positive = f("gt.Scalar", x, 0);
      const value = f("mul.Tensor", f("neg.default", x), f("log.default", x));
      const isZero = f("eq.Scalar", x, 0);
      const rest = where(b, isZero, 0, fl(-Infinity));
      return where(b, nan, x, where(b, positive, value, rest));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const d = f("neg.default", f("add.Scalar", f("log.default", c.args.tensor("self")), 1));
        return f("mul.Tensor", c.grad(), d);
      },
    }),
  }),
  pointwise({
    name: "aten.special_ndtr.default",
    schema: "special_ndtr(Tensor self) -> Tensor",
    ...special("ndtr"),
    promotion: "int_to_float",
    tags: [],
    composite: (b, a) => {
      const f = aten(b);
      const scaled = f("mul.Scalar", a.tensor("self"), fl(Math.SQRT1_2));
      return f("mul.Scalar", f("add.Scalar", f("erf.default", scaled), 1), fl(0.5));
    },
  }),
  pointwise({
    name: "aten.special_erfcx.default",
    schema: "special_erfcx(Tensor self) -> Tensor",
    ...special("erfcx"),
    promotion: "int_to_float",
    op: "erfcx",
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const scaled = f("mul.Tensor", f("mul.Scalar", c.result(), fl(2)), c.args.tensor("self"));
        return f("mul.Tensor", f("sub.Scalar", scaled, fl(2 / Math.sqrt(Math.PI))), c.grad());
      },
    }),
  }),
  pointwise({
    name: "aten.special_log_ndtr.default",
    schema: "special_log_ndtr(Tensor self) -> Tensor",
    ...special("log_ndtr"),
    promotion: "int_to_float",
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const t = f("mul.Tensor", x, fl(Math.SQRT1_2));
      const small = f("lt.Scalar", x, fl(1));
      const tail = f("div.Tensor", f("special_erfcx.default", f("neg.default", t)), 2);
      const left = f("sub.Tensor", f("log.default", tail), f("mul.Tensor", t, t));
      const right = f("log1p.default", f("div.Tensor", f("neg.default", f("erfc.default", t)), 2));
      return where(b, small, left, right);
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const r = c.result();
        const square = f("div.Scalar", f("pow.Tensor_Scalar", c.args.tensor("self"), 2), 2);
        const e = f("exp.default", f("neg.default", f("add.Tensor", r, square)));
        return f("mul.Tensor", f("div.Scalar", c.grad(), fl(2.5066282746310002)), e);
      },
    }),
  }),
];

/** derivative of i1 and i1e: by the recurrence away from 0, 0.5 at 0 */
function besselDerivative<T>(b: GraphBuilder<T>, grad: T, x: T, result: T, scaled: boolean): T {
  const f = aten(b);
  const eps = b.meta(x).dtype === "float64" ? 2.220446049250313e-16 : 1.1920928955078125e-7;
  const big = f("gt.Scalar", f("abs.default", x), fl(eps));
  const safe = where(b, big, x, fl(eps));
  const inverse = scaled
    ? ((): T => {
        const reciprocal = f("reciprocal.default", safe);
        return f("add.Tensor", f("sgn.default", safe), reciprocal);
      })()
    : f("reciprocal.default", safe);
  const second = f("mul.Tensor", result, inverse);
  const first = f(scaled ? "special_i0e.default" : "i0.default", safe);
  const d = where(b, big, f("sub.Tensor", first, second), fl(0.5));
  return f("mul.Tensor", grad, d);
}

export const records: readonly OpRecord[] = [...specialFunctions];
