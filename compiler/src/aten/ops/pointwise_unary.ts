// Elementwise operators of one tensor: the functions of torch and torch.special, with in-place forms.
// Derivatives and decompositions create their nodes in the order of PyTorch's formulas.
import { DeviceArg, DTypeArg, type GraphBuilder, type OpName, type OpRecord, type PromotionKind } from "../types";
import {
  aten,
  each,
  fallback,
  fallbackMany,
  fl,
  type GradFormula,
  inplace,
  isComplex,
  isIntegral,
  NOT_DIFFERENTIABLE,
  type PointwiseSpec,
  pointwise,
  spell,
  withInplace,
} from "./helpers/define";
import { finiteMask } from "./helpers/formulas";
import {
  conj,
  full,
  fullLike,
  maskedFill,
  opmath,
  STRIDED,
  toDtype,
  where,
  withOpmath,
  zeroScalar,
  zerosLike,
} from "./helpers/trace";

const LN2 = Math.LN2;
// PyTorch writes the constant so; it is not the double nearest to ln 10
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the value is printed
const LN10 = 2.3025850929940455;
const TWO_OVER_SQRT_PI = 1.1283791670955126;
const HALF_SQRT_PI = 0.8862269254527579;

/** zeros that need no memory in eager mode */
function efficientZero<T>(b: GraphBuilder<T>, like: T): T {
  const { shape, dtype, device } = b.meta(like);
  return b.call("aten._efficientzerotensor.default", [shape], {
    dtype: new DTypeArg(dtype),
    layout: STRIDED,
    device: new DeviceArg(device),
  });
}

const efficientZeros: OpRecord = {
  name: "aten._efficientzerotensor.default",
  schema:
    "_efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) =>
    m.tensor(a.dims("size"), {
      dtype: a.dtype("dtype") ?? m.defaultDType(),
      device: a.device("device") ?? m.defaultDevice(),
    }),
  lower: fallback("aten._efficientzerotensor.default", [], ["size"], ["dtype", "layout", "device", "pin_memory"]),
};

const ZERO: GradFormula = (b, c) => zerosLike(b, c.grad());

/** grad * result.conj(), and the like: the second factor is worked out first */
const timesResult: GradFormula = (b, c) => aten(b)("mul.Tensor", c.grad(), conj(b, c.result()));

/** An operator lowered to one loop operation. */
function unary(
  packet: string,
  promotion: PromotionKind,
  op: OpName,
  grad: GradFormula,
  extra: Partial<PointwiseSpec> = {},
): OpRecord[] {
  return withInplace(
    pointwise({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self) -> Tensor`,
      python: spell(packet),
      promotion,
      op,
      derivative: each({ self: grad }),
      ...extra,
    }),
    [`torch.${packet}_`],
  );
}

/** Rounding is the identity on integers, and has no slope. */
function rounding(packet: "floor" | "ceil" | "round" | "trunc", extra: Partial<PointwiseSpec> = {}): OpRecord[] {
  return unary(packet, "default", packet, ZERO, {
    lower: (b, a) => {
      const x = a.tensor("self");
      return isIntegral(b.dtype(x)) ? b.clone(x) : b.elementwise(packet, [x]);
    },
    ...extra,
  });
}

/** A second name of an operator: PyTorch composes it before autograd. */
function alias(packet: string, of: string, python: readonly string[] = spell(packet)): OpRecord[] {
  const record = pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self) -> Tensor`,
    python,
    promotion: INT_TO_FLOAT_ALIASES.has(of) ? "int_to_float" : of === "abs" ? "complex_to_float" : "default",
    composite: (b, a) => b.call(`aten.${of}.default`, [a.tensor("self")]),
    tags: [],
  });
  return packet.startsWith("special_") ? [record] : [record, inplaceAlias(record, of)];
}

/** absolute_ writes what abs computes */
function inplaceAlias(record: OpRecord, of: string): OpRecord {
  return { ...inplace(record), functional: `aten.${of}.default` };
}

const INT_TO_FLOAT_ALIASES: ReadonlySet<string> = new Set([
  "asin",
  "acos",
  "atan",
  "asinh",
  "acosh",
  "atanh",
  "sigmoid",
  "erf",
  "erfc",
  "erfinv",
  "exp2",
  "expm1",
  "log1p",
  "digamma",
  "lgamma",
  "i0",
  "sinc",
]);

