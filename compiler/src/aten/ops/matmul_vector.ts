// Products with vectors: mv, dot, addmv, outer, addr.

import type { OpRecord } from "../types";
import { each, equalsNumber, inplace, spell } from "./helpers/define";
import { conjIfComplex, maybeMultiply, mv, outer, t } from "./helpers/products";
import { at, composed, decomposed } from "./helpers/shape";
import { withOpmath } from "./helpers/trace";
import { reshape } from "./view";

const vectors: OpRecord[] = [
  decomposed({
    name: "aten.mv.default",
    schema: "mv(Tensor self, Tensor vec) -> Tensor",
    python: spell("mv"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("vec")];
      const [xs, ys] = [b.meta(x).shape, b.meta(y).shape];
      if (xs.length !== 2 || ys.length !== 1) return b.fail(`matrix @ vector expected, got ${xs.length}, ${ys.length}`);
      if (!b.eq(at(xs, 1), at(ys, 0))) {
        return b.fail(
          `size mismatch, got input (${b.hint(at(xs, 0))}x${b.hint(at(xs, 1))}), vec (${b.hint(at(ys, 0))})`,
        );
      }
      return b.call("aten.sum.dim_IntList", [b.call("aten.mul.Tensor", [x, y]), [1]]);
    },
    derivative: each({
      self: (b, c) => outer(b, c.grad(), conjIfComplex(b, c.args.tensor("vec"))),
      vec: (b, c) => mv(b, t(b, conjIfComplex(b, c.args.tensor("self"))), c.grad()),
    }),
  }),
  decomposed({
    name: "aten.dot.default",
    schema: "dot(Tensor self, Tensor tensor) -> Tensor",
    python: spell("dot"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("self"), a.tensor("tensor")];
      if (b.meta(x).shape.length !== 1 || b.meta(y).shape.length !== 1) {
        return b.fail(`1D tensors expected, but got ${b.meta(x).shape.length}D and ${b.meta(y).shape.length}D tensors`);
      }
      return withOpmath(b, [x, y], (p, q) => b.call("aten.sum.default", [b.call("aten.mul.Tensor", [p, q])]));
    },
    derivative: each({
      self: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("tensor")]),
      tensor: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("self")]),
    }),
  }),
  decomposed({
    name: "aten.vdot.default",
    schema: "vdot(Tensor self, Tensor other) -> Tensor",
    python: spell("vdot"),
    decompose: (b, a) => b.call("aten.dot.default", [conjIfComplex(b, a.tensor("self")), a.tensor("other")]),
    derivative: each({
      self: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("other")]),
      other: (b, c) => b.call("aten.mul.Tensor", [c.grad(), c.args.tensor("self")]),
    }),
  }),
  decomposed({
    name: "aten.addmv.default",
    schema: "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addmv"),
    decompose: (b, a) => {
      const product = b.call("aten.mul.Tensor", [mv(b, a.tensor("mat"), a.tensor("vec")), a.scalar("alpha")]);
      const beta = a.scalar("beta");
      if (equalsNumber(beta, 0)) return product;
      return b.call("aten.add.Tensor", [product, b.call("aten.mul.Tensor", [a.tensor("self"), beta])]);
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      mat: (b, c) => maybeMultiply(b, outer(b, c.grad(), c.args.tensor("vec")), c.args.scalar("alpha")),
      vec: (b, c) => maybeMultiply(b, mv(b, t(b, c.args.tensor("mat")), c.grad()), c.args.scalar("alpha")),
    }),
  }),
  decomposed({
    name: "aten.addr.default",
    schema: "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    python: spell("addr"),
    decompose: (b, a) => {
      const [x, y] = [a.tensor("vec1"), a.tensor("vec2")];
      const shape = [at(b.meta(x).shape, 0), at(b.meta(y).shape, 0)];
      const beta = a.scalar("beta");
      const self = b.call("aten.expand.default", [a.tensor("self"), shape]);
      const kept = equalsNumber(beta, 0) ? null : b.call("aten.mul.Tensor", [self, beta]);
      const product = b.call("aten.mul.Tensor", [outer(b, x, y), a.scalar("alpha")]);
      return kept === null ? product : b.call("aten.add.Tensor", [kept, product]);
    },
    derivative: each({
      self: (b, c) => maybeMultiply(b, c.grad(), c.args.scalar("beta")),
      vec1: (b, c) => maybeMultiply(b, mv(b, c.grad(), c.args.tensor("vec2")), c.args.scalar("alpha")),
      vec2: (b, c) => maybeMultiply(b, mv(b, t(b, c.grad()), c.args.tensor("vec1")), c.args.scalar("alpha")),
    }),
  }),
  ...["outer", "ger"].map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor self, Tensor vec2) -> Tensor`,
      python: spell(name),
      composite: (b, a) => {
        const x = a.tensor("self");
        const shape = b.meta(x).shape;
        if (shape.length !== 1 || b.meta(a.tensor("vec2")).shape.length !== 1) {
          return b.fail(`outer: Expected 1-D argument self, but got ${shape.length}-D`);
        }
        return b.call("aten.mul.Tensor", [reshape(b, x, [at(shape, 0), 1]), a.tensor("vec2")]);
      },
    }),
  ),
];

export const records: readonly OpRecord[] = [
  ...vectors,
  ...vectors.filter(r => ["aten.addmv.default", "aten.addr.default"].includes(r.name)).map(r => inplace(r)),
];
