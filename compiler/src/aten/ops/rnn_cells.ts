// Cells of recurrent networks. On a GPU the gates' arithmetic is one ATen kernel; plain cells are ordinary operators.
// (Dynamo takes no whole LSTM, GRU or RNN into a graph.)
import type { Args, ArgValue, GraphBuilder, OpRecord } from "../types";
import { aten, fallbackMany, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed } from "./helpers/shape";

const WEIGHTS = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None";

/** x @ w.t() */
function gates<T>(b: GraphBuilder<T>, x: T, weight: T): T {
  return b.call("aten.matmul.default", [x, b.call("aten.t.default", [weight])]);
}

function onGpu<T>(b: GraphBuilder<T>, a: Args<T>): boolean {
  return b.meta(a.tensor("input")).device.type === "cuda";
}

function lstmCell<T>(b: GraphBuilder<T>, a: Args<T>): T[] {
  const f = aten(b);
  const [hx, cx] = a.tensors("hx") as [T, T];
  const x = a.tensor("input");
  if (onGpu(b, a)) {
    const input = gates(b, x, a.tensor("w_ih"));
    const hidden = gates(b, hx, a.tensor("w_hh"));
    const call: ArgValue<T>[] = [input, hidden, cx, a.optTensor("b_ih"), a.optTensor("b_hh")];
    return b.callMany("aten._thnn_fused_lstm_cell.default", call).slice(0, 2);
  }
  const hidden = f("linear.default", hx, a.tensor("w_hh"), a.optTensor("b_hh"));
  const all = f("add.Tensor", hidden, f("linear.default", x, a.tensor("w_ih"), a.optTensor("b_ih")));
  const [i, fgt, g, o] = b.callMany("aten.chunk.default", [all, 4, 1]) as [T, T, T, T];
  const input = f("sigmoid.default", i);
  const forget = f("sigmoid.default", fgt);
  const cell = f("tanh.default", g);
  const output = f("sigmoid.default", o);
  const cy = f("add.Tensor", f("mul.Tensor", forget, cx), f("mul.Tensor", input, cell));
  return [f("mul.Tensor", output, f("tanh.default", cy)), cy];
}

function gruCell<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const f = aten(b);
  const [x, hx] = [a.tensor("input"), a.tensor("hx")];
  if (onGpu(b, a)) {
    const input = gates(b, x, a.tensor("w_ih"));
    const hidden = gates(b, hx, a.tensor("w_hh"));
    const call: ArgValue<T>[] = [input, hidden, hx, a.optTensor("b_ih"), a.optTensor("b_hh")];
    return b.callMany("aten._thnn_fused_gru_cell.default", call)[0] ?? hx;
  }
  const three = (y: T): [T, T, T] => b.callMany("aten.chunk.default", [y, 3, 1]) as [T, T, T];
  const [ir, iz, inew] = three(f("linear.default", x, a.tensor("w_ih"), a.optTensor("b_ih")));
  const [hr, hz, hnew] = three(f("linear.default", hx, a.tensor("w_hh"), a.optTensor("b_hh")));
  const reset = f("sigmoid.default", f("add.Tensor", hr, ir));
  const update = f("sigmoid.default", f("add.Tensor", hz, iz));
  const fresh = f("tanh.default", f("add.Tensor", inew, f("mul.Tensor", hnew, reset)));
  return f("add.Tensor", f("mul.Tensor", f("sub.Tensor", hx, fresh), update), fresh);
}

const cells: OpRecord[] = [
  composed({
    name: "aten.lstm_cell.default",
    schema: `lstm_cell(Tensor input, Tensor[] hx, ${WEIGHTS}) -> (Tensor, Tensor)`,
    python: ["torch.lstm_cell"],
    composite: lstmCell,
  }),
  composed({
    name: "aten.gru_cell.default",
    schema: `gru_cell(Tensor input, Tensor hx, ${WEIGHTS}) -> Tensor`,
    python: ["torch.gru_cell"],
    composite: gruCell,
  }),
  ...(["tanh", "relu"] as const).map(activation =>
    composed({
      name: `aten.rnn_${activation}_cell.default`,
      schema: `rnn_${activation}_cell(Tensor input, Tensor hx, ${WEIGHTS}) -> Tensor`,
      python: [`torch.rnn_${activation}_cell`],
      composite: (b, a) => {
        const f = aten(b);
        const hidden = f("linear.default", a.tensor("hx"), a.tensor("w_hh"), a.optTensor("b_hh"));
        const input = f("linear.default", a.tensor("input"), a.tensor("w_ih"), a.optTensor("b_ih"));
        return f(`${activation}.default`, f("add.Tensor", hidden, input));
      },
    }),
  ),
];

