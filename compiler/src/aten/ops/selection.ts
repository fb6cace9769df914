// Choosing between values: where, clamp, maximum and minimum, and operators built from choices (lerp, fmax, heaviside).
import type { Args, GraphBuilder, OpRecord, Scalar, TensorMeta } from "../types";
import {
  aten,
  each,
  elementwiseMeta,
  fl,
  inplace,
  isComplex,
  isFloat,
  isIntegral,
  NOT_DIFFERENTIABLE,
  pointwise,
  spell,
  withInplace,
} from "./helpers/define";
import { broadcastShapes } from "./helpers/shape";
import { full, fullLike, opmath, toDtype, where, withOpmath, zeroScalar } from "./helpers/trace";

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
    return f("where.self", mask, zeroScalar(b, g), shared);
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
        return aten(b)("where.self", m, zeroScalar(b, c.grad()), c.grad());
      },
      self: (b, c) => {
        const m = aten(b)("logical_not.default", mask(b, c.args.tensor("self"), c.args.tensor("other")));
        return aten(b)("where.self", m, zeroScalar(b, c.grad()), c.grad());
      },
    }),
  });
}

const LERP = ["self", "end", "weight"] as const;

/** start + weight * (end - start), from the nearer end */
function lerpNodes<T>(b: GraphBuilder<T>, start: T, end: T, weight: T): T {
  const f = aten(b);
  const far = f("ge.Scalar", f("abs.default", weight), fl(0.5));
  const coefficient = f("where.self", far, f("sub.Tensor", weight, 1), weight);
  const base = f("where.self", far, end, start);
  return f("add.Tensor", f("mul.Tensor", coefficient, f("sub.Tensor", end, start)), base);
}

const lerps: OpRecord[] = [
  pointwise({
    name: "aten.lerp.Scalar",
    schema: "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    python: spell("lerp"),
    operands: ["self", "end"],
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("self"), a.tensor("end")], (start, end) => {
        const m = b.meta(start);
        return lerpNodes(b, start, end, full(b, [], a.scalar("weight"), m.dtype, m.device));
      }),
    derivative: each({
      end: (b, c) => aten(b)("mul.Scalar", c.grad(), c.args.raw("weight")),
      self: (b, c) => aten(b)("mul.Scalar", c.grad(), fl(1 - c.args.number("weight"))),
    }),
  }),
  pointwise({
    name: "aten.lerp.Tensor",
    schema: "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    python: spell("lerp"),
    operands: LERP,
    decompose: (b, a) =>
      withOpmath(
        b,
        LERP.map(n => a.tensor(n)),
        (start, end, weight) => lerpNodes(b, start, end, weight),
      ),
    derivative: each({
      end: (b, c) => aten(b)("mul.Tensor", c.grad(), c.args.tensor("weight")),
      self: (b, c) => {
        const f = aten(b);
        const w = c.args.tensor("weight");
        const one = fullLike(b, w, 1);
        return f("mul.Tensor", c.grad(), f("sub.Tensor", one, w));
      },
      weight: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("sub.Tensor", c.args.tensor("end"), c.args.tensor("self")));
      },
    }),
  }),
].flatMap(r => withInplace(r));

const FUSED = ["self", "tensor1", "tensor2"] as const;

const fused: OpRecord[] = [
  pointwise({
    name: "aten.addcmul.default",
    schema: "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    python: spell("addcmul"),
    operands: FUSED,
    decompose: (b, a) =>
      withOpmath(
        b,
        FUSED.map(n => a.tensor(n)),
        (x, t1, t2) => {
          const f = aten(b);
          return f("add.Tensor", x, f("mul.Tensor", f("mul.Tensor", t1, a.raw("value")), t2));
        },
      ),
    derivative: each({
      self: (_b, c) => c.grad(),
      tensor1: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("mul.Scalar", c.args.tensor("tensor2"), c.args.raw("value")));
      },
      tensor2: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("mul.Scalar", c.args.tensor("tensor1"), c.args.raw("value")));
      },
    }),
  }),
  pointwise({
    name: "aten.addcdiv.default",
    schema: "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    python: spell("addcdiv"),
    operands: FUSED,
    promotion: "int_to_float",
    decompose: (b, a) =>
      withOpmath(
        b,
        FUSED.map(n => a.tensor(n)),
        (x, t1, t2) => {
          const f = aten(b);
          return f("add.Tensor", x, f("div.Tensor", f("mul.Tensor", t1, a.raw("value")), t2));
        },
      ),
    derivative: each({
      self: (_b, c) => c.grad(),
      tensor1: (b, c) => {
        const f = aten(b);
        const t2 = c.args.tensor("tensor2");
        const value = fullLike(b, t2, c.args.scalar("value"));
        return f("mul.Tensor", c.grad(), f("div.Tensor", value, t2));
      },
      tensor2: (b, c) => {
        const f = aten(b);
        const t2 = c.args.tensor("tensor2");
        const square = f("mul.Tensor", t2, t2);
        const ratio = f("div.Tensor", f("mul.Scalar", c.args.tensor("tensor1"), c.args.raw("value")), square);
        return f("mul.Tensor", f("neg.default", c.grad()), ratio);
      },
    }),
  }),
].flatMap(r => withInplace(r));

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
        const safe = f("where.self", isZero, zeroScalar(b, reciprocal), reciprocal);
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
          const other = overload === "Tensor" && c.needs("other") ? fullLike(b, c.args.tensor("other"), 0) : null;
          if (!c.needs("self")) return { other, self: null };
          const ratio = f("div.Tensor", r, x);
          const isZero = f("eq.Scalar", x, 0);
          const safe = f("where.self", isZero, zeroScalar(b, ratio), ratio);
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
      if (isFloat(dx) && isIntegral(dn) && dn !== "bool") {
        return b.elementwise("ldexp", [x, n], { promotion: null, dtype: dx });
      }
      const dtype = isIntegral(dx) ? "float32" : dx;
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
      if (isComplex(b.meta(p).dtype)) return undefined;
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
  ...lerps,
  ...fused,
  ...geometry,
  logAddExp("logaddexp"),
  logAddExp("logaddexp2"),
];
