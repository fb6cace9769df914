// Reordering of elements: flip, roll, rot90, pixel and channel shuffles, grids of coordinates.
import { type Args, type ArgValue, type Dim, type GraphBuilder, MemoryFormatArg, type OpRecord } from "../types";
import { aten, each, NOT_DIFFERENTIABLE, spell } from "./helpers/define";
import {
  asMany,
  at,
  composed,
  decomposed,
  denseLike,
  looksChannelsLast,
  range,
  shapeText,
  wrapDims,
} from "./helpers/shape";
import { CONTIGUOUS } from "./helpers/trace";
import { flatten, reshape } from "./view";

const flips: OpRecord[] = [
  {
    name: "prims.rev.default",
    schema: "rev(Tensor a, int[] dims) -> Tensor",
    meta: (m, a) => denseLike(m, a.tensor("a")),
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const x = a.tensor("a");
      const size = b.size(x);
      const dims = a.ints("dims");
      const load = b.loader(x);
      return b.pointwise({
        size,
        dtype: b.dtype(x),
        device: b.device(x),
        body: (ops, index) =>
          load(
            ops,
            index.map((i, d) => (dims.includes(d) ? b.sub(b.sub(at(size, d), 1), i) : i)),
          ),
      });
    },
  },
  decomposed({
    name: "aten.flip.default",
    schema: "flip(Tensor self, int[] dims) -> Tensor",
    python: spell("flip"),
    decompose: (b, a) => {
      const x = a.tensor("self");
      return b.call("prims.rev.default", [x, wrapDims(b, a.ints("dims"), b.meta(x).shape.length)]);
    },
    derivative: each({ self: (b, c) => b.call("aten.flip.default", [c.grad(), c.args.raw("dims")]) }),
  }),
  ...(["fliplr", "flipud"] as const).map((name, i) =>
    composed({
      name: `aten.${name}.default`,
      schema: `${name}(Tensor self) -> Tensor`,
      python: spell(name),
      composite: (b, a) => {
        const rank = b.meta(a.tensor("self")).shape.length;
        if (rank < 2 - i) return b.fail(`Input must be >= ${2 - i}-d.`);
        return b.call("aten.flip.default", [a.tensor("self"), [1 - i]]);
      },
    }),
  ),
  decomposed({
    name: "aten.rot90.default",
    schema: "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    python: spell("rot90"),
    decompose: (b, a) => {
      const f = aten(b);
      const x = a.tensor("self");
      const given = a.ints("dims");
      if (given.length !== 2) return b.fail(`expected total rotation dims == 2, but got dims = ${given.length}`);
      const [first, second] = wrapDims(b, given, b.meta(x).shape.length) as [number, number];
      const turns = ((a.int("k") % 4) + 4) % 4;
      if (turns === 0) return b.call("aten.clone.default", [x], { memory_format: CONTIGUOUS });
      if (turns === 2) return f("flip.default", x, given);
      return f("transpose.int", f("flip.default", x, [turns === 1 ? second : first]), first, second);
    },
    derivative: each({
      self: (b, c) => b.call("aten.rot90.default", [c.grad(), -c.args.int("k"), c.args.raw("dims")]),
    }),
  }),
];

/** torch._refs.roll: one dim after the other, each by an index of shifted places */
function roll<T>(b: GraphBuilder<T>, x: T, shifts: readonly Dim[], dims: readonly number[]): T {
  const { shape, device } = b.meta(x);
  const dim = dims[0];
  const shift = shifts[0];
  if (b.static(b.product(shape)) === 0) return b.call("aten.clone.default", [x]);
  if (shift === undefined) return b.fail("`shifts` required");
  if (dim === undefined && shifts.length === 1) {
    return reshape(b, roll(b, flatten(b, x, 0, -1), shifts, [0]), shape);
  }
  if (dims.length !== shifts.length) {
    return b.fail(`shifts and dimensions must align. shifts: ${shifts.length}, dims: ${dims.length}`);
  }
  let y = x;
  for (const [i, d] of wrapDims(b, dims, shape.length).entries()) {
    const size = at(shape, d);
    const start = b.mod(b.sub(size, at(shifts, i)), size);
    const places = b.call("aten.arange.default", [b.static(size) ?? size], { device: deviceText(device) });
    const moved = b.call("aten.add.Tensor", [places, b.static(start) ?? start]);
    const index = b.call("aten.fmod.Scalar", [moved, b.static(size) ?? size]);
    y = b.call("aten.index_select.default", [y, d, index]);
  }
  return y;
}

