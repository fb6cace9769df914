// Fourier transforms. cuFFT's kernels are calls; padding, shifts and normalization stand around them as ordinary
// operators.
import type { Args, Dim, DType, GraphBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { aten, each, fallback, isComplexDType, isFloatDType, NOT_DIFFERENTIABLE } from "./helpers/define";
import { deviceOf, OPTIONS } from "./helpers/factories";
import { pythonOptions } from "./helpers/python_call";
import { at, composed, contiguousStrides, range, wrapDims } from "./helpers/shape";
import { cast } from "./helpers/trace";

const COMPLEX: Partial<Record<DType, DType>> = { float32: "complex64", float64: "complex128" };
const REAL: Partial<Record<DType, DType>> = { complex64: "float32", complex128: "float64" };

/** strides of a batched transform: batch dims in the input's order of strides, then the transformed dims */
function transformed(
  m: MetaBuilder,
  x: TensorMeta,
  shape: readonly Dim[],
  dims: readonly number[],
  dtype: DType,
): TensorMeta {
  const batch = range(shape.length)
    .filter(d => !dims.includes(d))
    .sort((p, q) => m.hint(at(x.stride, q)) - m.hint(at(x.stride, p)));
  const order = [...batch, ...dims];
  const dense = contiguousStrides(
    m,
    order.map(d => at(shape, d)),
  );
  return m.tensor(
    shape,
    { dtype, device: x.device },
    range(shape.length).map(d => at(dense, order.indexOf(d))),
  );
}

/** transforms that cuFFT does in one plan */
const onePlan = (dims: readonly number[]): boolean =>
  dims.length <= 3 && !(dims.length >= 2 && dims[0] === 0 && dims[1] === 1);

function withSize(shape: readonly Dim[], dim: number, size: Dim): Dim[] {
  return shape.map((s, d) => (d === dim ? size : s));
}

const kernels: OpRecord[] = [
  {
    name: "aten._fft_c2c.default",
    schema: "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      return transformed(m, x, x.shape, wrapDims(m, a.ints("dim"), x.shape.length), x.dtype);
    },
    derivative: each({
      self: (b, c) =>
        b.call("aten._fft_c2c.default", [
          c.grad(),
          c.args.raw("dim"),
          c.args.raw("normalization"),
          !c.args.bool("forward"),
        ]),
    }),
    lower: fallback("aten._fft_c2c.default", ["self"], ["self", "dim", "normalization", "forward"]),
  },
  {
    name: "aten._fft_r2c.default",
    schema: "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      const dtype = COMPLEX[x.dtype];
      if (dtype === undefined) return m.fail(`Unsupported dtype ${x.dtype}`);
      const dims = wrapDims(m, a.ints("dim"), x.shape.length);
      const last = at(dims, dims.length - 1);
      const half = withSize(x.shape, last, m.add(m.floordiv(at(x.shape, last), 2), 1));
      const shape = a.bool("onesided") ? half : x.shape;
      if (x.device.type !== "cuda") return m.tensor(shape, { dtype, device: x.device });
      return transformed(m, x, shape, onePlan(dims) ? dims : [last], dtype);
    },
    derivative: each({ self: (b, c) => realInputGrad(b, c.grad(), c.args) }),
    lower: fallback("aten._fft_r2c.default", ["self"], ["self", "dim", "normalization", "onesided"]),
  },
  {
    name: "aten._fft_c2r.default",
    schema: "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
    tags: ["extern"],
    meta: (m, a) => {
      const x = a.tensor("self");
      const dtype = REAL[x.dtype];
      if (dtype === undefined) return m.fail(`Unsupported dtype ${x.dtype}`);
      const dims = wrapDims(m, a.ints("dim"), x.shape.length);
      const last = at(dims, dims.length - 1);
      const shape = withSize(x.shape, last, a.dim("last_dim_size"));
      const copy = { ...x, stride: contiguousStrides(m, x.shape) };
      return transformed(m, copy, shape, onePlan(dims) ? dims : [last], dtype);
    },
    derivative: each({
      self: (b, c) => {
        const dims = c.args.ints("dim");
        const grad = b.call("aten._fft_r2c.default", [c.grad(), dims, c.args.raw("normalization"), true]);
        const last = at(dims, dims.length - 1);
        const rank = b.meta(grad).shape.length;
        const size = (x: typeof grad): Dim => at(b.meta(x).shape, b.wrapDim(last, rank));
        const twice = b.sub(size(c.grad()), size(grad));
        // frequencies that stand for their mirror images too
        if (b.lt(0, twice)) {
          b.call("aten.mul_.Scalar", [b.call("aten.narrow.default", [grad, last, 1, twice]), 2]);
        }
        return grad;
      },
    }),
    lower: fallback("aten._fft_c2r.default", ["self"], ["self", "dim", "normalization", "last_dim_size"]),
  },
];

