// Arithmetic of two operands: +, -, *, /, //, %, ** with their reflected forms, where a number stands for one operand.
// Derivatives create their nodes in the order of PyTorch's formulas; the second operand's gradient comes first.
import {
  type Args,
  type ArgValue,
  type Dim,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  PyComplex,
  PyFloat,
  type Scalar,
  type TensorMeta,
} from "../types";
import {
  aten,
  each,
  elementwiseMeta,
  equalsNumber,
  fallback,
  fl,
  type GradFormula,
  inplace,
  isFloatDType,
  isIntegralDType,
  lowerOperands,
  metaOperands,
  NOT_DIFFERENTIABLE,
  numberOf,
  type PointwiseSpec,
  pointwise,
  spell,
} from "./helpers/define";
import { naturalLog } from "./helpers/numbers";
import { maybeMultiply } from "./helpers/products";
import { conj, zeroScalar, zerosLike } from "./helpers/trace";

const BOTH = ["self", "other"] as const;
const DOUBLE = new DTypeArg("float64");

/** the gradient itself */
const WHOLE: GradFormula = (_b, c) => c.grad();

function outDtype<B>(b: LoweringBuilder<B>): TensorMeta["dtype"] {
  return (b.out() as TensorMeta).dtype;
}

/** self op alpha * other */
function lowerAddSub<B>(b: LoweringBuilder<B>, a: Args<B>, op: "add" | "sub"): B {
  const alpha = a.scalar("alpha");
  const [self, raw] = lowerOperands(a, BOTH) as [B | Scalar, B | Scalar];
  let other = raw;
  if (!equalsNumber(alpha, 1)) {
    const product = b.isBox(raw) ? 0 : numberOf(raw) * numberOf(alpha);
    other = b.isBox(raw)
      ? b.elementwise("mul", [raw, alpha])
      : alpha instanceof PyFloat || raw instanceof PyFloat
        ? fl(product)
        : product;
  }
  const bools = op === "add" && outDtype(b) === "bool";
  return b.elementwise(bools ? "logical_or" : op, [self, other]);
}

const operandsOf = <B>(a: Args<B>): [B | Scalar | Dim, B | Scalar | Dim] =>
  lowerOperands(a, BOTH) as [B | Scalar | Dim, B | Scalar | Dim];

/** True division; by a constant it is a product with the reciprocal, worked out in double precision. */
function lowerTrueDivide<B>(b: LoweringBuilder<B>, x: B | Scalar | Dim, y: B | Scalar | Dim): B {
  const constant: Scalar | null = b.isBox(y) ? b.constantOf(y) : b.isDim(y) ? null : (y as Scalar);
  if (b.isBox(x) && constant !== null && !(constant instanceof PyComplex))
    return byReciprocal(b, x, constant, y as B | Scalar);
  return b.elementwise("truediv", [x, y], { promotion: "int_to_float" });
}

function byReciprocal<B>(b: LoweringBuilder<B>, x: B, constant: Scalar, y: B | Scalar): B {
  const n = numberOf(constant);
  const inverse = fl(n === 0 ? (Object.is(n, -0) ? -Infinity : Infinity) : 1 / n);
  if (!b.isBox(y)) return b.elementwise("mul", [x, inverse], { promotion: "int_to_float" });
  // a constant tensor still takes part in promotion and broadcasting
  const dtype = outDtype(b);
  return b.elementwise((ops, v) => ops.op("mul", v, ops.constant(inverse, dtype)), [x, y], {
    promotion: "int_to_float",
  });
}

function lowerRoundedDivide<B>(
  b: LoweringBuilder<B>,
  x: B | Scalar | Dim,
  y: B | Scalar | Dim,
  mode: string | null,
): B {
  if (mode === null) return lowerTrueDivide(b, x, y);
  if (isIntegralDType(outDtype(b))) return b.elementwise(mode === "floor" ? "floordiv" : "truncdiv", [x, y]);
  const quotient = lowerTrueDivide(b, x, y);
  return b.elementwise(mode === "floor" ? "floor" : "trunc", [quotient]);
}

/** -grad * ((self / other) / other) */
function divideOtherGrad<T>(b: GraphBuilder<T>, grad: T, self: T, other: T): T {
  const f = aten(b);
  const q = conj(b, f("div.Tensor", f("div.Tensor", self, other), other));
  return f("mul.Tensor", f("neg.default", grad), q);
}

