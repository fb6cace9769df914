// Whole recurrent layers: torch.lstm, gru, rnn_tanh and rnn_relu. Dynamo ends a graph before an nn.LSTM, so they run as eager
// steps; on a GPU each is one call of cuDNN, whose gradients are one call too. In: [time, batch, width], or batch first.
import type { Args, Dim, OpRecord } from "../types";
import { fallbackMany, NOT_DIFFERENTIABLE } from "./helpers/define";
import { asMany, at, composed } from "./helpers/shape";

/** cuDNN's numbers of the four kinds */
const MODES = { rnn_relu: 0, rnn_tanh: 1, lstm: 2, gru: 3 } as const;
type Kind = keyof typeof MODES;

const FLAGS =
  "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first";

const LAYER =
  "int mode, SymInt hidden_size, SymInt proj_size, int num_layers, bool batch_first, float dropout, bool train, bool bidirectional, SymInt[] batch_sizes, Tensor? dropout_state";

function layer(kind: Kind): OpRecord {
  const lstm = kind === "lstm";
  return composed({
    name: `aten.${kind}.input`,
    schema: `${kind}.input(Tensor input, ${lstm ? "Tensor[]" : "Tensor"} hx, ${FLAGS}) -> (Tensor, Tensor${lstm ? ", Tensor" : ""})`,
    python: [`torch.${kind}`],
    composite: (b, a) => {
      const [hx, cx] = lstm ? a.tensors("hx") : [a.tensor("hx")];
      const params = a.tensors("params");
      const state = (x: typeof hx): readonly Dim[] => (x === undefined ? [] : b.meta(x).shape);
      const hidden = at(state(lstm ? cx : hx), 2);
      const projected = lstm && !b.eq(at(state(hx), 2), hidden);
      const perLayer = (a.bool("has_biases") ? 4 : 2) + Number(projected);
      const [out, hy, cy] = b.callMany("aten._cudnn_rnn.default", [
        a.tensor("input"),
        asMany(params),
        perLayer,
        null,
        hx ?? null,
        cx ?? null,
        MODES[kind],
        hidden,
        projected ? at(state(hx), 2) : 0,
        a.raw("num_layers"),
        a.raw("batch_first"),
        a.raw("dropout"),
        a.raw("train"),
        a.raw("bidirectional"),
        [],
        null,
      ]);
      return [out, hy, ...(lstm ? [cy] : [])] as NonNullable<typeof out>[];
    },
  });
}

/** width of a layer's output in one direction: cut down by a projection */
const realSize = <T>(a: Args<T>): Dim => (a.int("proj_size") > 0 ? a.dim("proj_size") : a.dim("hidden_size"));

const ALL = ["input", "weight", "hx", "cx"] as const;
const OPERANDS = ["input", "weight", "weight_stride0", "weight_buf", "hx", "cx"];
const RESULTS = ["output", "grad_output", "grad_hy", "grad_cy"];
const LAYER_ARGS = [...LAYER.matchAll(/(\w+)(?:,|$)/g)].map(m => m[1] as string);

const kernels: OpRecord[] = [
  {
    name: "aten._cudnn_rnn.default",
    schema: `_cudnn_rnn(Tensor input, Tensor[] weight, int weight_stride0, Tensor? weight_buf, Tensor hx, Tensor? cx, ${LAYER}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)`,
    tags: ["extern"],
    meta: (m, a) => {
      const [x, hx, cx] = [a.tensor("input"), a.tensor("hx"), a.optTensor("cx")];
      const directions = a.bool("bidirectional") ? 2 : 1;
      const out = m.tensor([...x.shape.slice(0, -1), m.mul(realSize(a), directions)], x);
      const cy = m.tensor(cx?.shape ?? [0], hx);
      return [out, m.tensor(hx.shape, hx), cy, m.tensor([0], { dtype: "uint8", device: x.device }), m.tensor([0], x)];
    },
    nonDifferentiable: [3, 4],
    derivative: {
      kind: "joint",
      of: ALL,
      grads: (b, c) => {
        const { args: a } = c;
        const grads = b.callMany("aten._cudnn_rnn_backward.default", [
          a.tensor("input"),
          asMany(a.tensors("weight")),
          a.raw("weight_stride0"),
          c.result(4),
          a.tensor("hx"),
          a.optTensor("cx"),
          c.result(0),
          c.optGrad(0),
          c.optGrad(1),
          c.optGrad(2),
          ...LAYER_ARGS.map(n => a.raw(n)),
          c.result(3),
          ALL.map(n => c.needs(n)),
        ]);
        const [input, hx, cx, ...weight] = grads;
        return { input: input ?? null, hx: hx ?? null, cx: cx ?? null, weight };
      },
    },
    lower: fallbackMany("aten._cudnn_rnn.default", ALL, [...OPERANDS, ...LAYER_ARGS]),
  },
  {
    name: "aten._cudnn_rnn_backward.default",
    schema: `_cudnn_rnn_backward(Tensor input, Tensor[] weight, int weight_stride0, Tensor weight_buf, Tensor hx, Tensor? cx, Tensor output, Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy, ${LAYER}, Tensor reserve, bool[4] output_mask) -> (Tensor, Tensor, Tensor, Tensor[])`,
    tags: ["extern"],
    meta: (m, a) => {
      const cx = a.optTensor("cx");
      const like = [a.tensor("input"), a.tensor("hx"), cx, ...a.tensors("weight")];
      return like.map(t => (t === null ? null : m.tensor(t.shape, t)));
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten._cudnn_rnn_backward.default",
      [...ALL, ...RESULTS],
      [...OPERANDS, ...RESULTS, ...LAYER_ARGS, "reserve", "output_mask"],
    ),
  },
];

export const records: readonly OpRecord[] = [...(Object.keys(MODES) as Kind[]).map(layer), ...kernels];
