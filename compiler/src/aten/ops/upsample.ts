// Resizing of images: nearest, linear, cubic, area, antialiased. Above autograd each method is a composition of gathers
// and arithmetic, so that its gradient is theirs; only the antialiased methods are kernels.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  MemoryFormatArg,
  type OpRecord,
  PyFloat,
} from "../types";
import { aten, each, fallback, fl, isFloatDType, NOT_DIFFERENTIABLE } from "./helpers/define";
import { toFormat } from "./helpers/factories";
import { at, composed, looksChannelsLast, range } from "./helpers/shape";
import { cast, opmath } from "./helpers/trace";
import { likeFormat } from "./helpers/windows";

type Scale = number | null;

/** size * scale, rounded down; scales of a symbolic size are taken as fractions */
function scaled(b: GraphBuilder<unknown>, size: Dim, scale: number): Dim {
  if (Number.isInteger(scale)) return b.mul(size, scale);
  const n = b.static(size);
  if (n !== undefined) return b.int(Math.floor(n * scale));
  for (let q = 2; q <= 64; q++) {
    const p = scale * q;
    if (Math.abs(p - Math.round(p)) < 1e-12) return b.floordiv(b.mul(size, Math.round(p)), q);
  }
  return b.int(Math.floor(b.hint(size) * scale));
}

interface Resize {
  readonly size: readonly Dim[];
  readonly scales: readonly Scale[];
}

/** output sizes and the scales that were given (upsample_compute_output_size) */
function resizeOf<T>(b: GraphBuilder<T>, a: Args<T>, input: string): Resize {
  const spatial = b.meta(a.tensor(input)).shape.slice(2);
  const size = a.optDims("output_size");
  const raw = a.raw("scale_factors");
  const scales = Array.isArray(raw) ? (raw as readonly ArgValue<T>[]).map(s => numeric(s)) : null;
  if ((size === null) === (scales === null)) {
    return b.fail("Must specify exactly one of output_size and scale_factors");
  }
  if (size !== null) return { size, scales: size.map(() => null) };
  const given = scales ?? [];
  return { size: given.map((s, i) => scaled(b as GraphBuilder<unknown>, at(spatial, i), s)), scales: given };
}

const numeric = (x: unknown): number => (x instanceof PyFloat ? x.value : Number(x));

/** half precision is worked out in float32 */
function withWide<T>(b: GraphBuilder<T>, x: T, body: (x: T) => T): T {
  const { dtype } = b.meta(x);
  return cast(b, body(cast(b, x, opmath(dtype))), dtype);
}

/** the result in its input's memory format; few channels are not worth it on a GPU */
function formatted<T>(b: GraphBuilder<T>, x: T, result: T, leastChannels: number): T {
  const t = b.meta(x);
  const last = t.shape.length === 5 ? "channels_last_3d" : "channels_last";
  const few = t.device.type === "cuda" && b.hint(at(t.shape, 1)) < leastChannels;
  const format = looksChannelsLast(b, t) && !few ? last : "contiguous_format";
  return toFormat(b, result, new MemoryFormatArg(format));
}

function arange<T>(b: GraphBuilder<T>, x: T, n: Dim, dtype?: DType): T {
  return b.call("aten.arange.default", [b.static(n) ?? n], {
    ...(dtype === undefined ? {} : { dtype: new DTypeArg(dtype) }),
    device: new DeviceArg(b.meta(x).device),
  });
}

function nearest<T>(b: GraphBuilder<T>, input: T, r: Resize, exact: boolean): T {
  const f = aten(b);
  return withWide(b, input, x => {
    const spatial = b.meta(x).shape.slice(2);
    const indices = r.size.map((size, d) => {
      const own = b.hint(at(spatial, d));
      const given = at(r.scales, d);
      const scale = given !== null && given > 0 ? own / (own * given) : own / b.hint(size);
      const places = f("add.Tensor", arange(b, x, size, "float32"), fl(exact ? 0.5 : 0));
      let index = cast(b, f("mul.Tensor", places, fl(scale)), "int64");
      for (let i = d + 1; i < r.size.length; i++) index = f("unsqueeze.default", index, -1);
      return index;
    });
    const result = f("_unsafe_index.Tensor", x, [null, null, ...indices]);
    return r.size.length === 2 ? formatted(b, x, result, 4) : result;
  });
}

