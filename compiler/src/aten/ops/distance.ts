// Distances between sets of vectors, renormalisation, quantiles and integrals by the trapezoid rule.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  type Scalar,
} from "../types";
import {
  aten,
  each,
  fallback,
  fl,
  isIntegralDType,
  NOT_DIFFERENTIABLE,
  numberOf,
  pointwise,
  spell,
} from "./helpers/define";
import { normBackward } from "./helpers/reduce";
import { at, broadcastShapes, composed, decomposed } from "./helpers/shape";
import { fillWhere, fullLike, iota, STRIDED, toDtype, where } from "./helpers/trace";

const dist: OpRecord = decomposed({
  name: "aten.dist.default",
  schema: "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
  python: spell("dist"),
  decompose: (b, a) => {
    const difference = b.call("aten.sub.Tensor", [a.tensor("self"), a.tensor("other")]);
    return b.call("aten.linalg_vector_norm.default", [difference, a.scalar("p")]);
  },
  derivative: each({
    other: (b, c) => {
      const g = distBackward(b, c.grad(), c.args, c.result());
      return g === null ? null : aten(b)("neg.default", g);
    },
    self: (b, c) => distBackward(b, c.grad(), c.args, c.result()),
  }),
});

function distBackward<T>(b: GraphBuilder<T>, grad: T, a: Args<T>, result: T): T | null {
  const difference = aten(b)("sub.Tensor", a.tensor("self"), a.tensor("other"));
  return normBackward(b, grad, difference, result, a.number("p"), null, false);
}

/** rows of the result: batch dims broadcast, then how many vectors each side has */
const cdistForward: OpRecord = {
  name: "aten._cdist_forward.default",
  schema: "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
  meta: (m, a) => {
    const [x, y] = [a.tensor("x1"), a.tensor("x2")];
    const [rank, other] = [x.shape.length, y.shape.length];
    const [c1, c2] = [x.shape[rank - 1], y.shape[other - 1]];
    if (rank < 2 || other < 2 || c1 === undefined || c2 === undefined) {
      return m.fail("cdist only supports at least 2D tensors");
    }
    if (!m.eq(c1, c2)) {
      return m.fail(`X1 and X2 must have the same number of columns. X1: ${m.hint(c1)} X2: ${m.hint(c2)}`);
    }
    const batch = m.broadcast(x.shape.slice(0, -2), y.shape.slice(0, -2));
    return m.tensor([...batch, x.shape[rank - 2] ?? 0, y.shape[other - 2] ?? 0], x);
  },
  lower: fallback("aten._cdist_forward.default", ["x1", "x2"], ["x1", "x2", "p", "compute_mode"]),
  derivative: each({
    x1: (b, c) => cdistBackward(b, c.grad(), c.args.tensor("x1"), c.args.tensor("x2"), c.args.raw("p"), c.result()),
    x2: (b, c) => {
      const f = aten(b);
      const turned = (t: ReturnType<typeof c.grad>): typeof t => f("contiguous.default", f("mT.default", t));
      const result = turned(c.result());
      return cdistBackward(b, turned(c.grad()), c.args.tensor("x2"), c.args.tensor("x1"), c.args.raw("p"), result);
    },
  }),
};

function cdistBackward<T>(b: GraphBuilder<T>, grad: T, x: T, y: T, p: ArgValue<T>, result: T): T {
  return b.call("aten._cdist_backward.default", [grad, x, y, p, result]);
}