/** torch.special.NAME, printed by its C name */
function special(name: string): { python: string[]; printedAs: string } {
  return { python: [`torch.special.${name}`], printedAs: `torch._C._special.special_${name}` };
}

const transcendental: OpRecord[] = [
  ...unary("exp", "int_to_float", "exp", timesResult),
  ...unary("exp2", "int_to_float", "exp2", (b, c) => {
    const f = aten(b);
    return f("mul.Scalar", f("mul.Tensor", c.grad(), conj(b, c.result())), fl(LN2));
  }),
  ...unary("expm1", "int_to_float", "expm1", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("add.Scalar", conj(b, c.result()), 1));
  }),
  ...unary("log", "int_to_float", "log", (b, c) => aten(b)("div.Tensor", c.grad(), conj(b, c.args.tensor("self")))),
  ...unary("log2", "int_to_float", "log2", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.args.tensor("self")), fl(LN2)));
  }),
  ...unary("log10", "int_to_float", "log10", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.args.tensor("self")), fl(LN10)));
  }),
  ...unary("log1p", "int_to_float", "log1p", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), conj(b, f("add.Scalar", c.args.tensor("self"), 1)));
  }),
  ...unary("sqrt", "int_to_float", "sqrt", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.result()), 2));
  }),
  ...unary("rsqrt", "int_to_float", "rsqrt", (b, c) => {
    const f = aten(b);
    const cube = conj(b, f("pow.Tensor_Scalar", c.result(), 3));
    return f("mul.Tensor", f("mul.Scalar", c.grad(), fl(-0.5)), cube);
  }),
  ...unary("reciprocal", "int_to_float", "reciprocal", (b, c) => {
    const f = aten(b);
    const r = c.result();
    const square = conj(b, f("mul.Tensor", r, r));
    return f("mul.Tensor", f("neg.default", c.grad()), square);
  }),
  ...unary("sin", "int_to_float", "sin", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("cos.default", c.args.tensor("self"))));
  }),
  ...unary("cos", "int_to_float", "cos", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("neg.default", conj(b, f("sin.default", c.args.tensor("self")))));
  }),
  ...unary("tan", "int_to_float", "tan", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("add.Scalar", f("pow.Tensor_Scalar", c.result(), 2), 1)));
  }),
  ...unary("asin", "int_to_float", "asin", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, oneMinusSquareRsqrt(b, c.args.tensor("self"))));
  }),
  ...unary("acos", "int_to_float", "acos", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("neg.default", oneMinusSquareRsqrt(b, c.args.tensor("self")))));
  }),
  ...unary("atan", "int_to_float", "atan", (b, c) => {
    const f = aten(b);
    const x = c.args.tensor("self");
    return f("div.Tensor", c.grad(), conj(b, f("add.Scalar", f("mul.Tensor", x, x), 1)));
  }),
  ...unary("sinh", "int_to_float", "sinh", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("cosh.default", c.args.tensor("self"))));
  }),
  ...unary("cosh", "int_to_float", "cosh", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("sinh.default", c.args.tensor("self"))));
  }),
  ...unary("tanh", "int_to_float", "tanh", (b, c) => b.call("aten.tanh_backward.default", [c.grad(), c.result()]), {
    python: [...spell("tanh"), "torch.nn.functional.tanh"],
  }),
  ...unary("asinh", "int_to_float", "asinh", (b, c) => {
    const f = aten(b);
    const d = f("rsqrt.default", f("add.Scalar", f("pow.Tensor_Scalar", c.args.tensor("self"), 2), 1));
    return f("mul.Tensor", c.grad(), conj(b, d));
  }),
  ...unary("acosh", "int_to_float", "acosh", (b, c) => {
    const f = aten(b);
    const x = c.args.tensor("self");
    return f("mul.Tensor", c.grad(), conj(b, f("rsqrt.default", f("sub.Scalar", f("mul.Tensor", x, x), 1))));
  }),
  ...unary("atanh", "int_to_float", "atanh", (b, c) => {
    const f = aten(b);
    const square = f("pow.Tensor_Scalar", c.args.tensor("self"), 2);
    const one = fullLike(b, square, 1);
    const d = conj(b, f("sub.Tensor", one, square));
    return f("div.Tensor", f("mul.Scalar", c.grad(), 1), d);
  }),
  ...unary(
    "sigmoid",
    "int_to_float",
    "sigmoid",
    (b, c) => b.call("aten.sigmoid_backward.default", [c.grad(), c.result()]),
    { python: [...spell("sigmoid"), "torch.nn.functional.sigmoid"] },
  ),
];