/** step in the input from one output element to the next (area_pixel_compute_scale) */
function stepOf(input: number, output: number, aligned: boolean, scale: Scale): number {
  if (aligned) return output > 1 ? (input - 1) / (output - 1) : 0;
  return scale !== null && scale > 0 ? 1 / scale : input / output;
}

function sourcePlaces<T>(b: GraphBuilder<T>, places: T, step: number, aligned: boolean): T {
  const f = aten(b);
  if (aligned) return f("mul.Tensor", places, fl(step));
  return f("sub.Tensor", f("mul.Tensor", f("add.Tensor", places, fl(0.5)), fl(step)), fl(0.5));
}

const floatOf = (d: DType, otherwise: DType): DType => (isFloatDType(d) ? d : otherwise);

/** linear interpolation along each dim, the last one first */
function linear<T>(b: GraphBuilder<T>, input: T, r: Resize, aligned: boolean): T {
  const f = aten(b);
  return withWide(b, input, x => {
    const t = b.meta(x);
    const dtype = floatOf(t.dtype, b.defaultDType());
    const spatial = t.shape.slice(2);
    const axes = r.size.map((size, d) => {
      const own = at(spatial, d);
      const step = stepOf(b.hint(own), b.hint(size), aligned, at(r.scales, d));
      const places = cast(b, arange(b, x, size), dtype);
      const source = f("clamp.default", sourcePlaces(b, places, step, aligned), fl(0));
      const wide = f("view.default", source, [size, ...range(r.size.length - 1 - d).map(() => 1)]);
      const low = cast(b, wide, "int64");
      const last = b.sub(own, 1);
      const high = f("clamp.default", f("add.Tensor", low, 1), null, b.static(last) ?? last);
      return { wide, low, high };
    });
    let corners = combinations(r.size.length).map(choice => {
      const index = choice.map((c, d) => (c === 0 ? at(axes, d).low : at(axes, d).high));
      return cast(b, f("_unsafe_index.Tensor", x, [null, null, ...index]), dtype);
    });
    for (const { wide, low } of [...axes].reverse()) {
      const weight = cast(b, f("clamp.default", f("sub.Tensor", wide, low), fl(0), fl(1)), dtype);
      corners = range(corners.length / 2).map(i => {
        const [first, second] = [at(corners, 2 * i), at(corners, 2 * i + 1)];
        return f("add.Tensor", first, f("mul.Tensor", f("sub.Tensor", second, first), weight));
      });
    }
    return formatted(b, x, at(corners, 0), 16);
  });
}

/** all choices of 0 or 1 for n dims, the last one changing first */
function combinations(n: number): number[][] {
  return range(2 ** n).map(i => range(n).map(d => (i >> (n - 1 - d)) & 1));
}

const CUBIC = -0.75;

/** weights of four neighbours at distance t from the second */
export function cubicWeights<T>(b: GraphBuilder<T>, t: T): T[] {
  const f = aten(b);
  const near = (x: T): T => {
    const inner = f("sub.Tensor", f("mul.Tensor", x, fl(CUBIC + 2)), fl(CUBIC + 3));
    return f("add.Tensor", f("mul.Tensor", f("mul.Tensor", inner, x), x), 1);
  };
  const far = (x: T): T => {
    const first = f("sub.Tensor", f("mul.Tensor", x, fl(CUBIC)), fl(5 * CUBIC));
    const second = f("add.Tensor", f("mul.Tensor", first, x), fl(8 * CUBIC));
    return f("sub.Tensor", f("mul.Tensor", second, x), fl(4 * CUBIC));
  };
  const first = far(f("add.Tensor", t, fl(1)));
  const second = near(t);
  const third = near(f("rsub.Scalar", t, fl(1)));
  return [first, second, third, far(f("rsub.Scalar", t, fl(2)))];
}

