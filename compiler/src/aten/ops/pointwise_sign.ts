// Elementwise operators of one tensor that look at its form: abs, neg, sign, rounding, predicates (isnan and kin),
// nan_to_num, square, frexp; and the zeros that need no memory.

import { DeviceArg, DTypeArg, type GraphBuilder, type OpRecord } from "../types";
import {
  aten,
  each,
  fallback,
  fallbackMany,
  fl,
  inplace,
  isComplexDType,
  isIntegralDType,
  NOT_DIFFERENTIABLE,
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
} from "./helpers/trace";
import { rounding, unary, ZERO } from "./helpers/unary";

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
        if (!isComplexDType(b.meta(x).dtype)) return withOpmath(b, [x], y => f("sign.default", y));
        const size = f("abs.default", x);
        const isZero = f("eq.Scalar", size, 0);
        return where(b, isZero, 0, f("div.Tensor", x, size));
      },
      derivative: each({
        self: (b, c) => {
          const f = aten(b);
          const [g, x] = [c.grad(), c.args.tensor("self")];
          if (!isComplexDType(b.meta(g).dtype)) return efficientZero(b, g);
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
        return isIntegralDType(b.dtype(x))
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
        if (isIntegralDType(b.meta(x).dtype)) return fullLike(b, x, false, "bool");
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
    composite: (b, a) => b.call("aten.ones_like.default", [a.tensor("self")], { dtype: new DTypeArg("bool") }),
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
        if (isIntegralDType(dtype)) return f("clone.default", x);
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

export const records: readonly OpRecord[] = [...signs, ...predicates, ...cleaned, ...squares, efficientZeros, frexp];