function binary(packet: string, overload: string, spec: Omit<PointwiseSpec, "name">): OpRecord {
  return pointwise({ operands: BOTH, name: `aten.${packet}.${overload}`, ...spec });
}

const addSub: OpRecord[] = (["add", "sub"] as const).flatMap(packet => {
  const meta: OpRecord["meta"] = (m, a) => {
    if (packet === "sub") refuseBools(m, a);
    return elementwiseMeta(m, a, BOTH);
  };
  const tensor = binary(packet, "Tensor", {
    schema: `${packet}.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`,
    python: [...spell(packet), `operator.${packet}`],
    meta,
    lower: (b, a) => lowerAddSub(b, a, packet),
    derivative: each({
      other: (b, c) => {
        const g = packet === "add" ? c.grad() : aten(b)("neg.default", c.grad());
        return maybeMultiply(b, g, c.args.scalar("alpha"));
      },
      self: (_b, c) => c.grad(),
    }),
  });
  const scalar = binary(packet, "Scalar", {
    schema: `${packet}.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor`,
    meta,
    lower: (b, a) => lowerAddSub(b, a, packet),
    derivative: each({ self: (_b, c) => c.grad() }),
  });
  return [tensor, scalar, inplace(tensor, [`operator.i${packet}`]), { ...inplace(scalar), python: [] }];
});

function refuseBools(m: MetaBuilder, a: Args<TensorMeta>): void {
  const bools = metaOperands(a, BOTH).map(x =>
    typeof x === "object" && "shape" in x ? x.dtype === "bool" : x === true || x === false,
  );
  if (bools.every(x => x)) {
    m.fail(
      "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.",
    );
  }
  if (bools.some(x => x)) {
    m.fail(
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    );
  }
}

const lowerMul: OpRecord["lower"] = (b, a) =>
  b.elementwise(outDtype(b) === "bool" ? "logical_and" : "mul", lowerOperands(a, BOTH));

const mulTensor = binary("mul", "Tensor", {
  schema: "mul.Tensor(Tensor self, Tensor other) -> Tensor",
  python: [...spell("mul"), "operator.mul"],
  lower: lowerMul,
  derivative: each({
    other: (b, c) => aten(b)("mul.Tensor", c.grad(), conj(b, c.args.raw("self"))),
    self: (b, c) => aten(b)("mul.Tensor", c.grad(), conj(b, c.args.raw("other"))),
  }),
});
const mulScalar = binary("mul", "Scalar", {
  schema: "mul.Scalar(Tensor self, Scalar other) -> Tensor",
  lower: lowerMul,
  derivative: each({ self: (b, c) => aten(b)("mul.Scalar", c.grad(), c.args.raw("other")) }),
});

const divTensor = binary("div", "Tensor", {
  schema: "div.Tensor(Tensor self, Tensor other) -> Tensor",
  python: [...spell("div"), "operator.truediv"],
  promotion: "int_to_float",
  lower: (b, a) => lowerTrueDivide(b, ...operandsOf(a)),
  derivative: each({
    other: (b, c) => divideOtherGrad(b, c.grad(), c.args.tensor("self"), c.args.tensor("other")),
    self: (b, c) => aten(b)("div.Tensor", c.grad(), conj(b, c.args.raw("other"))),
  }),
});
const divScalar = binary("div", "Scalar", {
  schema: "div.Scalar(Tensor self, Scalar other) -> Tensor",
  promotion: "int_to_float",
  lower: (b, a) => lowerTrueDivide(b, ...operandsOf(a)),
  derivative: each({ self: (b, c) => aten(b)("div.Scalar", c.grad(), c.args.raw("other")) }),
});
const divMode = (overload: "Tensor_mode" | "Scalar_mode"): OpRecord =>
  binary("div", overload, {
    schema: `div.${overload}(Tensor self, ${overload === "Tensor_mode" ? "Tensor" : "Scalar"} other, *, str? rounding_mode) -> Tensor`,
    python: overload === "Tensor_mode" ? spell("div", "divide") : [],
    meta: (m, a) => elementwiseMeta(m, a, BOTH, a.optStr("rounding_mode") === null ? "int_to_float" : "default"),
    lower: (b, a) => {
      return lowerRoundedDivide(b, ...operandsOf(a), a.optStr("rounding_mode"));
    },
    derivative: each({
      other: (b, c) =>
        c.args.optStr("rounding_mode") === null
          ? divideOtherGrad(b, c.grad(), c.args.tensor("self"), c.args.tensor("other"))
          : zerosLike(b, c.grad()),
      self: (b, c) =>
        c.args.optStr("rounding_mode") === null
          ? aten(b)("div.Tensor", c.grad(), conj(b, c.args.raw("other")))
          : zerosLike(b, c.grad()),
    }),
  });
