// Choosing between values: where, clamp, maximum and minimum, fmax and fmin.

import type { Args, GraphBuilder, OpRecord, Scalar, TensorMeta } from "../types";
import { aten, each, elementwiseMeta, inplace, pointwise, spell } from "./helpers/define";
import { fillWhere, opmath, toDtype, where, withOpmath, zeroScalar } from "./helpers/trace";

const BOTH = ["self", "other"] as const;

const whereMeta: OpRecord["meta"] = (m, a) => {
  const condition = a.tensor("condition");
  if (condition.dtype !== "bool" && condition.dtype !== "uint8") {
    return m.fail(`where expected condition to be a boolean tensor, but got a tensor with dtype ${condition.dtype}`);
  }
  const branches = BOTH.map(n => (a.isTensor(n) ? a.tensor(n) : a.scalar(n)));
  const tensors = branches.filter((x): x is TensorMeta => typeof x === "object" && "shape" in x);
  // numbers stand before tensors in PyTorch's own promotion too: they only decide by category
  return m.elementwise(m.promote("default", ...branches), condition, ...tensors);
};

const whereSelf = pointwise({
  name: "aten.where.self",
  schema: "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
  python: ["torch.where"],
  meta: whereMeta,
  lower: (b, a) => {
    const { dtype } = b.out() as TensorMeta;
    const [x, y] = [b.toDtype(a.tensor("self"), dtype), b.toDtype(a.tensor("other"), dtype)];
    return b.elementwise("where", [a.tensor("condition"), x, y], { promotion: null, dtype });
  },
  derivative: each({
    other: (b, c) => where(b, c.args.tensor("condition"), 0, c.grad()),
    self: (b, c) => where(b, c.args.tensor("condition"), c.grad(), 0),
  }),
});

/** where with numbers: they become 0-d tensors before autograd sees them */
function whereNumbers(overload: string, self: string, other: string): OpRecord {
  return {
    name: `aten.where.${overload}`,
    schema: `where.${overload}(Tensor condition, ${self} self, ${other} other) -> Tensor`,
    python: ["torch.where"],
    tags: [],
    meta: whereMeta,
    composite: (b, a) => whereOf(b, a, "condition"),
  };
}

function whereOf<T>(b: GraphBuilder<T>, a: Args<T>, condition: string): T {
  const [x, y] = BOTH.map(n => (a.isTensor(n) ? a.tensor(n) : a.scalar(n))) as [T | Scalar, T | Scalar];
  return where(b, a.tensor(condition), x, y);
}

const wheres: OpRecord[] = [
  whereNumbers("Scalar", "Scalar", "Scalar"),
  whereNumbers("ScalarSelf", "Scalar", "Tensor"),
  whereNumbers("ScalarOther", "Tensor", "Scalar"),
  whereSelf,
  ...(["Scalar", "Tensor"] as const).map(
    (kind): OpRecord => ({
      name: `Tensor.where.${kind}`,
      schema: `where_method.${kind}(Tensor self, Tensor condition, ${kind} other) -> Tensor`,
      python: ["Tensor.where"],
      tags: [],
      meta: whereMeta,
      composite: (b, a) => whereOf(b, a, "condition"),
    }),
  ),
];

const CLAMP = ["self", "min", "max"] as const;

/** gradient of clamp: where the value was inside, the gradient */
function clampBackward<T>(
  b: GraphBuilder<T>,
  grad: T,
  x: T,
  kind: "Tensor" | "Scalar",
  min: T | Scalar | null,
  max: T | Scalar | null,
): T {
  const f = aten(b);
  const zero = zeroScalar(b, grad);
  const above = min === null ? null : f(`ge.${kind}`, x, min);
  const below = max === null ? null : f(`le.${kind}`, x, max);
  const inside = above !== null && below !== null ? f("logical_and.default", above, below) : (above ?? below);
  return inside === null ? grad : f("where.self", inside, grad, zero);
}

function requireBound(a: Args<TensorMeta>, fail: (message: string) => never): void {
  if (!a.has("min") && !a.has("max")) fail("torch.clamp: At least one of 'min' or 'max' must not be None");
}

