// Images to columns of patches and back (F.unfold, F.fold), and the scattering that undoes max pooling.
import { type Args, type ArgValue, DeviceArg, type Dim, type GraphBuilder, type OpRecord } from "../types";
import { aten, each, fl } from "./helpers/define";
import { at, composed, decomposed, range } from "./helpers/shape";
import { full } from "./helpers/trace";
import { perDim } from "./helpers/windows";
import { reshape } from "./view";

interface Patches {
  readonly kernel: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly number[];
  readonly stride: readonly number[];
}

const NAMES = ["kernel_size", "dilation", "padding", "stride"] as const;

function patchesOf<T>(a: Args<T>): Patches {
  const [kernel, dilation, padding, stride] = NAMES.map(n => perDim(a.ints(n), 2, []));
  return { kernel, dilation, padding, stride } as Patches;
}

/** rows (or columns) of the padded image that each place of each patch reads */
function places<T>(b: GraphBuilder<T>, p: Patches, d: 0 | 1, size: Dim, like: T): T {
  const f = aten(b);
  const device = new DeviceArg(b.meta(like).device);
  const [k, dil, pad, stride] = [at(p.kernel, d), at(p.dilation, d), at(p.padding, d), at(p.stride, d)];
  const blocks = b.add(size, 2 * pad - dil * (k - 1));
  const arange = (end: Dim | number, step: number): T => b.call("aten.arange.start_step", [0, end, step], { device });
  const starts = f("unsqueeze.default", arange(b.static(blocks) ?? blocks, stride), 0);
  const within = f("unsqueeze.default", arange(k * dil, dil), -1);
  return f("add.Tensor", starts, within);
}

const acrossColumns = <T>(b: GraphBuilder<T>, rows: T): T =>
  b.call("aten.unsqueeze.default", [b.call("aten.unsqueeze.default", [rows, -1]), -1]);

/** how many patches fit */
function patchCounts(b: GraphBuilder<unknown>, p: Patches, size: readonly Dim[]): Dim[] {
  return size.map((s, d) => {
    const room = b.add(s, 2 * at(p.padding, d) - at(p.dilation, d) * (at(p.kernel, d) - 1) - 1);
    return b.add(b.floordiv(room, at(p.stride, d)), 1);
  });
}

const ORDER = [0, 1, 2, 4, 3, 5];

const columns = decomposed({
  name: "aten.im2col.default",
  schema: "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
  python: ["torch._C._nn.im2col"],
  decompose: (b, a) => {
    const f = aten(b);
    const p = patchesOf(a);
    const given = a.tensor("self");
    const single = b.meta(given).shape.length === 3;
    const x = single ? f("unsqueeze.default", given, 0) : given;
    const { shape } = b.meta(x);
    if (shape.length !== 4) {
      return b.fail(`im2col(): Expected 3D or 4D (batch mode) tensor, but got ${shape.length}D`);
    }
    const [n, c, h, w] = shape as [Dim, Dim, Dim, Dim];
    const counts = patchCounts(b as GraphBuilder<unknown>, p, [h, w]);
    if (counts.some(s => b.lt(s, 1))) return b.fail("im2col(): too small for the sliding blocks");
    const rows = places(b, p, 0, h, x);
    const cols = places(b, p, 1, w, x);
    const [top, left] = p.padding as [number, number];
    const padded = f("constant_pad_nd.default", x, [left, left, top, top], fl(0));
    const patches = f("index.Tensor", padded, [null, null, acrossColumns(b, rows), cols]);
    const ordered = f("permute.default", patches, ORDER);
    const [rowCount, colCount] = counts as [Dim, Dim];
    const area = at(p.kernel, 0) * at(p.kernel, 1);
    const result = reshape(b, ordered, [n, b.mul(c, area), b.mul(rowCount, colCount)]);
    return single ? f("squeeze.dim", result, 0) : result;
  },
  derivative: each({
    self: (b, c) => {
      const size = b.meta(c.args.tensor("self")).shape.slice(-2);
      return b.call("aten.col2im.default", [c.grad(), size, ...NAMES.map(n => c.args.raw(n))]);
    },
  }),
});