const floorDivide = binary("floor_divide", "default", {
  schema: "floor_divide(Tensor self, Tensor other) -> Tensor",
  python: [...spell("floor_divide"), "operator.floordiv"],
  tags: [],
  derivative: NOT_DIFFERENTIABLE,
  decompose: (b, a) => b.call("aten.div.Tensor_mode", [a.raw("self"), a.raw("other")], { rounding_mode: "floor" }),
});

const rsub: OpRecord[] = (["Tensor", "Scalar"] as const).map(overload =>
  binary("rsub", overload, {
    schema: `rsub.${overload}(Tensor self, ${overload} other, ${overload === "Tensor" ? "*, " : ""}Scalar alpha=1) -> Tensor`,
    python: ["torch.rsub"],
    tags: overload === "Scalar" ? ["pointwise"] : [],
    meta: (m, a) => {
      refuseBools(m, a);
      return elementwiseMeta(m, a, BOTH);
    },
    decompose: (b, a) => {
      const kwargs: Record<string, ArgValue<never>> = equalsNumber(a.scalar("alpha"), 1)
        ? {}
        : { alpha: a.scalar("alpha") };
      return b.call("aten.sub.Tensor", [a.raw("other"), a.tensor("self")], kwargs);
    },
    derivative: each({
      ...(overload === "Tensor" ? { other: WHOLE } : {}),
      self: (b, c) => maybeMultiply(b, aten(b)("neg.default", c.grad()), c.args.scalar("alpha")),
    }),
  }),
);

function modulo(packet: "remainder" | "fmod"): OpRecord[] {
  const rounding_mode = packet === "remainder" ? "floor" : "trunc";
  const lower: OpRecord["lower"] = (b, a) => {
    const op = packet === "remainder" ? "remainder" : isIntegralDType(outDtype(b)) ? "mod" : "fmod";
    return b.elementwise(op, lowerOperands(a, BOTH));
  };
  const operators = packet === "remainder" ? ["operator.mod"] : [];
  const tensor = binary(packet, "Tensor", {
    schema: `${packet}.Tensor(Tensor self, Tensor other) -> Tensor`,
    python: [...spell(packet), ...operators],
    lower,
    derivative: each({
      other: (b, c) => {
        const f = aten(b);
        const q = b.call("aten.div.Tensor_mode", [c.args.raw("self"), c.args.raw("other")], { rounding_mode });
        return f("mul.Tensor", f("neg.default", c.grad()), q);
      },
      self: (_b, c) => c.grad(),
    }),
  });
  const scalar = binary(packet, "Scalar", {
    schema: `${packet}.Scalar(Tensor self, Scalar other) -> Tensor`,
    python: [...spell(packet), ...operators],
    lower,
    derivative: each({ self: (_b, c) => c.grad() }),
  });
  const reflected = operators.map(o => o.replace("operator.", "operator.i"));
  const forms = [tensor, scalar, inplace(tensor, reflected), inplace(scalar, reflected)];
  if (packet === "fmod") return forms;
  return [
    ...forms,
    binary("remainder", "Scalar_Tensor", {
      schema: "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
      python: ["torch.remainder"],
      lower,
      derivative: NOT_DIFFERENTIABLE,
    }),
  ];
}

/** x ** n by repeated squaring, as the loop body has it */
function lowerIntegerPower<B>(b: LoweringBuilder<B>, x: B, n: number): B {
  const dtype = b.dtype(x);
  return b.elementwise(
    (ops, v) => {
      const power = (base: typeof v, e: number): typeof v => {
        if (e < 0) return power(ops.op("reciprocal", base), -e);
        if (e === 0) return ops.constant(1, dtype);
        if (e === 1) return base;
        const root = power(base, Math.floor(e / 2));
        const square = ops.op("mul", root, root);
        return e % 2 === 1 ? ops.op("mul", square, base) : square;
      };
      return power(v, n);
    },
    [x],
  );
}

