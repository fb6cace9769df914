// Variance and standard deviation, vector norms, log-sum-exp: reductions in several steps.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  type Scalar,
  type TensorMeta,
} from "../types";
import { aten, each, fl, isIntegralDType, spell } from "./helpers/define";
import { meanBackward, normalizeDims, normBackward, reducedMeta } from "./helpers/reduce";
import { broadcastShapes, composed, decomposed, sameShape } from "./helpers/shape";
import { fillWhere, numelOf, opmath, toDtype, unsqueezeDims, where, withOpmath } from "./helpers/trace";

const REDUCTION = ["reduction"] as const;

const CORRECTION = "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)";

const correctionOf = <T>(a: Args<T>): number => a.optNumber("correction") ?? 1;

interface Spread {
  readonly dims: readonly number[] | null;
  readonly correction: number;
  readonly keepdim: boolean;
}

function spreadOf<T>(a: Args<T>): Spread {
  return { dims: a.optInts("dim"), correction: correctionOf(a), keepdim: a.bool("keepdim") };
}

/** gradient of a variance: 2 / (n - correction) * grad * (x - mean(x)) */
function varBackward<T>(b: GraphBuilder<T>, grad: T, x: T, s: Spread, regenerated = false): T {
  const f = aten(b);
  const rank = b.meta(x).shape.length;
  const over = s.dims === null || s.dims.length === 0 || rank === 0 ? null : s.dims;
  const n = numelOf(b, x, over ?? undefined);
  const known = b.static(n);
  const free = s.correction === 0 ? n : b.sub(n, b.real(s.correction));
  const scale = known === undefined ? b.truediv(b.real(2), free) : fl(2 / (known - s.correction));
  if (over === null) {
    const centred = f("sub.Tensor", x, f("mean.default", x));
    return f("mul.Tensor", f("mul.Scalar", grad, scale), centred);
  }
  const restore = !s.keepdim && rank > 1;
  let g = restore ? unsqueezeDims(b, grad, over, rank) : grad;
  const centred = f("sub.Tensor", x, f("mean.dim", x, over, true));
  // a view of a gradient that was written in place is taken again before it is read
  if (restore && regenerated) g = unsqueezeDims(b, grad, over, rank);
  return f("mul.Tensor", f("mul.Scalar", g, scale), centred);
}

/** gradient of a standard deviation, 0 where that is 0 */
function stdBackward<T>(b: GraphBuilder<T>, grad: T, x: T, result: T, s: Spread): T {
  const f = aten(b);
  const ratio = f("div.Tensor", grad, f("mul.Scalar", result, 2));
  const isZero = f("eq.Scalar", result, 0);
  const safe = fillWhere(b, ratio, isZero, 0);
  return varBackward(b, safe, x, s, true);
}

const spreadMeta: OpRecord["meta"] = (m, a) => {
  const x = a.tensor("self");
  if (isIntegralDType(x.dtype)) return m.fail("std and var only support floating point and complex dtypes");
  return reducedMeta(m, x, a.optInts("dim"), a.bool("keepdim"));
};

const variance: OpRecord = {
  name: "aten.var.correction",
  schema: `var.correction${CORRECTION} -> Tensor`,
  python: spell("var"),
  tags: REDUCTION,
  meta: spreadMeta,
  lower: (b, a) => {
    const x = a.tensor("self");
    const dtype = b.dtype(x);
    const dims = normalizeDims(b, a.optInts("dim"), b.size(x).length);
    const r = b.varMean(b.toDtype(x, opmath(dtype)), dims, correctionOf(a), a.bool("keepdim"), false);
    return b.toDtype(r.var, dtype);
  },
  derivative: each({ self: (b, c) => varBackward(b, c.grad(), c.args.tensor("self"), spreadOf(c.args)) }),
};

