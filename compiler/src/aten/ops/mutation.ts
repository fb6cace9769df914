// Writes into existing tensors, as far as they are no in-place form of an operator of another family: fill, zero, and
// the metadata changes t_, squeeze_ and kin. Functionalization replaces each by its functional operator.
import type { OpRecord } from "../types";
import { each } from "./helpers/define";
import { composed, decomposed } from "./helpers/shape";

const fills: OpRecord[] = [
  decomposed({
    name: "aten.fill.Scalar",
    schema: "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    python: ["torch.fill"],
    decompose: (b, a) => b.call("aten.full_like.default", [a.tensor("self"), a.raw("value")]),
    derivative: each({ self: (b, c) => b.call("aten.zeros_like.default", [c.grad()]) }),
  }),
  decomposed({
    name: "aten.fill.Tensor",
    schema: "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    python: ["torch.fill"],
    decompose: (b, a) => b.call("aten.copy.default", [a.tensor("self"), a.tensor("value")]),
    derivative: each({
      self: (b, c) => b.call("aten.zeros_like.default", [c.grad()]),
      value: (b, c) => b.call("aten.sum.default", [c.grad()]),
    }),
  }),
  decomposed({
    name: "aten.zero.default",
    schema: "zero(Tensor self) -> Tensor",
    decompose: (b, a) => b.call("aten.zeros_like.default", [a.tensor("self")]),
    derivative: each({ self: (b, c) => b.call("aten.zeros_like.default", [c.grad()]) }),
  }),
  ...(["Scalar", "Tensor"] as const).map(
    (kind): OpRecord => ({
      name: `aten.fill_.${kind}`,
      schema: `fill_.${kind}(Tensor(a!) self, ${kind} value) -> Tensor(a!)`,
      python: ["Tensor.fill_", "torch.fill_"],
      tags: ["inplace"],
      functional: `aten.fill.${kind}`,
      meta: (_, a) => a.tensor("self"),
    }),
  ),
  {
    name: "aten.zero_.default",
    schema: "zero_(Tensor(a!) self) -> Tensor(a!)",
    python: ["Tensor.zero_", "torch.zero_"],
    tags: ["inplace"],
    functional: "aten.zero.default",
    meta: (_, a) => a.tensor("self"),
  },
  composed({
    name: "aten.fill_diagonal_.default",
    schema: "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    python: ["Tensor.fill_diagonal_"],
    composite: (b, a) => {
      const x = a.tensor("self");
      const t = b.meta(x);
      const size = t.shape.reduce((p, q) => (b.le(p, q) ? p : q));
      const step = t.stride.reduce((p, q) => b.add(p, q), b.int(0));
      const diagonal = b.call("aten.as_strided.default", [x, [size], [step], t.storageOffset]);
      b.call("aten.fill_.Scalar", [diagonal, a.raw("fill_value")]);
      return x;
    },
  }),
];

const lifts: OpRecord[] = [
  {
    // a literal becomes a tensor of the program by a copy
    name: "aten.lift_fresh_copy.default",
    schema: "lift_fresh_copy(Tensor self) -> Tensor",
    original: "aten.lift_fresh",
    meta: (m, a) => {
      const t = a.tensor("self");
      return { ...m.tensor(t.shape, t, t.stride) };
    },
    derivative: each({ self: (_, c) => c.grad() }),
    lower: (b, a) => b.clone(a.tensor("self")),
  },
  ...["lift", "lift_fresh"].map(
    (name): OpRecord => ({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor self) -> Tensor`,
      meta: (_, a) => a.tensor("self"),
      derivative: each({ self: (_, c) => c.grad() }),
      lower: (_, a) => a.tensor("self"),
    }),
  ),
];

/** in-place view operators: the tensor itself gets the view's sizes and strides */
const reshaping: readonly (readonly [name: string, overload: string, parameters: string, python: string])[] = [
  ["t", "default", "", "t_"],
  ["transpose", "int", ", int dim0, int dim1", "transpose_"],
  ["squeeze", "default", "", "squeeze_"],
  ["squeeze", "dim", ", int dim", "squeeze_"],
  ["unsqueeze", "default", ", int dim", "unsqueeze_"],
];

/** metas of the functional forms are run through the builder, so that this file needs no other family */
const views: OpRecord[] = reshaping.map(([name, overload, parameters, python]) => {
  const suffix = overload === "default" ? "" : `.${overload}`;
  const names = parameters.split(",").flatMap(p => p.trim().split(" ")[1] ?? []);
  return {
    name: `aten.${name}_.${overload}`,
    schema: `${name}_${suffix}(Tensor(a!) self${parameters}) -> Tensor(a!)`,
    python: [`Tensor.${python}`],
    tags: ["inplace", "view"],
    functional: `aten.${name}.${overload}`,
    meta: (m, a) => m.call(`aten.${name}.${overload}`, [a.tensor("self"), ...names.map(n => a.raw(n))]),
  };
});

/** a detached tensor takes no part in gradients any more */
const detached = composed({
  name: "aten.detach_.default",
  schema: "detach_(Tensor(a!) self) -> Tensor(a!)",
  python: ["Tensor.detach_"],
  composite: (b, a) => b.call("aten.detach.default", [a.tensor("self")]),
});

export const records: readonly OpRecord[] = [detached, ...fills, ...lifts, ...views];