function cubic<T>(b: GraphBuilder<T>, input: T, r: Resize, aligned: boolean): T {
  const f = aten(b);
  return withWide(b, input, x => {
    const t = b.meta(x);
    const dtype = floatOf(t.dtype, b.defaultDType());
    const [height, width] = t.shape.slice(2) as [Dim, Dim];
    const [rows, cols] = r.size as readonly [Dim, Dim];
    const stepY = stepOf(b.hint(height), b.hint(rows), aligned, at(r.scales, 0));
    const stepX = stepOf(b.hint(width), b.hint(cols), aligned, at(r.scales, 1));
    const i = cast(b, arange(b, x, rows), dtype);
    const j = cast(b, arange(b, x, cols), dtype);
    const xs = sourcePlaces(b, j, stepX, aligned);
    const ys = f("unsqueeze.default", sourcePlaces(b, i, stepY, aligned), -1);
    const [floorX, floorY] = [f("floor.default", xs), f("floor.default", ys)];
    const fractionY = f("clamp.default", f("sub.Tensor", ys, floorY), fl(0), fl(1));
    const fractionX = f("clamp.default", f("sub.Tensor", xs, floorX), fl(0), fl(1));
    const [col, row] = [cast(b, floorX, "int64"), cast(b, floorY, "int64")];
    const around = (p: T): T[] => [f("sub.Tensor", p, 1), p, f("add.Tensor", p, 1), f("add.Tensor", p, 2)];
    const [rowsAround, colsAround] = [around(row), around(col)];
    const [weightsX, weightsY] = [cubicWeights(b, fractionX), cubicWeights(b, fractionY)];
    const bound = (p: T, size: Dim): T => {
      const last = b.sub(size, 1);
      return f("clamp.default", p, 0, b.static(last) ?? last);
    };
    const weighted = (values: readonly T[], weights: readonly T[]): T =>
      values
        .slice(1)
        .reduce(
          (sum, v, k) => f("add.Tensor", sum, f("mul.Tensor", v, at(weights, k + 1))),
          f("mul.Tensor", at(values, 0), at(weights, 0)),
        );
    const lines = rowsAround.map(y => {
      const values = colsAround.map(c => {
        const [yi, xi] = [bound(y, height), bound(c, width)];
        return f("_unsafe_index.Tensor", x, [null, null, yi, xi]);
      });
      return weighted(values, weightsX);
    });
    return formatted(b, x, weighted(lines, weightsY), 0);
  });
}

const scaleNames = (dims: number): string[] =>
  dims === 1 ? ["scales"] : dims === 2 ? ["scales_h", "scales_w"] : ["scales_d", "scales_h", "scales_w"];

/** sizes and scales of the overloads that take them one by one */
function explicitResize<T>(a: Args<T>, names: readonly string[]): Resize {
  return { size: a.dims("output_size"), scales: names.map(n => a.optNumber(n)) };
}

const nearestOps: OpRecord[] = ([1, 2, 3] as const).flatMap(dims =>
  ([false, true] as const).flatMap(exact => {
    const packet = exact ? `_upsample_nearest_exact${dims}d` : `upsample_nearest${dims}d`;
    const names = scaleNames(dims);
    return [
      composed({
        name: `aten.${packet}.vec`,
        schema: `${packet}.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor`,
        python: [`torch._C._nn.${packet}`],
        composite: (b, a) => nearest(b, a.tensor("input"), resizeOf(b, a, "input"), exact),
      }),
      composed({
        name: `aten.${packet}.default`,
        schema: `${packet}(Tensor self, SymInt[${dims}] output_size, ${names.map(n => `float? ${n}=None`).join(", ")}) -> Tensor`,
        python: [`torch._C._nn.${packet}`],
        composite: (b, a) => nearest(b, a.tensor("self"), explicitResize(a, names), exact),
      }),
    ];
  }),
);