function oneMinusSquareRsqrt<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  return f("rsqrt.default", f("add.Scalar", f("mul.Tensor", f("neg.default", x), x), 1));
}

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

const signs: OpRecord[] = [
  ...unary(
    "abs",
    "complex_to_float",
    "abs",
    (b, c) => {
      const f = aten(b);
      return f("mul.Tensor", c.grad(), f("sgn.default", c.args.tensor("self")));
    },
    { python: [...spell("abs"), "operator.abs"] },
  ),
  ...unary("neg", "default", "neg", (b, c) => aten(b)("neg.default", c.grad()), {
    python: [...spell("neg"), "operator.neg"],
    meta: (m, a) => {
      const x = a.tensor("self");
      if (x.dtype === "bool") {
        return m.fail(
          "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        );
      }
      return m.elementwise(x.dtype, x);
    },
  }),
  ...unary("sign", "default", "sign", ZERO),
  ...withInplace(
    pointwise({
      name: "aten.sgn.default",
      schema: "sgn(Tensor self) -> Tensor",
      python: spell("sgn"),
      decompose: (b, a) => {
        const f = aten(b);
        const x = a.tensor("self");
        if (!isComplex(b.meta(x).dtype)) return withOpmath(b, [x], y => f("sign.default", y));
        const size = f("abs.default", x);
        const isZero = f("eq.Scalar", size, 0);
        return where(b, isZero, 0, f("div.Tensor", x, size));
      },
      derivative: each({
        self: (b, c) => {
          const f = aten(b);
          const [g, x] = [c.grad(), c.args.tensor("self")];
          if (!isComplex(b.meta(g).dtype)) return efficientZero(b, g);
          const sgn = c.result();
          const size = f("abs.default", x);
          const radial = f("mul.Tensor", f("real.default", f("div.Tensor", g, sgn)), sgn);
          const grad = f("sub.Tensor", f("div.Tensor", g, size), f("div.Tensor", radial, size));
          return maskedFill(b, grad, f("eq.Scalar", size, fl(0)), fl(0));
        },
      }),
    }),
  ),
  ...rounding("floor"),
  ...rounding("ceil"),
  ...rounding("round"),
  ...rounding("trunc"),
  ...withInplace(
    pointwise({
      name: "aten.round.decimals",
      schema: "round.decimals(Tensor self, *, int decimals) -> Tensor",
      python: spell("round"),
      decompose: (b, a) => {
        const f = aten(b);
        const x = a.tensor("self");
        const decimals = a.int("decimals");
        if (decimals === 0) return f("round.default", x);
        const scale = 10 ** Math.abs(decimals);
        const inverse = 10 ** -Math.abs(decimals);
        const [up, down] = decimals > 0 ? [scale, inverse] : [inverse, scale];
        return f("mul.Tensor", f("round.default", f("mul.Tensor", x, fl(up))), fl(down));
      },
      derivative: each({ self: ZERO }),
    }),
  ),
  ...withInplace(
    pointwise({
      name: "aten.frac.default",
      schema: "frac(Tensor self) -> Tensor",
      python: spell("frac"),
      decompose: (b, a) =>
        withOpmath(b, [a.tensor("self")], x => {
          const f = aten(b);
          const whole = f("floor.default", f("abs.default", x));
          const signed = f("mul.Tensor", whole, f("sign.default", x));
          return f("sub.Tensor", x, signed);
        }),
      derivative: each({ self: (_b, c) => c.grad() }),
    }),
  ),
  pointwise({
    name: "aten.positive.default",
    schema: "positive(Tensor(a) self) -> Tensor(a)",
    python: [...spell("positive"), "operator.pos"],
    composite: (_b, a) => a.tensor("self"),
  }),
];

const predicates: OpRecord[] = [
  ...(["isnan", "isinf"] as const).map(packet =>
    pointwise({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self) -> Tensor`,
      python: spell(packet),
      dtype: "bool",
      derivative: NOT_DIFFERENTIABLE,
      lower: (b, a) => {
        const x = a.tensor("self");
        return isIntegral(b.dtype(x))
          ? b.constant(false, "bool", b.device(x), b.size(x))
          : b.elementwise(packet, [x], { dtype: "bool" });
      },
    }),
  ),
  pointwise({
    name: "aten.signbit.default",
    schema: "signbit(Tensor self) -> Tensor",
    python: spell("signbit"),
    dtype: "bool",
    op: "signbit",
    derivative: NOT_DIFFERENTIABLE,
  }),
  pointwise({
    name: "aten.isfinite.default",
    schema: "isfinite(Tensor self) -> Tensor",
    python: spell("isfinite"),
    dtype: "bool",
    composite: (b, a) => finiteMask(b, a.tensor("self")),
  }),
  ...(["isposinf", "isneginf"] as const).map(packet =>
    pointwise({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self) -> Tensor`,
      python: spell(packet),
      dtype: "bool",
      derivative: NOT_DIFFERENTIABLE,
      decompose: (b, a) => {
        const x = a.tensor("self");
        if (isIntegral(b.meta(x).dtype)) return fullLike(b, x, false, "bool");
        return aten(b)("eq.Scalar", x, fl(packet === "isposinf" ? Infinity : -Infinity));
      },
    }),
  ),
  pointwise({
    name: "aten.isreal.default",
    schema: "isreal(Tensor self) -> Tensor",
    python: spell("isreal"),
    dtype: "bool",
    tags: [],
    composite: (b, a) => fullLike(b, a.tensor("self"), true, "bool"),
  }),
];