/** [-2x, |x|^2, 1] times [y, 1, |y|^2] transposed */
const euclideanDist: OpRecord = decomposed({
  name: "aten._euclidean_dist.default",
  schema: "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
  decompose: <T>(b: GraphBuilder<T>, a: Args<T>) => {
    const f = aten(b);
    const [x, y] = [a.tensor("x1"), a.tensor("x2")];
    const square = (t: T): T => f("sum.dim_IntList", f("pow.Tensor_Scalar", t, 2), [-1], true);
    const nx = square(x);
    const ox = f("ones_like.default", nx);
    const ny = square(y);
    const oy = f("ones_like.default", ny);
    const left = f("cat.default", [f("mul.Tensor", x, -2), nx, ox], -1);
    const right = f("cat.default", [y, oy, ny], -1);
    const product = f("matmul.default", left, f("mT.default", right));
    return f("sqrt.default", f("clamp_min.default", product, 0));
  },
  derivative: {
    kind: "joint",
    of: ["x1", "x2"],
    grads: (b, c) => {
      const f = aten(b);
      const [x, y, result] = [c.args.tensor("x1"), c.args.tensor("x2"), c.result()];
      const ratio = f("masked_fill.Scalar", f("div.Tensor", c.grad(), result), f("eq.Scalar", result, 0), 0);
      const toX = f("mul.Tensor", x, f("sum.dim_IntList", ratio, [-1], true));
      const x1 = f("sub.Tensor", toX, f("matmul.default", ratio, y));
      const toY = f("mul.Tensor", y, f("unsqueeze.default", f("sum.dim_IntList", ratio, [-2], false), -1));
      return { x1, x2: f("sub.Tensor", toY, f("matmul.default", f("mT.default", ratio), x)) };
    },
  },
});

const cdists: OpRecord[] = [
  cdistForward,
  euclideanDist,
  {
    name: "aten._cdist_backward.default",
    schema: "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => m.tensor(a.tensor("x1").shape, a.tensor("x1")),
    lower: fallback("aten._cdist_backward.default", ["grad", "x1", "x2", "cdist"], ["grad", "x1", "x2", "p", "cdist"]),
  },
  composed({
    name: "torch.cdist.default",
    schema:
      'cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode="use_mm_for_euclid_dist_if_necessary") -> Tensor',
    python: ["torch.cdist"],
    printedAs: "torch.functional.cdist",
    composite: (b, a) => {
      const mode = a.str("compute_mode");
      const [x, y] = [a.tensor("x1"), a.tensor("x2")];
      const long = (t: typeof x): boolean => b.lt(25, b.meta(t).shape[b.meta(t).shape.length - 2] ?? 0);
      const many = mode === "use_mm_for_euclid_dist_if_necessary" && (long(x) || long(y));
      if (a.number("p") === 2 && (many || mode === "use_mm_for_euclid_dist")) return euclidean(b, x, y);
      const modes = ["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"];
      const number = modes.indexOf(mode);
      return b.call("aten._cdist_forward.default", [x, y, a.float("p"), number === 0 ? null : number]);
    },
  }),
];

/** |x - y| by one matrix product, over the joint batch as one dim */
function euclidean<T>(b: GraphBuilder<T>, one: T, other: T): T {
  const f = aten(b);
  const [s, t] = [b.meta(one).shape, b.meta(other).shape];
  const joint = broadcastShapes(b, s.slice(0, -2), t.slice(0, -2));
  const flat = (z: T, shape: readonly Dim[]): T => {
    const spread = f("expand.default", z, [...joint, ...shape.slice(-2)]);
    return f("view.default", b.isContiguous(spread, "contiguous_format") ? spread : f("contiguous.default", spread), [
      b.product(joint),
      ...shape.slice(-2),
    ]);
  };
  const [a, c] = [flat(one, s), flat(other, t)];
  const [x, y] = b.static(b.product(joint)) === 1 ? [one, other] : [a, c];
  const rows = [...joint, at(s, s.length - 2), at(t, t.length - 2)];
  return f("view.default", f("_euclidean_dist.default", x, y), rows);
}

