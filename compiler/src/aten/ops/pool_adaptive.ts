// Adaptive pooling: windows are worked out from the sizes asked for, and may differ in length.
import type { Args, ArgValue, Dim, GraphBuilder, LoweringBuilder, OpRecord, Ops } from "../types";
import { each, fallback, fallbackMany, fl } from "./helpers/define";
import { at, composed, looksChannelsLast, range } from "./helpers/shape";
import { adaptiveWindows, foldWindows, likeFormat } from "./helpers/windows";
import { asRow, averageLoops, fromRow, MINUS_INFINITY, UNROLLED } from "./pool";

/** output sizes of an adaptive pooling; None keeps a size */
function adaptiveSizes<T>(b: GraphBuilder<T>, a: Args<T>, x: T, dims: number): Dim[] {
  const raw = a.raw("output_size");
  const { shape } = b.meta(x);
  const items = Array.isArray(raw) ? (raw as readonly ArgValue<T>[]) : range(dims).map(() => raw);
  return items.map((v, i) => {
    if (v === null) return at(shape, shape.length - dims + i);
    return b.dim(v as Dim | number);
  });
}

const adaptiveAverages: OpRecord[] = ([2, 3] as const).flatMap(dims => {
  const name = `aten._adaptive_avg_pool${dims}d`;
  const list = `SymInt[${dims}]`;
  const fallbackCall = fallback(`${name}.default`, ["self"], ["self", "output_size"]);
  return [
    {
      name: `${name}.default`,
      schema: `_adaptive_avg_pool${dims}d(Tensor self, ${list} output_size) -> Tensor`,
      meta: (m, a) => {
        const x = a.tensor("self");
        const rank = x.shape.length;
        if (rank !== dims + 1 && rank !== dims + 2)
          return m.fail(
            `Expected ${dims + 1}D or ${dims + 2}D tensor, but got [${x.shape.map(s => m.hint(s)).join(", ")}]`,
          );
        const shape = [...x.shape.slice(0, -dims), ...a.dims("output_size")];
        return m.tensor(shape, x, dims === 2 ? likeFormat(m, x, shape) : undefined);
      },
      derivative: each({ self: (b, c) => b.call(`${name}_backward.default`, [c.grad(), c.args.tensor("self")]) }),
      lower: (b, a) => {
        const x = a.tensor("self");
        if (dims === 3) return fallbackCall(b, a);
        b.realizeHint(x);
        const size = b.size(x);
        const input = size.slice(-2).map(s => b.hint(s)) as [number, number];
        const output = a.ints("output_size") as [number, number];
        if (input[0] === output[0] && input[1] === output[1]) return b.clone(x);
        if (input.every((n, i) => n % at(output, i) === 0)) {
          const kernel = input.map((n, i) => n / at(output, i));
          const w = { kernel, stride: kernel, padding: [0, 0], dilation: [1, 1], ceil: false };
          return averageLoops(b, x, w, true, null);
        }
        const windows = adaptiveWindows(b, input, output);
        if (windows.largest[0] * windows.largest[1] > UNROLLED) return fallbackCall(b, a);
        const dtype = b.dtype(x);
        const ones = b.constant(1, dtype, b.device(x), size);
        const [sum, count] = [foldWindows(b, x, windows, fl(0)), foldWindows(b, ones, windows, fl(0))];
        return b.pointwise({
          size: [...size.slice(0, -2), b.int(output[0]), b.int(output[1])],
          dtype,
          device: b.device(x),
          body: <V>(ops: Ops<V>, index: readonly Dim[]): V => {
            const add = (total: V | null, v: V): V => (total === null ? v : ops.op("add", v, total));
            return ops.op("truediv", sum(ops, index, add), count(ops, index, add));
          },
        });
      },
    } satisfies OpRecord,
    composed({
      name: `aten.adaptive_avg_pool${dims}d.default`,
      schema: `adaptive_avg_pool${dims}d(Tensor self, ${list} output_size) -> Tensor`,
      composite: (b, a) => {
        const x = a.tensor("self");
        const t = b.meta(x);
        const output = a.dims("output_size");
        if (!output.every(s => b.static(s) === 1)) return b.call(`${name}.default`, [x, output]);
        const mean = b.call("aten.mean.dim", [x, range(dims).map(d => -1 - d), true]);
        if (!looksChannelsLast(b, t)) return mean;
        const [n, c] = t.shape as [Dim, Dim];
        const ones = range(dims).map(() => b.int(1));
        return b.call("aten.as_strided.default", [mean, [n, c, ...ones], [c, 1, ...ones.map(() => c)]]);
      },
    }),
    composed({
      name: `torch.nn.functional.adaptive_avg_pool${dims}d.default`,
      schema: `adaptive_avg_pool${dims}d(Tensor input, Any output_size) -> Tensor`,
      python: [`torch.nn.functional.adaptive_avg_pool${dims}d`],
      composite: (b, a) => {
        const x = a.tensor("input");
        return b.call(`aten.adaptive_avg_pool${dims}d.default`, [x, adaptiveSizes(b, a, x, dims)]);
      },
    }),
  ];
});