const LIMITS: Partial<Record<string, number>> = {
  float16: 65504,
  bfloat16: 3.3895313892515355e38,
  float32: 3.4028234663852886e38,
  float64: Number.MAX_VALUE,
};

const cleaned: OpRecord[] = [
  ...withInplace(
    pointwise({
      name: "aten.nan_to_num.default",
      schema: "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
      python: spell("nan_to_num"),
      decompose: (b, a) => {
        const f = aten(b);
        const x = a.tensor("self");
        const { dtype } = b.meta(x);
        if (isIntegral(dtype)) return f("clone.default", x);
        const limit = LIMITS[dtype] ?? Number.MAX_VALUE;
        const nan = fl(a.optNumber("nan") ?? 0);
        const low = fl(a.optNumber("neginf") ?? -limit);
        const high = fl(a.optNumber("posinf") ?? limit);
        let r = where(b, f("isnan.default", x), nan, x);
        // isneginf and isposinf compare in the arithmetic dtype
        const wide = (): typeof x => toDtype(b, x, opmath(dtype));
        r = where(b, f("eq.Scalar", wide(), fl(-Infinity)), low, r);
        return where(b, f("eq.Scalar", wide(), fl(Infinity)), high, r);
      },
      derivative: each({
        self: (b, c) => {
          const f = aten(b);
          const x = c.args.tensor("self");
          return f("mul.Tensor", c.grad(), finiteMask(b, x));
        },
      }),
    }),
  ),
  ...withInplace(
    pointwise({
      name: "aten.logit.default",
      schema: "logit(Tensor self, float? eps=None) -> Tensor",
      python: spell("logit"),
      promotion: "int_to_float",
      decompose: (b, a) =>
        withOpmath(b, [a.tensor("self")], x => {
          const f = aten(b);
          const eps = a.optNumber("eps");
          const lo = eps ?? -1;
          const hi = eps === null ? 2 : 1 - eps;
          const below = f("lt.Scalar", x, fl(lo));
          const above = f("gt.Scalar", x, fl(hi));
          const clamped = where(b, below, fl(lo), where(b, above, fl(hi), x));
          return f("log.default", f("div.Tensor", clamped, f("sub.Tensor", 1, clamped)));
        }),
      derivative: each({
        self: (b, c) => b.call("aten.logit_backward.default", [c.grad(), c.args.tensor("self"), c.args.raw("eps")]),
      }),
    }),
  ),
  pointwise({
    name: "aten.logit_backward.default",
    schema: "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
    operands: ["grad_output", "self"],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("grad_output"), a.tensor("self")], (grad, x) => {
        const f = aten(b);
        const eps = a.optNumber("eps");
        const lo = eps ?? 0;
        const hi = 1 - lo;
        const above = f("ge.Scalar", x, fl(lo));
        const below = f("le.Scalar", x, fl(hi));
        const inside = f("logical_and.default", above, below);
        const rest = f("sub.Tensor", fl(1), x);
        const d = f("div.Tensor", grad, f("mul.Tensor", x, rest));
        if (eps !== null) return where(b, inside, d, fl(0));
        const m = b.meta(x);
        return f("where.self", inside, d, full(b, [], fl(Number.NaN), m.dtype, m.device));
      }),
  }),
  ...withInplace(
    pointwise({
      name: "aten.sinc.default",
      schema: "sinc(Tensor self) -> Tensor",
      python: spell("sinc"),
      promotion: "int_to_float",
      decompose: (b, a) => {
        const f = aten(b);
        const scaled = f("mul.Tensor", a.tensor("self"), fl(Math.PI));
        const isZero = f("eq.Scalar", scaled, 0);
        return where(b, isZero, 1, f("div.Tensor", f("sin.default", scaled), scaled));
      },
      derivative: each({
        self: (b, c) => {
          const f = aten(b);
          const x = c.args.tensor("self");
          const px = f("mul.Scalar", x, fl(Math.PI));
          const pxx = f("mul.Scalar", f("mul.Tensor", x, x), fl(Math.PI));
          const sine = f("sin.default", px);
          const slope = f("sub.Tensor", f("mul.Tensor", px, f("cos.default", px)), sine);
          const out = f("mul.Tensor", c.grad(), conj(b, f("div.Tensor", slope, pxx)));
          const zero = zeroScalar(b, out);
          return f("where.self", f("eq.Scalar", pxx, fl(0)), zero, out);
        },
      }),
    }),
  ),
  ...(["rad2deg", "deg2rad"] as const).flatMap(packet => {
    const factor = fl(packet === "rad2deg" ? 57.29577951308232 : 0.017453292519943295);
    return withInplace(
      pointwise({
        name: `aten.${packet}.default`,
        schema: `${packet}(Tensor self) -> Tensor`,
        python: spell(packet),
        promotion: "int_to_float",
        decompose: (b, a) => aten(b)("mul.Tensor", a.tensor("self"), factor),
        derivative: each({ self: (b, c) => aten(b)("mul.Scalar", c.grad(), factor) }),
      }),
    );
  }),
];

