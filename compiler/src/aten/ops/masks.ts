// Masks, and operators whose result has a size that only the data knows.
import type { OpRecord } from "../types";
import { each, fallback, inplace, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import { broadcastShapes, composed, decomposed } from "./helpers/shape";
import { filled, full, maskedFill, toDtype, where } from "./helpers/trace";

const maskedFillScalar = decomposed({
  name: "aten.masked_fill.Scalar",
  schema: "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
  python: spell("masked_fill"),
  tags: ["pointwise"],
  decompose: (b, a) => {
    const mask = a.tensor("mask");
    if (b.meta(mask).dtype !== "bool") {
      return b.fail(`masked_fill_ only supports boolean masks, but got mask with dtype ${b.meta(mask).dtype}`);
    }
    return maskedFill(b, a.tensor("self"), mask, a.scalar("value"));
  },
  derivative: each({
    self: (b, c) => b.call("aten.masked_fill.Scalar", [c.grad(), c.args.tensor("mask"), 0]),
  }),
});

const maskedFillTensor = decomposed({
  name: "aten.masked_fill.Tensor",
  schema: "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
  python: spell("masked_fill"),
  tags: ["pointwise"],
  decompose: (b, a) => {
    const x = a.tensor("self");
    const t = b.meta(x);
    if (b.meta(a.tensor("value")).shape.length > 0) {
      return b.fail(
        `masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ${b.meta(a.tensor("value")).shape.length} dimension(s).`,
      );
    }
    const value = toDtype(b, a.tensor("value"), t.dtype);
    return filled(b, b.call("aten.where.self", [a.tensor("mask"), value, x]));
  },
  derivative: each({
    self: (b, c) => b.call("aten.masked_fill.Scalar", [c.grad(), c.args.tensor("mask"), 0]),
    value: (b, c) => b.call("aten.sum.default", [where(b, c.args.tensor("mask"), c.grad(), 0)]),
  }),
});

const masks: OpRecord[] = [
  composed({
    name: "aten.where.default",
    schema: "where(Tensor condition) -> Tensor[]",
    python: ["torch.where"],
    composite: (b, a) => {
      const places = b.call("aten.nonzero.default", [a.tensor("condition")]);
      return b.callMany("aten.unbind.int", [places, 1]);
    },
  }),
  maskedFillScalar,
  inplace(maskedFillScalar),
  maskedFillTensor,
  inplace(maskedFillTensor),
];

/** x.nonzero(as_tuple=True): a tensor of places for each dimension */
const nonzeroAsTuple = composed({
  name: "aten.nonzero_numpy.default",
  schema: "nonzero_numpy(Tensor self, *, bool as_tuple) -> Tensor[]",
  python: spell("nonzero"),
  composite: (b, a) => {
    const places = b.call("aten.nonzero.default", [a.tensor("self")]);
    return b.callMany("aten.unbind.int", [places, 1]);
  },
});

const sizedByData: OpRecord[] = [
  {
    name: "aten.nonzero.default",
    schema: "nonzero(Tensor self) -> Tensor",
    python: spell("nonzero"),
    tags: ["data_dependent", "extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      const n = m.unbacked();
      const rank = m.int(t.shape.length);
      // column-major, as the kernel writes one coordinate after the other
      return m.tensor([n, rank], { dtype: "int64", device: t.device }, [m.int(1), n]);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.nonzero.default", ["self"], ["self"]),
  },
  nonzeroAsTuple,
  {
    name: "aten.masked_select.default",
    schema: "masked_select(Tensor self, Tensor mask) -> Tensor",
    python: spell("masked_select"),
    tags: ["data_dependent", "extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      m.broadcast(t.shape, a.tensor("mask").shape);
      return m.tensor([m.unbacked()], t);
    },
    derivative: each({
      self: (b, c) => {
        const [x, mask] = [c.args.tensor("self"), c.args.tensor("mask")];
        const t = b.meta(x);
        const shape = broadcastShapes(b, t.shape, b.meta(mask).shape);
        const zeros = full(b, shape, 0, t.dtype, t.device);
        return b.call("aten.masked_scatter.default", [zeros, mask, c.grad()]);
      },
    }),
    lower: fallback("aten.masked_select.default", ["self", "mask"], ["self", "mask"]),
  },
  {
    name: "aten.bincount.default",
    schema: "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    python: spell("bincount"),
    tags: ["data_dependent", "extern"],
    meta: (m, a) => {
      const w = a.optTensor("weights");
      const dtype = w === null ? "int64" : w.dtype === "float32" ? "float32" : "float64";
      return m.tensor([m.unbacked()], { dtype, device: a.tensor("self").device });
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback("aten.bincount.default", ["self", "weights"], ["self", "weights", "minlength"]),
  },
];

export const records: readonly OpRecord[] = [...masks, ...sizedByData];
