// Sampling of images at given places (F.grid_sample) and the grids of affine maps (F.affine_grid).
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  DTypeArg,
  type GraphBuilder,
  type MetaBuilder,
  type OpRecord,
  type Scalar,
  type TensorMeta,
} from "../types";
import { aten, each, fallback, fallbackMany, fl, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, composed, decomposed, range } from "./helpers/shape";
import { full, opmath, STRIDED, toDtype, where, zerosLike } from "./helpers/trace";
import { cubicWeights } from "./upsample";

const BILINEAR = 0;
const NEAREST = 1;
const ZEROS = 0;
const BORDER = 1;

interface Sampling<T> {
  readonly image: T;
  readonly grid: T;
  readonly mode: number;
  readonly padding: number;
  readonly aligned: boolean;
}

/** coordinates mirrored at the borders until they lie inside; the bounds are given as twice their value */
function reflected<T>(b: GraphBuilder<T>, x: T, low: number, high: number): T {
  const f = aten(b);
  if (low === high) return zerosLike(b, x);
  const [least, span] = [low / 2, (high - low) / 2];
  const distance = f("abs.default", f("sub.Tensor", x, fl(least)));
  const rest = f("fmod.Scalar", distance, fl(span));
  const turns = toDtype(b, f("floor.default", f("div.Tensor", distance, fl(span))), "int8");
  const even = f("eq.Scalar", f("bitwise_and.Scalar", turns, 1), 0);
  const there = f("add.Tensor", rest, fl(least));
  return f("where.self", even, there, f("sub.Tensor", fl(span + least), rest));
}

/** torch._decomp's grid_sampler_2d with the grid expanded over the channels */
function sample<T>(b: GraphBuilder<T>, s: Sampling<T>): T {
  const f = aten(b);
  const t = b.meta(s.image);
  const [n, c, height, width] = t.shape as [Dim, Dim, Dim, Dim];
  const [, rows, cols, two] = b.meta(s.grid).shape as [Dim, Dim, Dim, Dim];
  const [h, w] = [b.hint(height), b.hint(width)];
  const onImage = (x: T, size: number): T => {
    const scale = s.aligned ? size * 0.5 - 0.5 : size * 0.5;
    return f("add.Tensor", f("mul.Tensor", x, fl(scale)), fl(size * 0.5 - 0.5));
  };
  const inside = (x: T, size: number): T => {
    if (s.padding === ZEROS) return x;
    let y = x;
    if (s.padding !== BORDER) y = s.aligned ? reflected(b, x, 0, 2 * (size - 1)) : reflected(b, x, -1, 2 * size - 1);
    return f("clamp.default", y, 0, size - 1);
  };
  const wide = f("view.default", s.grid, [n, 1, rows, cols, two]);
  const grid = f("expand.default", wide, [n, c, rows, cols, two]);
  const device = new DeviceArg(t.device);
  const numbers = (size: Dim): T => b.call("aten.arange.default", [b.static(size) ?? size], { device });
  const batch = f("view.default", numbers(n), [n, 1, 1, 1]);
  const channel = f("view.default", numbers(c), [1, c, 1, 1]);
  /** the image at whole coordinates, weighted; zero outside */
  const term = (x: T, y: T, weight: T | Scalar): T => {
    const low = f("ge.Scalar", x, 0);
    const high = f("lt.Scalar", x, w);
    const lowRow = f("ge.Scalar", y, 0);
    const highRow = f("lt.Scalar", y, h);
    const both = f("logical_and.default", lowRow, highRow);
    const mask = f("logical_and.default", low, f("logical_and.default", high, both));
    const [xi, yi] = [toDtype(b, x, "int64"), toDtype(b, y, "int64")];
    const [col, row, factor] = [xi, yi, weight].map(v =>
      f("view.default", where(b, mask, v, 0), [n, c, rows, cols]),
    ) as [T, T, T];
    return f("mul.Tensor", f("index.Tensor", s.image, [batch, channel, row, col]), factor);
  };
  const x = f("select.int", grid, 4, 0);
  const y = f("select.int", grid, 4, 1);
  if (s.mode === BILINEAR) return bilinear(b, inside(onImage(x, w), w), inside(onImage(y, h), h), term);
  if (s.mode === NEAREST) {
    const [px, py] = [inside(onImage(x, w), w), inside(onImage(y, h), h)];
    const [col, row] = [f("round.default", px), f("round.default", py)];
    return term(col, row, 1);
  }
  const [px, py] = [onImage(x, w), onImage(y, h)];
  const [col, row] = [f("floor.default", px), f("floor.default", py)];
  const [dx, dy] = [f("sub.Tensor", px, col), f("sub.Tensor", py, row)];
  const interpolate = (values: readonly T[], at_: T): T => {
    const weights = cubicWeights(b, at_);
    const first = f("mul.Tensor", at(values, 0), at(weights, 0));
    return values.slice(1).reduce((sum, v, i) => f("add.Tensor", sum, f("mul.Tensor", v, at(weights, i + 1))), first);
  };
  const lines = range(4).map(i => {
    const line = f("add.Tensor", row, i - 1);
    const neighbours = [
      (): T => f("sub.Tensor", col, 1),
      (): T => col,
      (): T => f("add.Tensor", col, 1),
      (): T => f("add.Tensor", col, 2),
    ];
    const values = neighbours.map(neighbour => {
      const place = neighbour();
      const [cx, cy] = [inside(place, w), inside(line, h)];
      return term(cx, cy, 1);
    });
    return interpolate(values, dx);
  });
  return interpolate(lines, dy);
}

