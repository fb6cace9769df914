// Linear algebra beyond products: inverses are calls of ATen's kernels, powers and chains of products are products.
import { type Args, DeviceArg, type Dim, DTypeArg, type GraphBuilder, MemoryFormatArg, type OpRecord } from "../types";
import { aten, each, fallback, fallbackMany } from "./helpers/define";
import { adjoint, columnMajor, isVector, square } from "./helpers/matrices";
import { at, composed } from "./helpers/shape";

const inverses: OpRecord[] = [
  {
    name: "aten.linalg_inv_ex.default",
    schema: "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    python: ["torch.linalg.inv_ex"],
    printedAs: "torch._C._linalg.linalg_inv_ex",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("A");
      square(m, t, "linalg.inv");
      return [columnMajor(m, t, t.shape), m.tensor(t.shape.slice(0, -2), { dtype: "int32", device: t.device })];
    },
    derivative: each({
      A: (b, c) => {
        const f = aten(b);
        const right = f("matmul.default", c.grad(), adjoint(b, c.result(0)));
        return f("neg.default", f("matmul.default", adjoint(b, c.result(0)), right));
      },
    }),
    lower: fallbackMany("aten.linalg_inv_ex.default", ["A"], ["A"], ["check_errors"]),
  },
  composed({
    name: "aten.linalg_inv.default",
    schema: "linalg_inv(Tensor A) -> Tensor",
    python: ["torch.linalg.inv"],
    printedAs: "torch._C._linalg.linalg_inv",
    composite: (b, a) => b.callMany("aten.linalg_inv_ex.default", [a.tensor("A")])[0] ?? a.tensor("A"),
  }),
  composed({
    name: "aten.inverse.default",
    schema: "inverse(Tensor self) -> Tensor",
    python: ["torch.inverse", "Tensor.inverse"],
    composite: (b, a) => b.callMany("aten.linalg_inv_ex.default", [a.tensor("self")])[0] ?? a.tensor("self"),
  }),
  {
    name: "aten.linalg_pinv.atol_rtol_tensor",
    schema:
      "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
    python: ["torch.linalg.pinv"],
    printedAs: "torch._C._linalg.linalg_pinv",
    tags: ["extern"],
    meta: (m, a) => {
      const t = a.tensor("self");
      const n = t.shape.length;
      return m.tensor([...t.shape.slice(0, -2), at(t.shape, n - 1), at(t.shape, n - 2)], t);
    },
    derivative: each({ self: (b, c) => pseudoinverseGrad(b, c.grad(), c.args, c.result()) }),
    lower: fallback("aten.linalg_pinv.atol_rtol_tensor", ["self"], ["self"], ["atol", "rtol", "hermitian"]),
  },
  {
    name: "aten.linalg_lstsq.default",
    schema:
      "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    python: ["torch.linalg.lstsq"],
    printedAs: "torch._C._linalg.linalg_lstsq",
    tags: ["extern"],
    meta: (m, a) => {
      const [t, right] = [a.tensor("self"), a.tensor("b")];
      if (t.shape.length < 2) m.fail("torch.linalg.lstsq: input must have at least 2 dimensions.");
      const [rows, columns] = t.shape.slice(-2) as [Dim, Dim];
      const vector = isVector(m, t, right);
      const sides = vector ? [] : right.shape.slice(-1);
      const lead = right.shape.slice(0, right.shape.length - sides.length);
      if (lead.length === 0 || !m.eq(at(lead, lead.length - 1), rows)) {
        m.fail("torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
      }
      const batch = m.broadcast(t.shape.slice(0, -2), lead.slice(0, -1));
      const solution = [...batch, columns, ...sides];
      const driver = a.raw("driver") ?? (t.device.type === "cpu" ? "gelsy" : "gels");
      const over = !m.le(rows, columns) && driver !== "gelsy";
      const valued = driver === "gelsd" || driver === "gelss";
      return [
        vector ? m.tensor(solution, right) : columnMajor(m, right, solution),
        m.tensor(over ? [...batch, ...sides] : [0], right),
        m.tensor(driver === "gels" ? [0] : t.shape.slice(0, -2), { dtype: "int64", device: t.device }),
        m.tensor(valued ? [...t.shape.slice(0, -2), m.le(rows, columns) ? rows : columns] : [0], t),
      ];
    },
    nonDifferentiable: [1, 2, 3],
    derivative: {
      kind: "joint",
      of: ["self", "b"],
      grads: (b, c) => {
        const f = aten(b);
        const [x, right] = [c.args.tensor("self"), c.args.tensor("b")];
        const vector = isVector(b, b.meta(x), b.meta(right));
        const matrix = (t: typeof x): typeof x => (vector ? f("unsqueeze.default", t, -1) : t);
        const inverse = f("linalg_pinv.atol_rtol_tensor", x);
        const grad = matrix(c.grad());
        const own = (): typeof x =>
          pseudoinverseGrad(b, f("matmul.default", grad, adjoint(b, matrix(right))), c.args, inverse);
        const other = (): typeof x => {
          const turned = f("matmul.default", adjoint(b, inverse), grad);
          return vector ? f("squeeze.dim", turned, -1) : turned;
        };
        return { self: c.needs("self") ? own() : null, b: c.needs("b") ? other() : null };
      },
    },
    lower: fallbackMany("aten.linalg_lstsq.default", ["self", "b"], ["self", "b", "rcond"], ["driver"]),
  },
];

