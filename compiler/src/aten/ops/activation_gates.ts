// Activations of a second operand: a buffer (log_sigmoid), a gate (glu), a weight (prelu).
import type { MetaBuilder, OpRecord, TensorMeta } from "../types";
import { aten, each, F, pointwise, spell } from "./helpers/define";
import { newZeros, withOpmath } from "./helpers/trace";

const logSigmoid: OpRecord[] = [
  pointwise({
    name: "aten.log_sigmoid.default",
    schema: "log_sigmoid(Tensor self) -> Tensor",
    python: [`${F}logsigmoid`],
    printedAs: "torch._C._nn.log_sigmoid",
    tags: [],
    composite: (b, a) => b.callMany("aten.log_sigmoid_forward.default", [a.tensor("self")])[0] as never,
  }),
  {
    name: "aten.log_sigmoid_forward.default",
    schema: "log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    nonDifferentiable: [1],
    meta: (m, a) => {
      const x = a.tensor("self");
      const buffer = x.device.type === "cuda" ? m.tensor([0], x) : m.elementwise(x.dtype, x);
      return [m.elementwise(x.dtype, x), buffer];
    },
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("self")], x => {
        const f = aten(b);
        const m = b.meta(x);
        const zero = newZeros(b, x, []);
        const low = f("minimum.default", zero, x);
        const z = f("exp.default", f("neg.default", f("abs.default", x)));
        const buffer = m.device.type === "cuda" ? newZeros(b, x, [0]) : z;
        return [f("sub.Tensor", low, f("log1p.default", z)), buffer];
      }),
    derivative: each({
      self: (b, c) => {
        const buffer = c.result(1);
        return b.call("aten.log_sigmoid_backward.default", [c.grad(0), c.args.tensor("self"), buffer]);
      },
    }),
  },
];

function gluMeta(m: MetaBuilder, x: TensorMeta, dim: number): TensorMeta {
  if (x.shape.length === 0) return m.fail("glu does not support 0-dimensional tensors");
  const d = m.wrapDim(dim, x.shape.length);
  const size = x.shape[d] ?? m.int(0);
  if (!m.eq(m.mod(size, 2), 0)) {
    return m.fail(`Halving dimension must be even, but dimension ${d} is size ${m.hint(size)}`);
  }
  return m.tensor(
    x.shape.map((s, i) => (i === d ? m.floordiv(s, 2) : s)),
    x,
  );
}

const glu: OpRecord = {
  name: "aten.glu.default",
  schema: "glu(Tensor self, int dim=-1) -> Tensor",
  python: ["torch._C._nn.glu"],
  meta: (m, a) => gluMeta(m, a.tensor("self"), a.int("dim")),
  lower: (b, a) => {
    const x = a.tensor("self");
    const size = b.size(x);
    const d = b.wrapDim(a.int("dim"), size.length);
    // torch lowers it for this size alone
    const half = Math.floor(b.fixed(size[d] ?? 0) / 2);
    const first = b.slice(x, d, 0, half);
    const second = b.slice(x, d, half, 2 * half);
    return b.elementwise("mul", [first, b.elementwise("sigmoid", [second], { promotion: "int_to_float" })]);
  },
  derivative: each({
    self: (b, c) => b.call("aten.glu_backward.default", [c.grad(), c.args.tensor("self"), c.args.raw("dim")]),
  }),
};

const gluFunctional: OpRecord = {
  name: `${F}glu.default`,
  schema: "glu(Tensor input, int dim=-1) -> Tensor",
  python: [`${F}glu`],
  tags: [],
  meta: (m, a) => gluMeta(m, a.tensor("input"), a.int("dim")),
  composite: (b, a) => b.call("aten.glu.default", [a.tensor("input"), a.raw("dim")]),
};

const prelu: OpRecord[] = [
  pointwise({
    name: "aten.prelu.default",
    schema: "prelu(Tensor self, Tensor weight) -> Tensor",
    python: [...spell("prelu"), `${F}prelu`],
    printedAs: "torch.prelu",
    tags: [],
    meta: (m, a) => m.elementwise(a.tensor("self").dtype, a.tensor("self")),
    composite: (b, a) => {
      const [x, weight] = [a.tensor("self"), a.tensor("weight")];
      const rank = b.meta(x).shape.length;
      const [w] = b.meta(weight).shape;
      const count = w ?? b.int(1);
      const shape = Array.from({ length: rank }, (_, i) =>
        i === (rank > 1 ? 1 : 0) && !b.eq(count, 1) ? count : b.int(1),
      );
      const shaped = b.meta(weight).shape.length === rank ? weight : b.call("aten.view.default", [weight, shape]);
      return b.call("aten._prelu_kernel.default", [x, shaped]);
    },
  }),
  pointwise({
    name: "aten._prelu_kernel.default",
    schema: "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    operands: ["self", "weight"],
    tags: [],
    decompose: (b, a) => {
      const f = aten(b);
      const [x, weight] = [a.tensor("self"), a.tensor("weight")];
      return f("where.self", f("gt.Scalar", x, 0), x, f("mul.Tensor", weight, x));
    },
    derivative: {
      kind: "joint",
      of: ["self", "weight"],
      grads: (b, c) => {
        const [self, weight] = b.callMany("aten._prelu_kernel_backward.default", [
          c.grad(),
          c.args.tensor("self"),
          c.args.tensor("weight"),
        ]);
        return { self: c.needs("self") ? (self ?? null) : null, weight: c.needs("weight") ? (weight ?? null) : null };
      },
    },
  }),
];

export const records: readonly OpRecord[] = [...logSigmoid, glu, gluFunctional, ...prelu];