const adaptiveMaxima: OpRecord[] = ([2, 3] as const).flatMap(dims => {
  const name = `aten.adaptive_max_pool${dims}d`;
  const fallbackCall = fallbackMany(`${name}.default`, ["self"], ["self", "output_size"]);
  return [
    {
      name: `${name}.default`,
      schema: `adaptive_max_pool${dims}d(Tensor self, int[${dims}] output_size) -> (Tensor, Tensor)`,
      meta: (m, a) => {
        const x = a.tensor("self");
        const rank = x.shape.length;
        if (rank !== dims + 1 && rank !== dims + 2)
          return m.fail(
            `adaptive_max_pool${dims}d(): Expected ${dims + 1}D or ${dims + 2}D tensor, but got: [${x.shape.map(s => m.hint(s)).join(", ")}]`,
          );
        const shape = [...x.shape.slice(0, -dims), ...a.dims("output_size")];
        const stride = dims === 2 ? likeFormat(m, x, shape) : undefined;
        return [m.tensor(shape, x, stride), m.tensor(shape, { dtype: "int64", device: x.device }, stride)];
      },
      decompose: (b, a) => {
        if (dims === 3) return undefined;
        const input = b.meta(a.tensor("self")).shape.slice(-2);
        const output = a.ints("output_size");
        if (!input.every((s, i) => b.hint(s) % at(output, i) === 0)) return undefined;
        const kernel = input.map((s, i) => b.hint(s) / at(output, i));
        return b.callMany("aten.max_pool2d_with_indices.default", [a.tensor("self"), kernel]);
      },
      derivative: each({
        self: (b, c) => b.call(`${name}_backward.default`, [c.grad(), c.args.tensor("self"), c.result(1)]),
      }),
      lower: (b, a) => {
        if (dims === 3) return fallbackCall(b, a);
        const x = a.tensor("self");
        b.realizeHint(x);
        const size = b.size(x);
        const input = size.slice(-2).map(s => b.hint(s)) as [number, number];
        const output = a.ints("output_size") as [number, number];
        const windows = adaptiveWindows(b, input, output);
        if (windows.largest[0] * windows.largest[1] > UNROLLED) return fallbackCall(b, a);
        return adaptiveMax(b, x, windows, [...size.slice(0, -2), b.int(output[0]), b.int(output[1])], input[1]);
      },
    } satisfies OpRecord,
    composed({
      name: `torch.nn.functional.adaptive_max_pool${dims}d.default`,
      schema: `adaptive_max_pool${dims}d(Tensor input, Any output_size, bool return_indices=False) -> Any`,
      python: [`torch.nn.functional.adaptive_max_pool${dims}d`],
      composite: (b, a) => {
        const x = a.tensor("input");
        const both = b.callMany(`${name}.default`, [x, adaptiveSizes(b, a, x, dims)]);
        return a.bool("return_indices") ? both : (both[0] ?? x);
      },
    }),
  ];
});

function adaptiveMax<B>(
  b: LoweringBuilder<B>,
  x: B,
  windows: ReturnType<typeof adaptiveWindows>,
  size: readonly Dim[],
  width: number,
): B[] {
  const fold = foldWindows(b, x, windows, MINUS_INFINITY);
  const device = b.device(x);
  const values = b.pointwise({
    size,
    dtype: b.dtype(x),
    device,
    body: <V>(ops: Ops<V>, index: readonly Dim[]): V =>
      fold(ops, index, (best: V | null, v) => (best === null ? v : ops.op("maximum", v, best))),
  });
  const indices = b.pointwise({
    size,
    dtype: "int64",
    device,
    body: <V>(ops: Ops<V>, index: readonly Dim[]): V => {
      const found = fold(ops, index, (best: { value: V; place: V } | null, v, row, col) => {
        const place = ops.indexExpr(b.add(b.mul(row, width), col), "int64");
        if (best === null) return { value: v, place };
        const better = ops.op("where", ops.op("gt", v, best.value), place, best.place);
        return { value: ops.op("maximum", v, best.value), place: better };
      });
      return found.place;
    },
  });
  return [values, indices];
}

const adaptive1d: OpRecord[] = [
  composed({
    name: "aten.adaptive_avg_pool1d.default",
    schema: "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
    python: ["torch.adaptive_avg_pool1d", "torch.nn.functional.adaptive_avg_pool1d"],
    printedAs: "torch.adaptive_avg_pool1d",
    composite: (b, a) => {
      const output = at(a.ints("output_size"), 0);
      return fromRow(b, b.call("aten.adaptive_avg_pool2d.default", [asRow(b, a.tensor("self")), [1, output]]));
    },
  }),
  composed({
    name: "aten.adaptive_max_pool1d.default",
    schema: "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
    python: ["torch.adaptive_max_pool1d"],
    composite: (b, a) => {
      const output = at(a.ints("output_size"), 0);
      const [values, indices] = b.callMany("aten.adaptive_max_pool2d.default", [
        asRow(b, a.tensor("self")),
        [1, output],
      ]);
      if (values === undefined || indices === undefined) return b.fail("adaptive_max_pool2d has two results");
      const places = fromRow(b, indices);
      return [fromRow(b, values), places];
    },
  }),
  composed({
    name: "torch.nn.functional.adaptive_max_pool1d.default",
    schema: "adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> Any",
    python: ["torch.nn.functional.adaptive_max_pool1d"],
    composite: (b, a) => {
      const both = b.callMany("aten.adaptive_max_pool1d.default", [a.tensor("input"), a.raw("output_size")]);
      return a.bool("return_indices") ? both : (both[0] ?? a.tensor("input"));
    },
  }),
];

export const records: readonly OpRecord[] = [...adaptiveAverages, ...adaptiveMaxima, ...adaptive1d];