const smooth: OpRecord[] = (
  [
    ["upsample_linear1d", 1],
    ["upsample_bilinear2d", 2],
    ["upsample_trilinear3d", 3],
    ["upsample_bicubic2d", 2],
  ] as const
).flatMap(([packet, dims]) => {
  const names = scaleNames(dims);
  const run = packet === "upsample_bicubic2d" ? cubic : linear;
  return [
    composed({
      name: `aten.${packet}.vec`,
      schema: `${packet}.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor`,
      python: [`torch._C._nn.${packet}`],
      composite: (b, a) => run(b, a.tensor("input"), resizeOf(b, a, "input"), a.bool("align_corners")),
    }),
    composed({
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self, SymInt[${dims}] output_size, bool align_corners, ${names.map(n => `float? ${n}=None`).join(", ")}) -> Tensor`,
      python: [`torch._C._nn.${packet}`],
      composite: (b, a) => run(b, a.tensor("self"), explicitResize(a, names), a.bool("align_corners")),
    }),
  ];
});

const antialiased: OpRecord[] = (["_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"] as const).flatMap(packet => {
  const scales = "float? scales_h=None, float? scales_w=None";
  return [
    composed({
      name: `aten.${packet}.vec`,
      schema: `${packet}.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor`,
      python: [`torch._C._nn.${packet}`],
      composite: (b, a) => {
        const r = resizeOf(b, a, "input");
        const given = r.scales.map(s => (s === null ? null : fl(s)));
        return b.call(`aten.${packet}.default`, [a.tensor("input"), r.size, a.raw("align_corners"), ...given]);
      },
    }),
    {
      name: `aten.${packet}.default`,
      schema: `${packet}(Tensor self, SymInt[2] output_size, bool align_corners, ${scales}) -> Tensor`,
      tags: ["extern"],
      meta: (m, a) => {
        const x = a.tensor("self");
        const shape = [...x.shape.slice(0, 2), ...a.dims("output_size")];
        return m.tensor(shape, x, likeFormat(m, x, shape));
      },
      derivative: each({
        self: (b, c) => {
          const a = c.args;
          return b.call(`aten.${packet}_backward.default`, [
            c.grad(),
            a.raw("output_size"),
            b.meta(a.tensor("self")).shape,
            a.raw("align_corners"),
            a.raw("scales_h"),
            a.raw("scales_w"),
          ]);
        },
      }),
      lower: fallback(
        `aten.${packet}.default`,
        ["self"],
        ["self", "output_size", "align_corners", "scales_h", "scales_w"],
      ),
    } satisfies OpRecord,
    {
      name: `aten.${packet}_backward.default`,
      schema: `${packet}_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, ${scales}) -> Tensor`,
      tags: ["extern"],
      meta: (m, a) => {
        const g = a.tensor("grad_output");
        const shape = a.dims("input_size");
        return m.tensor(shape, g, likeFormat(m, g, shape));
      },
      derivative: NOT_DIFFERENTIABLE,
      lower: fallback(
        `aten.${packet}_backward.default`,
        ["grad_output"],
        ["grad_output", "output_size", "input_size", "align_corners", "scales_h", "scales_w"],
      ),
    } satisfies OpRecord,
  ];
});

const MODES: Readonly<Record<string, readonly (string | undefined)[]>> = {
  nearest: ["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"],
  "nearest-exact": ["_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"],
  area: ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"],
  linear: ["upsample_linear1d"],
  bilinear: [undefined, "upsample_bilinear2d"],
  trilinear: [undefined, undefined, "upsample_trilinear3d"],
  bicubic: [undefined, "upsample_bicubic2d"],
};

/** what F.interpolate is asked for */
interface Wish<T> {
  readonly x: T;
  readonly size: ArgValue<T>;
  readonly scale: ArgValue<T>;
  readonly mode: string;
  readonly aligned: boolean | null;
  readonly recompute: boolean;
  readonly antialias: boolean;
}

function interpolate<T>(b: GraphBuilder<T>, w: Wish<T>): T {
  const { x, mode } = w;
  const spatial = b.meta(x).shape.slice(2);
  const dims = spatial.length;
  const plain = mode === "nearest" || mode === "area" || mode === "nearest-exact";
  if (plain && w.aligned !== null) {
    return b.fail(
      "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear",
      "ValueError",
    );
  }
  if (w.size !== null && w.scale !== null)
    return b.fail("only one of size or scale_factor should be defined", "ValueError");
  if (w.size === null && w.scale === null) return b.fail("either size or scale_factor should be defined", "ValueError");
  const list = (v: ArgValue<T>): readonly ArgValue<T>[] =>
    Array.isArray(v) ? (v as readonly ArgValue<T>[]) : spatial.map(() => v);
  const wrong = list(w.size ?? w.scale).length !== dims;
  if (wrong) {
    return b.fail(
      `Input and ${w.size === null ? "scale_factor" : "output"} must have the same number of spatial dimensions, but got input with spatial dimensions of [${spatial.map(s => b.hint(s)).join(", ")}]`,
      "ValueError",
    );
  }
  let size = w.size === null ? null : list(w.size);
  let scales = w.scale === null ? null : list(w.scale).map(s => fl(numeric(s)));
  if ((w.recompute || mode === "area") && scales !== null) {
    size = scales.map((s, i) => scaled(b as GraphBuilder<unknown>, at(spatial, i), s.value));
    scales = null;
  }
  if (w.antialias && !((mode === "bilinear" || mode === "bicubic") && dims === 2)) {
    return b.fail(
      "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input",
      "ValueError",
    );
  }
  const packet = Object.hasOwn(MODES, mode) ? MODES[mode]?.[dims - 1] : undefined;
  if (packet === undefined) {
    return b.fail(
      `Input Error: Only 3D, 4D and 5D input Tensors supported (got ${dims + 2}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got ${mode})`,
      "NotImplementedError",
    );
  }
  if (mode === "area") return b.call(`aten.${packet}.default`, [x, size]);
  if (plain) return b.call(`aten.${packet}.vec`, [x, size, scales]);
  const name = w.antialias ? `_${packet}_aa` : packet;
  return b.call(`aten.${name}.vec`, [x, size, w.aligned ?? false, scales]);
}

const functions: OpRecord[] = [
  composed({
    name: "torch.nn.functional.interpolate.default",
    schema:
      'interpolate(Tensor input, Any size=None, Any scale_factor=None, str mode="nearest", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor',
    python: ["torch.nn.functional.interpolate"],
    composite: (b, a) =>
      interpolate(b, {
        x: a.tensor("input"),
        size: a.raw("size"),
        scale: a.raw("scale_factor"),
        mode: a.str("mode"),
        aligned: a.optBool("align_corners"),
        recompute: a.optBool("recompute_scale_factor") ?? false,
        antialias: a.bool("antialias"),
      }),
  }),
  composed({
    name: "torch.nn.functional.upsample.default",
    schema:
      'upsample(Tensor input, Any size=None, Any scale_factor=None, str mode="nearest", bool? align_corners=None) -> Tensor',
    python: ["torch.nn.functional.upsample"],
    composite: (b, a) =>
      interpolate(b, {
        x: a.tensor("input"),
        size: a.raw("size"),
        scale: a.raw("scale_factor"),
        mode: a.str("mode"),
        aligned: a.optBool("align_corners"),
        recompute: false,
        antialias: false,
      }),
  }),
  ...(["nearest", "bilinear"] as const).map(mode =>
    composed({
      name: `torch.nn.functional.upsample_${mode}.default`,
      schema: `upsample_${mode}(Tensor input, Any size=None, Any scale_factor=None) -> Tensor`,
      python: [`torch.nn.functional.upsample_${mode}`],
      composite: (b, a) =>
        interpolate(b, {
          x: a.tensor("input"),
          size: a.raw("size"),
          scale: a.raw("scale_factor"),
          mode,
          aligned: mode === "bilinear" ? true : null,
          recompute: false,
          antialias: false,
        }),
    }),
  ),
];

export const records: readonly OpRecord[] = [...nearestOps, ...smooth, ...antialiased, ...functions];
