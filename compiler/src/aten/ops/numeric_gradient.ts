// torch.gradient: derivatives of sampled functions by differences.
import { type ArgValue, type GraphBuilder, type OpRecord, PyFloat, type Scalar } from "../types";
import { aten } from "./helpers/define";
import { composed, range, wrapDims } from "./helpers/shape";

function alongDim<T>(b: GraphBuilder<T>, x: T, dim: number, step: Scalar, order: number): T {
  const f = aten(b);
  const slice = (...bounds: number[]): T => f("slice.Tensor", x, dim, ...bounds);
  const over = (y: T): T => f("div.Scalar", y, step);
  const times = (y: T, by: number): T => f("mul.Scalar", y, Number.isInteger(by) ? by : new PyFloat(by));
  // operands are evaluated from right to left
  const difference = (high: () => T, low: () => T): T => {
    const right = low();
    return f("sub.Tensor", high(), right);
  };
  const center = over(
    difference(
      () => slice(2),
      () => slice(0, -2),
    ),
  );
  let [first, last]: [T, T] = [center, center];
  if (order === 1) {
    first = over(
      difference(
        () => slice(1, 2),
        () => slice(0, 1),
      ),
    );
    last = over(
      difference(
        () => slice(-1),
        () => slice(-2, -1),
      ),
    );
  } else {
    const third = times(slice(2, 3), 0.5);
    const second = times(slice(1, 2), 2);
    const start = times(slice(0, 1), -1.5);
    first = over(f("sub.Tensor", f("add.Tensor", start, second), third));
    const end = times(slice(-1), 1.5);
    const before = times(slice(-2, -1), 2);
    const far = times(slice(-3, -2), 0.5);
    last = over(f("add.Tensor", f("sub.Tensor", far, before), end));
  }
  return f("cat.default", [first, f("div.Scalar", center, 2), last], dim);
}

export const records: readonly OpRecord[] = [
  composed({
    name: "torch.gradient.default",
    schema: "gradient(Tensor input, *, Any spacing=None, int[1]? dim=None, int edge_order=1) -> Tensor[]",
    python: ["torch.gradient"],
    composite: (b, a) => {
      const x = a.tensor("input");
      const rank = b.meta(x).shape.length;
      const dims = wrapDims(b, a.optInts("dim") ?? range(rank), rank);
      const order = a.int("edge_order");
      if (order !== 1 && order !== 2) return b.fail("torch.gradient only supports edge_order=1 and edge_order=2.");
      const spacing: ArgValue<typeof x> = a.raw("spacing");
      const given: readonly ArgValue<typeof x>[] = Array.isArray(spacing)
        ? (spacing as readonly ArgValue<typeof x>[])
        : dims.map(() => spacing ?? new PyFloat(1));
      if (given.some(s => b.isTensor(s))) return b.fail("torch.gradient over coordinates is not supported");
      if (given.length !== dims.length) {
        return b.fail(
          `torch.gradient expected spacing to be unspecified, a scalar or a list of length ${dims.length}, but got a list of length ${given.length}`,
        );
      }
      return dims.map((d, i) => alongDim(b, x, d, given[i] as Scalar, order));
    },
  }),
];