function realInputGrad<T>(b: GraphBuilder<T>, grad: T, a: Args<T>): T {
  const f = aten(b);
  const dims = a.ints("dim");
  const x = b.meta(a.tensor("self"));
  const last = b.wrapDim(at(dims, dims.length - 1), x.shape.length);
  let whole = grad;
  if (a.bool("onesided")) {
    const half = at(b.meta(grad).shape, last);
    const size = at(x.shape, last);
    if (b.lt(half, size)) {
      whole = b.call("aten.new_zeros.default", [grad, withSize(b.meta(grad).shape, last, size)]);
      f("copy_.default", f("slice.Tensor", whole, last, 0, half), grad);
    }
  }
  return f("real.default", f("_fft_c2c.default", whole, a.raw("dim"), a.raw("normalization"), false));
}

/** 0: none, 1: by the root of the size, 2: by the size */
function normalization(b: { fail(m: string): never }, norm: string | null, forward: boolean): number {
  if (norm === null || norm === "backward") return forward ? 0 : 2;
  if (norm === "forward") return forward ? 2 : 0;
  return norm === "ortho" ? 1 : b.fail(`Invalid normalization mode: "${norm}"`);
}

/** the input as numbers that the transform takes */
function promoted<T>(b: GraphBuilder<T>, x: T, complex: boolean): T {
  const { dtype } = b.meta(x);
  if (isComplexDType(dtype)) return x;
  const real: DType = isFloatDType(dtype) ? dtype : b.defaultDType();
  return cast(b, x, complex ? (COMPLEX[real] ?? b.fail(`Unsupported dtype ${real}`)) : real);
}

/** cut or filled with zeros to the sizes of the transform */
function resized<T>(b: GraphBuilder<T>, x: T, dims: readonly number[], sizes: readonly (Dim | null)[]): T {
  const { shape } = b.meta(x);
  const pad: (Dim | number)[] = range(2 * shape.length).map(() => 0);
  let [y, padded] = [x, false];
  for (const [i, d] of dims.entries()) {
    const wanted = sizes[i] ?? null;
    if (wanted === null) continue;
    const own = at(shape, d);
    if (b.lt(own, wanted)) {
      pad[pad.length - 2 * d - 1] = b.sub(wanted, own);
      padded = true;
    } else if (b.lt(wanted, own)) y = b.call("aten.slice.Tensor", [y, d, 0, wanted]);
  }
  return padded ? b.call("aten.constant_pad_nd.default", [y, pad]) : y;
}

interface Transform {
  readonly dims: readonly number[];
  readonly sizes: readonly (Dim | null)[];
}

function transformOf<T>(b: GraphBuilder<T>, a: Args<T>, otherwise: readonly number[] | null): Transform {
  const rank = b.meta(a.tensor("self")).shape.length;
  const sizes = a.optDims("s");
  const given = a.optInts("dim") ?? otherwise;
  const dims = given ?? (sizes === null ? range(rank) : range(sizes.length).map(i => rank - sizes.length + i));
  const wrapped = wrapDims(b, dims, rank);
  return {
    dims: wrapped,
    sizes: wrapped.map((_, i) => {
      const s = sizes?.[i];
      return s === undefined || b.static(s) === -1 ? null : s;
    }),
  };
}

const single = <T>(b: GraphBuilder<T>, a: Args<T>): Transform => {
  const rank = b.meta(a.tensor("self")).shape.length;
  return { dims: [b.wrapDim(a.int("dim"), rank)], sizes: [a.optDim("n")] };
};

type Kind = "c2c" | "r2c" | "c2r";

