// Elementwise functions of two tensors: atan2, hypot, nextafter, ldexp, copysign, heaviside, logaddexp and kin.

import type { GraphBuilder, OpRecord } from "../types";
import {
  aten,
  each,
  elementwiseMeta,
  fl,
  isComplexDType,
  isFloatDType,
  isIntegralDType,
  NOT_DIFFERENTIABLE,
  pointwise,
  spell,
} from "./helpers/define";
import { broadcastShapes } from "./helpers/shape";
import { filledWith, fillWhere, where } from "./helpers/trace";

const BOTH = ["self", "other"] as const;

const geometry: OpRecord[] = [
  pointwise({
    name: "aten.atan2.default",
    schema: "atan2(Tensor self, Tensor other) -> Tensor",
    python: spell("atan2"),
    operands: BOTH,
    promotion: "int_to_float",
    op: "atan2",
    derivative: {
      kind: "joint",
      of: ["self", "other"],
      grads: (b, c) => {
        const f = aten(b);
        const [x, y, g] = [c.args.tensor("self"), c.args.tensor("other"), c.grad()];
        const yy = f("mul.Tensor", y, y);
        const sum = f("add.Tensor", f("mul.Tensor", x, x), yy);
        const reciprocal = f("reciprocal.default", sum);
        const isZero = f("eq.Scalar", sum, 0);
        const safe = fillWhere(b, reciprocal, isZero, 0);
        return {
          self: c.needs("self") ? f("mul.Tensor", f("mul.Tensor", g, y), safe) : null,
          other: c.needs("other") ? f("mul.Tensor", f("mul.Tensor", g, f("neg.default", x)), safe) : null,
        };
      },
    },
  }),
  {
    name: "aten.arctan2.default",
    schema: "arctan2(Tensor self, Tensor other) -> Tensor",
    python: spell("arctan2"),
    tags: [] as const,
    meta: (m, a) => elementwiseMeta(m, a, BOTH, "int_to_float"),
    composite: (b, a) => b.call("aten.atan2.default", [a.tensor("self"), a.tensor("other")]),
  } satisfies OpRecord,
  pointwise({
    name: "aten.hypot.default",
    schema: "hypot(Tensor self, Tensor other) -> Tensor",
    python: spell("hypot"),
    operands: BOTH,
    op: "hypot",
    derivative: each({
      other: (b, c) => {
        const f = aten(b);
        const r = c.result();
        return f("div.Tensor", f("mul.Tensor", c.grad(), c.args.tensor("other")), r);
      },
      self: (b, c) => {
        const f = aten(b);
        const r = c.result();
        return f("div.Tensor", f("mul.Tensor", c.grad(), c.args.tensor("self")), r);
      },
    }),
  }),
  ...(["Tensor", "Scalar"] as const).map(overload =>
    pointwise({
      name: `aten.copysign.${overload}`,
      schema: `copysign.${overload}(Tensor self, ${overload} other) -> Tensor`,
      python: spell("copysign"),
      operands: BOTH,
      promotion: "int_to_float",
      op: "copysign",
      derivative: {
        kind: "joint",
        of: overload === "Tensor" ? ["other", "self"] : ["self"],
        grads: (b, c) => {
          const f = aten(b);
          const [r, x] = [c.result(), c.args.tensor("self")];
          const other =
            overload === "Tensor" && c.needs("other")
              ? filledWith(b, "zeros", b.meta(c.args.tensor("other")).shape, b.meta(c.args.tensor("other")))
              : null;
          if (!c.needs("self")) return { other, self: null };
          const ratio = f("div.Tensor", r, x);
          const isZero = f("eq.Scalar", x, 0);
          const safe = fillWhere(b, ratio, isZero, 0);
          return { other, self: f("mul.Tensor", c.grad(), safe) };
        },
      },
    }),
  ),
  pointwise({
    name: "aten.nextafter.default",
    schema: "nextafter(Tensor self, Tensor other) -> Tensor",
    python: spell("nextafter"),
    operands: BOTH,
    op: "nextafter",
    derivative: NOT_DIFFERENTIABLE,
  }),
  pointwise({
    name: "aten.ldexp.Tensor",
    schema: "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    python: spell("ldexp"),
    operands: BOTH,
    promotion: "int_to_float",
    lower: (b, a) => {
      const [x, n] = [a.tensor("self"), a.tensor("other")];
      const [dx, dn] = [b.dtype(x), b.dtype(n)];
      if (isFloatDType(dx) && isIntegralDType(dn) && dn !== "bool") {
        return b.elementwise("ldexp", [x, n], { promotion: null, dtype: dx });
      }
      const dtype = isIntegralDType(dx) ? "float32" : dx;
      return b.elementwise(
        (ops, value, exponent) => {
          const power = ops.op("pow", ops.constant(fl(2), dtype), ops.toDtype(exponent, dtype));
          return ops.op("mul", value, power);
        },
        [x, n],
        { promotion: null, dtype },
      );
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("pow.Scalar", 2, c.args.tensor("other")));
      },
      other: (b, c) => {
        const f = aten(b);
        const r = c.result();
        return f("mul.Tensor", c.grad(), f("mul.Scalar", r, fl(Math.LN2)));
      },
    }),
  }),
  pointwise({
    name: "aten.heaviside.default",
    schema: "heaviside(Tensor self, Tensor values) -> Tensor",
    python: spell("heaviside"),
    operands: ["self", "values"],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) => {
      const f = aten(b);
      const [x, values] = broadcast(b, a.tensor("self"), a.tensor("values"));
      const isZero = f("eq.Scalar", x, 0);
      const below = f("logical_or.default", f("lt.Scalar", x, 0), f("isnan.default", x));
      return f("where.self", isZero, values, where(b, below, 0, 1));
    },
  }),
];