const varianceAndMean: OpRecord = {
  name: "aten.var_mean.correction",
  schema: `var_mean.correction${CORRECTION} -> (Tensor, Tensor)`,
  python: ["torch.var_mean"],
  tags: REDUCTION,
  meta: (m, a) => {
    const one = spreadMeta(m, a) as TensorMeta;
    return [one, one];
  },
  lower: (b, a) => {
    const x = a.tensor("self");
    const dtype = b.dtype(x);
    const dims = normalizeDims(b, a.optInts("dim"), b.size(x).length);
    const r = b.varMean(b.toDtype(x, opmath(dtype)), dims, correctionOf(a), a.bool("keepdim"), true);
    return [b.toDtype(r.var, dtype), b.toDtype(r.mean, dtype)];
  },
  derivative: each({
    self: (b, c) => {
      const [gv, gm, x, s] = [c.optGrad(0), c.optGrad(1), c.args.tensor("self"), spreadOf(c.args)];
      const first = gv === null ? null : varBackward(b, gv, x, s);
      return joinMean(b, first, gm, x, s);
    },
  }),
};

function joinMean<T>(b: GraphBuilder<T>, first: T | null, meanGrad: T | null, x: T, s: Spread): T | null {
  if (meanGrad === null) return first;
  const second = meanBackward(b, meanGrad, x, s.dims, s.keepdim);
  return first === null ? second : aten(b)("add.Tensor", first, second);
}

const deviation: OpRecord = {
  name: "aten.std.correction",
  schema: `std.correction${CORRECTION} -> Tensor`,
  python: spell("std"),
  tags: REDUCTION,
  meta: spreadMeta,
  decompose: (b, a) =>
    withOpmath(b, [a.tensor("self")], x => {
      const v = b.call("aten.var.correction", [x, a.raw("dim")], {
        correction: fl(correctionOf(a)),
        keepdim: a.bool("keepdim"),
      });
      return aten(b)("sqrt.default", v);
    }),
  derivative: each({
    self: (b, c) => {
      const result = c.result();
      return stdBackward(b, c.grad(), c.args.tensor("self"), result, spreadOf(c.args));
    },
  }),
};

const deviationAndMean: OpRecord = {
  name: "aten.std_mean.correction",
  schema: `std_mean.correction${CORRECTION} -> (Tensor, Tensor)`,
  python: ["torch.std_mean"],
  tags: REDUCTION,
  meta: (m, a) => {
    const one = spreadMeta(m, a) as TensorMeta;
    return [one, one];
  },
  decompose: (b, a) =>
    withOpmath(b, [a.tensor("self")], x => {
      const [v, mean] = b.callMany("aten.var_mean.correction", [x, a.raw("dim")], {
        correction: fl(correctionOf(a)),
        keepdim: a.bool("keepdim"),
      });
      return [aten(b)("sqrt.default", v as typeof x), mean ?? null];
    }),
  derivative: each({
    self: (b, c) => {
      const result = c.result(0);
      const [gs, gm, x, s] = [c.optGrad(0), c.optGrad(1), c.args.tensor("self"), spreadOf(c.args)];
      const first = gs === null ? null : stdBackward(b, gs, x, result, s);
      return joinMean(b, first, gm, x, s);
    },
  }),
};

/** the older signatures with `unbiased`, which become a correction of 0 or 1 */
function unbiased(packet: "var" | "std" | "var_mean" | "std_mean", overload: "default" | "dim"): OpRecord {
  const results = packet.endsWith("_mean") ? "(Tensor, Tensor)" : "Tensor";
  return composed({
    name: `aten.${packet}.${overload}`,
    schema:
      overload === "default"
        ? `${packet}(Tensor self, bool unbiased=True) -> ${results}`
        : `${packet}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> ${results}`,
    python: packet.endsWith("_mean") ? [`torch.${packet}`] : spell(packet),
    composite: (b, a) => {
      const kwargs: Record<string, ArgValue<never>> = { correction: a.bool("unbiased") ? 1 : 0 };
      if (overload === "dim" && a.bool("keepdim")) kwargs.keepdim = true;
      const args = [a.tensor("self"), ...(overload === "dim" ? [a.raw("dim")] : [])];
      return results === "Tensor"
        ? b.call(`aten.${packet}.correction`, args, kwargs)
        : b.callMany(`aten.${packet}.correction`, args, kwargs);
    },
  });
}