/** one of torch.fft's transforms */
function transform<T>(
  b: GraphBuilder<T>,
  given: T,
  t: Transform,
  kind: Kind,
  forward: boolean,
  norm: string | null,
  one = false,
): T {
  const mode = normalization(b, norm, forward);
  const last = at(t.dims, t.dims.length - 1);
  const lastSize = at(t.sizes, t.sizes.length - 1);
  if (kind === "r2c" && isComplexDType(b.meta(given).dtype)) {
    return b.fail("rfft expects a real input tensor, but got ComplexFloat");
  }
  // a real signal in one dimension
  const realWhole = kind === "c2c" && one && !isComplexDType(b.meta(given).dtype);
  const x = promoted(b, given, kind !== "r2c" && !realWhole);
  if (kind === "c2r") {
    const size = lastSize ?? b.mul(b.sub(at(b.meta(x).shape, last), 1), 2);
    const half = lastSize === null ? null : b.add(b.floordiv(lastSize, 2), 1);
    const y = resized(b, x, t.dims, [...t.sizes.slice(0, -1), half]);
    return b.call("aten._fft_c2r.default", [y, t.dims, mode, b.static(size) ?? size]);
  }
  const y = resized(b, x, t.dims, t.sizes);
  if (realWhole) {
    const spectrum = b.call("aten._fft_r2c.default", [y, t.dims, mode, false]);
    return forward ? spectrum : b.call("aten.conj.default", [spectrum]);
  }
  return kind === "c2c"
    ? b.call("aten._fft_c2c.default", [y, t.dims, mode, forward])
    : b.call("aten._fft_r2c.default", [y, t.dims, mode, true]);
}

const ONE = "SymInt? n=None, int dim=-1, str? norm=None";
const TWO = "SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None";
const MANY = "SymInt[1]? s=None, int[1]? dim=None, str? norm=None";

function fftOp(name: string, parameters: string, composite: <T>(b: GraphBuilder<T>, a: Args<T>) => T): OpRecord {
  return composed({
    name: `aten.fft_${name}.default`,
    schema: `fft_${name}(Tensor self, ${parameters}) -> Tensor`,
    python: [`torch.fft.${name}`],
    printedAs: `torch._C._fft.fft_${name}`,
    composite,
  });
}

const transforms: OpRecord[] = (
  [
    ["fft", "c2c", true],
    ["ifft", "c2c", false],
    ["rfft", "r2c", true],
    ["irfft", "c2r", false],
  ] as const
).flatMap(([name, kind, forward]) => [
  fftOp(name, ONE, (b, a) => transform(b, a.tensor("self"), single(b, a), kind, forward, a.optStr("norm"), true)),
  fftOp(`${name}2`, TWO, (b, a) =>
    transform(b, a.tensor("self"), transformOf(b, a, [-2, -1]), kind, forward, a.optStr("norm")),
  ),
  fftOp(`${name}n`, MANY, (b, a) =>
    transform(b, a.tensor("self"), transformOf(b, a, null), kind, forward, a.optStr("norm")),
  ),
]);

const hermitian: OpRecord[] = [
  fftOp("hfft", ONE, (b, a) => {
    const mirrored = b.call("aten.conj.default", [promoted(b, a.tensor("self"), true)]);
    return transform(b, mirrored, single(b, a), "c2r", true, a.optStr("norm"));
  }),
  fftOp("ihfft", ONE, (b, a) => {
    const half = transform(b, a.tensor("self"), single(b, a), "r2c", false, a.optStr("norm"));
    return b.call("aten.conj.default", [half]);
  }),
];

const shifts: OpRecord[] = (["fftshift", "ifftshift"] as const).map(name =>
  fftOp(name, "int[1]? dim=None", (b, a) => {
    const x = a.tensor("self");
    const { shape } = b.meta(x);
    const dims = a.has("dim") ? wrapDims(b, a.ints("dim"), shape.length) : range(shape.length);
    const by = dims.map(d => b.floordiv(b.add(at(shape, d), name === "fftshift" ? 0 : 1), 2));
    return b.call("aten.roll.default", [x, by, dims]);
  }),
);

const frequencies: OpRecord[] = (["fftfreq", "rfftfreq"] as const).map(name => ({
  name: `aten.fft_${name}.default`,
  schema: `fft_${name}(int n, float d=1.0, ${OPTIONS}) -> Tensor`,
  python: [`torch.fft.${name}`],
  printedAs: `torch._C._fft.fft_${name}`,
  tags: ["factory", "extern"],
  meta: (m, a) => {
    const n = a.int("n");
    const size = name === "fftfreq" ? n : Math.floor(n / 2) + 1;
    return m.tensor([size], { dtype: a.dtype("dtype") ?? m.defaultDType(), device: deviceOf(m, a) });
  },
  decompose: (b, a) => {
    const options = pythonOptions(b, a);
    return options === null ? undefined : b.call(`aten.fft_${name}.default`, [a.raw("n"), a.raw("d")], options);
  },
  derivative: NOT_DIFFERENTIABLE,
  lower: fallback(`aten.fft_${name}.default`, [], ["n", "d"], ["dtype", "layout", "device", "pin_memory"]),
}));

export const records: readonly OpRecord[] = [...kernels, ...transforms, ...hermitian, ...shifts, ...frequencies];
