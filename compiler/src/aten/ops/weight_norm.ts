// Weights by direction and length (Salimans and Kingma 2016): v * (g / ||v||), the norm over all dimensions but one. Over the
// first or the last dimension autograd sees one operator; over another one, or all of them, its parts.
import type { GraphBuilder, OpRecord, TensorMeta } from "../types";
import { aten, fallbackMany, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed, range } from "./helpers/shape";
import { toDtype } from "./helpers/trace";

/** torch.norm_except_dim with p = 2; a dim of -1 means that none is left out */
function normExcept<T>(b: GraphBuilder<T>, v: T, dim: number): T {
  const f = aten(b);
  const { shape } = b.meta(v);
  const last = shape.length - 1;
  if (dim === -1) return f("norm.Scalar", v, 2);
  if (dim !== 0 && dim !== last) {
    const swapped = (x: T): T => f("transpose.int", x, 0, dim);
    return swapped(normExcept(b, swapped(v), 0));
  }
  const flat = dim === 0 ? [at(shape, 0), -1] : [-1, at(shape, last)];
  const norm = f("norm.ScalarOpt_dim", f("view.default", f("contiguous.default", v), flat), 2, [dim === 0 ? 1 : 0]);
  return f(
    "view.default",
    norm,
    shape.map((s, i) => (i === dim ? s : 1)),
  );
}

const isFused = (v: TensorMeta, g: TensorMeta, dim: number): boolean =>
  v.dtype !== "float16" && g.dtype !== "float16" && (dim === 0 || dim === v.shape.length - 1);

const BACKWARD_OPERANDS = ["grad_w", "saved_v", "saved_g", "saved_norms"] as const;

export const records: readonly OpRecord[] = [
  composed({
    name: "aten.norm_except_dim.default",
    schema: "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    python: ["torch.norm_except_dim"],
    composite: (b, a) => {
      if (a.int("pow") !== 2) return b.fail("norm_except_dim is known with pow=2 alone");
      return normExcept(b, a.tensor("v"), a.int("dim"));
    },
  }),
  composed({
    name: "aten._weight_norm.default",
    schema: "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
    python: ["torch._weight_norm"],
    composite: (b, a) => {
      const f = aten(b);
      const [v, g] = (["v", "g"] as const).map(n => f("contiguous.default", a.tensor(n))) as [
        ReturnType<typeof a.tensor>,
        ReturnType<typeof a.tensor>,
      ];
      const dim = a.int("dim");
      if (isFused(b.meta(v), b.meta(g), dim))
        return at(b.callMany("aten._weight_norm_interface.default", [v, g, dim]), 0);
      return f("mul.Tensor", v, f("div.Tensor", g, normExcept(b, v, dim)));
    },
  }),
  {
    name: "aten._weight_norm_interface.default",
    schema: "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    meta: (m, a) => {
      const [v, g] = [a.tensor("v"), a.tensor("g")];
      const norm = { dtype: g.dtype === "bfloat16" ? "float32" : g.dtype, device: g.device } as const;
      return [m.tensor(v.shape, v), m.tensor(g.shape, norm)];
    },
    nonDifferentiable: [1],
    decompose: (b, a) => {
      const f = aten(b);
      const [v, g] = [a.tensor("v"), a.tensor("g")];
      const { dtype } = b.meta(g);
      const dims = range(b.meta(v).shape.length).filter(d => d !== a.int("dim"));
      const from = dtype === "bfloat16" ? toDtype(b, v, "float32") : v;
      const norm = f("linalg_vector_norm.default", from, 2, dims, true);
      const own = toDtype(b, norm, dtype);
      return [f("mul.Tensor", v, f("div.Tensor", g, own)), norm];
    },
    derivative: {
      kind: "joint",
      of: ["v", "g"],
      grads: (b, c) => {
        const [v, g] = b.callMany("aten._weight_norm_interface_backward.default", [
          c.grad(0),
          c.args.tensor("v"),
          c.args.tensor("g"),
          c.result(1),
          c.args.int("dim"),
        ]);
        return { v: v ?? null, g: g ?? null };
      },
    },
  },
  {
    name: "aten._weight_norm_interface_backward.default",
    schema:
      "_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => {
      const [v, g] = [a.tensor("saved_v"), a.tensor("saved_g")];
      return [m.tensor(v.shape, v), m.tensor(g.shape, g)];
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten._weight_norm_interface_backward.default",
      BACKWARD_OPERANDS,
      [...BACKWARD_OPERANDS, "dim"],
      [],
      "contiguous",
    ),
  },
];