const NORM_SCHEMA =
  "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";

const vectorNorm: OpRecord = {
  name: "aten.linalg_vector_norm.default",
  schema: NORM_SCHEMA,
  python: ["torch.linalg.vector_norm"],
  printedAs: "torch._C._linalg.linalg_vector_norm",
  tags: REDUCTION,
  meta: (m, a) => {
    const x = a.tensor("self");
    if (isIntegralDType(x.dtype))
      return m.fail("linalg.vector_norm: Expected a floating point or complex tensor as input.");
    return reducedMeta(m, x, a.optInts("dim"), a.bool("keepdim"), a.dtype("dtype") ?? x.dtype);
  },
  decompose: (b, a) => {
    const f = aten(b);
    const ord = a.number("ord");
    const result = a.dtype("dtype") ?? b.meta(a.tensor("self")).dtype;
    const over = [a.raw("dim"), a.raw("keepdim")];
    const x = toDtype(b, a.tensor("self"), ord === 0 ? b.meta(a.tensor("self")).dtype : opmath(result));
    if (ord === 0) {
      return b.call("aten.sum.dim_IntList", [f("ne.Scalar", x, fl(0)), ...over], { dtype: new DTypeArg(result) });
    }
    if (Math.abs(ord) === Infinity) {
      const extreme = f(
        ord > 0 ? "amax.default" : "amin.default",
        f("abs.default", x),
        a.optInts("dim") ?? [],
        a.raw("keepdim"),
      );
      return toDtype(b, extreme, result);
    }
    const magnitude = ord % 2 === 0 ? x : f("abs.default", x);
    const total = f("sum.dim_IntList", f("pow.Tensor_Scalar", magnitude, a.raw("ord")), ...over);
    return toDtype(b, f("pow.Tensor_Scalar", total, fl(1 / ord)), result);
  },
  derivative: each({
    self: (b, c) => {
      const result = c.result();
      const dims = c.args.optInts("dim");
      return normBackward(
        b,
        c.grad(),
        c.args.tensor("self"),
        result,
        c.args.number("ord"),
        dims,
        c.args.bool("keepdim"),
      );
    },
  }),
};

function vectorNormCall<T>(
  b: GraphBuilder<T>,
  x: T,
  ord: Scalar,
  dims: ArgValue<T>,
  keepdim: boolean,
  dtype: DType | null,
): T {
  return b.call(
    "aten.linalg_vector_norm.default",
    [x, ord, dims, keepdim],
    dtype === null ? {} : { dtype: new DTypeArg(dtype) },
  );
}

/** what C++ functions call; Python's torch.norm goes to linalg_vector_norm straight away */
const norm: OpRecord = decomposed({
  name: "aten.norm.ScalarOpt_dim",
  schema: "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
  tags: REDUCTION,
  decompose: (b, a) => {
    const order = a.raw("p") === null ? 2 : (a.scalar("p") as Scalar);
    return vectorNormCall(b, a.tensor("self"), order, a.raw("dim"), a.bool("keepdim"), null);
  },
  derivative: each({
    self: (b, c) =>
      normBackward(
        b,
        c.grad(),
        c.args.tensor("self"),
        c.result(),
        c.args.raw("p") === null ? 2 : c.args.number("p"),
        c.args.ints("dim"),
        c.args.bool("keepdim"),
      ),
  }),
});

