// Norms of matrices and what is defined by them, products of vectors, systems of more dims (ATen's composites).
import {
  type ArgValue,
  DeviceArg,
  type Dim,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  PyFloat,
  type Scalar,
} from "../types";

import { aten, numberOf } from "./helpers/define";
import { at, composed, range, wrapDims } from "./helpers/shape";
import { STRIDED } from "./helpers/trace";
import { reshape } from "./view";

interface Norm<T> {
  readonly dims: readonly number[];
  readonly keepdim: boolean;
  readonly dtype: ArgValue<T>;
}

/** the matrices of these dims last, and how to get back */
function matricesLast<T>(b: GraphBuilder<T>, x: T, dims: readonly number[]): { x: T; back: number[] } {
  const order = [...range(b.meta(x).shape.length).filter(d => !dims.includes(d)), ...dims];
  const back = order.map((_, d) => order.indexOf(d));
  return { x: b.call("aten.permute.default", [x, order]), back };
}

function singularValues<T>(b: GraphBuilder<T>, given: T, n: Norm<T>, reduce: (values: T) => T): T {
  const typed = n.dtype === null ? given : b.call("aten._to_copy.default", [given], { dtype: n.dtype });
  const { x, back } = matricesLast(b, typed, n.dims);
  const result = reduce(b.call("aten.linalg_svdvals.default", [x]));
  if (!n.keepdim) return result;
  return b.call("aten.permute.default", [b.call("aten.unsqueeze.default", [result, -1]), back]);
}

function matrixNorm<T>(b: GraphBuilder<T>, x: T, ord: Scalar | string, n: Norm<T>): T {
  const kwargs: Record<string, ArgValue<T>> = n.dtype === null ? {} : { dtype: n.dtype };
  if (ord === "fro") return b.call("aten.linalg_vector_norm.default", [x, 2, n.dims, n.keepdim], kwargs);
  if (ord === "nuc") {
    return singularValues(b, x, n, values => b.call("aten.sum.dim_IntList", [values, [-1], n.keepdim]));
  }
  if (typeof ord === "string") return b.fail(`linalg.matrix_norm: Order ${ord} not supported.`);
  const order = numberOf(ord);
  const extreme = (y: T, dim: number): T =>
    b.call(order > 0 ? "aten.amax.default" : "aten.amin.default", [y, [dim], n.keepdim]);
  if (Math.abs(order) === 2) return singularValues(b, x, n, values => extreme(values, -1));
  if (Math.abs(order) !== 1 && Math.abs(order) !== Number.POSITIVE_INFINITY) {
    return b.fail(`linalg.matrix_norm: Order ${order} not supported.`);
  }
  const [first, second] = (Math.abs(order) === 1 ? n.dims : [...n.dims].reverse()) as [number, number];
  const sums = b.call("aten.linalg_vector_norm.default", [x, new PyFloat(1), [first], n.keepdim], kwargs);
  return extreme(sums, !n.keepdim && first < second ? second - 1 : second);
}

const MATRIX = "int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
const ANY = "int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";