const renorm: OpRecord = {
  name: "aten.renorm.default",
  schema: "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
  python: spell("renorm"),
  meta: (m, a) => m.elementwise(a.tensor("self").dtype, a.tensor("self")),
  decompose: (b, a) => {
    const f = aten(b);
    const x = a.tensor("self");
    const norm = rowNorm(b, a);
    const above = f("gt.Scalar", norm, a.raw("maxnorm"));
    const factor = f("mul.Tensor", f("reciprocal.default", f("add.Tensor", norm, fl(1e-7))), a.raw("maxnorm"));
    return f("mul.Tensor", x, where(b, above, factor, fl(1)));
  },
  derivative: each({
    self: (b, c) => {
      const f = aten(b);
      const [x, g] = [c.args.tensor("self"), c.grad()];
      const norm = rowNorm(b, c.args);
      const dims = otherDims(b, x, c.args.int("dim"));
      const total = b.call("aten.sum.dim_IntList", [f("mul.Tensor", x, g), dims, true], {
        dtype: new DTypeArg(b.meta(norm).dtype),
      });
      const along = normBackward(b, total, x, norm, c.args.number("p"), dims, true);
      const inverse = f("reciprocal.default", f("add.Scalar", norm, fl(1e-7)));
      const rest = along === null ? g : f("sub.Tensor", g, f("mul.Tensor", inverse, along));
      const scaled = f("mul.Tensor", f("mul.Scalar", inverse, c.args.raw("maxnorm")), rest);
      return f("where.self", f("gt.Scalar", norm, c.args.raw("maxnorm")), scaled, g);
    },
  }),
};

function otherDims<T>(b: GraphBuilder<T>, x: T, dim: number): number[] {
  const rank = b.meta(x).shape.length;
  const kept = b.wrapDim(dim, rank);
  return Array.from({ length: rank }, (_, i) => i).filter(i => i !== kept);
}

function rowNorm<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const x = a.tensor("self");
  return b.call("aten.linalg_vector_norm.default", [x, a.scalar("p"), otherDims(b, x, a.int("dim")), true]);
}

/** quantile and nanquantile: sorted values, picked and interpolated by rank */
function quantile(packet: "quantile" | "nanquantile", kind: "scalar" | "default"): OpRecord {
  return composed({
    name: `aten.${packet}.${kind}`,
    schema: `${packet}${kind === "scalar" ? ".scalar" : ""}(Tensor self, ${kind === "scalar" ? "float" : "Tensor"} q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor`,
    python: spell(packet),
    composite: (b, a) => {
      const x = a.tensor("self");
      const { dtype, device } = b.meta(x);
      if (kind === "scalar") checkShare(b, packet, a.number("q"));
      const q =
        kind === "scalar"
          ? b.call("aten.scalar_tensor.default", [a.float("q")], scalarOptions(dtype, device))
          : a.tensor("q");
      return quantileNodes(b, a, x, q, packet === "nanquantile");
    },
  });
}

function checkShare<T>(b: GraphBuilder<T>, packet: string, q: number): void {
  if (q < 0 || q > 1) b.fail(`${packet}() q must be in the range [0, 1] but got ${q}`);
}

function scalarOptions(dtype: DTypeArg["dtype"], device: DeviceArg["device"]): Record<string, ArgValue<never>> {
  return { dtype: new DTypeArg(dtype), layout: STRIDED, device: new DeviceArg(device) };
}