const deviceText = (d: { readonly type: string; readonly index: number | null }): string =>
  d.index === null ? d.type : `${d.type}:${d.index}`;

const rolls = decomposed({
  name: "aten.roll.default",
  schema: "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
  python: spell("roll"),
  decompose: (b, a) => roll(b, a.tensor("self"), a.dims("shifts"), a.ints("dims")),
  derivative: each({
    self: (b, c) => {
      const back = c.args
        .dims("shifts")
        .map(s => b.mul(s, -1))
        .reverse();
      return b.call("aten.roll.default", [c.grad(), back, [...c.args.ints("dims")].reverse()]);
    },
  }),
});

/** [..., c, h, w] with the dims of blocks between */
function shuffle<T>(
  b: GraphBuilder<T>,
  x: T,
  split: readonly (Dim | number)[],
  order: readonly number[],
  joined: readonly (Dim | number)[],
): T {
  const t = b.meta(x);
  const batch = t.shape.slice(0, -3);
  const n = batch.length;
  const parts = b.call("aten.view.default", [x, [...batch, ...split]]);
  const moved = b.call("aten.permute.default", [parts, [...range(n), ...order.map(d => n + d)]]);
  const result = reshape(b, moved, [...batch, ...joined]);
  const format = looksChannelsLast(b, t) ? new MemoryFormatArg("channels_last") : CONTIGUOUS;
  return b.call("aten.clone.default", [result], { memory_format: format });
}

const shuffles: OpRecord[] = [
  decomposed({
    name: "aten.pixel_shuffle.default",
    schema: "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    python: ["torch.pixel_shuffle", "torch.nn.functional.pixel_shuffle"],
    printedAs: "torch.pixel_shuffle",
    decompose: (b, a) => {
      const x = a.tensor("self");
      const { shape } = b.meta(x);
      const r = a.int("upscale_factor");
      if (shape.length < 3)
        return b.fail(
          `pixel_shuffle expects input to have at least 3 dimensions, but got input with ${shape.length} dimension(s)`,
        );
      if (r <= 0) return b.fail(`pixel_shuffle expects a positive upscale_factor, but got ${r}`);
      const [c, h, w] = shape.slice(-3) as [Dim, Dim, Dim];
      if (!b.eq(b.mod(c, r * r), 0)) {
        return b.fail(
          `pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=${b.hint(c)} is not divisible by ${r * r}`,
        );
      }
      const channels = b.floordiv(c, r * r);
      return shuffle(b, x, [channels, r, r, h, w], [0, 3, 1, 4, 2], [channels, b.mul(h, r), b.mul(w, r)]);
    },
    derivative: each({
      self: (b, c) => b.call("aten.pixel_unshuffle.default", [c.grad(), c.args.raw("upscale_factor")]),
    }),
  }),
  decomposed({
    name: "aten.pixel_unshuffle.default",
    schema: "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    python: ["torch.pixel_unshuffle", "torch.nn.functional.pixel_unshuffle"],
    printedAs: "torch.pixel_unshuffle",
    decompose: (b, a) => {
      const x = a.tensor("self");
      const { shape } = b.meta(x);
      const r = a.int("downscale_factor");
      if (shape.length < 3)
        return b.fail(
          `pixel_unshuffle expects input to have at least 3 dimensions, but got input with ${shape.length} dimension(s)`,
        );
      if (r <= 0) return b.fail(`pixel_unshuffle expects a positive downscale_factor, but got ${r}`);
      const [c, h, w] = shape.slice(-3) as [Dim, Dim, Dim];
      for (const [name, d] of [
        ["height", h],
        ["width", w],
      ] as const) {
        if (!b.eq(b.mod(d, r), 0)) {
          return b.fail(
            `pixel_unshuffle expects ${name} to be divisible by downscale_factor, but input.size(${name === "height" ? -2 : -1})=${b.hint(d)} is not divisible by ${r}`,
          );
        }
      }
      const [rows, cols] = [b.floordiv(h, r), b.floordiv(w, r)];
      return shuffle(b, x, [c, rows, r, cols, r], [0, 2, 4, 1, 3], [b.mul(c, r * r), rows, cols]);
    },
    derivative: each({
      self: (b, c) => b.call("aten.pixel_shuffle.default", [c.grad(), c.args.raw("downscale_factor")]),
    }),
  }),
  decomposed({
    name: "aten.channel_shuffle.default",
    schema: "channel_shuffle(Tensor self, SymInt groups) -> Tensor",
    python: ["torch.channel_shuffle", "torch.nn.functional.channel_shuffle"],
    printedAs: "torch.channel_shuffle",
    decompose: (b, a) => {
      const x = a.tensor("self");
      const { shape } = b.meta(x);
      const groups = a.dim("groups");
      if (shape.length <= 2) {
        return b.fail(`channel_shuffle expects input with > 2 dims, but got input with sizes ${shapeText(b, shape)}`);
      }
      const c = at(shape, 1);
      if (!b.eq(b.mod(c, groups), 0)) {
        return b.fail(
          `Number of channels must be divisible by groups. Got ${b.hint(c)} channels and ${b.hint(groups)} groups.`,
        );
      }
      const grouped = reshape(b, x, [at(shape, 0), groups, b.floordiv(c, groups), ...shape.slice(2)]);
      return reshape(b, b.call("aten.transpose.int", [grouped, 1, 2]), shape);
    },
    derivative: each({
      self: (b, c) => {
        const channels = at(b.meta(c.grad()).shape, 1);
        return b.call("aten.channel_shuffle.default", [c.grad(), b.floordiv(channels, c.args.dim("groups"))]);
      },
    }),
  }),
];