function lowerPower<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  const dtype = outDtype(b);
  if (!a.isTensor("exponent")) {
    const exponent = a.scalar("exponent");
    const n = numberOf(exponent);
    const x = b.toDtype(a.tensor("self"), dtype);
    if (n === 0.5 && isFloatDType(dtype)) return b.elementwise("sqrt", [x]);
    if (n === 1) return b.clone(x);
    if (Number.isInteger(n) && n > -32 && n < 32) return lowerIntegerPower(b, x, n);
    if (isIntegralDType(dtype)) return fallback("aten.pow.Tensor_Scalar", ["self"], ["self", "exponent"])(b, a);
    return b.elementwise("pow", [x, exponent]);
  }
  const exponent = a.tensor("exponent");
  if (!a.isTensor("self")) {
    const base = numberOf(a.scalar("self"));
    if (base === 1) return b.constant(1, dtype, b.device(exponent), b.size(exponent));
    if (base === 2 && isFloatDType(dtype)) return b.elementwise("exp2", [b.toDtype(exponent, dtype)]);
    if (isIntegralDType(dtype)) return fallback("aten.pow.Scalar", ["exponent"], ["self", "exponent"])(b, a);
    return b.elementwise("pow", [a.scalar("self"), exponent]);
  }
  if (isIntegralDType(dtype))
    return fallback("aten.pow.Tensor_Tensor", ["self", "exponent"], ["self", "exponent"])(b, a);
  return b.elementwise("pow", [a.tensor("self"), exponent]);
}

const POWER = ["self", "exponent"] as const;

const power: OpRecord[] = ((): OpRecord[] => {
  const scalar = pointwise({
    name: "aten.pow.Tensor_Scalar",
    schema: "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    python: [...spell("pow"), "operator.pow"],
    operands: POWER,
    lower: lowerPower,
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const n = c.args.number("exponent");
        if (n === 0) return zerosLike(b, c.args.tensor("self"));
        const lowered = f("pow.Tensor_Scalar", c.args.tensor("self"), fl(n - 1));
        return f("mul.Tensor", c.grad(), conj(b, f("mul.Scalar", lowered, fl(n))));
      },
    }),
  });
  const tensor = pointwise({
    name: "aten.pow.Tensor_Tensor",
    schema: "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    python: [...spell("pow"), "operator.pow"],
    operands: POWER,
    lower: lowerPower,
    derivative: each({
      exponent: (b, c) => {
        const f = aten(b);
        const result = c.result();
        const [x, e] = [c.args.tensor("self"), c.args.tensor("exponent")];
        const nonNegative = f("ge.Scalar", e, 0);
        const flat = f("logical_and.default", f("eq.Scalar", x, 0), nonNegative);
        const slope = conj(b, f("mul.Tensor", result, f("log.default", x)));
        const zero = zeroScalar(b, c.grad());
        return f("mul.Tensor", c.grad(), f("where.self", flat, zero, slope));
      },
      self: (b, c) => {
        const f = aten(b);
        const [x, e] = [c.args.tensor("self"), c.args.tensor("exponent")];
        const lowered = f("pow.Tensor_Tensor", x, f("sub.Scalar", e, 1));
        const slope = f("mul.Tensor", c.grad(), conj(b, f("mul.Tensor", e, lowered)));
        const zero = zeroScalar(b, c.grad());
        return f("where.self", f("eq.Scalar", e, fl(0)), zero, slope);
      },
    }),
  });
  const base = pointwise({
    name: "aten.pow.Scalar",
    schema: "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    python: ["torch.pow", "operator.pow"],
    operands: POWER,
    lower: lowerPower,
    derivative: each({
      exponent: (b, c) => {
        const f = aten(b);
        const result = c.result();
        const n = c.args.number("self");
        if (n === 0) {
          const slope = f("mul.Scalar", result, fl(-Infinity));
          const zero = zeroScalar(b, c.grad());
          const flat = f("ge.Scalar", c.args.tensor("exponent"), 0);
          return f("mul.Tensor", c.grad(), f("where.self", flat, zero, slope));
        }
        return f("mul.Tensor", c.grad(), conj(b, f("mul.Scalar", result, fl(naturalLog(n)))));
      },
    }),
  });
  return [scalar, tensor, base, inplacePower(scalar, "Scalar"), inplacePower(tensor, "Tensor")];
})();

