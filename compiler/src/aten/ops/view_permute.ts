// Views in another order of dims: permutations, transposes and moved dims.
import type { Args, GraphBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { each, spell } from "./helpers/define";
import { at, composed, range, viewMeta, wrapDims } from "./helpers/shape";

function permuteMeta(m: MetaBuilder, t: TensorMeta, order: readonly number[]): TensorMeta {
  if (order.length !== t.shape.length) {
    return m.fail(
      `permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = ${t.shape.length} is not equal to len(dims) = ${order.length}`,
    );
  }
  const dims = wrapDims(m, order, t.shape.length);
  return viewMeta(
    t,
    dims.map(d => at(t.shape, d)),
    dims.map(d => at(t.stride, d)),
  );
}

/** the identity order with two dims exchanged */
function swapped(rank: number, d0: number, d1: number): number[] {
  const order = range(rank);
  if (rank > 0) [order[d0], order[d1]] = [d1, d0];
  return order;
}

const transposeOf =
  (first: string, second: string) =>
  <T>(b: GraphBuilder<T>, a: Args<T>): T =>
    b.call("aten.transpose.int", [a.tensor("self"), a.raw(first), a.raw(second)]);

/** the matrix transpose of the last two dims (mT, mH, adjoint); `any2d`: numpy's T of a matrix */
function matrixTranspose<T>(b: GraphBuilder<T>, x: T, name: string): T {
  const rank = b.meta(x).shape.length;
  if (rank < 2) {
    return b.fail(`tensor.${name} is only supported on matrices or batches of matrices. Got ${rank}-D tensor.`);
  }
  return b.call("aten.transpose.int", [x, -2, -1]);
}

const permutations: OpRecord[] = [
  {
    name: "aten.permute.default",
    schema: "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    python: spell("permute"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => permuteMeta(m, a.tensor("self"), a.ints("dims")),
    derivative: each({
      self: (b, c) => {
        const dims = wrapDims(b, c.args.ints("dims"), b.meta(c.args.tensor("self")).shape.length);
        return b.call("aten.permute.default", [c.grad(), range(dims.length).map(i => dims.indexOf(i))]);
      },
    }),
    lower: (b, a) => {
      const x = a.tensor("self");
      const rank = b.size(x).length;
      return b.permute(
        x,
        a.ints("dims").map(d => b.wrapDim(d, rank)),
      );
    },
  },
  {
    name: "aten.transpose.int",
    schema: "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    python: spell("transpose"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      const rank = t.shape.length;
      const [d0, d1] = [m.wrapDim(a.int("dim0"), rank), m.wrapDim(a.int("dim1"), rank)];
      return permuteMeta(m, t, swapped(rank, d0, d1));
    },
    decompose: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      const [d0, d1] = [b.wrapDim(a.int("dim0"), rank), b.wrapDim(a.int("dim1"), rank)];
      if (rank <= 1) return b.call("aten.alias.default", [x]);
      return b.call("aten.permute.default", [x, swapped(rank, d0, d1)]);
    },
    derivative: each({
      self: (b, c) => b.call("aten.transpose.int", [c.grad(), c.args.raw("dim0"), c.args.raw("dim1")]),
    }),
  },
  {
    name: "aten.t.default",
    schema: "t(Tensor(a) self) -> Tensor(a)",
    python: spell("t"),
    tags: ["view"],
    viewOf: "self",
    meta: (m, a) => {
      const t = a.tensor("self");
      if (t.shape.length > 2)
        return m.fail(`t() expects a tensor with <= 2 dimensions, but self is ${t.shape.length}D`);
      return permuteMeta(m, t, range(t.shape.length).reverse());
    },
    decompose: (b, a) => {
      const x = a.tensor("self");
      return b.meta(x).shape.length < 2
        ? b.call("aten.alias.default", [x])
        : b.call("aten.permute.default", [x, [1, 0]]);
    },
    derivative: each({ self: (b, c) => b.call("aten.t.default", [c.grad()]) }),
  },
  ...["swapaxes", "swapdims"].map(name => {
    const [first, second] = name === "swapaxes" ? ["axis0", "axis1"] : ["dim0", "dim1"];
    return composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor(a) self, int ${first}, int ${second}) -> Tensor(a)`,
      python: spell(name),
      composite: transposeOf(first as string, second as string),
    });
  }),
  composed({
    name: "aten.numpy_T.default",
    schema: "numpy_T(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.T"],
    composite: (b, a) => {
      const x = a.tensor("self");
      return b.call("aten.permute.default", [x, range(b.meta(x).shape.length).reverse()]);
    },
  }),
  composed({
    name: "aten.matrix_H.default",
    schema: "matrix_H(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.H"],
    composite: (b, a) => {
      const x = a.tensor("self");
      const rank = b.meta(x).shape.length;
      if (rank !== 2 && rank !== 0)
        return b.fail(`tensor.H is only supported on matrices (2-D tensors). Got ${rank}-D tensor.`);
      return adjoint(b, x, "H");
    },
  }),
  composed({
    name: "aten.mT.default",
    schema: "mT(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.mT"],
    composite: (b, a) => matrixTranspose(b, a.tensor("self"), "mT"),
  }),
  composed({
    name: "aten.mH.default",
    schema: "mH(Tensor(a) self) -> Tensor(a)",
    python: ["Tensor.mH"],
    composite: (b, a) => adjoint(b, a.tensor("self"), "mH"),
  }),
  composed({
    name: "aten.adjoint.default",
    schema: "adjoint(Tensor(a) self) -> Tensor(a)",
    python: spell("adjoint"),
    composite: (b, a) => adjoint(b, a.tensor("self"), "adjoint()"),
  }),
  ...(["movedim", "moveaxis"] as const).flatMap(name => [
    composed({
      name: `aten.${name}.int`,
      schema: `${name}.int(Tensor(a) self, int source, int destination) -> Tensor(a)`,
      python: spell(name),
      composite: (b, a) => moveDims(b, a.tensor("self"), [a.int("source")], [a.int("destination")]),
    }),
    composed({
      name: `aten.${name}.intlist`,
      schema: `${name}.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)`,
      python: spell(name),
      composite: (b, a) => moveDims(b, a.tensor("self"), a.ints("source"), a.ints("destination")),
    }),
  ]),
];

function adjoint<T>(b: GraphBuilder<T>, x: T, name: string): T {
  if (b.meta(x).shape.length === 0) return x;
  const t = matrixTranspose(b, x, name);
  return b.meta(x).dtype.startsWith("complex") ? b.call("aten._conj.default", [t]) : t;
}

const listed = (dims: readonly number[]): string => `[${dims.join(", ")}]`;

/**
 * The view with dims `source` at the places `destination`, the others in their order. Lists that differ in length or name a dim
 * twice are refused, in torch's words.
 */
export function moveDims<T>(b: GraphBuilder<T>, x: T, source: readonly number[], destination: readonly number[]): T {
  const rank = b.meta(x).shape.length;
  if (source.length !== destination.length) {
    return b.fail(
      `movedim: Invalid source or destination dims: source (${listed(source)} dims) should contain the same number of dims as destination (${listed(destination)} dims)`,
    );
  }
  const from = source.map(d => b.wrapDim(d, rank));
  const to = destination.map(d => b.wrapDim(d, rank));
  for (const [name, dims, given] of [
    ["source", from, source],
    ["destination", to, destination],
  ] as const) {
    if (new Set(dims).size < dims.length) return b.fail(`movedim: repeated dim in \`${name}\` (${listed(given)})`);
  }
  const order: (number | undefined)[] = new Array(rank).fill(undefined);
  from.forEach((d, i) => {
    order[at(to, i)] = d;
  });
  const rest = range(rank).filter(d => !from.includes(d));
  return b.call("aten.permute.default", [x, order.map(d => d ?? (rest.shift() as number))]);
}

export const records: readonly OpRecord[] = [...permutations];
