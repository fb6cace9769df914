// Searches: bucketize and searchsorted, membership, one-hot codes.
import {
  type Args,
  DeviceArg,
  DTypeArg,
  type GraphBuilder,
  type LoweringBuilder,
  type MetaBuilder,
  type OpRecord,
  type TensorMeta,
} from "../types";
import { fallback, NOT_DIFFERENTIABLE } from "./helpers/define";
import { composed, decomposed } from "./helpers/shape";
import { flatten, reshape } from "./view";

const searches: OpRecord[] = [
  composed({
    name: "aten.one_hot.default",
    schema: "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    python: ["torch.nn.functional.one_hot"],
    printedAs: "torch._C._nn.one_hot",
    composite: (b, a) => oneHot(b, a.tensor("self"), a.int("num_classes")),
  }),
  ...(["Tensor", "Scalar"] as const).flatMap(kind => [
    {
      name: `aten.searchsorted.${kind}`,
      schema: `searchsorted.${kind}(Tensor sorted_sequence, ${kind} self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor`,
      python: ["torch.searchsorted"],
      meta: (m: MetaBuilder, a: Args<TensorMeta>) => {
        const s = a.tensor("sorted_sequence");
        const shape = kind === "Tensor" ? a.tensor("self").shape : [];
        return m.tensor(shape, { dtype: a.bool("out_int32") ? "int32" : "int64", device: s.device });
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: <B>(b: LoweringBuilder<B>, a: Args<B>): B => {
        const s = a.tensor("sorted_sequence");
        const dtype = a.bool("out_int32") ? "int32" : "int64";
        const right = a.bool("right") || a.optStr("side") === "right";
        const found =
          kind === "Tensor" ? b.bucketize(a.tensor("self"), s, { right, dtype, sorter: a.optTensor("sorter") }) : null;
        const names = ["out_int32", "right", "side", "sorter"];
        return (
          found ??
          fallback(
            `aten.searchsorted.${kind}`,
            ["sorted_sequence", "self", "sorter"],
            ["sorted_sequence", "self"],
            names,
          )(b, a)
        );
      },
    } satisfies OpRecord,
    {
      name: `aten.bucketize.${kind}`,
      schema: `bucketize.${kind}(${kind} self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor`,
      python: ["torch.bucketize"],
      meta: (m: MetaBuilder, a: Args<TensorMeta>) => {
        const boundaries = a.tensor("boundaries");
        if (boundaries.shape.length !== 1) {
          return m.fail(`boundaries tensor must be 1 dimension, but got dim(${boundaries.shape.length})`);
        }
        const shape = kind === "Tensor" ? a.tensor("self").shape : [];
        return m.tensor(shape, { dtype: a.bool("out_int32") ? "int32" : "int64", device: boundaries.device });
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: <B>(b: LoweringBuilder<B>, a: Args<B>): B => {
        const boundaries = a.tensor("boundaries");
        const dtype = a.bool("out_int32") ? "int32" : "int64";
        const found =
          kind === "Tensor" ? b.bucketize(a.tensor("self"), boundaries, { right: a.bool("right"), dtype }) : null;
        return (
          found ??
          fallback(
            `aten.bucketize.${kind}`,
            ["self", "boundaries"],
            ["self", "boundaries"],
            ["out_int32", "right"],
          )(b, a)
        );
      },
    } satisfies OpRecord,
  ]),
  decomposed({
    name: "aten.isin.Tensor_Tensor",
    schema:
      "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    python: ["torch.isin"],
    decompose: (b, a) => {
      const x = a.tensor("elements");
      const shape = b.meta(x).shape;
      const flat = flatten(b, a.tensor("test_elements"), 0, -1);
      const wide = reshape(b, x, [...shape, 1]);
      const equal = b.call("aten.eq.Tensor", [wide, flat]);
      const found = b.call("aten.any.dims", [equal, [-1]]);
      return a.bool("invert") ? b.call("aten.logical_not.default", [found]) : found;
    },
    derivative: NOT_DIFFERENTIABLE,
  }),
];

function oneHot<T>(b: GraphBuilder<T>, x: T, classes: number): T {
  const t = b.meta(x);
  if (t.dtype !== "int64") return b.fail("one_hot is only applicable to index tensor of type LongTensor.");
  if (classes < 0) return b.fail("one_hot: the number of classes depends on data");
  const all = b.call("aten.arange.default", [classes], {
    dtype: new DTypeArg("int64"),
    device: new DeviceArg(t.device),
  });
  const equal = b.call("aten.eq.Tensor", [b.call("aten.unsqueeze.default", [x, -1]), all]);
  return b.call("aten._to_copy.default", [equal], { dtype: new DTypeArg("int64") });
}

export const records: readonly OpRecord[] = [...searches];