/** the broadcast that PyTorch's references do before their first operation */
function broadcast<T>(b: GraphBuilder<T>, x: T, y: T): [T, T] {
  const shape = broadcastShapes(b, b.meta(x).shape, b.meta(y).shape);
  const expand = (z: T): T => {
    const own = b.meta(z).shape;
    const same = own.length === shape.length && own.every((d, i) => b.knownEq(d, shape[i] as typeof d));
    return same ? z : b.call("aten.expand.default", [z, shape]);
  };
  return [expand(x), expand(y)];
}

function logAddExp(packet: "logaddexp" | "logaddexp2"): OpRecord {
  const two = packet === "logaddexp2";
  const grad = <T>(b: GraphBuilder<T>, g: T, x: T, y: T): T => {
    const f = aten(b);
    const difference = f("sub.Tensor", x, y);
    const e = two ? f("pow.Scalar", 2, difference) : f("exp.default", difference);
    return f("div.Tensor", g, f("add.Scalar", e, 1));
  };
  return pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, Tensor other) -> Tensor`,
    python: spell(packet),
    operands: BOTH,
    decompose: (b, a) => {
      const f = aten(b);
      const [p, q] = [a.tensor("self"), a.tensor("other")];
      if (isComplexDType(b.meta(p).dtype)) return undefined;
      const [x, y] = broadcast(b, p, q);
      const first = f("ge.Tensor", x, y);
      const high = f("where.self", first, x, y);
      const low = f("where.self", first, y, x);
      const infinite = two ? f("isinf.default", x) : f("logical_not.default", finite(b, x));
      const tie = f("logical_and.default", infinite, f("eq.Tensor", x, y));
      const gap = f("sub.Tensor", low, high);
      const log1p = f("log1p.default", f(two ? "exp2.default" : "exp.default", gap));
      const tail = two ? f("mul.Tensor", log1p, fl(1 / Math.LN2)) : log1p;
      return f("where.self", tie, x, f("add.Tensor", high, tail));
    },
    derivative: each({
      other: (b, c) => grad(b, c.grad(), c.args.tensor("self"), c.args.tensor("other")),
      self: (b, c) => grad(b, c.grad(), c.args.tensor("other"), c.args.tensor("self")),
    }),
  });
}

function finite<T>(b: GraphBuilder<T>, x: T): T {
  return aten(b)("isfinite.default", x);
}

export const records: readonly OpRecord[] = [...geometry, logAddExp("logaddexp"), logAddExp("logaddexp2")];