function quantileNodes<T>(b: GraphBuilder<T>, a: Args<T>, x: T, q: T, ignoreNan: boolean): T {
  const f = aten(b);
  const { shape } = b.meta(x);
  const given = a.optInt("dim");
  const dim = given === null ? null : b.wrapDim(given, shape.length);
  const first = (op: string, ...args: ArgValue<T>[]): T => b.callMany(op, args)[0] as T;
  let sorted: T;
  if (dim === null) sorted = first("aten.sort.default", f("flatten.using_ints", x));
  else if (dim === shape.length - 1) sorted = first("aten.sort.default", x);
  else {
    const turned = f("squeeze.dim", f("transpose.int", f("unsqueeze.default", x, -1), dim, -1), dim);
    sorted = first("aten.sort.default", turned);
  }
  const rows = b.meta(sorted).shape;
  const n = rows[rows.length - 1] ?? b.int(1);
  sorted = f("view.default", sorted, rows);
  const last = b.fixed(n) - 1;
  let ranks: T;
  if (ignoreNan) {
    const counted = f("sum.dim_IntList", f("logical_not.default", f("isnan.default", sorted)), [-1], true);
    const scaled = f("mul.Tensor", q, f("sub.Scalar", counted, 1));
    ranks = fillWhere(b, scaled, f("lt.Scalar", scaled, 0), 0);
  } else {
    const scaled = f("mul.Scalar", q, last);
    const nan = f("any.dim", f("isnan.default", sorted), -1, true);
    ranks = b.call("aten.masked_fill.Scalar", [f("expand.default", scaled, b.meta(nan).shape), nan, fl(last)]);
  }
  const mode = a.str("interpolation");
  if (mode === "lower") ranks = f("floor.default", ranks);
  else if (mode === "higher") ranks = f("ceil.default", ranks);
  else if (mode === "nearest") ranks = f("round.default", ranks);
  const long = (t: T): T => f("to.dtype", t, new DTypeArg("int64"));
  const below = long(ranks);
  let values = f("gather.default", sorted, -1, below);
  if (mode === "linear" || mode === "midpoint") {
    const weight = mode === "midpoint" ? fullLike(b, ranks, fl(0.5)) : f("sub.Tensor", ranks, below);
    const above = long(f("ceil.default", ranks));
    values = f("lerp.Tensor", values, f("gather.default", sorted, -1, above), weight);
  }
  if (b.meta(q).shape.length > 0)
    return b.fail("quantile of several probabilities at once is not supported", "NotImplementedError");
  if (!a.bool("keepdim")) return f("squeeze.dim", values, -1);
  if (dim === null)
    return f(
      "view.default",
      values,
      shape.map(() => 1),
    );
  return dim === shape.length - 1
    ? values
    : f("transpose.int", f("unsqueeze.default", f("squeeze.dim", values, -1), -1), dim, -1);
}

/** torch.trapezoid and cumulative_trapezoid over an even grid */
function trapezoid(packet: string, nodes: <T>(b: GraphBuilder<T>, y: T, dim: number, dx: Scalar) => T): OpRecord {
  return composed({
    name: `aten.${packet}.dx`,
    schema: `${packet}.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor`,
    python: packet === "trapezoid" ? ["torch.trapezoid", "torch.trapz"] : [`torch.${packet}`],
    composite: (b, a) => nodes(b, a.tensor("y"), a.int("dim"), a.scalar("dx")),
  });
}

/** the same over the grid of `x` */
function trapezoidOn(packet: string, total: <T>(b: GraphBuilder<T>, areas: T, dim: number) => T): OpRecord {
  return composed({
    name: `aten.${packet}.x`,
    schema: `${packet}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor`,
    python: packet === "trapezoid" ? ["torch.trapezoid", "torch.trapz"] : [`torch.${packet}`],
    composite: (b, a) => {
      const f = aten(b);
      let x = a.tensor("x");
      const y = a.tensor("y");
      const [rank, own] = [b.meta(y).shape.length, b.meta(x).shape];
      const dim = b.wrapDim(a.int("dim"), rank);
      if (own.length === 1) {
        const sizes = b.meta(y).shape.map((_, d) => (d === dim ? b.product(own) : 1));
        x = f("view.default", x, sizes);
      } else if (own.length < rank) {
        x = f("view.default", x, [
          ...b
            .meta(y)
            .shape.slice(own.length)
            .map(() => 1),
          ...own,
        ]);
      }
      const before = f("slice.Tensor", x, dim, 0, -1);
      const steps = f("sub.Tensor", f("slice.Tensor", x, dim, 1), before);
      const left = f("slice.Tensor", y, dim, 0, -1);
      const heights = f("add.Tensor", left, f("slice.Tensor", y, dim, 1));
      return f("div.Scalar", total(b, f("mul.Tensor", heights, steps), dim), fl(2));
    },
  });
}

const integrals: OpRecord[] = [
  trapezoidOn("trapezoid", (b, areas, dim) => b.call("aten.sum.dim_IntList", [areas, [dim]])),
  trapezoidOn("cumulative_trapezoid", (b, areas, dim) => b.call("aten.cumsum.default", [areas, dim])),
  trapezoid("trapezoid", (b, y, dim, dx) => {
    const f = aten(b);
    const last = f("select.int", y, dim, -1);
    const ends = f("mul.Scalar", f("add.Tensor", f("select.int", y, dim, 0), last), fl(0.5));
    const inner = f("sub.Tensor", f("sum.dim_IntList", y, [dim]), ends);
    return f("mul.Scalar", inner, fl(numberOf(dx)));
  }),
  trapezoid("cumulative_trapezoid", (b, y, dim, dx) => {
    const f = aten(b);
    const before = f("slice.Tensor", y, dim, 0, -1);
    const pairs = f("add.Tensor", before, f("slice.Tensor", y, dim, 1));
    return f("cumsum.default", f("mul.Scalar", pairs, fl(numberOf(dx) / 2)), dim);
  }),
];

