// Elementwise functions of one tensor: exponentials, logarithms, trigonometric and hyperbolic functions, and second names.
// Derivatives and decompositions create their nodes in the order of PyTorch's formulas.

import type { GraphBuilder, OpRecord } from "../types";
import { aten, fl, spell } from "./helpers/define";
import { conj, filledLike } from "./helpers/trace";
import { alias, timesResult, unary } from "./helpers/unary";

const LN2 = Math.LN2;
// PyTorch writes the constant so; it is not the double nearest to ln 10
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the value is printed
const LN10 = 2.3025850929940455;

const transcendental: OpRecord[] = [
  ...unary("exp", "int_to_float", "exp", timesResult),
  ...unary("exp2", "int_to_float", "exp2", (b, c) => {
    const f = aten(b);
    return f("mul.Scalar", f("mul.Tensor", c.grad(), conj(b, c.result())), fl(LN2));
  }),
  ...unary("expm1", "int_to_float", "expm1", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("add.Scalar", conj(b, c.result()), 1));
  }),
  ...unary("log", "int_to_float", "log", (b, c) => aten(b)("div.Tensor", c.grad(), conj(b, c.args.tensor("self")))),
  ...unary("log2", "int_to_float", "log2", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.args.tensor("self")), fl(LN2)));
  }),
  ...unary("log10", "int_to_float", "log10", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.args.tensor("self")), fl(LN10)));
  }),
  ...unary("log1p", "int_to_float", "log1p", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), conj(b, f("add.Scalar", c.args.tensor("self"), 1)));
  }),
  ...unary("sqrt", "int_to_float", "sqrt", (b, c) => {
    const f = aten(b);
    return f("div.Tensor", c.grad(), f("mul.Scalar", conj(b, c.result()), 2));
  }),
  ...unary("rsqrt", "int_to_float", "rsqrt", (b, c) => {
    const f = aten(b);
    const cube = conj(b, f("pow.Tensor_Scalar", c.result(), 3));
    return f("mul.Tensor", f("mul.Scalar", c.grad(), fl(-0.5)), cube);
  }),
  ...unary("reciprocal", "int_to_float", "reciprocal", (b, c) => {
    const f = aten(b);
    const r = c.result();
    const square = conj(b, f("mul.Tensor", r, r));
    return f("mul.Tensor", f("neg.default", c.grad()), square);
  }),
  ...unary("sin", "int_to_float", "sin", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("cos.default", c.args.tensor("self"))));
  }),
  ...unary("cos", "int_to_float", "cos", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), f("neg.default", conj(b, f("sin.default", c.args.tensor("self")))));
  }),
  ...unary("tan", "int_to_float", "tan", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("add.Scalar", f("pow.Tensor_Scalar", c.result(), 2), 1)));
  }),
  ...unary("asin", "int_to_float", "asin", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, oneMinusSquareRsqrt(b, c.args.tensor("self"))));
  }),
  ...unary("acos", "int_to_float", "acos", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("neg.default", oneMinusSquareRsqrt(b, c.args.tensor("self")))));
  }),
  ...unary("atan", "int_to_float", "atan", (b, c) => {
    const f = aten(b);
    const x = c.args.tensor("self");
    return f("div.Tensor", c.grad(), conj(b, f("add.Scalar", f("mul.Tensor", x, x), 1)));
  }),
  ...unary("sinh", "int_to_float", "sinh", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("cosh.default", c.args.tensor("self"))));
  }),
  ...unary("cosh", "int_to_float", "cosh", (b, c) => {
    const f = aten(b);
    return f("mul.Tensor", c.grad(), conj(b, f("sinh.default", c.args.tensor("self"))));
  }),
  ...unary("tanh", "int_to_float", "tanh", (b, c) => b.call("aten.tanh_backward.default", [c.grad(), c.result()]), {
    python: [...spell("tanh"), "torch.nn.functional.tanh"],
  }),
  ...unary("asinh", "int_to_float", "asinh", (b, c) => {
    const f = aten(b);
    const d = f("rsqrt.default", f("add.Scalar", f("pow.Tensor_Scalar", c.args.tensor("self"), 2), 1));
    return f("mul.Tensor", c.grad(), conj(b, d));
  }),
  ...unary("acosh", "int_to_float", "acosh", (b, c) => {
    const f = aten(b);
    const x = c.args.tensor("self");
    return f("mul.Tensor", c.grad(), conj(b, f("rsqrt.default", f("sub.Scalar", f("mul.Tensor", x, x), 1))));
  }),
  ...unary("atanh", "int_to_float", "atanh", (b, c) => {
    const f = aten(b);
    const square = f("pow.Tensor_Scalar", c.args.tensor("self"), 2);
    const one = filledLike(b, square, 1);
    const d = conj(b, f("sub.Tensor", one, square));
    return f("div.Tensor", f("mul.Scalar", c.grad(), 1), d);
  }),
  ...unary(
    "sigmoid",
    "int_to_float",
    "sigmoid",
    (b, c) => b.call("aten.sigmoid_backward.default", [c.grad(), c.result()]),
    { python: [...spell("sigmoid"), "torch.nn.functional.sigmoid"] },
  ),
];

function oneMinusSquareRsqrt<T>(b: GraphBuilder<T>, x: T): T {
  const f = aten(b);
  return f("rsqrt.default", f("add.Scalar", f("mul.Tensor", f("neg.default", x), x), 1));
}

const aliases: OpRecord[] = [
  ...alias("absolute", "abs"),
  ...alias("negative", "neg"),
  ...alias("arcsin", "asin"),
  ...alias("arccos", "acos"),
  ...alias("arctan", "atan"),
  ...alias("arcsinh", "asinh"),
  ...alias("arccosh", "acosh"),
  ...alias("arctanh", "atanh"),
  ...alias("fix", "trunc"),
  ...(
    [
      ["expit", "sigmoid"],
      ["erf", "erf"],
      ["erfc", "erfc"],
      ["erfinv", "erfinv"],
      ["exp2", "exp2"],
      ["expm1", "expm1"],
      ["log1p", "log1p"],
      ["psi", "digamma"],
      ["digamma", "digamma"],
      ["gammaln", "lgamma"],
      ["i0", "i0"],
      ["sinc", "sinc"],
    ] as const
  ).flatMap(([name, of]) =>
    alias(`special_${name}`, of, [`torch.special.${name}`]).map(r => ({
      ...r,
      printedAs: `torch._C._special.special_${name}`,
    })),
  ),
];

export const records: readonly OpRecord[] = [...transcendental, ...aliases];