function bilinear<T>(b: GraphBuilder<T>, x: T, y: T, term: (x: T, y: T, weight: T) => T): T {
  const f = aten(b);
  const [left, top] = [f("floor.default", x), f("floor.default", y)];
  const [right, bottom] = [f("add.Tensor", left, 1), f("add.Tensor", top, 1)];
  const product = (p: readonly [T, T], q: readonly [T, T]): T => {
    const first = f("sub.Tensor", ...p);
    return f("mul.Tensor", first, f("sub.Tensor", ...q));
  };
  const corners: readonly (readonly [T, T, T])[] = [
    [left, top, product([right, x], [bottom, y])],
    [right, top, product([x, left], [bottom, y])],
    [left, bottom, product([right, x], [y, top])],
    [right, bottom, product([x, left], [y, top])],
  ];
  const [first, ...rest] = corners as [readonly [T, T, T], ...(readonly [T, T, T])[]];
  return rest.reduce((sum, corner) => f("add.Tensor", sum, term(...corner)), term(...first));
}

function sampledMeta(m: MetaBuilder, a: Args<TensorMeta>, dims: number): TensorMeta {
  const [x, grid] = [a.tensor("input"), a.tensor("grid")];
  if (x.shape.length !== dims + 2 || grid.shape.length !== dims + 2) {
    return m.fail(
      `grid_sampler(): expected ${dims + 2}D input and grid with same number of dimensions, but got input with sizes [${x.shape.map(s => m.hint(s)).join(", ")}] and grid with sizes [${grid.shape.map(s => m.hint(s)).join(", ")}]`,
    );
  }
  return m.tensor([...x.shape.slice(0, 2), ...grid.shape.slice(1, -1)], x);
}

const ARGS = ["input", "grid", "interpolation_mode", "padding_mode", "align_corners"] as const;
const SCHEMA = "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners";

