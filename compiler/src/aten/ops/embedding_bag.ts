// Sums, means and maxima of bags of embeddings. The kernels are ATen's.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  type GraphBuilder,
  type MetaBuilder,
  type OpRecord,
  type TensorMeta,
} from "../types";
import { fallback, fallbackMany, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed } from "./helpers/shape";
import { reshape } from "./view";

const MODES = ["sum", "mean", "max"];

const KERNEL =
  "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1";
const KERNEL_ARGS = [
  "weight",
  "indices",
  "offsets",
  "scale_grad_by_freq",
  "mode",
  "sparse",
  "per_sample_weights",
  "include_last_offset",
  "padding_idx",
];
const BACKWARD_ARGS = [
  "grad",
  "indices",
  "offsets",
  "offset2bag",
  "bag_size",
  "maximum_indices",
  "num_weights",
  "scale_grad_by_freq",
  "mode",
  "sparse",
  "per_sample_weights",
  "padding_idx",
];

/** bags, the bag of each index, the size of each bag, and where the maxima came from */
function bagMeta(m: MetaBuilder, a: Args<TensorMeta>): TensorMeta[] {
  const [weight, indices, offsets] = [a.tensor("weight"), a.tensor("indices"), a.tensor("offsets")];
  const bags = m.sub(at(offsets.shape, 0), a.bool("include_last_offset") ? 1 : 0);
  const ints = { dtype: indices.dtype, device: indices.device };
  const count = at(indices.shape, 0);
  const width = at(weight.shape, 1);
  const largest: readonly (Dim | number)[] = a.int("mode") === 2 ? [bags, width] : [0];
  return [m.tensor([bags, width], weight), m.tensor([count], ints), m.tensor([bags], ints), m.tensor(largest, ints)];
}

/** the kernel that keeps nothing for a backward, where none will come */
function bag<T>(b: GraphBuilder<T>, a: Args<T>, args: readonly ArgValue<T>[]): readonly (T | null)[] {
  const op = b.meta(a.tensor("weight")).requiresGrad ? "_embedding_bag" : "_embedding_bag_forward_only";
  return b.callMany(`aten.${op}.default`, args);
}

export const records: readonly OpRecord[] = [
  {
    name: "aten._embedding_bag_forward_only.default",
    schema: `_embedding_bag_forward_only(${KERNEL}) -> (Tensor, Tensor, Tensor, Tensor)`,
    tags: ["extern"],
    meta: bagMeta,
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten._embedding_bag_forward_only.default",
      ["weight", "indices", "offsets", "per_sample_weights"],
      KERNEL_ARGS,
      [],
      "contiguous",
    ),
  },
  {
    name: "aten._embedding_bag.default",
    schema: `_embedding_bag(${KERNEL}) -> (Tensor, Tensor, Tensor, Tensor)`,
    tags: ["extern"],
    meta: bagMeta,
    nonDifferentiable: [1, 2, 3],
    derivative: {
      kind: "joint",
      of: ["weight", "per_sample_weights"],
      grads: (b, c) => {
        const a = c.args;
        const weight = b.call("aten._embedding_bag_backward.default", [
          c.grad(),
          a.tensor("indices"),
          a.tensor("offsets"),
          c.result(1),
          c.result(2),
          c.result(3),
          at(b.meta(a.tensor("weight")).shape, 0),
          a.raw("scale_grad_by_freq"),
          a.raw("mode"),
          a.raw("sparse"),
          a.raw("per_sample_weights"),
          a.raw("padding_idx"),
        ]);
        if (!a.has("per_sample_weights") || !c.needs("per_sample_weights")) return { weight, per_sample_weights: null };
        const samples = b.call("aten._embedding_bag_per_sample_weights_backward.default", [
          c.grad(),
          a.tensor("weight"),
          a.tensor("indices"),
          a.tensor("offsets"),
          c.result(1),
          a.raw("mode"),
          a.raw("padding_idx"),
        ]);
        return { weight, per_sample_weights: samples };
      },
    },
    lower: fallbackMany(
      "aten._embedding_bag.default",
      ["weight", "indices", "offsets", "per_sample_weights"],
      KERNEL_ARGS,
      [],
      "contiguous",
    ),
  },
  {
    name: "aten._embedding_bag_backward.default",
    schema:
      "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const g = a.tensor("grad");
      return m.tensor([a.dim("num_weights"), at(g.shape, 1)], g);
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback(
      "aten._embedding_bag_backward.default",
      ["grad", "indices", "offsets", "offset2bag", "bag_size", "maximum_indices", "per_sample_weights"],
      BACKWARD_ARGS,
    ),
  },
  {
    name: "aten._embedding_bag_per_sample_weights_backward.default",
    schema:
      "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => m.tensor([at(a.tensor("indices").shape, 0)], a.tensor("grad")),
    derivative: NOT_DIFFERENTIABLE,
    lower: fallback(
      "aten._embedding_bag_per_sample_weights_backward.default",
      ["grad", "weight", "indices", "offsets", "offset2bag"],
      ["grad", "weight", "indices", "offsets", "offset2bag", "mode", "padding_idx"],
    ),
  },
  composed({
    name: "aten.embedding_bag.padding_idx",
    schema:
      "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> (Tensor, Tensor, Tensor, Tensor)",
    python: ["torch.embedding_bag"],
    composite: (b, a) => {
      const given = a.optInt("padding_idx");
      const rows = at(b.meta(a.tensor("weight")).shape, 0);
      const padding: ArgValue<ReturnType<typeof a.tensor>> =
        given === null ? -1 : given < 0 ? b.add(rows, given) : given;
      return bag(b, a, [...KERNEL_ARGS.slice(0, -1).map(n => a.raw(n)), padding]);
    },
  }),
  composed({
    name: "torch.nn.functional.embedding_bag.default",
    schema:
      'embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode="mean", bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor',
    python: ["torch.nn.functional.embedding_bag"],
    composite: (b, a) => {
      let indices = a.tensor("input");
      let samples = a.optTensor("per_sample_weights");
      let offsets = a.optTensor("offsets");
      const { shape, device } = b.meta(indices);
      const mode = MODES.indexOf(a.str("mode"));
      if (mode < 0) return b.fail("mode has to be one of sum, mean or max", "ValueError");
      if (a.has("max_norm"))
        return b.fail("embedding_bag with max_norm renormalizes the weights in place", "NotImplementedError");
      if (shape.length === 2) {
        if (offsets !== null) {
          return b.fail(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences.",
            "ValueError",
          );
        }
        const total = b.product(shape);
        const step = at(shape, 1);
        offsets = b.call("aten.arange.start_step", [0, b.static(total) ?? total, b.static(step) ?? step], {
          device: new DeviceArg(device),
        });
        indices = reshape(b, indices, [-1]);
        if (samples !== null) samples = reshape(b, samples, [-1]);
      } else if (shape.length !== 1) {
        return b.fail(`input has to be 1D or 2D Tensor, but got Tensor of dimension ${shape.length}`, "ValueError");
      }
      if (offsets === null) return b.fail("offsets has to be a 1D Tensor but got None", "ValueError");
      const [bags] = b.callMany("aten.embedding_bag.padding_idx", [
        a.tensor("weight"),
        indices,
        offsets,
        a.raw("scale_grad_by_freq"),
        mode,
        a.raw("sparse"),
        samples,
        a.raw("include_last_offset"),
        a.raw("padding_idx"),
      ]);
      return bags ?? a.tensor("weight");
    },
  }),
];
