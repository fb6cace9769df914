// Sums, products, extrema and truth over dims.
import {
  type Args,
  type ArgValue,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  MemoryFormatArg,
  type OpRecord,
  type ReductionType,
} from "../types";
import { aten, each, fallback, fallbackMany, isIntegralDType, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import {
  evenlyDistributed,
  expandReduced,
  meanBackward,
  normalizeDims,
  pickedValues,
  reducedMeta,
} from "./helpers/reduce";
import { composed, decomposed } from "./helpers/shape";
import { filledWith, opmath, where } from "./helpers/trace";

const REDUCTION = ["reduction"] as const;

const toLong = (d: DType): DType => (isIntegralDType(d) ? "int64" : d);

/** dims as written, null for all */
function dimsOf<T>(a: Args<T>, all: boolean): number[] | null {
  return all ? null : a.optInts("dim");
}

const keep = <T>(a: Args<T>, all: boolean): boolean => !all && a.bool("keepdim");

/** sum over everything (all), or over dims */
function sum(all: boolean): OpRecord {
  const overload = all ? "default" : "dim_IntList";
  return {
    name: `aten.sum.${overload}`,
    schema: all
      ? "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"
      : "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    python: spell("sum"),
    tags: REDUCTION,
    meta: (m, a) => {
      const x = a.tensor("self");
      return reducedMeta(m, x, dimsOf(a, all), keep(a, all), a.dtype("dtype") ?? toLong(x.dtype));
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      return b.reduce(
        b.toDtype(x, a.dtype("dtype") ?? toLong(b.dtype(x))),
        "sum",
        loweredDims(b, a, all),
        keep(a, all),
      );
    },
    derivative: each({
      self: (b, c) => expandReduced(b, c.grad(), c.args.tensor("self"), dimsOf(c.args, all), keep(c.args, all)),
    }),
  };
}

function loweredDims<B>(b: LoweringBuilder<B>, a: Args<B>, all: boolean): number[] {
  const dims = dimsOf(a, all);
  return dims === null ? [] : normalizeDims(b, dims, b.size(a.tensor("self")).length);
}

function mean(all: boolean): OpRecord {
  return {
    name: all ? "aten.mean.default" : "aten.mean.dim",
    schema: all
      ? "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"
      : "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    python: spell("mean"),
    tags: REDUCTION,
    meta: (m, a) => {
      const x = a.tensor("self");
      const dtype = a.dtype("dtype") ?? x.dtype;
      if (isIntegralDType(dtype)) {
        return m.fail(
          `mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: ${TITLE[dtype] ?? dtype}`,
        );
      }
      return reducedMeta(m, x, dimsOf(a, all), keep(a, all), dtype);
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dtype = a.dtype("dtype") ?? b.dtype(x);
      const wide = b.toDtype(b.toDtype(x, dtype), opmath(dtype));
      const dims = loweredDims(b, a, all);
      const size = b.size(x);
      const count = b.product(dims.length === 0 ? size : dims.map(d => size[d] ?? b.int(1)));
      const total = b.reduce(wide, "sum", dims, keep(a, all));
      // the count is an index expression, not a constant: this stays a division
      return b.toDtype(b.elementwise("truediv", [total, count], { promotion: "int_to_float" }), dtype);
    },
    derivative: each({
      self: (b, c) => meanBackward(b, c.grad(), c.args.tensor("self"), dimsOf(c.args, all), keep(c.args, all)),
    }),
  };
}

const TITLE: Partial<Record<DType, string>> = {
  int64: "Long",
  int32: "Int",
  bool: "Bool",
  uint8: "Byte",
  int16: "Short",
  int8: "Char",
};

/** amax and amin */
function extremeOverDims(packet: "amax" | "amin"): OpRecord {
  return {
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor`,
    python: spell(packet),
    tags: REDUCTION,
    meta: (m, a) => reducedMeta(m, a.tensor("self"), a.ints("dim"), a.bool("keepdim")),
    decompose: (b, a) => {
      const x = a.tensor("self");
      if (b.meta(x).dtype !== "bool") return undefined;
      return b.call(`aten.${packet === "amax" ? "any" : "all"}.dims`, [x, a.ints("dim"), a.bool("keepdim")]);
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dims = normalizeDims(b, a.ints("dim"), b.size(x).length);
      return b.reduce(x, packet === "amax" ? "max" : "min", dims, a.bool("keepdim"));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const [x, dims] = [c.args.tensor("self"), c.args.ints("dim")];
        const restored = c.args.bool("keepdim") ? null : restoredShape(b, x, dims);
        const restore = (t: typeof x): typeof x => (restored === null ? t : f("view.default", t, restored));
        const mask = f("eq.Tensor", restore(c.result()), x);
        const g = restore(c.grad());
        const count = f("sum.dim_IntList", mask, dims, true);
        return f("mul.Tensor", f("div.Tensor", g, count), mask);
      },
    }),
  };
}

/** the reduced shape with its dims back as 1; without dims it stays as it is */
function restoredShape<T>(b: GraphBuilder<T>, x: T, dims: readonly number[]): ArgValue<T> {
  const { shape } = b.meta(x);
  if (dims.length === 0) return [];
  const reduced = dims.map(d => b.wrapDim(d, shape.length));
  return shape.map((s, i) => (reduced.includes(i) ? 1 : s));
}

/** max() and min() of everything */
function extreme(packet: "max" | "min"): OpRecord {
  return {
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self) -> Tensor`,
    python: spell(packet),
    tags: REDUCTION,
    meta: (m, a) => reducedMeta(m, a.tensor("self"), null, false),
    lower: (b, a) => b.reduce(a.tensor("self"), packet, [], false),
    derivative: each({
      self: (b, c) => {
        const result = c.result();
        return evenlyDistributed(b, c.grad(), c.args.tensor("self"), result);
      },
    }),
  };
}

/** values and their indices along one dim */
function extremeWithIndex(packet: "max" | "min"): OpRecord {
  return {
    name: `aten.${packet}.dim`,
    schema: `${packet}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)`,
    python: spell(packet),
    tags: REDUCTION,
    meta: (m, a) => {
      const [x, dim, keepdim] = [a.tensor("self"), [a.int("dim")], a.bool("keepdim")];
      return [reducedMeta(m, x, dim, keepdim), reducedMeta(m, x, dim, keepdim, "int64")];
    },
    lower: (b, a) => {
      const [x, keepdim] = [a.tensor("self"), a.bool("keepdim")];
      const dims = normalizeDims(b, [a.int("dim")], b.size(x).length);
      const values = b.reduce(x, packet, dims, keepdim);
      return [values, b.reduce(x, packet === "max" ? "argmax" : "argmin", dims, keepdim, "int64")];
    },
    derivative: pickedValues,
  };
}

function argExtreme(packet: "argmax" | "argmin"): OpRecord {
  return {
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor`,
    python: spell(packet),
    tags: REDUCTION,
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => {
      const dim = a.optInt("dim");
      return reducedMeta(m, a.tensor("self"), dim === null ? null : [dim], a.bool("keepdim"), "int64");
    },
    lower: (b, a) => {
      const [x, dim] = [a.tensor("self"), a.optInt("dim")];
      const dims = dim === null ? [] : normalizeDims(b, [dim], b.size(x).length);
      return b.reduce(x, packet as ReductionType, dims, a.bool("keepdim"), "int64");
    },
  };
}

type TruthOverload = "default" | "dim" | "dims";

const TRUTH_SCHEMA: Readonly<Record<TruthOverload, string>> = {
  default: "(Tensor self) -> Tensor",
  dim: ".dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
  dims: ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
};

function truth(packet: "any" | "all", overload: TruthOverload): OpRecord {
  const dims = <T>(a: Args<T>): number[] | null => (overload === "default" ? null : a.optInts("dim"));
  const keepdim = <T>(a: Args<T>): boolean => overload !== "default" && a.bool("keepdim");
  return {
    name: `aten.${packet}.${overload}`,
    schema: `${packet}${TRUTH_SCHEMA[overload]}`,
    python: spell(packet),
    tags: REDUCTION,
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => {
      const x = a.tensor("self");
      return reducedMeta(m, x, dims(a), keepdim(a), x.dtype === "uint8" ? "uint8" : "bool");
    },
    ...(packet === "any"
      ? {
          lower: <B>(b: LoweringBuilder<B>, a: Args<B>): B => {
            const x = a.tensor("self");
            const d = dims(a);
            const over = d === null ? [] : normalizeDims(b, d, b.size(x).length);
            // Inductor promotes over all numbers among the arguments, so that a single dim turns bools into integers first
            const promoted = overload === "dim" ? b.toDtype(x, b.dtype(x) === "bool" ? "int64" : b.dtype(x)) : x;
            return b.reduce(b.toDtype(promoted, "bool"), "any", over, keepdim(a));
          },
        }
      : {
          // not any(not x)
          decompose: <T>(b: GraphBuilder<T>, a: Args<T>): T => {
            const f = aten(b);
            const not = f("logical_not.default", a.tensor("self"));
            const any =
              overload === "default" ? f("any.dims", not) : f(`any.${overload}`, not, a.raw("dim"), a.raw("keepdim"));
            return f("logical_not.default", any);
          },
        }),
  };
}

function prod(all: boolean): OpRecord {
  return {
    name: all ? "aten.prod.default" : "aten.prod.dim_int",
    schema: all
      ? "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"
      : "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    python: spell("prod"),
    tags: REDUCTION,
    meta: (m, a) => {
      const x = a.tensor("self");
      return reducedMeta(m, x, all ? null : [a.int("dim")], keep(a, all), a.dtype("dtype") ?? toLong(x.dtype));
    },
    lower: (b, a) => {
      const x = a.tensor("self");
      const dims = all ? [] : normalizeDims(b, [a.int("dim")], b.size(x).length);
      return b.reduce(b.toDtype(x, a.dtype("dtype") ?? toLong(b.dtype(x))), "prod", dims, keep(a, all));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        const { shape } = b.meta(x);
        if (!all) {
          const dim = b.wrapDim(c.args.int("dim"), shape.length);
          const g = c.args.bool("keepdim") || shape.length === 0 ? c.grad() : f("unsqueeze.default", c.grad(), dim);
          return shape.length === 0 ? g : productOfOthers(b, g, x, dim);
        }
        if (shape.length === 0) return c.grad();
        const memory = { memory_format: new MemoryFormatArg("contiguous_format") };
        const dense = b.isContiguous(x) ? x : b.call("aten.clone.default", [x], memory);
        const flat = f("view.default", dense, [-1]);
        return f("view.default", productOfOthers(b, c.grad(), flat, 0), shape);
      },
    }),
  };
}

/** grad times, for each element, the product of the others: products of what comes before and after it */
function productOfOthers<T>(b: GraphBuilder<T>, grad: T, x: T, dim: number): T {
  const f = aten(b);
  const m = b.meta(x);
  const n = m.shape[dim] ?? b.int(1);
  const shape = m.shape.map((s, i) => (i === dim ? 1 : s));
  const ones = filledWith(b, "ones", shape, m);
  const join = (rest: T): T => f("cumprod.default", f("cat.default", [ones, rest], dim), dim);
  const before = join(f("slice.Tensor", x, dim, 0, b.sub(n, 1)));
  const reversed = f("flip.default", f("slice.Tensor", x, dim, 1, n), [dim]);
  const after = f("flip.default", join(reversed), [dim]);
  return f("mul.Tensor", grad, f("mul.Tensor", before, after));
}

const counts: OpRecord[] = [
  ...(["default", "dim_IntList"] as const).map(overload =>
    decomposed({
      name: `aten.count_nonzero.${overload}`,
      schema:
        overload === "default"
          ? "count_nonzero(Tensor self, int? dim=None) -> Tensor"
          : "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
      python: spell("count_nonzero"),
      tags: REDUCTION,
      derivative: NOT_DIFFERENTIABLE,
      decompose: (b, a) => {
        const dims = overload === "default" ? (a.optInt("dim") === null ? null : [a.int("dim")]) : a.ints("dim");
        return b.call("aten.sum.dim_IntList", [b.call("aten.ne.Scalar", [a.tensor("self"), 0]), dims]);
      },
    }),
  ),
  decomposed({
    name: "aten.nansum.default",
    schema: "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    python: spell("nansum"),
    tags: REDUCTION,
    decompose: (b, a) => {
      const x = a.tensor("self");
      const clean = where(b, b.call("aten.isnan.default", [x]), 0, x);
      return b.call("aten.sum.dim_IntList", [clean, a.raw("dim"), a.raw("keepdim")], dtypeKeyword(a));
    },
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const x = c.args.tensor("self");
        const valid = f("logical_not.default", f("isnan.default", x));
        return f("mul.Tensor", expandReduced(b, c.grad(), x, c.args.optInts("dim"), c.args.bool("keepdim")), valid);
      },
    }),
  }),
  composed({
    name: "aten.nanmean.default",
    schema: "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    python: spell("nanmean"),
    composite: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const known = f("detach.default", x);
      const valid = f("logical_not.default", f("ne.Tensor", known, known));
      const count = f("sum.dim_IntList", valid, a.raw("dim"), a.raw("keepdim"));
      const total = b.call("aten.nansum.default", [x, a.raw("dim"), a.raw("keepdim")], dtypeKeyword(a));
      return f("div.Tensor", total, count);
    },
  }),
  decomposed({
    name: "aten.aminmax.default",
    schema: "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    python: spell("aminmax"),
    tags: REDUCTION,
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) => {
      const dims = a.optInt("dim") === null ? [] : [a.int("dim")];
      const x = a.tensor("self");
      const min = b.call("aten.amin.default", [x, dims, a.raw("keepdim")]);
      return [min, b.call("aten.amax.default", [x, dims, a.raw("keepdim")])];
    },
  }),
];

function dtypeKeyword<T>(a: Args<T>): Record<string, ArgValue<T>> {
  const dtype = a.dtype("dtype");
  return dtype === null ? {} : { dtype: new DTypeArg(dtype) };
}

/** medians and modes are ATen kernels */
const orderStatistics: OpRecord[] = [
  ...(["median", "nanmedian"] as const).flatMap((packet): OpRecord[] => [
    {
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self) -> Tensor`,
      python: spell(packet),
      meta: (m, a) => reducedMeta(m, a.tensor("self"), null, false),
      lower: fallback(`aten.${packet}.default`, ["self"], ["self"]),
      derivative: each({
        self: (b, c) => {
          const result = c.result();
          return evenlyDistributed(b, c.grad(), c.args.tensor("self"), result);
        },
      }),
    },
    valueAlongDim(packet, "dim", ""),
  ]),
  valueAlongDim("mode", "default", "=-1"),
];