function meshgrid<T>(b: GraphBuilder<T>, given: readonly T[], indexing: string): T[] {
  const swap = indexing === "xy" && given.length >= 2;
  if (indexing !== "xy" && indexing !== "ij") {
    b.fail(`torch.meshgrid: indexing must be one of "xy" or "ij", but received: ${indexing}`);
  }
  const swapped = (xs: readonly T[]): T[] => (swap ? [at(xs, 1), at(xs, 0), ...xs.slice(2)] : [...xs]);
  const tensors = swapped(given);
  const shape = tensors.map(t => {
    const own = b.meta(t).shape;
    if (own.length > 1) {
      b.fail(`torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ${shapeText(b, own)}`);
    }
    return own[0] ?? b.int(1);
  });
  const grids = tensors.map((t, i) => {
    const column = b.call("aten.view.default", [t, shape.map((_, d) => (d === i ? -1 : 1))]);
    return b.call("aten.expand.default", [column, shape]);
  });
  return swapped(grids);
}

/** the tensors of a call f(a, b, c) or f([a, b, c]) */
function tensorsGiven<T>(b: GraphBuilder<T>, a: Args<T>, name: string): T[] {
  const raw = a.raw(name);
  const items = Array.isArray(raw) ? (raw as readonly ArgValue<T>[]) : [raw];
  const flat = items.length === 1 && Array.isArray(items[0]) ? (items[0] as readonly ArgValue<T>[]) : items;
  return flat.map(x => (b.isTensor(x) ? x : b.fail("expected Tensors", "TypeError")));
}

const grids: OpRecord[] = [
  composed({
    name: "aten.meshgrid.indexing",
    schema: "meshgrid.indexing(Tensor[] tensors, *, str? indexing=None) -> Tensor[]",
    python: ["torch.meshgrid", "torch.functional.meshgrid"],
    printedAs: "torch.functional.meshgrid",
    composite: (b, a) => meshgrid(b, tensorsGiven(b, a, "tensors"), a.optStr("indexing") ?? "ij"),
  }),
  composed({
    name: "aten.cartesian_prod.default",
    schema: "cartesian_prod(Tensor[] tensors) -> Tensor",
    python: ["torch.cartesian_prod", "torch.functional.cartesian_prod"],
    printedAs: "torch.functional.cartesian_prod",
    composite: (b, a) => {
      const xs = tensorsGiven(b, a, "tensors");
      if (xs.length === 1) return at(xs, 0);
      const columns = meshgrid(b, xs, "ij").map(g => flatten(b, g, 0, -1));
      return b.call("aten.stack.default", [asMany(columns), 1]);
    },
  }),
];

export const records: readonly OpRecord[] = [...flips, rolls, ...shuffles, ...grids];
