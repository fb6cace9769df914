// rms_norm and its gradient.
import { type DType, DTypeArg, type OpRecord } from "../types";
import { aten, fl, masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import {
  addToFirst,
  between,
  castBack,
  contiguousCast,
  count,
  maskedMetas,
  normalizedDims,
  throughStatistics,
} from "./helpers/norm";
import { composed, looksChannelsLast } from "./helpers/shape";
import { opmath, sumDims, toDtype } from "./helpers/trace";

/** torch.finfo(dtype).eps */
const EPSILON: Partial<Record<DType, number>> = {
  float64: 2.220446049250313e-16,
  float32: 1.1920928955078125e-7,
  float16: 0.0009765625,
  bfloat16: 0.0078125,
};

/** dims that rms_norm reduces, last first */
const rmsDims = (rank: number, covered: number): number[] => between(0, covered).map(i => rank - 1 - i);

const fusedRmsNorm: OpRecord = {
  name: "aten._fused_rms_norm.default",
  schema: "_fused_rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
  meta: (m, a) => {
    const x = a.tensor("input");
    const dims = normalizedDims(m, x, a.dims("normalized_shape"));
    const stats = x.shape.map((s, i) => (dims.includes(i) ? m.int(1) : s));
    return [m.elementwise(x.dtype, x), m.tensor(stats, { dtype: opmath(x.dtype), device: x.device })];
  },
  decompose: (b, a) => {
    const f = aten(b);
    const input = a.tensor("input");
    const { dtype, shape } = b.meta(input);
    const eps = a.has("eps") ? a.float("eps") : fl(EPSILON[opmath(dtype)] ?? 0);
    const x = toDtype(b, input, opmath(dtype));
    const dims = rmsDims(shape.length, a.dims("normalized_shape").length);
    const square = f("mean.dim", f("pow.Tensor_Scalar", x, 2), dims, true);
    const rstd = f("rsqrt.default", f("add.Scalar", square, eps));
    let y = f("mul.Tensor", x, rstd);
    const weight = a.optTensor("weight");
    if (weight !== null) y = f("mul.Tensor", y, weight);
    const results = looksChannelsLast(b, b.meta(input)) ? [y, rstd] : [y, rstd].map(t => f("contiguous.default", t));
    return [toDtype(b, results[0] as typeof y, dtype), results[1] as typeof y];
  },
  derivative: masked(["input", "weight"], (b, c, mask) => {
    const [x, rstd] = [c.args.tensor("input"), c.result(1)];
    const grads = b.callMany("aten._fused_rms_norm_backward.default", [
      c.grad(0),
      x,
      c.args.dims("normalized_shape"),
      rstd,
      c.args.optTensor("weight"),
      mask,
    ]);
    const size = b.product(c.args.dims("normalized_shape"));
    const stats = throughStatistics(b, x, { mean: null, rstd }, { mean: null, rstd: c.optGrad(1) }, size);
    return addToFirst(b, grads, c.optGrad(0) === null, stats);
  }),
};

const fusedRmsNormBackward: OpRecord = {
  name: "aten._fused_rms_norm_backward.default",
  schema:
    "_fused_rms_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
  derivative: NOT_DIFFERENTIABLE,
  meta: (m, a) => maskedMetas(m, a, [a.tensor("input"), a.optTensor("weight")]),
  decompose: (b, a) => {
    const f = aten(b);
    const [input, weight] = [a.tensor("input"), a.optTensor("weight")];
    const mask = a.raw("output_mask") as readonly boolean[];
    const compute = opmath(b.meta(input).dtype);
    const [g, x, w] = [a.tensor("grad_out"), input, weight].map(t => contiguousCast(b, t, compute)) as [
      typeof input,
      typeof input,
      typeof input | null,
    ];
    const rank = b.meta(input).shape.length;
    const first = rank - a.dims("normalized_shape").length;
    const [outer, inner] = [between(0, first), between(first, rank)];
    const rstd = a.tensor("rstd");
    const gxhat = w === null ? g : f("mul.Tensor", g, w);
    const xhat = f("mul.Tensor", x, rstd);
    let [dx, dw]: (typeof input | null)[] = [null, null];
    if (mask[0]) {
      const projected = sumDims(b, f("mul.Tensor", xhat, gxhat), inner, true);
      const along = f("mul.Tensor", f("div.Tensor", xhat, count(b, input, inner)), projected);
      dx = f("mul.Tensor", f("sub.Tensor", gxhat, along), rstd);
    }
    if (mask[1] && weight !== null) {
      const product = f("mul.Tensor", g, xhat);
      dw = outer.length > 0 ? sumDims(b, product, outer) : product;
    }
    return [castBack(b, dx ?? null, input), castBack(b, dw ?? null, input)];
  },
};

const rmsNorm = composed({
  name: "aten.rms_norm.default",
  schema: "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
  python: ["torch.rms_norm", "torch.nn.functional.rms_norm"],
  printedAs: "torch.rms_norm",
  composite: (b, a) => {
    const f = aten(b);
    const [x, weight] = [a.tensor("input"), a.optTensor("weight")];
    const { dtype, device, shape } = b.meta(x);
    const mixed = weight !== null && b.meta(weight).dtype !== dtype;
    if (device.type === "cuda" && !mixed) {
      return b.callMany("aten._fused_rms_norm.default", [
        x,
        a.dims("normalized_shape"),
        weight,
        a.raw("eps"),
      ])[0] as typeof x;
    }
    // composed of differentiable operators, eps in the arithmetic type
    normalizedDims(b, x, a.dims("normalized_shape"));
    const compute = opmath(dtype);
    const given = a.optNumber("eps") ?? EPSILON[compute] ?? 0;
    const up = compute === dtype ? x : f("to.dtype", x, new DTypeArg(compute));
    const dims = rmsDims(shape.length, a.dims("normalized_shape").length);
    const square = f("mean.dim", f("pow.Tensor_Scalar", up, 2), dims, true);
    const eps = compute === "float32" ? Math.fround(given) : given;
    let y = f("mul.Tensor", up, f("rsqrt.default", f("add.Scalar", square, fl(eps))));
    if (weight !== null) y = f("mul.Tensor", y, weight);
    if (!looksChannelsLast(b, b.meta(x))) y = f("contiguous.default", y);
    return f("to.dtype", y, new DTypeArg(dtype));
  },
});

export const records: readonly OpRecord[] = [fusedRmsNorm, fusedRmsNormBackward, rmsNorm];