/** of all elements; as C++ calls it */
const normOfAll: OpRecord = decomposed({
  name: "aten.norm.Scalar",
  schema: "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
  tags: REDUCTION,
  decompose: (b, a) => vectorNormCall(b, a.tensor("self"), a.scalar("p"), null, false, null),
  derivative: each({
    self: (b, c) => normBackward(b, c.grad(), c.args.tensor("self"), c.result(), c.args.number("p"), [], false),
  }),
});

/** torch.norm and Tensor.norm: Python functions over linalg.vector_norm */
function pythonNorm(self: "self" | "input", python: string, printedAs?: string): OpRecord {
  return composed({
    name: `${python}.default`,
    schema: `norm(Tensor ${self}, Any p="fro", int[1]? dim=None, bool keepdim=False, Any out=None, ScalarType? dtype=None) -> Tensor`,
    python: [python],
    ...(printedAs ? { printedAs } : {}),
    composite: (b, a) => {
      const p = a.raw("p");
      const x = a.tensor(self);
      if (p === "nuc") return b.call("aten.linalg_norm.ord_str", [x, p, a.raw("dim"), a.bool("keepdim")]);
      const ord = p === null || p === "fro" ? 2 : (a.scalar("p") as Scalar);
      return vectorNormCall(b, x, ord, a.raw("dim"), a.bool("keepdim"), a.dtype("dtype"));
    },
  });
}

const norms: OpRecord[] = [
  vectorNorm,
  norm,
  normOfAll,
  pythonNorm("self", "Tensor.norm"),
  pythonNorm("input", "torch.norm", "torch.functional.norm"),
];

const logSumExp: OpRecord = {
  name: "aten.logsumexp.default",
  schema: "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
  python: spell("logsumexp"),
  tags: REDUCTION,
  meta: (m, a) => {
    const x = a.tensor("self");
    return reducedMeta(m, x, a.ints("dim"), a.bool("keepdim"), m.promote("int_to_float", x));
  },
  decompose: (b, a) => {
    const result = b.promote("int_to_float", b.meta(a.tensor("self")));
    const x = toDtype(b, a.tensor("self"), opmath(result));
    const f = aten(b);
    const [dims, keepdim] = [a.ints("dim"), a.bool("keepdim")];
    const max = f("amax.default", x, dims, true);
    const infinite = f("eq.Scalar", f("abs.default", max), fl(Infinity));
    const shift = where(b, infinite, fl(0), max);
    const back = keepdim ? shift : f("squeeze.dims", shift, dims);
    const e = f("exp.default", f("sub.Tensor", x, shift));
    const log = f("log.default", f("sum.dim_IntList", e, dims, keepdim));
    return toDtype(b, f("add.Tensor", log, back), result);
  },
  derivative: each({
    self: (b, c) => {
      const f = aten(b);
      const result = c.result();
      const [x, dims] = [c.args.tensor("self"), c.args.ints("dim")];
      const rank = b.meta(x).shape.length;
      const restore = !c.args.bool("keepdim") && rank > 0;
      const g = restore ? unsqueezeDims(b, c.grad(), dims, rank) : c.grad();
      const r = restore ? unsqueezeDims(b, result, dims, rank) : result;
      return f("mul.Tensor", g, f("exp.default", f("sub.Tensor", x, r)));
    },
  }),
};

const specialLogSumExp = composed({
  name: "aten.special_logsumexp.default",
  schema: "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
  python: ["torch.special.logsumexp"],
  printedAs: "torch._C._special.special_logsumexp",
  composite: (b, a) => b.call("aten.logsumexp.default", [a.tensor("self"), a.raw("dim"), a.raw("keepdim")]),
});