const norms: OpRecord[] = [
  ...(["Scalar ord", 'str ord="fro"'] as const).map(ord =>
    composed({
      name: `aten.linalg_matrix_norm.${ord === "Scalar ord" ? "default" : "str_ord"}`,
      schema: `linalg_matrix_norm${ord === "Scalar ord" ? "" : ".str_ord"}(Tensor self, ${ord}, ${MATRIX}`,
      python: ["torch.linalg.matrix_norm"],
      printedAs: "torch._C._linalg.linalg_matrix_norm",
      composite: (b, a) => {
        const x = a.tensor("self");
        const dims = wrapDims(b, a.ints("dim"), b.meta(x).shape.length);
        if (dims.length !== 2 || dims[0] === dims[1]) {
          return b.fail(`linalg.matrix_norm: dim must be a 2-tuple of different dims. Got ${dims}`);
        }
        const how = { dims, keepdim: a.bool("keepdim"), dtype: a.raw("dtype") };
        return matrixNorm(b, x, ord === "Scalar ord" ? a.scalar("ord") : a.str("ord"), how);
      },
    }),
  ),
  ...(["Scalar? ord=None", "str ord"] as const).map(ord =>
    composed({
      name: `aten.linalg_norm.${ord === "str ord" ? "ord_str" : "default"}`,
      schema: `linalg_norm${ord === "str ord" ? ".ord_str" : ""}(Tensor self, ${ord}, ${ANY}`,
      python: ["torch.linalg.norm"],
      printedAs: "torch._C._linalg.linalg_norm",
      composite: (b, a) => {
        const x = a.tensor("self");
        const rank = b.meta(x).shape.length;
        const dims = a.optInts("dim");
        const given = ord === "str ord" ? a.str("ord") : a.optScalar("ord");
        const matrix = given !== null && (dims === null ? rank === 2 : dims.length === 2);
        if (matrix || typeof given === "string") {
          const how = { dims: wrapDims(b, dims ?? [0, 1], rank), keepdim: a.bool("keepdim"), dtype: a.raw("dtype") };
          return matrixNorm(b, x, given as Scalar | string, how);
        }
        const kwargs: Record<string, ArgValue<typeof x>> = a.has("dtype") ? { dtype: a.raw("dtype") } : {};
        const args = [x, given ?? new PyFloat(2), a.raw("dim"), a.bool("keepdim")];
        return b.call("aten.linalg_vector_norm.default", args, kwargs);
      },
    }),
  ),
  composed({
    name: "aten.linalg_cond.default",
    schema: "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
    python: ["torch.linalg.cond"],
    printedAs: "torch._C._linalg.linalg_cond",
    composite: (b, a) => {
      const p = numberOf(a.optScalar("p") ?? 2);
      if (Math.abs(p) !== 2) return b.fail(`linalg.cond of order ${p} is not supported`);
      const values = b.call("aten.linalg_svdvals.default", [a.tensor("self")]);
      const largest = b.call("aten.narrow.default", [values, -1, 0, 1]);
      const smallest = b.call("aten.narrow.default", [values, -1, -1, 1]);
      const quotient = b.call("aten.div.Tensor", p > 0 ? [largest, smallest] : [smallest, largest]);
      return b.call("aten.squeeze.dim", [quotient, -1]);
    },
  }),
];

