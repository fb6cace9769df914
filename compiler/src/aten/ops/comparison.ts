// Comparisons, logical and bitwise operators: booleans and integers, never differentiable.
import type { Args, GraphBuilder, LoweringBuilder, OpName, OpRecord } from "../types";
import {
  aten,
  composite,
  elementwiseMeta,
  fl,
  inplace,
  lowerOperands,
  NOT_DIFFERENTIABLE,
  pointwise,
  spell,
} from "./helpers/define";
import { finiteMask } from "./helpers/formulas";

const BOTH = ["self", "other"] as const;

type Comparison = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/** with the operands swapped */
const SWAPPED: Readonly<Record<Comparison, Comparison>> = {
  eq: "eq",
  ne: "ne",
  lt: "gt",
  le: "ge",
  gt: "lt",
  ge: "le",
};

const LONG_NAMES: Readonly<Record<Comparison, string | null>> = {
  eq: null,
  ne: "not_equal",
  lt: "less",
  le: "less_equal",
  gt: "greater",
  ge: "greater_equal",
};

const comparisons: OpRecord[] = (Object.keys(SWAPPED) as Comparison[]).flatMap(op => {
  const long = LONG_NAMES[op];
  const names = long === null ? [op] : [op, long];
  const forms = (["Tensor", "Scalar"] as const).map(overload =>
    pointwise({
      name: `aten.${op}.${overload}`,
      schema: `${op}.${overload}(Tensor self, ${overload} other) -> Tensor`,
      python: [...spell(...names), `operator.${op}`, `Tensor.__${op}__`],
      operands: BOTH,
      dtype: "bool",
      op,
      derivative: NOT_DIFFERENTIABLE,
    }),
  );
  const reflected: OpRecord = {
    name: `operator.${op}.reflected`,
    schema: `${op}_reflected(Scalar self, Tensor other) -> Tensor`,
    python: [`operator.${op}`],
    tags: [],
    meta: (m, a) => elementwiseMeta(m, a, BOTH, "default", "bool"),
    composite: (b, a) => b.call(`aten.${SWAPPED[op]}.Scalar`, [a.tensor("other"), a.raw("self")]),
  };
  return [...forms, reflected, ...forms.map(f => inplace(f))];
});

/** x logical op y: operands become bools first */
function lowerLogical<B>(b: LoweringBuilder<B>, op: OpName, xs: readonly B[]): B {
  return b.elementwise(
    op,
    xs.map(x => b.toDtype(x, "bool")),
    { promotion: null, dtype: "bool" },
  );
}

const logical: OpRecord[] = [
  ...(["logical_and", "logical_or", "logical_xor"] as const).map(op =>
    pointwise({
      name: `aten.${op}.default`,
      schema: `${op}(Tensor self, Tensor other) -> Tensor`,
      python: spell(op),
      operands: BOTH,
      dtype: "bool",
      derivative: NOT_DIFFERENTIABLE,
      lower: (b, a) => lowerLogical(b, op, [a.tensor("self"), a.tensor("other")]),
    }),
  ),
  pointwise({
    name: "aten.logical_not.default",
    schema: "logical_not(Tensor self) -> Tensor",
    python: spell("logical_not"),
    dtype: "bool",
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => lowerLogical(b, "logical_not", [a.tensor("self")]),
  }),
].flatMap(r => [r, inplace(r)]);

type Bitwise = "bitwise_and" | "bitwise_or" | "bitwise_xor" | "bitwise_left_shift" | "bitwise_right_shift";

/** how Python writes it, and the method a number on the left reaches */
const SYMBOL: Readonly<Record<Bitwise, { operators: readonly string[]; inplaceOperator: string }>> = {
  bitwise_and: { operators: ["operator.and_", "Tensor.__and__"], inplaceOperator: "operator.iand" },
  bitwise_or: { operators: ["operator.or_", "Tensor.__or__"], inplaceOperator: "operator.ior" },
  bitwise_xor: { operators: ["operator.xor", "Tensor.__xor__"], inplaceOperator: "operator.ixor" },
  bitwise_left_shift: { operators: [], inplaceOperator: "" },
  bitwise_right_shift: { operators: [], inplaceOperator: "" },
};

function refuseFloats(symbol: string): OpRecord["meta"] {
  return (m, a) => {
    const out = elementwiseMeta(m, a, BOTH);
    if (/float|complex/.test(out.dtype)) {
      return m.fail(
        `"${symbol}_cuda" not implemented for '${out.dtype === "float32" ? "Float" : out.dtype}'`,
        "NotImplementedError",
      );
    }
    return out;
  };
}