/** distances between vectors */
const distances: OpRecord[] = [
  composed({
    name: "aten.pairwise_distance.default",
    schema: "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
    python: ["torch.pairwise_distance", "torch.nn.functional.pairwise_distance"],
    printedAs: "torch.pairwise_distance",
    composite: (b, a) => {
      const f = aten(b);
      const difference = f("add.Scalar", f("sub.Tensor", a.tensor("x1"), a.tensor("x2")), a.float("eps"));
      const rank = b.meta(difference).shape.length;
      return f("norm.ScalarOpt_dim", difference, a.float("p"), [Math.max(rank, 1) - 1], a.bool("keepdim"));
    },
  }),
  composed({
    name: "aten.cosine_similarity.default",
    schema: "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    python: ["torch.cosine_similarity", "torch.nn.functional.cosine_similarity"],
    printedAs: "torch.cosine_similarity",
    composite: (b, a) => cosineSimilarity(b, a.tensor("x1"), a.tensor("x2"), a.int("dim"), a.number("eps")),
  }),
  composed({
    name: "torch.nn.functional.normalize.default",
    schema: "normalize(Tensor input, float p=2.0, int[1] dim=1, float eps=1e-12, Any out=None) -> Tensor",
    python: ["torch.nn.functional.normalize"],
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("input");
      const p = a.raw("p");
      const norm = vectorNormCall(b, x, typeof p === "number" ? p : a.float("p"), a.raw("dim"), true, null);
      const denominator = f("clamp_min.default", norm, a.float("eps"));
      return f("div.Tensor", x, f("expand_as.default", denominator, x));
    },
  }),
];

/** sum over dim of x1 / max(|x1|, eps) * x2 / max(|x2|, eps) */
function cosineSimilarity<T>(b: GraphBuilder<T>, p: T, q: T, dim: number, eps: number): T {
  const f = aten(b);
  const dtype = b.promote("default", b.meta(p), b.meta(q));
  const cast = (t: T): T => (b.meta(t).dtype === dtype ? t : f("to.dtype", t, new DTypeArg(dtype)));
  const shape = broadcastShapes(b, b.meta(p).shape, b.meta(q).shape);
  const expand = (t: T): T => (sameShape(b, b.meta(t).shape, shape) ? t : f("expand.default", t, shape));
  const y = expand(cast(q));
  const x = expand(cast(p));
  const { device } = b.meta(x);
  const norm = (t: T): T => f("clone.default", vectorNormCall(b, t, 2, [dim], true, null));
  const [nx, ny] = [norm(x), norm(y)];
  const floor = b.call("aten.scalar_tensor.default", [fl(eps)], {
    dtype: new DTypeArg(dtype),
    device: new DeviceArg(device),
  });
  const [cx, cy] = [nx, ny].map(n => b.call(`${CLAMP_THROUGH}`, [n, floor])) as [T, T];
  const right = f("div.Tensor", y, cy);
  return f("sum.dim_IntList", f("mul.Tensor", f("div.Tensor", x, cx), right), [dim]);
}

const CLAMP_THROUGH = "fuselens.clamp_min_through.default";

/**
 * clamp_min that autograd does not see: cosine_similarity clamps its norms in place under no_grad, so their gradient
 * passes as if nothing had been clamped.
 */
const clampThrough: OpRecord = {
  name: CLAMP_THROUGH,
  schema: "clamp_min_through(Tensor self, Tensor min) -> Tensor",
  original: "aten.clamp_min",
  meta: (m, a) => m.elementwise(a.tensor("self").dtype, a.tensor("self")),
  decompose: (b, a) => b.call("aten.clamp_min.Tensor", [a.tensor("self"), a.tensor("min")]),
  derivative: each({ self: (_b, c) => c.grad() }),
};

export const records: readonly OpRecord[] = [
  unbiased("var", "dim"),
  variance,
  unbiased("var", "default"),
  unbiased("std", "dim"),
  deviation,
  unbiased("std", "default"),
  unbiased("var_mean", "dim"),
  varianceAndMean,
  unbiased("var_mean", "default"),
  unbiased("std_mean", "dim"),
  deviationAndMean,
  unbiased("std_mean", "default"),
  ...norms,
  logSumExp,
  specialLogSumExp,
  ...distances,
  clampThrough,
];
