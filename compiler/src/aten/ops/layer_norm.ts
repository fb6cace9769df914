// layer_norm and its gradient.
import type { Args, GraphBuilder, OpRecord } from "../types";
import { aten, masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import { between, castBack, contiguousCast, count, maskedMetas, normalize, normalizedDims } from "./helpers/norm";
import { composed } from "./helpers/shape";
import { opmath, sumDims, toDtype } from "./helpers/trace";

const nativeLayerNorm: OpRecord = {
  name: "aten.native_layer_norm.default",
  schema:
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
  python: ["torch.native_layer_norm"],
  nonDifferentiable: [1, 2],
  meta: (m, a) => {
    const x = a.tensor("input");
    const dims = normalizedDims(m, x, a.dims("normalized_shape"));
    const stats = x.shape.map((s, i) => (dims.includes(i) ? m.int(1) : s));
    const stat = m.tensor(stats, { dtype: x.device.type === "cpu" ? x.dtype : opmath(x.dtype), device: x.device });
    return [m.tensor(x.shape, x), stat, stat];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const { dtype, device } = b.meta(input);
    const dims = normalizedDims(b, input, a.dims("normalized_shape"));
    const [own, weight, bias] = [input, a.optTensor("weight"), a.optTensor("bias")].map(t =>
      t === null ? null : f("contiguous.default", t),
    ) as [typeof input, typeof input | null, typeof input | null];
    const x = toDtype(b, own, opmath(dtype));
    const { out, mean, rstd } = normalize(b, x, dims, a.float("eps"));
    let y = out;
    if (weight !== null) y = f("mul.Tensor", y, weight);
    if (bias !== null) y = f("add.Tensor", y, bias);
    const result = toDtype(b, y, dtype);
    if (device.type !== "cpu") return [result, mean, rstd];
    return [result, toDtype(b, mean, dtype), toDtype(b, rstd, dtype)];
  },
  derivative: masked(["input", "weight", "bias"], (b, c, mask) =>
    b.callMany("aten.native_layer_norm_backward.default", [
      c.grad(0),
      c.args.tensor("input"),
      c.args.dims("normalized_shape"),
      c.result(1),
      c.result(2),
      c.args.optTensor("weight"),
      c.args.optTensor("bias"),
      mask,
    ]),
  ),
};

const nativeLayerNormBackward: OpRecord = {
  name: "aten.native_layer_norm_backward.default",
  schema:
    "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => maskedMetas(m, a, [a.tensor("input"), a.optTensor("weight"), a.optTensor("bias")]),
  decompose: (b, a) => {
    const f = aten(b);
    const [input, weight, bias] = [a.tensor("input"), a.optTensor("weight"), a.optTensor("bias")];
    const mask = a.raw("output_mask") as readonly boolean[];
    const compute = opmath(b.meta(input).dtype);
    const [g, x, w] = [a.tensor("grad_out"), input, weight, bias].map(t => contiguousCast(b, t, compute)) as [
      typeof input,
      typeof input,
      typeof input | null,
    ];
    const rank = b.meta(input).shape.length;
    const first = rank - a.dims("normalized_shape").length;
    const [outer, inner] = [between(0, first), between(first, rank)];
    const n = count(b, input, inner);
    const [mean, rstd] = [a.tensor("mean"), a.tensor("rstd")];
    const xhat = f("mul.Tensor", f("sub.Tensor", x, mean), rstd);
    const gxhat = w === null ? g : f("mul.Tensor", g, w);
    const scaled = f("mul.Tensor", gxhat, n);
    const total = sumDims(b, gxhat, inner, true);
    const projected = sumDims(b, f("mul.Tensor", gxhat, xhat), inner, true);
    const along = f("mul.Tensor", xhat, projected);
    const rest = f("sub.Tensor", f("sub.Tensor", scaled, total), along);
    let [dx, dw, db]: (typeof input | null)[] = [null, null, null];
    if (mask[0]) dx = f("mul.Tensor", f("div.Tensor", rstd, n), rest);
    if (mask[1] && weight !== null) {
      const product = f("mul.Tensor", g, xhat);
      dw = outer.length > 0 ? sumDims(b, product, outer) : product;
    }
    if (mask[2] && bias !== null) db = outer.length > 0 ? sumDims(b, g, outer) : f("clone.default", g);
    return [castBack(b, dx ?? null, input), castBack(b, dw ?? null, weight), castBack(b, db ?? null, bias)];
  },
};

const layerNorms: OpRecord[] = [
  composed({
    name: "aten.layer_norm.default",
    schema:
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
    python: ["torch.layer_norm"],
    composite: (b, a) => layerNorm(b, a),
  }),
  composed({
    name: "torch.nn.functional.layer_norm.default",
    schema:
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    python: ["torch.nn.functional.layer_norm"],
    composite: (b, a) => layerNorm(b, a),
  }),
];

function layerNorm<T>(b: GraphBuilder<T>, a: Args<T>): T {
  return b.callMany("aten.native_layer_norm.default", [
    a.tensor("input"),
    a.dims("normalized_shape"),
    a.optTensor("weight"),
    a.optTensor("bias"),
    a.float("eps"),
  ])[0] as T;
}

export const records: readonly OpRecord[] = [nativeLayerNorm, nativeLayerNormBackward, ...layerNorms];