const image = decomposed({
  name: "aten.col2im.default",
  schema:
    "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
  python: ["torch._C._nn.col2im"],
  decompose: (b, a) => {
    const f = aten(b);
    const p = patchesOf(a);
    const given = a.tensor("self");
    const single = b.meta(given).shape.length === 2;
    const x = single ? f("unsqueeze.default", given, 0) : given;
    const t = b.meta(x);
    const [h, w] = a.dims("output_size") as [Dim, Dim];
    const area = at(p.kernel, 0) * at(p.kernel, 1);
    const counts = patchCounts(b as GraphBuilder<unknown>, p, [h, w]);
    const [n, depth, length] = t.shape as [Dim, Dim, Dim];
    if (t.shape.length !== 3 || !b.eq(b.mod(depth, area), 0)) {
      return b.fail(
        `Expected size of input's first non-batch dimension to be divisible by the product of kernel_size, but got input.shape[-2] = ${b.hint(depth)} and kernel_size=[${p.kernel.join(", ")}]`,
      );
    }
    if (!b.eq(length, b.product(counts))) {
      return b.fail(
        `Given output_size=[${b.hint(h)}, ${b.hint(w)}], kernel_size=[${p.kernel.join(", ")}], expected input.size(-1) to be ${b.hint(b.product(counts))} but got ${b.hint(length)}.`,
      );
    }
    const channels = b.floordiv(depth, area);
    const patches = f("permute.default", reshape(b, x, [n, channels, ...p.kernel, ...counts]), ORDER);
    const rows = acrossColumns(b, places(b, p, 0, h, x));
    const cols = places(b, p, 1, w, x);
    const [top, left] = p.padding as [number, number];
    const zeros = full(b, [n, channels, b.add(h, 2 * top), b.add(w, 2 * left)], 0, t.dtype, t.device);
    const summed = f("index_put.default", zeros, [null, null, rows, cols], patches, true);
    const cropped = f("constant_pad_nd.default", summed, [-left, -left, -top, -top], fl(0));
    return single ? f("squeeze.dim", cropped, 0) : cropped;
  },
  derivative: each({
    self: (b, c) => b.call("aten.im2col.default", [c.grad(), ...NAMES.map(n => c.args.raw(n))]),
  }),
});

const functions: OpRecord[] = [
  composed({
    name: "torch.nn.functional.unfold.default",
    schema: "unfold(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    python: ["torch.nn.functional.unfold"],
    composite: (b, a) => b.call("aten.im2col.default", [a.tensor("input"), ...NAMES.map(n => a.raw(n))]),
  }),
  composed({
    name: "torch.nn.functional.fold.default",
    schema:
      "fold(Tensor input, SymInt[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
    python: ["torch.nn.functional.fold"],
    composite: (b, a) =>
      b.call("aten.col2im.default", [a.tensor("input"), a.raw("output_size"), ...NAMES.map(n => a.raw(n))]),
  }),
];

/** puts each value at its running number in an image of the given size */
function unpool<T>(b: GraphBuilder<T>, x: T, indices: T, output: readonly Dim[]): T {
  const f = aten(b);
  const t = b.meta(x);
  const dims = output.length;
  const batch = t.shape.slice(0, -dims);
  const planes = b.product(batch);
  const device = new DeviceArg(t.device);
  const numbers = b.call("aten.arange.default", [b.static(planes) ?? planes], { device });
  const plane = f("view.default", numbers, [...batch, ...range(dims).map(() => 1)]);
  const area = b.product(output);
  const flat = reshape(b, f("add.Tensor", indices, f("mul.Tensor", plane, b.static(area) ?? area)), [-1]);
  const zeros = full(b, [...batch, ...output], 0, t.dtype, t.device);
  const target = reshape(b, zeros, [-1]);
  const put = f("index_put.default", target, [flat], reshape(b, x, [-1]));
  return f("view.default", put, [...batch, ...output]);
}

const unpools: OpRecord[] = ([2, 3] as const).map(dims =>
  decomposed({
    name: `aten.max_unpool${dims}d.default`,
    schema:
      dims === 2
        ? "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor"
        : "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
    python: [`torch._C._nn.max_unpool${dims}d`],
    decompose: (b, a) => unpool(b, a.tensor("self"), a.tensor("indices"), a.dims("output_size")),
    derivative: each({
      self: (b, c) => {
        const f = aten(b);
        const indices = c.args.tensor("indices");
        const { shape } = b.meta(indices);
        const flat: ArgValue<typeof indices> = [...shape.slice(0, -dims), b.int(-1)];
        const places_ = f("view.default", indices, flat);
        const grad = f("view.default", c.grad(), flat);
        return f("view.default", f("gather.default", grad, -1, places_), shape);
      },
    }),
  }),
);

const unpoolFunctions: OpRecord[] = ([1, 2, 3] as const).map(dims =>
  composed({
    name: `torch.nn.functional.max_unpool${dims}d.default`,
    schema: `max_unpool${dims}d(Tensor input, Tensor indices, int[${dims}] kernel_size, int[${dims}]? stride=None, int[${dims}] padding=0, SymInt[]? output_size=None) -> Tensor`,
    python: [`torch.nn.functional.max_unpool${dims}d`],
    composite: (b, a) => {
      const f = aten(b);
      const [x, indices] = [a.tensor("input"), a.tensor("indices")];
      const kernel = perDim(a.ints("kernel_size"), dims, []);
      const stride = perDim(a.optInts("stride"), dims, kernel);
      const padding = perDim(a.ints("padding"), dims, []);
      const spatial = b.meta(x).shape.slice(-dims);
      const own = spatial.map((s, d) => b.add(b.mul(b.sub(s, 1), at(stride, d)), at(kernel, d) - 2 * at(padding, d)));
      const size = a.optDims("output_size")?.slice(-dims) ?? own;
      if (dims === 3) return f("max_unpool3d.default", x, indices, size, stride, padding);
      if (dims === 2) return f("max_unpool2d.default", x, indices, size);
      const wide = (t: typeof x): typeof x => f("unsqueeze.default", t, -1);
      return f("squeeze.dim", f("max_unpool2d.default", wide(x), wide(indices), [...size, 1]), -1);
    },
  }),
);

export const records: readonly OpRecord[] = [columns, image, ...functions, ...unpools, ...unpoolFunctions];