const samplers: OpRecord[] = ([2, 3] as const).flatMap(dims => {
  const name = `aten.grid_sampler_${dims}d`;
  return [
    {
      name: `${name}.default`,
      schema: `grid_sampler_${dims}d(${SCHEMA}) -> Tensor`,
      python: [`torch.grid_sampler_${dims}d`],
      meta: (m, a) => sampledMeta(m, a, dims),
      ...(dims === 2
        ? {
            decompose: <T>(b: GraphBuilder<T>, a: Args<T>): T => {
              const { dtype } = b.meta(a.tensor("input"));
              const up = (x: T): T => toDtype(b, x, opmath(b.meta(x).dtype));
              const [image, grid] = [up(a.tensor("input")), up(a.tensor("grid"))];
              const result = sample(b, {
                image,
                grid,
                mode: a.int("interpolation_mode"),
                padding: a.int("padding_mode"),
                aligned: a.bool("align_corners"),
              });
              return toDtype(b, result, dtype);
            },
          }
        : { lower: fallback(`${name}.default`, ["input", "grid"], ARGS) }),
      derivative: {
        kind: "joint",
        of: ["input", "grid"],
        grads: (b, c) => {
          const [input, grid] = b.callMany(`${name}_backward.default`, [
            c.grad(),
            ...ARGS.map(n => c.args.raw(n)),
            [c.needs("input"), c.needs("grid")],
          ]);
          return { input: input ?? null, grid: grid ?? null };
        },
      },
    } satisfies OpRecord,
    {
      name: `${name}_backward.default`,
      schema: `grid_sampler_${dims}d_backward(Tensor grad_output, ${SCHEMA}, bool[2] output_mask) -> (Tensor, Tensor)`,
      tags: ["extern"],
      meta: (m, a) => {
        const [x, grid] = [a.tensor("input"), a.tensor("grid")];
        const mask = a.raw("output_mask") as readonly boolean[];
        return [mask[0] === false ? null : m.tensor(x.shape, x), m.tensor(grid.shape, grid)];
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: fallbackMany(
        `${name}_backward.default`,
        ["grad_output", "input", "grid"],
        ["grad_output", ...ARGS, "output_mask"],
      ),
    } satisfies OpRecord,
  ];
});

const cudnn: OpRecord[] = [
  {
    name: "aten.cudnn_grid_sampler.default",
    schema: "cudnn_grid_sampler(Tensor self, Tensor grid) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const [x, grid] = [a.tensor("self"), a.tensor("grid")];
      return m.tensor([...x.shape.slice(0, 2), ...grid.shape.slice(1, -1)], x);
    },
    derivative: {
      kind: "joint",
      of: ["self", "grid"],
      grads: (b, c) => {
        const [self, grid] = b.callMany("aten.cudnn_grid_sampler_backward.default", [
          c.args.tensor("self"),
          c.args.tensor("grid"),
          c.grad(),
        ]);
        return { self: self ?? null, grid: grid ?? null };
      },
    },
    lower: fallback("aten.cudnn_grid_sampler.default", ["self", "grid"], ["self", "grid"]),
  },
  {
    name: "aten.cudnn_grid_sampler_backward.default",
    schema: "cudnn_grid_sampler_backward(Tensor self, Tensor grid, Tensor grad_output) -> (Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => ["self", "grid"].map(n => m.tensor(a.tensor(n).shape, a.tensor(n))),
    derivative: NOT_DIFFERENTIABLE,
    lower: fallbackMany(
      "aten.cudnn_grid_sampler_backward.default",
      ["self", "grid", "grad_output"],
      ["self", "grid", "grad_output"],
    ),
  },
];

/** cuDNN samples where it can: bilinear, zeros outside, corners aligned */
function usesCudnn<T>(b: GraphBuilder<T>, x: T, mode: number, padding: number, aligned: boolean): boolean {
  const t = b.meta(x);
  const known = t.device.type === "cuda" && ["float16", "float32", "float64"].includes(t.dtype);
  return known && t.shape.length === 4 && b.hint(at(t.shape, 1)) <= 1024 && mode === 0 && padding === 0 && aligned;
}

const MODES = ["bilinear", "nearest", "bicubic"];
const PADDINGS = ["zeros", "border", "reflection"];

const functions: OpRecord[] = [
  composed({
    name: "aten.grid_sampler.default",
    schema: `grid_sampler(${SCHEMA}) -> Tensor`,
    python: ["torch.grid_sampler"],
    composite: (b, a) => {
      const x = a.tensor("input");
      const [mode, padding, aligned] = [a.int("interpolation_mode"), a.int("padding_mode"), a.bool("align_corners")];
      if (usesCudnn(b, x, mode, padding, aligned)) {
        return b.call("aten.cudnn_grid_sampler.default", [x, a.tensor("grid")]);
      }
      const dims = b.meta(x).shape.length - 2;
      if (dims !== 2 && dims !== 3)
        return b.fail(`grid_sampler(): expected 4D or 5D input, but got input with ${dims + 2} dims`);
      return b.call(
        `aten.grid_sampler_${dims}d.default`,
        ARGS.map(n => a.raw(n)),
      );
    },
  }),
  composed({
    name: "torch.nn.functional.grid_sample.default",
    schema:
      'grid_sample(Tensor input, Tensor grid, str mode="bilinear", str padding_mode="zeros", bool? align_corners=None) -> Tensor',
    python: ["torch.nn.functional.grid_sample"],
    composite: (b, a) => {
      const [mode, padding] = [MODES.indexOf(a.str("mode")), PADDINGS.indexOf(a.str("padding_mode"))];
      if (mode < 0) {
        return b.fail(
          `nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '${a.str("mode")}'`,
          "ValueError",
        );
      }
      if (padding < 0) {
        return b.fail(
          `nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '${a.str("padding_mode")}'`,
          "ValueError",
        );
      }
      const aligned = a.optBool("align_corners") ?? false;
      return b.call("aten.grid_sampler.default", [a.tensor("input"), a.tensor("grid"), mode, padding, aligned]);
    },
  }),
];