/** integer division towards zero, true division for floats */
const primsDiv: OpRecord = pointwise({
  name: "prims.div.default",
  schema: "div(Tensor self, Tensor other) -> Tensor",
  operands: ["self", "other"],
  derivative: NOT_DIFFERENTIABLE,
  lower: (b, a) => {
    const xs = [a.tensor("self"), a.tensor("other")] as const;
    return b.elementwise(isIntegralDType(b.dtype(xs[0])) ? "truncdiv" : "truediv", xs);
  },
});

const lcm: OpRecord = pointwise({
  name: "aten.lcm.default",
  schema: "lcm(Tensor self, Tensor other) -> Tensor",
  python: spell("lcm"),
  operands: ["self", "other"],
  derivative: NOT_DIFFERENTIABLE,
  decompose: (b, a) => {
    const f = aten(b);
    const dtype = b.promote("default", b.meta(a.tensor("self")), b.meta(a.tensor("other")));
    const [x, y] = (
      b.callMany("aten.broadcast_tensors.default", [[a.tensor("self"), a.tensor("other")]]) as [never, never]
    ).map(t => toDtype(b, t, dtype)) as [never, never];
    const gcd = f("gcd.default", x, y);
    const divisor = where(b, f("eq.Scalar", gcd, 0), 1, gcd);
    return f("abs.default", f("mul.Tensor", b.call("prims.div.default", [x, divisor]), y));
  },
});

/** log of the multivariate gamma function of order p */
const mvlgamma: OpRecord[] = [
  pointwise({
    name: "aten.mvlgamma.default",
    schema: "mvlgamma(Tensor self, int p) -> Tensor",
    python: spell("mvlgamma"),
    promotion: "int_to_float",
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const { device, dtype } = b.meta(x);
      const p = a.int("p");
      const grid = f("add.Tensor", f("mul.Tensor", iota(b, p, device), 1), 1 - p);
      const offsets = f("mul.Tensor", toDtype(b, grid, b.promote("int_to_float", { ...b.meta(x), dtype })), fl(0.5));
      const shifted = f("add.Tensor", f("unsqueeze.default", x, -1), offsets);
      const total = f("sum.dim_IntList", f("lgamma.default", shifted), [-1]);
      return f("add.Tensor", total, fl((p * (p - 1) * Math.log(Math.PI)) / 4));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        const { device, dtype } = b.meta(x);
        const p = c.args.int("p");
        const offsets = b.call("aten.arange.start_step", [fl((1 - p) / 2), fl(0.5), fl(0.5)], {
          dtype: new DTypeArg(dtype),
          device: new DeviceArg(device),
          pin_memory: false,
        });
        const shifted = f("add.Tensor", offsets, f("unsqueeze.default", x, -1));
        return f("mul.Tensor", c.grad(), f("sum.dim_IntList", f("digamma.default", shifted), [-1]));
      },
    }),
  }),
  composed({
    name: "aten.special_multigammaln.default",
    schema: "special_multigammaln(Tensor self, int p) -> Tensor",
    python: ["torch.special.multigammaln"],
    printedAs: "torch._C._special.special_multigammaln",
    composite: (b, a) => b.call("aten.mvlgamma.default", [a.tensor("self"), a.int("p")]),
  }),
];

export const records: readonly OpRecord[] = [
  dist,
  ...cdists,
  renorm,
  quantile("quantile", "scalar"),
  quantile("quantile", "default"),
  quantile("nanquantile", "scalar"),
  quantile("nanquantile", "default"),
  ...integrals,
  primsDiv,
  lcm,
  ...mvlgamma,
];