const others: OpRecord[] = [
  composed({
    name: "aten.linalg_vecdot.default",
    schema: "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    python: ["torch.linalg.vecdot"],
    printedAs: "torch._C._linalg.linalg_vecdot",
    composite: (b, a) => {
      const [x, y] = [a.tensor("x"), a.tensor("y")];
      if (b.meta(x).shape.length === 1 && b.meta(y).shape.length === 1) return b.call("aten.vdot.default", [x, y]);
      const product = b.call("aten.mul.Tensor", [b.call("aten.conj.default", [x]), y]);
      return b.call("aten.sum.dim_IntList", [product, [a.int("dim")]]);
    },
  }),
  composed({
    name: "aten.linalg_diagonal.default",
    schema: "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    python: ["torch.linalg.diagonal"],
    printedAs: "torch._C._linalg.linalg_diagonal",
    composite: (b, a) =>
      b.call("aten.diagonal.default", [a.tensor("A"), a.raw("offset"), a.raw("dim1"), a.raw("dim2")]),
  }),
  composed({
    name: "aten.linalg_vander.default",
    schema: "linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
    python: ["torch.linalg.vander"],
    printedAs: "torch._C._linalg.linalg_vander",
    composite: (b, a) => {
      const f = aten(b);
      let x = a.tensor("x");
      if (b.meta(x).shape.length === 0) x = f("unsqueeze.default", x, -1);
      const { shape } = b.meta(x);
      const n = a.optDim("N") ?? at(shape, shape.length - 1);
      if (b.le(n, 1)) return b.fail("N must be greater than 1.");
      const wide = f("expand.default", f("unsqueeze.default", x, -1), [...shape, b.sub(n, 1)]);
      const powers = f("cumprod.default", wide, -1);
      const ones = b.call("aten.new_ones.default", [powers, [...shape, 1]]);
      return f("cat.default", [ones, powers], -1);
    },
  }),
  composed({
    name: "aten.linalg_tensorsolve.default",
    schema: "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    python: ["torch.linalg.tensorsolve"],
    printedAs: "torch._C._linalg.linalg_tensorsolve",
    composite: (b, a) => {
      const other = a.tensor("other");
      let x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      const dims = a.optInts("dims");
      if (dims !== null) {
        const back = range(dims.length).map(i => rank - dims.length + i);
        x = b.call("aten.movedim.intlist", [x, dims, back]);
      }
      const { shape } = b.meta(x);
      const result = shape.slice(b.meta(other).shape.length);
      const size = b.product(result);
      const matrix = reshape(b, x, [size, size]);
      const solved = b.call("aten.linalg_solve.default", [matrix, b.call("aten.flatten.using_ints", [other])]);
      return reshape(b, solved, result);
    },
  }),
  composed({
    name: "aten.linalg_tensorinv.default",
    schema: "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    python: ["torch.linalg.tensorinv"],
    printedAs: "torch._C._linalg.linalg_tensorinv",
    composite: (b, a) => {
      const x = a.tensor("self");
      const { shape } = b.meta(x);
      const [rows, columns] = [shape.slice(0, a.int("ind")), shape.slice(a.int("ind"))];
      const matrix = reshape(b, x, [b.product(rows), b.product(columns)]);
      const [inverse] = b.callMany("aten.linalg_inv_ex.default", [matrix]);
      return reshape(b, inverse ?? matrix, [...columns, ...rows]);
    },
  }),
];

/** tolerances as double-precision tensors */
function pseudoinverse<T>(b: GraphBuilder<T>, x: T, atol: ArgValue<T>, rtol: ArgValue<T>, hermitian: boolean): T {
  const device = b.meta(x).device;
  const number = (v: ArgValue<T>): T =>
    b.call("aten.full.default", [[], v], {
      dtype: new DTypeArg("float64"),
      layout: STRIDED,
      device: new DeviceArg(device),
    });
  const [absolute, relative] = [number(atol), number(rtol)];
  return b.call("aten.linalg_pinv.atol_rtol_tensor", [x], {
    atol: absolute,
    rtol: relative,
    ...(hermitian ? { hermitian } : {}),
  });
}

const inverses: OpRecord[] = [
  composed({
    name: "aten.linalg_pinv.atol_rtol_float",
    schema:
      "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    python: ["torch.linalg.pinv"],
    printedAs: "torch._C._linalg.linalg_pinv",
    composite: (b, a) => {
      const x = a.tensor("self");
      if (!a.has("atol") && !a.has("rtol")) {
        return b.call("aten.linalg_pinv.atol_rtol_tensor", [x], a.bool("hermitian") ? { hermitian: true } : {});
      }
      const { shape, dtype } = b.meta(x);
      const [m, n] = shape.slice(-2) as [Dim, Dim];
      const atol = a.optNumber("atol") ?? 0;
      const epsilon = dtype === "float64" ? 2.220446049250313e-16 : 1.1920928955078125e-7;
      const rtol = a.optNumber("rtol") ?? (atol > 0 ? 0 : epsilon * Math.max(b.hint(m), b.hint(n)));
      return pseudoinverse(b, x, new PyFloat(atol), new PyFloat(rtol), a.bool("hermitian"));
    },
  }),
  composed({
    name: "aten.pinverse.default",
    schema: "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    python: ["torch.pinverse", "Tensor.pinverse"],
    composite: (b, a) => pseudoinverse(b, a.tensor("self"), new PyFloat(0), new PyFloat(a.number("rcond")), false),
  }),
];

export const records: readonly OpRecord[] = [...norms, ...others, ...inverses];
