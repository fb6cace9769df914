// Elementwise operators of three tensors: lerp, addcmul, addcdiv.

import type { GraphBuilder, OpRecord } from "../types";
import { aten, each, fl, pointwise, spell, withInplace } from "./helpers/define";
import { filledLike, full, withOpmath } from "./helpers/trace";

const LERP = ["self", "end", "weight"] as const;

/** start + weight * (end - start), from the nearer end */
function lerpNodes<T>(b: GraphBuilder<T>, start: T, end: T, weight: T): T {
  const f = aten(b);
  const far = f("ge.Scalar", f("abs.default", weight), fl(0.5));
  const coefficient = f("where.self", far, f("sub.Tensor", weight, 1), weight);
  const base = f("where.self", far, end, start);
  return f("add.Tensor", f("mul.Tensor", coefficient, f("sub.Tensor", end, start)), base);
}

const lerps: OpRecord[] = [
  pointwise({
    name: "aten.lerp.Scalar",
    schema: "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    python: spell("lerp"),
    operands: ["self", "end"],
    decompose: (b, a) =>
      withOpmath(b, [a.tensor("self"), a.tensor("end")], (start, end) => {
        const m = b.meta(start);
        return lerpNodes(b, start, end, full(b, [], a.scalar("weight"), m.dtype, m.device));
      }),
    derivative: each({
      end: (b, c) => aten(b)("mul.Scalar", c.grad(), c.args.raw("weight")),
      self: (b, c) => aten(b)("mul.Scalar", c.grad(), fl(1 - c.args.number("weight"))),
    }),
  }),
  pointwise({
    name: "aten.lerp.Tensor",
    schema: "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    python: spell("lerp"),
    operands: LERP,
    decompose: (b, a) =>
      withOpmath(
        b,
        LERP.map(n => a.tensor(n)),
        (start, end, weight) => lerpNodes(b, start, end, weight),
      ),
    derivative: each({
      end: (b, c) => aten(b)("mul.Tensor", c.grad(), c.args.tensor("weight")),
      self: (b, c) => {
        const f = aten(b);
        const w = c.args.tensor("weight");
        const one = filledLike(b, w, 1);
        return f("mul.Tensor", c.grad(), f("sub.Tensor", one, w));
      },
      weight: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("sub.Tensor", c.args.tensor("end"), c.args.tensor("self")));
      },
    }),
  }),
].flatMap(r => withInplace(r));

const FUSED = ["self", "tensor1", "tensor2"] as const;

const fused: OpRecord[] = [
  pointwise({
    name: "aten.addcmul.default",
    schema: "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    python: spell("addcmul"),
    operands: FUSED,
    decompose: (b, a) =>
      withOpmath(
        b,
        FUSED.map(n => a.tensor(n)),
        (x, t1, t2) => {
          const f = aten(b);
          return f("add.Tensor", x, f("mul.Tensor", f("mul.Tensor", t1, a.raw("value")), t2));
        },
      ),
    derivative: each({
      self: (_b, c) => c.grad(),
      tensor1: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("mul.Scalar", c.args.tensor("tensor2"), c.args.raw("value")));
      },
      tensor2: (b, c) => {
        const f = aten(b);
        return f("mul.Tensor", c.grad(), f("mul.Scalar", c.args.tensor("tensor1"), c.args.raw("value")));
      },
    }),
  }),
  pointwise({
    name: "aten.addcdiv.default",
    schema: "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    python: spell("addcdiv"),
    operands: FUSED,
    promotion: "int_to_float",
    decompose: (b, a) =>
      withOpmath(
        b,
        FUSED.map(n => a.tensor(n)),
        (x, t1, t2) => {
          const f = aten(b);
          return f("add.Tensor", x, f("div.Tensor", f("mul.Tensor", t1, a.raw("value")), t2));
        },
      ),
    derivative: each({
      self: (_b, c) => c.grad(),
      tensor1: (b, c) => {
        const f = aten(b);
        const t2 = c.args.tensor("tensor2");
        const value = filledLike(b, t2, c.args.scalar("value"));
        return f("mul.Tensor", c.grad(), f("div.Tensor", value, t2));
      },
      tensor2: (b, c) => {
        const f = aten(b);
        const t2 = c.args.tensor("tensor2");
        const square = f("mul.Tensor", t2, t2);
        const ratio = f("div.Tensor", f("mul.Scalar", c.args.tensor("tensor1"), c.args.raw("value")), square);
        return f("mul.Tensor", f("neg.default", c.grad()), ratio);
      },
    }),
  }),
].flatMap(r => withInplace(r));

export const records: readonly OpRecord[] = [...lerps, ...fused];