const bitwise: OpRecord[] = (Object.keys(SYMBOL) as Bitwise[]).flatMap(op => {
  const shift = op.endsWith("shift");
  const lower: OpRecord["lower"] = (b, a) => b.elementwise(op, lowerOperands(a, BOTH));
  const { operators, inplaceOperator } = SYMBOL[op];
  const [tensor, scalar] = (["Tensor", "Scalar"] as const).map(overload => {
    const name = shift && overload === "Scalar" ? "Tensor_Scalar" : overload;
    return pointwise({
      name: `aten.${op}.${name}`,
      schema: `${op}.${name}(Tensor self, ${overload} other) -> Tensor`,
      python: [...spell(op), ...operators],
      operands: BOTH,
      meta: refuseFloats(op),
      derivative: NOT_DIFFERENTIABLE,
      lower,
    });
  }) as [OpRecord, OpRecord];
  const own = inplaceOperator ? [inplaceOperator] : [];
  const forms = [tensor, scalar, inplace(tensor, own), inplace(scalar, own)];
  if (shift) {
    const dunder = op === "bitwise_left_shift" ? "__lshift__" : "__rshift__";
    const operator = op === "bitwise_left_shift" ? "operator.lshift" : "operator.rshift";
    for (const overload of ["Tensor", "Scalar"] as const) {
      const r = pointwise({
        name: `aten.${dunder}.${overload}`,
        schema: `${dunder}.${overload}(Tensor self, ${overload} other) -> Tensor`,
        python: [operator, `Tensor.${dunder}`],
        operands: BOTH,
        meta: refuseFloats(op),
        derivative: NOT_DIFFERENTIABLE,
        lower,
      });
      forms.push(r, {
        ...inplace(r),
        name: `aten.${dunder.replace("__", "__i")}.${overload}`,
        schema: `${dunder.replace("__", "__i")}.${overload}(Tensor(a!) self, ${overload} other) -> Tensor(a!)`,
        python: [operator.replace("operator.", "operator.i")],
      });
    }
    return forms;
  }
  forms.push({
    name: `operator.${op}.reflected`,
    schema: `${op}_reflected(Scalar self, Tensor other) -> Tensor`,
    python: operators.filter(o => o.startsWith("operator.")),
    tags: [],
    meta: refuseFloats(op),
    composite: (b, a) => b.call(`aten.${op}.Scalar`, [a.tensor("other"), a.raw("self")]),
  });
  return forms;
});

const bitwiseNot = pointwise({
  name: "aten.bitwise_not.default",
  schema: "bitwise_not(Tensor self) -> Tensor",
  python: [...spell("bitwise_not"), "operator.invert", "operator.inv"],
  derivative: NOT_DIFFERENTIABLE,
  lower: (b, a) => {
    const x = a.tensor("self");
    return b.elementwise(b.dtype(x) === "bool" ? "logical_not" : "bitwise_not", [x]);
  },
});

const closeness: OpRecord[] = [
  composite({
    name: "aten.isclose.default",
    schema: "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    python: spell("isclose"),
    meta: (m, a) => elementwiseMeta(m, a, BOTH, "default", "bool"),
    composite: (b, a) => isClose(b, a),
  }),
];

function isClose<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const f = aten(b);
  const [x, y] = [a.tensor("self"), a.tensor("other")];
  let close = f("eq.Tensor", x, y);
  if (a.bool("equal_nan")) {
    close = f("bitwise_or.Tensor", close, f("bitwise_and.Tensor", f("ne.Tensor", x, x), f("ne.Tensor", y, y)));
  }
  const [rtol, atol] = [a.number("rtol"), a.number("atol")];
  if (rtol === 0 && atol === 0) return close;
  const allowed = f("add.Scalar", f("abs.default", f("mul.Scalar", y, fl(rtol))), fl(atol));
  const actual = f("abs.default", f("sub.Tensor", x, y));
  const finite = finiteMask(b, actual);
  const within = f("le.Tensor", actual, allowed);
  return f("bitwise_or.Tensor", close, f("bitwise_and.Tensor", finite, within));
}

/** gcd and its kind have no loop form */
const gcd: OpRecord = pointwise({
  name: "aten.gcd.default",
  schema: "gcd(Tensor self, Tensor other) -> Tensor",
  python: spell("gcd"),
  operands: BOTH,
  derivative: NOT_DIFFERENTIABLE,
  lower: (b, a) => {
    const xs = [a.tensor("self"), a.tensor("other")];
    return b.extern({
      kind: "fallback",
      kernel: "torch.ops.aten.gcd.default",
      op: "aten.gcd.default",
      inputs: xs,
      args: xs,
    });
  },
});

export const records: readonly OpRecord[] = [
  ...comparisons,
  ...logical,
  ...bitwise,
  bitwiseNot,
  inplace(bitwiseNot),
  ...closeness,
  gcd,
];
