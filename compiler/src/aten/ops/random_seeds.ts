// What Inductor makes of random draws: one seed for each draw of a graph, and counters for the elements.
import type { Dim, LoweringBuilder, OpRecord, Ops, TensorMeta } from "../types";
import { NOT_DIFFERENTIABLE } from "./helpers/define";
import { deviceOf } from "./helpers/factories";
import { at, contiguousStrides } from "./helpers/shape";

/** place of an element in a contiguous tensor of the given sizes */
function flatIndex<B>(b: LoweringBuilder<B>, size: readonly Dim[], offset: number): (index: readonly Dim[]) => Dim {
  const stride = contiguousStrides(b, size);
  return index => b.add(offset, ...index.map((i, d) => b.mul(i, at(stride, d))));
}

/** Inductor's own operators: one seed for each draw of a graph, and counters for the elements */
const seeded: OpRecord[] = [
  {
    name: "prims.inductor_seed.default",
    schema: "inductor_seed(Device device) -> Tensor",
    tags: ["random", "factory"],
    meta: (m, a) => m.tensor([], { dtype: "int64", device: deviceOf(m, a) }),
    derivative: NOT_DIFFERENTIABLE,
    lower: b => b.error("seeds of one graph are made together"),
  },
  {
    name: "prims.inductor_seeds.default",
    schema: "inductor_seeds(int count, Device device) -> Tensor",
    tags: ["random", "factory"],
    meta: (m, a) => m.tensor([a.int("count")], { dtype: "int64", device: deviceOf(m, a) }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const device = (b.out() as TensorMeta).device;
      return b.seeds(a.int("count"), device);
    },
  },
  {
    name: "prims.inductor_lookup_seed.default",
    schema: "inductor_lookup_seed(Tensor seeds, int index) -> Tensor",
    tags: ["random"],
    meta: (m, a) => m.tensor([], { dtype: "int64", device: a.tensor("seeds").device }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => b.lookupSeed(a.tensor("seeds"), a.int("index")),
  },
  {
    name: "prims.inductor_random.default",
    schema: "inductor_random(SymInt[] size, Tensor seed, str mode, *, int offset=0) -> Tensor",
    tags: ["random"],
    meta: (m, a) => m.tensor(a.dims("size"), { dtype: "float32", device: a.tensor("seed").device }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const mode = a.str("mode");
      if (mode !== "rand" && mode !== "randn") return b.error(`random numbers of kind ${mode}`);
      const size = a.dims("size");
      const place = flatIndex(b, size, a.int("offset"));
      const seed = b.loader(a.tensor("seed"));
      const drawn = b.pointwise({
        size,
        dtype: "float32",
        device: b.device(a.tensor("seed")),
        body: (ops, i) => ops.random(mode, seed(ops, []), ops.indexExpr(place(i), "int32")),
      });
      return b.realize(drawn);
    },
  },
  {
    name: "prims.inductor_randint.default",
    schema: "inductor_randint(SymInt low, SymInt high, SymInt[] size, Tensor seed, *, int offset=0) -> Tensor",
    tags: ["random"],
    meta: (m, a) => m.tensor(a.dims("size"), { dtype: "int64", device: a.tensor("seed").device }),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const size = a.dims("size");
      const place = flatIndex(b, size, a.int("offset"));
      const seed = b.loader(a.tensor("seed"));
      const bound = <V>(ops: Ops<V>, d: Dim): V => {
        const n = b.static(d);
        return n === undefined ? ops.indexExpr(d, "int64") : ops.constant(n, "int64");
      };
      return b.pointwise({
        size,
        dtype: "int64",
        device: b.device(a.tensor("seed")),
        body: (ops, i) => {
          const [key, counter] = [seed(ops, []), ops.indexExpr(place(i), "int32")];
          return ops.randint64(key, counter, bound(ops, a.dim("low")), bound(ops, a.dim("high")));
        },
      });
    },
  },
];

export const records: readonly OpRecord[] = [...seeded];