const GATES = "Tensor input_gates, Tensor hidden_gates, Tensor";
const BIASES = "Tensor? input_bias=None, Tensor? hidden_bias=None";
const LSTM_ARGS = ["input_gates", "hidden_gates", "cx", "input_bias", "hidden_bias"];
const GRU_ARGS = ["input_gates", "hidden_gates", "hx", "input_bias", "hidden_bias"];

const kernels: OpRecord[] = [
  {
    name: "aten._thnn_fused_lstm_cell.default",
    schema: `_thnn_fused_lstm_cell(${GATES} cx, ${BIASES}) -> (Tensor, Tensor, Tensor)`,
    tags: ["extern"],
    meta: (m, a) => {
      const [gate, cx] = [a.tensor("input_gates"), a.tensor("cx")];
      return [m.tensor(cx.shape, cx), m.tensor(cx.shape, cx), m.tensor(gate.shape, gate)];
    },
    nonDifferentiable: [2],
    derivative: {
      kind: "joint",
      of: LSTM_ARGS,
      grads: (b, c) => {
        const [gate, cx, bias] = b.callMany("aten._thnn_fused_lstm_cell_backward_impl.default", [
          c.optGrad(0),
          c.optGrad(1),
          c.args.tensor("cx"),
          c.result(1),
          c.result(2),
          c.args.has("input_bias"),
        ]);
        const both = { input_gates: gate ?? null, hidden_gates: gate ?? null, cx: cx ?? null };
        return { ...both, input_bias: bias ?? null, hidden_bias: bias ?? null };
      },
    },
    lower: fallbackMany("aten._thnn_fused_lstm_cell.default", LSTM_ARGS, LSTM_ARGS),
  },
  {
    name: "aten._thnn_fused_lstm_cell_backward_impl.default",
    schema:
      "_thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => {
      const [cx, workspace] = [a.tensor("cx"), a.tensor("workspace")];
      const bias = a.bool("has_bias") ? m.tensor([at(workspace.shape, 1)], workspace) : null;
      return [m.tensor(workspace.shape, workspace), m.tensor(cx.shape, cx), bias];
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten._thnn_fused_lstm_cell_backward_impl.default",
      ["grad_hy", "grad_cy", "cx", "cy", "workspace"],
      ["grad_hy", "grad_cy", "cx", "cy", "workspace", "has_bias"],
    ),
  },
  {
    name: "aten._thnn_fused_gru_cell.default",
    schema: `_thnn_fused_gru_cell(${GATES} hx, ${BIASES}) -> (Tensor, Tensor)`,
    tags: ["extern"],
    meta: (m, a) => {
      const hx = a.tensor("hx");
      return [m.tensor(hx.shape, hx), m.tensor([at(hx.shape, 0), m.mul(at(hx.shape, 1), 5)], hx)];
    },
    nonDifferentiable: [1],
    derivative: {
      kind: "joint",
      of: GRU_ARGS,
      grads: (b, c) => {
        const grads = b.callMany("aten._thnn_fused_gru_cell_backward.default", [
          c.grad(),
          c.result(1),
          c.args.has("input_bias"),
        ]);
        return Object.fromEntries(GRU_ARGS.map((n, i) => [n, grads[i] ?? null]));
      },
    },
    lower: fallbackMany("aten._thnn_fused_gru_cell.default", GRU_ARGS, GRU_ARGS),
  },
  {
    name: "aten._thnn_fused_gru_cell_backward.default",
    schema:
      "_thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => {
      const [g, workspace] = [a.tensor("grad_hy"), a.tensor("workspace")];
      const [rows, hidden] = [at(g.shape, 0), at(g.shape, 1)];
      const width = m.mul(hidden, 3);
      const bias = a.bool("has_bias") ? m.tensor([width], workspace) : null;
      const gate = m.tensor([rows, width], workspace);
      return [gate, gate, m.tensor(g.shape, g), bias, bias];
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten._thnn_fused_gru_cell_backward.default",
      ["grad_hy", "workspace"],
      ["grad_hy", "workspace", "has_bias"],
    ),
  },
];

export const records: readonly OpRecord[] = [...cells, ...kernels];