const clampScalar = pointwise({
  name: "aten.clamp.default",
  schema: "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
  python: spell("clamp"),
  meta: (m, a) => {
    requireBound(a, m.fail);
    return elementwiseMeta(m, a, CLAMP);
  },
  decompose: (b, a) => {
    const f = aten(b);
    const x = a.tensor("self");
    const [min, max] = [a.optScalar("min"), a.optScalar("max")];
    const result = b.promote("default", b.meta(x), ...(min === null ? [] : [min]), ...(max === null ? [] : [max]));
    let r = toDtype(b, x, opmath(result));
    if (min !== null) r = f("clamp_min.default", r, min);
    if (max !== null) r = f("clamp_max.default", r, max);
    return toDtype(b, r, result);
  },
  derivative: each({
    self: (b, c) =>
      clampBackward(b, c.grad(), c.args.tensor("self"), "Scalar", c.args.optScalar("min"), c.args.optScalar("max")),
  }),
});

const clampTensor = pointwise({
  name: "aten.clamp.Tensor",
  schema: "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
  python: spell("clamp"),
  meta: (m, a) => {
    requireBound(a, m.fail);
    return elementwiseMeta(m, a, CLAMP);
  },
  decompose: (b, a) => {
    const f = aten(b);
    const [x, min, max] = [a.tensor("self"), a.optTensor("min"), a.optTensor("max")];
    return withOpmath(b, [x, min, max], (self, lo, hi) => {
      let r = self;
      if (min !== null) r = f("clamp_min.Tensor", r, lo as typeof self);
      if (max !== null) r = f("clamp_max.Tensor", r, hi as typeof self);
      return r;
    });
  },
  derivative: {
    kind: "joint",
    of: ["max", "min", "self"],
    grads: (b, c) => {
      const f = aten(b);
      const [g, x, min, max] = [c.grad(), c.args.tensor("self"), c.args.optTensor("min"), c.args.optTensor("max")];
      let [minGrad, maxGrad]: [typeof g | null, typeof g | null] = [null, null];
      if (c.needs("min") || c.needs("max")) {
        const zero = zeroScalar(b, g);
        if (min !== null && c.needs("min")) {
          const below = f("lt.Tensor", x, min);
          const active = max === null ? below : f("logical_and.default", below, f("lt.Tensor", min, max));
          minGrad = f("where.self", active, g, zero);
        }
        if (max !== null && c.needs("max")) {
          const above = f("gt.Tensor", x, max);
          const active = min === null ? above : f("logical_or.default", above, f("lt.Tensor", max, min));
          maxGrad = f("where.self", active, g, zero);
        }
      }
      const self = c.needs("self") ? clampBackward(b, g, x, "Tensor", min, max) : null;
      return { max: maxGrad, min: minGrad, self };
    },
  },
});