function valueAlongDim(packet: string, overload: string, dimDefault: string): OpRecord {
  const name = `aten.${packet}.${overload}`;
  return {
    name,
    schema: `${packet}${overload === "default" ? "" : `.${overload}`}(Tensor self, int dim${dimDefault}, bool keepdim=False) -> (Tensor values, Tensor indices)`,
    python: spell(packet),
    meta: (m, a) => {
      const [x, dim, keepdim] = [a.tensor("self"), [a.int("dim")], a.bool("keepdim")];
      return [reducedMeta(m, x, dim, keepdim), reducedMeta(m, x, dim, keepdim, "int64")];
    },
    lower: fallbackMany(name, ["self"], ["self", "dim", "keepdim"]),
    derivative: pickedValues,
  };
}

export const records: readonly OpRecord[] = [
  sum(true),
  sum(false),
  mean(true),
  mean(false),
  extremeOverDims("amax"),
  extremeOverDims("amin"),
  extreme("max"),
  extreme("min"),
  extremeWithIndex("max"),
  extremeWithIndex("min"),
  argExtreme("argmax"),
  argExtreme("argmin"),
  ...(["default", "dim", "dims"] as const).flatMap(o => [truth("any", o), truth("all", o)]),
  prod(true),
  prod(false),
  ...counts,
  ...orderStatistics,
];