/** coordinates from -1 to 1, at the middles of the elements unless the corners are aligned */
function coordinates<T>(b: GraphBuilder<T>, n: Dim, aligned: boolean, like: T): T {
  const { dtype, device } = b.meta(like);
  const options: Record<string, ArgValue<T>> = { dtype: new DTypeArg(dtype), device: new DeviceArg(device) };
  const steps = b.hint(n);
  if (steps <= 1) return full(b, [], 0, dtype, device);
  const end: Scalar = aligned ? 1 : fl((steps - 1) / steps);
  const start: Scalar = aligned ? -1 : fl(-(steps - 1) / steps);
  return b.call("aten.linspace.default", [start, end, steps], options);
}

const affine = decomposed({
  name: "aten.affine_grid_generator.default",
  schema: "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
  python: ["torch.affine_grid_generator"],
  decompose: (b, a) => {
    const f = aten(b);
    const theta = a.tensor("theta");
    const t = b.meta(theta);
    const size = a.dims("size");
    const spatial = size.slice(2);
    const dims = spatial.length;
    const axes = [...spatial].reverse().map((n, i) => {
      const shape = range(dims + 1).map(d => (d === dims - 1 - i ? n : b.int(1)));
      return f("view.default", coordinates(b, n, a.bool("align_corners"), theta), shape);
    });
    const one = full(
      b,
      range(dims + 1).map(() => 1),
      1,
      t.dtype,
      t.device,
    );
    const columns = [...axes, one].map((axis, i) => f("constant_pad_nd.default", axis, [i, dims - i], fl(0)));
    const base = columns.reduce((p, q) => f("add.Tensor", p, q));
    const flat = f("view.default", base, [-1, dims + 1, 1]);
    const turned = f("unsqueeze.default", f("transpose.int", theta, -2, -1), 1);
    const grid = f("sum.dim_IntList", f("mul.Tensor", flat, turned), [-2]);
    return f("view.default", grid, [at(size, 0), ...spatial, dims]);
  },
  derivative: each({
    theta: (b, c) =>
      b.call("aten.affine_grid_generator_backward.default", [
        c.grad(),
        c.args.raw("size"),
        c.args.raw("align_corners"),
      ]),
  }),
});

/** the base grid written column by column into new memory, as the kernel's C++ does */
const affineBackward = composed({
  name: "aten.affine_grid_generator_backward.default",
  schema: "affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
  composite: (b, a) => {
    const f = aten(b);
    const grad = a.tensor("grad");
    const { dtype, device } = b.meta(grad);
    const size = a.dims("size");
    const spatial = size.slice(2);
    const dims = spatial.length;
    const n = at(size, 0);
    const base = b.call("aten.empty.memory_format", [[n, ...spatial, dims + 1]], {
      dtype: new DTypeArg(dtype),
      layout: STRIDED,
      device: new DeviceArg(device),
    });
    for (const [i, length] of [...spatial].reverse().entries()) {
      const column = f("select.int", base, -1, i);
      const steps = b.hint(length);
      const options = { dtype: new DTypeArg(dtype), device: new DeviceArg(device) };
      let line = steps <= 1 ? full(b, [1], 0, dtype, device) : b.call("aten.linspace.default", [-1, 1, steps], options);
      if (!a.bool("align_corners")) line = f("div.Scalar", f("mul.Scalar", line, steps - 1), steps);
      for (let d = 0; d < i; d++) line = f("unsqueeze.default", line, -1);
      f("copy_.default", column, line);
    }
    f("fill_.Scalar", f("select.int", base, -1, dims), 1);
    const points = b.product(spatial);
    const flatGrad = f("view.default", grad, [n, points, dims]);
    const flatBase = f("view.default", base, [n, points, dims + 1]);
    const product = f("bmm.default", f("transpose.int", flatBase, 1, 2), flatGrad);
    return f("transpose.int", product, 1, 2);
  },
});

const affineFunction = composed({
  name: "torch.nn.functional.affine_grid.default",
  schema: "affine_grid(Tensor theta, SymInt[] size, bool? align_corners=None) -> Tensor",
  python: ["torch.nn.functional.affine_grid"],
  composite: (b, a) =>
    b.call("aten.affine_grid_generator.default", [
      a.tensor("theta"),
      a.dims("size"),
      a.optBool("align_corners") ?? false,
    ]),
});

export const records: readonly OpRecord[] = [
  ...samplers,
  ...cudnn,
  ...functions,
  affine,
  affineBackward,
  affineFunction,
];