function pseudoinverseGrad<T>(b: GraphBuilder<T>, grad: T, a: Args<T>, inverse: T): T {
  const f = aten(b);
  const x = a.tensor("self");
  const [m, n] = b.meta(x).shape.slice(-2) as [Dim, Dim];
  const times = (p: T, q: T): T => f("matmul.default", p, q);
  const turned = adjoint(b, inverse);
  const turnedGrad = adjoint(b, grad);
  if (b.le(m, n)) {
    const k = times(turnedGrad, inverse);
    const kt = times(k, turned);
    const left = times(times(turned, inverse), f("sub.Tensor", turnedGrad, times(k, x)));
    const right = times(times(x, inverse), kt);
    const first = f("neg.default", adjoint(b, times(inverse, k)));
    return f("add.Tensor", f("sub.Tensor", f("add.Tensor", first, kt), right), left);
  }
  const k = times(inverse, turnedGrad);
  const tk = times(turned, k);
  const left = times(f("sub.Tensor", turnedGrad, times(x, k)), times(inverse, turned));
  const right = times(times(tk, inverse), x);
  const first = f("neg.default", adjoint(b, times(k, inverse)));
  return f("sub.Tensor", f("add.Tensor", f("add.Tensor", first, left), tk), right);
}

/** x^n by squaring */
function power<T>(b: GraphBuilder<T>, x: T, n: number): T {
  const f = aten(b);
  const { shape, dtype, device } = b.meta(x);
  const size = at(shape, shape.length - 1);
  if (n === 0) {
    const copy = b.call("aten.clone.default", [x], { memory_format: new MemoryFormatArg("contiguous_format") });
    const eye = b.call("aten.eye.default", [b.static(size) ?? size], {
      dtype: new DTypeArg(dtype),
      device: new DeviceArg(device),
    });
    return f("copy_.default", copy, eye);
  }
  const base = n < 0 ? (b.callMany("aten.linalg_inv_ex.default", [x])[0] ?? x) : x;
  const times = (p: T, q: T): T => f("matmul.default", p, q);
  const count = Math.abs(n);
  if (count === 1) return n < 0 ? base : f("clone.default", x);
  if (count === 2) return times(base, base);
  if (count === 3) return times(times(base, base), base);
  let [square_, result, rest]: [T | null, T | null, number] = [null, null, count];
  while (rest > 0) {
    square_ = square_ === null ? base : times(square_, square_);
    if (rest % 2 === 1) result = result === null ? square_ : times(result, square_);
    rest = Math.floor(rest / 2);
  }
  return result ?? base;
}

/** the order of products with the fewest multiplications */
function chain<T>(b: GraphBuilder<T>, xs: readonly T[]): T {
  const sizes = xs.map(x => b.hint(at(b.meta(x).shape, 0)));
  const lastShape = b.meta(at(xs, xs.length - 1)).shape;
  sizes.push(b.hint(at(lastShape, 1)));
  const n = xs.length;
  const cost: number[][] = xs.map(() => new Array<number>(n).fill(0));
  const split: number[][] = xs.map(() => new Array<number>(n).fill(0));
  for (let width = 1; width < n; width++) {
    for (let i = 0; i + width < n; i++) {
      const j = i + width;
      let best = Number.POSITIVE_INFINITY;
      for (let k = i; k < j; k++) {
        const here = at(at(cost, i), k) + at(at(cost, k + 1), j) + at(sizes, i) * at(sizes, k + 1) * at(sizes, j + 1);
        if (here < best) {
          best = here;
          at(split, i)[j] = k;
        }
      }
      at(cost, i)[j] = best;
    }
  }
  if (n === 3) {
    // of three the left ones go first unless that costs more
    const [p, q, r, s] = sizes as [number, number, number, number];
    at(split, 0)[2] = p * r * (q + s) > q * s * (p + r) ? 0 : 1;
  }
  const multiply = (i: number, j: number): T => {
    if (i === j) return at(xs, i);
    const k = at(at(split, i), j);
    const right = multiply(k + 1, j);
    return b.call("aten.mm.default", [multiply(i, k), right]);
  };
  return multiply(0, n - 1);
}

const products: OpRecord[] = [
  ...(["linalg_matrix_power", "matrix_power"] as const).map(name =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor self, int n) -> Tensor`,
      python: name === "matrix_power" ? ["torch.matrix_power", "Tensor.matrix_power"] : ["torch.linalg.matrix_power"],
      ...(name === "matrix_power" ? {} : { printedAs: "torch._C._linalg.linalg_matrix_power" }),
      composite: (b, a) => power(b, a.tensor("self"), a.int("n")),
    }),
  ),
  composed({
    name: "aten.linalg_multi_dot.default",
    schema: "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    python: ["torch.linalg.multi_dot"],
    printedAs: "torch._C._linalg.linalg_multi_dot",
    composite: (b, a) => {
      const given = a.tensors("tensors");
      if (given.length < 2) return b.fail(`multi_dot(): expected at least 2 tensors but got ${given.length}`);
      const [first, last] = [at(given, 0), at(given, given.length - 1)];
      const rank = (x: typeof first): number => b.meta(x).shape.length;
      const row = rank(first) === 1;
      const column = rank(last) === 1;
      const shape = [...(row ? [] : [at(b.meta(first).shape, 0)]), ...(column ? [] : [at(b.meta(last).shape, 1)])];
      const xs = given.map((x, i) => {
        if (i === 0 && row) return b.call("aten.unsqueeze.default", [x, 0]);
        if (i === given.length - 1 && column) return b.call("aten.unsqueeze.default", [x, -1]);
        return x;
      });
      return b.call("aten.view.default", [chain(b, xs), shape]);
    },
  }),
  composed({
    name: "torch.spmm.default",
    schema: "spmm(Tensor self, Tensor mat2) -> Tensor",
    python: ["torch.spmm"],
    composite: (b, a) => b.call("aten.mm.default", [a.tensor("self"), a.tensor("mat2")]),
  }),
];

export const records: readonly OpRecord[] = [...inverses, ...products];