const square = pointwise({
  name: "aten.square.default",
  schema: "square(Tensor self) -> Tensor",
  python: spell("square"),
  composite: (b, a) => b.call("aten.pow.Tensor_Scalar", [a.tensor("self"), 2]),
});

const squares: OpRecord[] = [
  square,
  { ...inplace(square), composite: (b, a) => b.call("aten.pow_.Scalar", [a.tensor("self"), 2]) },
];

const aliases: OpRecord[] = [
  ...alias("absolute", "abs"),
  ...alias("negative", "neg"),
  ...alias("arcsin", "asin"),
  ...alias("arccos", "acos"),
  ...alias("arctan", "atan"),
  ...alias("arcsinh", "asinh"),
  ...alias("arccosh", "acosh"),
  ...alias("arctanh", "atanh"),
  ...alias("fix", "trunc"),
  ...(
    [
      ["expit", "sigmoid"],
      ["erf", "erf"],
      ["erfc", "erfc"],
      ["erfinv", "erfinv"],
      ["exp2", "exp2"],
      ["expm1", "expm1"],
      ["log1p", "log1p"],
      ["psi", "digamma"],
      ["digamma", "digamma"],
      ["gammaln", "lgamma"],
      ["i0", "i0"],
      ["sinc", "sinc"],
    ] as const
  ).flatMap(([name, of]) =>
    alias(`special_${name}`, of, [`torch.special.${name}`]).map(r => ({
      ...r,
      printedAs: `torch._C._special.special_${name}`,
    })),
  ),
];

/** mantissa and exponent */
const frexp: OpRecord = {
  name: "aten.frexp.Tensor",
  schema: "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
  python: spell("frexp"),
  tags: ["pointwise"],
  nonDifferentiable: [1],
  meta: (m, a) => {
    const x = a.tensor("self");
    return [m.elementwise(x.dtype, x), m.elementwise("int32", x)];
  },
  lower: fallbackMany("aten.frexp.Tensor", ["self"], ["self"]),
  derivative: each({
    self: (b, c) => b.call("aten.div.Tensor", [c.grad(0), b.call("aten.exp2.default", [c.result(1)])]),
  }),
};

export const records: readonly OpRecord[] = [
  ...transcendental,
  ...specialFunctions,
  ...signs,
  ...predicates,
  ...cleaned,
  ...squares,
  ...aliases,
  efficientZeros,
  frexp,
];