/** pow_.Scalar and pow_.Tensor, which are not named as their functional forms */
function inplacePower(of: OpRecord, overload: "Scalar" | "Tensor"): OpRecord {
  return {
    ...inplace(of, ["operator.ipow"]),
    name: `aten.pow_.${overload}`,
    schema: `pow_.${overload}(Tensor(a!) self, ${overload} exponent) -> Tensor(a!)`,
  };
}

const floatPower: OpRecord[] = (["Tensor_Scalar", "Tensor_Tensor"] as const).map(overload => ({
  name: `aten.float_power.${overload}`,
  schema: `float_power.${overload}(Tensor self, ${overload === "Tensor_Scalar" ? "Scalar" : "Tensor"} exponent) -> Tensor`,
  python: spell("float_power"),
  tags: [],
  meta: (m, a) => elementwiseMeta(m, a, POWER, "default", "float64"),
  composite: (b, a) => {
    const up = <T>(g: GraphBuilder<T>, x: T): T =>
      g.meta(x).dtype === "float64" ? x : g.call("aten.to.dtype", [x, DOUBLE]);
    if (overload === "Tensor_Scalar") {
      return b.call("aten.pow.Tensor_Scalar", [up(b, a.tensor("self")), a.float("exponent")]);
    }
    const exponent = up(b, a.tensor("exponent"));
    return b.call("aten.pow.Tensor_Tensor", [up(b, a.tensor("self")), exponent]);
  },
}));

/** Python operators with the number on the left */
function reflected(
  operator: string,
  call: <T>(b: GraphBuilder<T>, number: Scalar, x: T) => T,
  promotion: "default" | "int_to_float" = "default",
): OpRecord {
  return {
    name: `operator.${operator}.reflected`,
    schema: `${operator}_reflected(Scalar self, Tensor other) -> Tensor`,
    python: [`operator.${operator}`],
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, BOTH, promotion),
    composite: (b, a) => call(b, a.scalar("self"), a.tensor("other")),
  };
}

const reflectedOperators: OpRecord[] = [
  reflected("add", (b, n, x) => b.call("aten.add.Tensor", [x, n])),
  reflected("sub", (b, n, x) => b.call("aten.rsub.Scalar", [x, n])),
  reflected("mul", (b, n, x) => b.call("aten.mul.Tensor", [x, n])),
  reflected(
    "truediv",
    (b, n, x) => b.call("aten.mul.Tensor", [b.call("aten.reciprocal.default", [x]), n]),
    "int_to_float",
  ),
  reflected("floordiv", (b, n, x) => b.call("aten.floor_divide.default", [n, x])),
  reflected("mod", (b, n, x) => b.call("aten.remainder.Scalar_Tensor", [n, x])),
];

/** torch.multiply and the like: other names, composed before autograd */
function renamed(packet: string, of: string, promotion: "default" | "int_to_float" = "default"): OpRecord[] {
  const alpha = of === "sub" ? ", *, Scalar alpha=1" : "";
  const record: OpRecord = {
    name: `aten.${packet}.Tensor`,
    schema: `${packet}.Tensor(Tensor self, Tensor other${alpha}) -> Tensor`,
    python: spell(packet),
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, BOTH, promotion),
    composite: (b, a) =>
      b.call(
        `aten.${of}.Tensor`,
        [a.raw("self"), a.raw("other")],
        alpha && !equalsNumber(a.scalar("alpha"), 1) ? { alpha: a.raw("alpha") } : {},
      ),
  };
  return [record, { ...inplace(record), functional: `aten.${of}.Tensor` }];
}

export const records: readonly OpRecord[] = [
  ...addSub,
  mulTensor,
  mulScalar,
  inplace(mulTensor, ["operator.imul"]),
  { ...inplace(mulScalar), python: [] },
  divTensor,
  divScalar,
  inplace(divTensor, ["operator.itruediv"]),
  { ...inplace(divScalar), python: [] },
  divMode("Tensor_mode"),
  divMode("Scalar_mode"),
  inplace(divMode("Tensor_mode")),
  floorDivide,
  inplace(floorDivide, ["operator.ifloordiv"]),
  ...rsub,
  ...modulo("remainder"),
  ...modulo("fmod"),
  ...power,
  ...floatPower,
  ...reflectedOperators,
  ...renamed("multiply", "mul"),
  ...renamed("divide", "div", "int_to_float"),
  ...renamed("true_divide", "div", "int_to_float"),
  ...renamed("subtract", "sub"),
];
