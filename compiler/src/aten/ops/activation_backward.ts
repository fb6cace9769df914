// Gradients of the activation functions, which PyTorch keeps as operators of their own and Inductor decomposes.
// Half-precision arguments are cast up first, in argument order, as the reference decompositions do.
import type { Args, GraphBuilder, OpRecord } from "../types";
import { aten, fl, NOT_DIFFERENTIABLE, numberOf, pointwise } from "./helpers/define";
import { softplus as softplusNodes } from "./helpers/formulas";
import { where, withOpmath } from "./helpers/trace";

/** a gradient of `grad_output` and the input, worked out in float32 for half types */
function backward(
  packet: string,
  parameters: string,
  nodes: <T>(b: GraphBuilder<T>, grad: T, x: T, a: Args<T>) => T,
  { second = "self", pointwiseTag = false } = {},
): OpRecord {
  const names = ["grad_output", second];
  return pointwise({
    name: `aten.${packet}.default`,
    schema: `${packet}(Tensor grad_output, Tensor ${second}${parameters}) -> Tensor`,
    operands: names,
    tags: pointwiseTag ? ["pointwise"] : [],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) =>
      withOpmath(
        b,
        names.map(n => a.tensor(n)),
        (g, x) => nodes(b, g, x, a),
      ),
  });
}

const OUTPUT = { second: "output", pointwiseTag: true };

export const records: readonly OpRecord[] = [
  backward(
    "tanh_backward",
    "",
    (b, g, y) => {
      const f = aten(b);
      return f("mul.Tensor", g, f("sub.Tensor", 1, f("mul.Tensor", y, y)));
    },
    OUTPUT,
  ),
  backward(
    "sigmoid_backward",
    "",
    (b, g, y) => {
      const f = aten(b);
      return f("mul.Tensor", g, f("mul.Tensor", y, f("sub.Tensor", 1, y)));
    },
    OUTPUT,
  ),
  pointwise({
    name: "aten.threshold_backward.default",
    schema: "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    operands: ["grad_output", "self"],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) => {
      const inactive = aten(b)("le.Scalar", a.tensor("self"), a.raw("threshold"));
      return where(b, inactive, 0, a.tensor("grad_output"));
    },
  }),
  backward(
    "gelu_backward",
    ', *, str approximate="none"',
    (b, g, x, a) => {
      const f = aten(b);
      return f("mul.Tensor", g, a.str("approximate") === "tanh" ? geluTanhSlope(b, x) : geluSlope(b, x));
    },
    { pointwiseTag: true },
  ),
  backward(
    "silu_backward",
    "",
    (b, g, x) => {
      const f = aten(b);
      const reciprocal = f("reciprocal.default", f("add.Tensor", f("exp.default", f("neg.default", x)), 1));
      const sigmoid = f("mul.Tensor", reciprocal, 1);
      const scaled = f("mul.Tensor", g, sigmoid);
      const slope = f("add.Tensor", f("mul.Tensor", x, f("sub.Tensor", 1, sigmoid)), 1);
      return f("mul.Tensor", scaled, slope);
    },
    { pointwiseTag: true },
  ),
  backward("mish_backward", "", (b, g, x) => {
    const f = aten(b);
    const t = f("tanh.default", softplusNodes(b, x));
    const xs = f("mul.Tensor", x, f("sigmoid.default", x));
    const rest = f("sub.Tensor", 1, f("mul.Tensor", t, t));
    return f("mul.Tensor", g, f("add.Tensor", t, f("mul.Tensor", xs, rest)));
  }),
  backward("hardswish_backward", "", (b, g, x) => {
    const f = aten(b);
    const off = f("le.Scalar", x, -3);
    const ramp = f("lt.Scalar", x, 3);
    const slope = f("add.Tensor", f("div.Tensor", x, 3), fl(0.5));
    const inside = f("where.self", ramp, f("mul.Tensor", g, slope), g);
    return where(b, off, fl(0), inside);
  }),
  backward("hardsigmoid_backward", "", (b, g, x) => {
    const f = aten(b);
    const above = f("gt.Scalar", x, fl(-3));
    const inside = f("bitwise_and.Tensor", above, f("lt.Scalar", x, fl(3)));
    return where(b, inside, f("mul.Tensor", g, fl(1 / 6)), fl(0));
  }),
  pointwise({
    name: "aten.hardtanh_backward.default",
    schema: "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    operands: ["grad_output", "self"],
    tags: [],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const below = f("le.Scalar", x, a.raw("min_val"));
      const outside = f("bitwise_or.Tensor", below, f("ge.Scalar", x, a.raw("max_val")));
      return where(b, outside, fl(0), a.tensor("grad_output"));
    },
  }),
  pointwise({
    name: "aten.elu_backward.default",
    schema:
      "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor",
    operands: ["grad_output", "self_or_result"],
    tags: [],
    derivative: NOT_DIFFERENTIABLE,
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("grad_output"), a.tensor("self_or_result")], (g, x) => {
        const f = aten(b);
        const [alpha, scale, inputScale] = [a.scalar("alpha"), a.scalar("scale"), a.scalar("input_scale")];
        const product = numberOf(alpha) * numberOf(scale);
        const below = typeof alpha === "number" && typeof scale === "number" ? product : fl(product);
        const mask = f("le.Scalar", x, 0);
        const scaled = f("mul.Tensor", g, inputScale);
        const slope = a.bool("is_result")
          ? f("mul.Tensor", scaled, f("add.Tensor", x, below))
          : ((): typeof x => {
              const weighted = f("mul.Tensor", scaled, below);
              return f("mul.Tensor", weighted, f("exp.default", f("mul.Tensor", x, inputScale)));
            })();
        return f("where.self", mask, slope, f("mul.Tensor", g, scale));
      }),
  }),
  backward("leaky_relu_backward", ", Scalar negative_slope, bool self_is_result", (b, g, x, a) => {
    const f = aten(b);
    const positive = f("gt.Scalar", x, 0);
    return f("where.self", positive, g, f("mul.Tensor", g, a.raw("negative_slope")));
  }),
  backward("softplus_backward", ", Scalar beta, Scalar threshold", (b, g, x, a) => {
    const f = aten(b);
    const z = f("exp.default", f("mul.Tensor", x, a.raw("beta")));
    const large = f("gt.Scalar", f("mul.Tensor", x, a.raw("beta")), a.raw("threshold"));
    const slope = f("div.Tensor", f("mul.Tensor", g, z), f("add.Tensor", z, fl(1)));
    return f("where.self", large, g, slope);
  }),
  {
    name: "aten.log_sigmoid_backward.default",
    schema: "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => m.elementwise(a.tensor("self").dtype, a.tensor("grad_output"), a.tensor("self")),
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("grad_output"), a.tensor("self"), a.tensor("buffer")], (g, x) => {
        const f = aten(b);
        const negative = f("lt.Scalar", x, 0);
        const steepest = where(b, negative, 1, 0);
        const sign = where(b, negative, 1, -1);
        const z = f("exp.default", f("neg.default", f("abs.default", x)));
        const share = f("div.Tensor", z, f("add.Tensor", z, 1));
        return f("mul.Tensor", g, f("sub.Tensor", steepest, f("mul.Tensor", sign, share)));
      }),
  },
  {
    name: "aten.glu_backward.default",
    schema: "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => m.tensor(a.tensor("self").shape, a.tensor("self")),
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("grad_output"), a.tensor("self")], (g, x) => {
        const f = aten(b);
        const { shape } = b.meta(x);
        const d = b.wrapDim(a.int("dim"), shape.length);
        const whole = shape[d] ?? b.int(0);
        const half = b.floordiv(whole, 2);
        const first = f("slice.Tensor", x, d, 0, half);
        const sigmoid = f("sigmoid.default", f("slice.Tensor", x, d, half, b.add(half, half)));
        const slope = f("mul.Tensor", f("sub.Tensor", fl(1), sigmoid), sigmoid);
        const second = f("mul.Tensor", f("mul.Tensor", slope, first), g);
        const parts = [f("mul.Tensor", sigmoid, g), second];
        return d === 0 ? f("cat.default", parts) : f("cat.default", parts, d);
      }),
  },
  {
    name: "aten._prelu_kernel_backward.default",
    schema: "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    derivative: NOT_DIFFERENTIABLE,
    meta: (m, a) => {
      const all = [a.tensor("grad_output"), a.tensor("self"), a.tensor("weight")];
      const one = m.elementwise(a.tensor("self").dtype, ...all);
      return [one, one];
    },
    decompose: (b, a) => {
      const f = aten(b);
      const [g, x, weight] = [a.tensor("grad_output"), a.tensor("self"), a.tensor("weight")];
      const input = f("where.self", f("gt.Scalar", x, 0), g, f("mul.Tensor", weight, g));
      const positive = f("gt.Scalar", x, 0);
      return [input, where(b, positive, fl(0), f("mul.Tensor", x, g))];
    },
  },
];