/** clamp_min and clamp_max, by number or tensor */
function clampOne(which: "min" | "max"): OpRecord[] {
  const packet = `clamp_${which}`;
  const op = which === "min" ? "maximum" : "minimum";
  const [inside, outside] = which === "min" ? ["ge", "lt"] : ["le", "gt"];
  const scalar = pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, Scalar ${which}) -> Tensor`,
    python: spell(packet),
    operands: ["self", which],
    op,
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const zero = zeroScalar(b, c.grad());
        return f("where.self", f(`${inside}.Scalar`, c.args.tensor("self"), c.args.raw(which)), c.grad(), zero);
      },
    }),
  });
  const tensor = pointwise({
    name: `aten.${packet}.Tensor`,
    schema: `${packet}.Tensor(Tensor self, Tensor ${which}) -> Tensor`,
    python: spell(packet),
    operands: ["self", which],
    op,
    derivative: each({
      [which]: ((b, c) => {
        const f = aten(b);
        const zero = zeroScalar(b, c.grad());
        return f("where.self", f(`${outside}.Tensor`, c.args.tensor("self"), c.args.tensor(which)), c.grad(), zero);
      }) satisfies Parameters<typeof each>[0][string],
      self: (b, c) => {
        const f = aten(b);
        const zero = zeroScalar(b, c.grad());
        return f("where.self", f(`${inside}.Tensor`, c.args.tensor("self"), c.args.tensor(which)), c.grad(), zero);
      },
    }),
  });
  return [scalar, tensor, inplace(scalar), inplace(tensor)];
}

/** torch.clip */
const clips: OpRecord[] = [clampScalar, clampTensor].flatMap(of => {
  const record: OpRecord = {
    name: of.name.replace("clamp", "clip"),
    schema: of.schema.replace("clamp", "clip"),
    python: spell("clip"),
    tags: [],
    meta: of.meta,
    composite: (b, a) => b.call(of.name, [a.tensor("self"), a.raw("min"), a.raw("max")]),
  };
  return [record, { ...inplace(record), functional: of.name }];
});

/** maximum and minimum: ties share the gradient */
function extremum(op: "maximum" | "minimum"): OpRecord {
  const [selfLoses, otherLoses] = op === "maximum" ? ["lt", "gt"] : ["gt", "lt"];
  const grad = <T>(b: GraphBuilder<T>, g: T, x: T, y: T, loses: string): T => {
    const f = aten(b);
    const half = f("div.Scalar", g, 2);
    const shared = f("where.self", f("eq.Tensor", x, y), half, g);
    const mask = f(`${loses}.Tensor`, x, y);
    return fillWhere(b, shared, mask, 0);
  };
  return pointwise({
    name: `aten.${op}.default`,
    schema: `${op}(Tensor self, Tensor other) -> Tensor`,
    python: spell(op),
    operands: BOTH,
    op,
    derivative: each({
      other: (b, c) => grad(b, c.grad(), c.args.tensor("self"), c.args.tensor("other"), otherLoses as string),
      self: (b, c) => grad(b, c.grad(), c.args.tensor("self"), c.args.tensor("other"), selfLoses as string),
    }),
  });
}

/** torch.max(x, y) */
function binaryExtremum(packet: "max" | "min"): OpRecord {
  return {
    name: `aten.${packet}.other`,
    schema: `${packet}.other(Tensor self, Tensor other) -> Tensor`,
    python: spell(packet),
    tags: ["pointwise"],
    meta: (m, a) => elementwiseMeta(m, a, BOTH),
    composite: (b, a) => b.call(`aten.${packet}imum.default`, [a.tensor("self"), a.tensor("other")]),
  };
}

/** fmax and fmin: a NaN loses */
function fExtremum(packet: "fmax" | "fmin"): OpRecord {
  const [wins, keeps] = packet === "fmax" ? ["lt", "ge"] : ["gt", "le"];
  const mask = <T>(b: GraphBuilder<T>, x: T, y: T): T => {
    const f = aten(b);
    const first = f(`${keeps}.Tensor`, x, y);
    return f("logical_or.default", first, f("isnan.default", y));
  };
  return pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, Tensor other) -> Tensor`,
    python: spell(packet),
    operands: BOTH,
    decompose: (b, a) => {
      const f = aten(b);
      const dtype = b.promote("default", b.meta(a.tensor("self")), b.meta(a.tensor("other")));
      const [x, y] = [toDtype(b, a.tensor("self"), dtype), toDtype(b, a.tensor("other"), dtype)];
      const nan = f("isnan.default", y);
      const takeFirst = f("bitwise_or.Tensor", nan, f(`${wins}.Tensor`, y, x));
      return f("where.self", takeFirst, x, y);
    },
    derivative: each({
      other: (b, c) => {
        const m = mask(b, c.args.tensor("self"), c.args.tensor("other"));
        return fillWhere(b, c.grad(), m, 0);
      },
      self: (b, c) => {
        const m = aten(b)("logical_not.default", mask(b, c.args.tensor("self"), c.args.tensor("other")));
        return fillWhere(b, c.grad(), m, 0);
      },
    }),
  });
}

export const records: readonly OpRecord[] = [
  ...wheres,
  clampScalar,
  clampTensor,
  inplace(clampScalar),
  inplace(clampTensor),
  ...clampOne("min"),
  ...clampOne("max"),
  ...clips,
  extremum("maximum"),
  extremum("minimum"),
  binaryExtremum("max"),
  binaryExtremum("min"),
  fExtremum("fmax"),
  fExtremum("fmin"),
];