/** cdf(x) + x * pdf(x) of the normal distribution */
function geluSlope<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  const erf = f("erf.default", f("mul.Tensor", x, fl(Math.SQRT1_2)));
  const cdf = f("mul.Tensor", f("add.Tensor", erf, 1), fl(0.5));
  const e = f("exp.default", f("mul.Tensor", f("mul.Tensor", x, x), fl(-0.5)));
  return f("add.Tensor", cdf, f("mul.Tensor", x, f("mul.Tensor", e, fl(0.3989422804014327))));
}

function geluTanhSlope<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  const beta = fl(0.7978845608028654);
  const square = f("mul.Tensor", x, x);
  const cube = f("mul.Tensor", square, x);
  const t = f("tanh.default", f("mul.Tensor", f("add.Tensor", x, f("mul.Tensor", cube, fl(0.044715))), beta));
  const left = f("mul.Tensor", x, fl(0.5));
  const right = f("add.Tensor", t, 1);
  const leftSlope = f("mul.Tensor", right, fl(0.5));
  const tanhSlope = f("sub.Tensor", 1, f("mul.Tensor", t, t));
  const innerSlope = f("mul.Tensor", f("add.Tensor", f("mul.Tensor", square, fl(0.134145)), 1), beta);
  const rightSlope = f("mul.Tensor", f("mul.Tensor", left, tanhSlope), innerSlope);
  return f("add.Tensor", leftSlope, rightSlope);
}
