// Convolutions. All spellings end in aten.convolution, which cuDNN runs; its bias is added by Inductor's own loops.
import type { Args, ArgValue, Dim, GraphBuilder, LoweringBuilder, MetaBuilder, OpRecord, TensorMeta } from "../types";
import { masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import { externOut } from "./helpers/products";
import { at, composed, looksChannelsLast, range } from "./helpers/shape";

/** one number for each spatial dim */
function perDim<T>(b: GraphBuilder<T>, a: Args<T>, name: string, dims: number): Dim[] {
  const given = a.dims(name);
  if (given.length === dims) return given;
  const only = given[0];
  if (given.length === 1 && only !== undefined) return range(dims).map(() => only);
  return b.fail(
    `expected ${name} to be a single integer value or a list of ${dims} values to match the convolution dimensions, but got ${name}=[${given.map(d => b.hint(d)).join(", ")}]`,
  );
}

function convOutputShape(
  m: MetaBuilder,
  x: readonly Dim[],
  weight: readonly Dim[],
  o: {
    readonly stride: readonly Dim[];
    readonly padding: readonly Dim[];
    readonly dilation: readonly Dim[];
    readonly transposed: boolean;
    readonly outputPadding: readonly Dim[];
    readonly groups: Dim;
  },
): Dim[] {
  const spatial = range(x.length - 2).map(i => {
    const [size, k] = [at(x, i + 2), at(weight, i + 2)];
    const reach = m.mul(at(o.dilation, i), m.sub(k, 1));
    const pad = m.mul(at(o.padding, i), 2);
    if (o.transposed) {
      const grown = m.mul(m.sub(size, 1), at(o.stride, i));
      return m.add(m.sub(grown, pad), reach, at(o.outputPadding, i), 1);
    }
    const room = m.sub(m.sub(m.add(size, pad), reach), 1);
    if (m.lt(room, 0)) {
      m.fail(
        `Calculated padded input size per channel: (${x
          .slice(2)
          .map((s, j) => m.hint(m.add(s, m.mul(at(o.padding, j), 2))))
          .join(" x ")}). Kernel size: (${weight
          .slice(2)
          .map(s => m.hint(s))
          .join(" x ")}). Kernel size can't be greater than actual input size`,
      );
    }
    return m.add(m.floordiv(room, at(o.stride, i)), 1);
  });
  return [at(x, 0), o.transposed ? m.mul(at(weight, 1), o.groups) : at(weight, 0), ...spatial];
}

/** cuDNN works channels-last if either operand looks so */
const channelsLastConv = (m: MetaBuilder, x: TensorMeta, weight: TensorMeta): boolean =>
  x.device.type === "cuda" && (looksChannelsLast(m, x) || looksChannelsLast(m, weight));

function convMeta(m: MetaBuilder, a: Args<TensorMeta>): TensorMeta {
  const [x, w] = [a.tensor("input"), a.tensor("weight")];
  const groups = a.dim("groups");
  const transposed = a.bool("transposed");
  const dims = w.shape.length - 2;
  if (x.shape.length !== w.shape.length) {
    return m.fail(
      `Expected ${dims + 1}D (unbatched) or ${dims + 2}D (batched) input to conv${dims}d, but got input of size: [${x.shape.map(s => m.hint(s)).join(", ")}]`,
    );
  }
  const channels = at(x.shape, 1);
  const expected = transposed ? at(w.shape, 0) : m.mul(at(w.shape, 1), groups);
  if (!m.eq(channels, expected)) {
    const text = (s: readonly Dim[]): string => `[${s.map(d => m.hint(d)).join(", ")}]`;
    return m.fail(
      `Given ${transposed ? "transposed=1" : `groups=${m.hint(groups)}`}, weight of size ${text(w.shape)}, expected input${text(x.shape)} to have ${m.hint(expected)} channels, but got ${m.hint(channels)} channels instead`,
    );
  }
  if (x.dtype !== w.dtype) {
    return m.fail(
      `Input type (${x.device.type}.${x.dtype}) and weight type (${w.device.type}.${w.dtype}) should be the same`,
    );
  }
  const shape = convOutputShape(m, x.shape, w.shape, {
    stride: perDim(m, a, "stride", dims),
    padding: perDim(m, a, "padding", dims),
    dilation: perDim(m, a, "dilation", dims),
    transposed,
    outputPadding: perDim(m, a, "output_padding", dims),
    groups,
  });
  return m.tensor(shape, x, channelsLastConv(m, x, w) && shape.length <= 5 ? lastOr(m, shape) : undefined);
}

const lastOr = (m: MetaBuilder, shape: readonly Dim[]): Dim[] | undefined =>
  shape.length === 4 || shape.length === 5 ? m.channelsLast(shape) : undefined;

const CONV_ARGS = ["stride", "padding", "dilation", "transposed", "output_padding", "groups"] as const;

/** whether cuDNN computes in TF32, which a matrix product is not allowed to */
function losesTf32<B>(b: LoweringBuilder<B>, x: B): boolean {
  const precision = b.config("float32_matmul_precision");
  if (b.config("operand_layouts") !== true || b.dtype(x) !== "float32") return false;
  return precision !== "high" && precision !== "medium" && b.config("cudnn_allow_tf32") !== false;
}

/**
 * A convolution with windows of one element is a matrix product over channels. cuDNN is asked all the same, unless
 * conv_1x1_as_mm says otherwise, or matrix products are tuned and the input's channels lie together anyway.
 */
function isProduct<B>(b: LoweringBuilder<B>, a: Args<B>): boolean {
  const tunes = b.config("max_autotune") === true || b.config("max_autotune_gemm") === true;
  const x = a.tensor("input");
  if (b.config("conv_1x1_as_mm") !== true && !(tunes && b.convolvesChannelsLast() && !losesTf32(b, x))) return false;
  const all = (dims: readonly Dim[], n: number): boolean => dims.every(d => b.static(d) === n);
  return (
    a.raw("transposed") !== true &&
    all([a.dim("groups"), ...b.size(a.tensor("weight")).slice(2)], 1) &&
    all([...a.dims("stride"), ...a.dims("dilation")], 1) &&
    all([...a.dims("padding"), ...a.dims("output_padding")], 0) &&
    b.size(x).every(d => (b.static(d) ?? 1) > 0)
  );
}

/** Rows are places, columns channels: [n * h * w, c_in] by [c_in, c_out] (convert_1x1_conv_to_mm). */
function asProduct<B>(b: LoweringBuilder<B>, x: B, weight: B, bias: B | null): B {
  const [out, channels, ...window] = b.size(weight);
  const w = b.permute(b.view(weight, [out as Dim, channels as Dim]), [1, 0]);
  const last = [0, ...range(window.length).map(d => d + 2), 1];
  const places = b.permute(b.requireChannelsLast(x), last);
  const sizes = b.size(places).slice(0, -1);
  const rows = b.view(places, [sizes.reduce((p, s) => b.mul(p, s)), channels as Dim]);
  const product =
    bias === null ? externOut(b, "mm", [rows, w]) : externOut(b, "addmm", [bias, rows, w], { alpha: 1, beta: 1 });
  const first = [0, last.length - 1, ...range(window.length).map(d => d + 1)];
  return b.permute(b.view(product, [...sizes, out as Dim]), first);
}

function lowerConv<B>(b: LoweringBuilder<B>, a: Args<B>): B {
  if (isProduct(b, a)) return asProduct(b, a.tensor("input"), a.tensor("weight"), a.optTensor("bias"));
  // traced strides bind all arguments, so the bias lies in memory although the kernel does not read it
  const bound = (v: B): B => (b.choosesFormats() ? v : b.inTracedOrder(v));
  const [x, w] = [bound(a.tensor("input")), bound(a.tensor("weight"))];
  const given = a.optTensor("bias");
  const bias = given === null ? null : bound(given);
  const kwargs: Record<string, ArgValue<B>> = {};
  for (const name of CONV_ARGS) kwargs[name] = a.raw(name);
  // cuDNN is slower with a bias; added afterwards it fuses with what follows
  const onGpu = b.device(x).type === "cuda";
  kwargs.bias = onGpu ? null : bias;
  const out = b.extern({
    kind: "alloc",
    kernel: "extern_kernels.convolution",
    op: "aten.convolution.default",
    inputs: !onGpu && bias !== null ? [x, w, bias] : [x, w],
    args: [x, w] as readonly ArgValue<B>[],
    kwargs,
    layout: "meta",
    strides: "channels_last",
  });
  if (bias === null || !onGpu) return out;
  const size = b.size(out);
  const wide = b.view(bias, [at(size, 1), ...range(size.length - 2).map(() => 1)]);
  return b.elementwise("add", [out, wide]);
}

const backwardArgs = <T>(a: Args<T>): ArgValue<T>[] => ["bias_sizes", ...CONV_ARGS].map(n => a.raw(n));

const kernels: OpRecord[] = [
  {
    name: "aten.convolution.default",
    schema:
      "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    python: ["torch.convolution"],
    meta: convMeta,
    derivative: masked(["input", "weight", "bias"], (b, c, mask) => {
      const a = c.args;
      const bias = a.optTensor("bias");
      return b.callMany("aten.convolution_backward.default", [
        c.grad(),
        a.tensor("input"),
        a.tensor("weight"),
        bias === null ? [0] : b.meta(bias).shape,
        ...CONV_ARGS.map(n => a.raw(n)),
        mask,
      ]);
    }),
    lower: lowerConv,
  },
  {
    name: "aten.convolution_backward.default",
    schema:
      "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => {
      const [g, x, w] = [a.tensor("grad_output"), a.tensor("input"), a.tensor("weight")];
      const mask = a.raw("output_mask") as readonly boolean[];
      const last = channelsLastConv(m, x, w);
      const like = (t: TensorMeta): TensorMeta => m.tensor(t.shape, t, last ? lastOr(m, t.shape) : undefined);
      const sizes = a.optDims("bias_sizes") ?? [];
      return [mask[0] ? like(x) : null, mask[1] ? like(w) : null, mask[2] ? m.tensor(sizes, g) : null];
    },
    // the bias's gradient is a plain sum that Inductor can fuse
    decompose: (b, a) => {
      const mask = a.raw("output_mask") as readonly boolean[];
      const g = a.tensor("grad_output");
      const t = b.meta(g);
      if (mask[2] !== true || t.device.type !== "cuda") return undefined;
      const bias = b.call("aten.sum.dim_IntList", [g, [0, ...range(t.shape.length).slice(2)]]);
      const [input, weight] = b.callMany("aten.convolution_backward.default", [
        g,
        a.tensor("input"),
        a.tensor("weight"),
        ...backwardArgs(a),
        [mask[0] ?? false, mask[1] ?? false, false],
      ]);
      return [input ?? null, weight ?? null, bias];
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: (b, a) => {
      const inputs = [a.tensor("grad_output"), a.tensor("input"), a.tensor("weight")];
      return b.externMany({
        kernel: "torch.ops.aten.convolution_backward.default",
        op: "aten.convolution_backward.default",
        inputs,
        args: [...(inputs as readonly ArgValue<(typeof inputs)[number]>[]), ...backwardArgs(a), a.raw("output_mask")],
        strides: "fx",
      });
    },
  },
];

/** a call without a batch dim gets one for the kernel */
function batched<T>(b: GraphBuilder<T>, x: T, dims: number, run: (x: T) => T): T {
  const rank = b.meta(x).shape.length;
  if (rank === dims + 2) return run(x);
  if (rank !== dims + 1) {
    return b.fail(
      `Expected ${dims + 1}D (unbatched) or ${dims + 2}D (batched) input to conv${dims}d, but got input of size: [${b
        .meta(x)
        .shape.map(s => b.hint(s))
        .join(", ")}]`,
    );
  }
  return b.call("aten.squeeze.dim", [run(b.call("aten.unsqueeze.default", [x, 0])), 0]);
}

interface Call<T> {
  readonly x: T;
  readonly stride: readonly Dim[];
  readonly padding: readonly Dim[];
  readonly dilation: readonly Dim[];
  readonly outputPadding: readonly Dim[];
  readonly transposed: boolean;
}

function convolve<T>(b: GraphBuilder<T>, a: Args<T>, c: Call<T>): T {
  return b.call("aten.convolution.default", [
    c.x,
    a.tensor("weight"),
    a.optTensor("bias"),
    c.stride,
    c.padding,
    c.dilation,
    c.transposed,
    c.outputPadding,
    a.raw("groups"),
  ]);
}

function paddedConv<T>(b: GraphBuilder<T>, a: Args<T>, dims: number): T {
  const mode = a.str("padding");
  const [stride, dilation] = [perDim(b, a, "stride", dims), perDim(b, a, "dilation", dims)];
  const zeros = range(dims).map(() => b.int(0));
  return batched(b, a.tensor("input"), dims, x => {
    const call = { x, stride, dilation, outputPadding: zeros, transposed: false };
    if (mode === "valid") return convolve(b, a, { ...call, padding: zeros });
    if (mode !== "same") return b.fail(`Invalid padding string: '${mode}'`);
    if (stride.some(s => !b.eq(s, 1))) return b.fail("padding='same' is not supported for strided convolutions");
    const kernel = b.meta(a.tensor("weight")).shape.slice(2);
    const total = kernel.map((k, i) => b.mul(at(dilation, i), b.sub(k, 1)));
    const left = total.map(t => b.floordiv(t, 2));
    const extra = total.map((t, i) => b.sub(b.sub(t, at(left, i)), at(left, i)));
    if (extra.every(e => b.eq(e, 0))) return convolve(b, a, { ...call, padding: left });
    // the odd element goes to the right side, through a padded copy
    const pads = range(dims)
      .reverse()
      .flatMap(i => [b.int(0), at(extra, i)]);
    const padded = b.call("aten.constant_pad_nd.default", [x, pads, 0]);
    return convolve(b, a, { ...call, x: padded, padding: left });
  });
}

const functions: OpRecord[] = ([1, 2, 3] as const).flatMap(dims => {
  const sizes = `SymInt[${dims}]`;
  const zeros = <T>(b: GraphBuilder<T>): Dim[] => range(dims).map(() => b.int(0));
  return [
    composed({
      name: `aten.conv${dims}d.default`,
      schema: `conv${dims}d(Tensor input, Tensor weight, Tensor? bias=None, ${sizes} stride=1, ${sizes} padding=0, ${sizes} dilation=1, SymInt groups=1) -> Tensor`,
      python: [`torch.nn.functional.conv${dims}d`, `torch.conv${dims}d`],
      printedAs: `torch.conv${dims}d`,
      composite: (b, a) =>
        batched(b, a.tensor("input"), dims, x =>
          convolve(b, a, {
            x,
            stride: perDim(b, a, "stride", dims),
            padding: perDim(b, a, "padding", dims),
            dilation: perDim(b, a, "dilation", dims),
            outputPadding: zeros(b),
            transposed: false,
          }),
        ),
    }),
    composed({
      name: `aten.conv${dims}d.padding`,
      schema: `conv${dims}d.padding(Tensor input, Tensor weight, Tensor? bias=None, ${sizes} stride=1, str padding="valid", ${sizes} dilation=1, SymInt groups=1) -> Tensor`,
      python: [`torch.nn.functional.conv${dims}d`, `torch.conv${dims}d`],
      printedAs: `torch.conv${dims}d`,
      composite: (b, a) => paddedConv(b, a, dims),
    }),
    composed({
      name: `aten.conv_transpose${dims}d.${dims === 1 ? "default" : "input"}`,
      schema: `conv_transpose${dims}d${dims === 1 ? "" : ".input"}(Tensor input, Tensor weight, Tensor? bias=None, ${sizes} stride=1, ${sizes} padding=0, ${sizes} output_padding=0, SymInt groups=1, ${sizes} dilation=1) -> Tensor`,
      python: [`torch.nn.functional.conv_transpose${dims}d`, `torch.conv_transpose${dims}d`],
      printedAs: `torch.conv_transpose${dims}d`,
      composite: (b, a) =>
        batched(b, a.tensor("input"), dims, x =>
          convolve(b, a, {
            x,
            stride: perDim(b, a, "stride", dims),
            padding: perDim(b, a, "padding", dims),
            dilation: perDim(b, a, "dilation", dims),
            outputPadding: perDim(b, a, "output_padding", dims),
            transposed: true,
          }),
        ),
    }),
  ];
});

export const records: readonly OpRecord[] = [...kernels, ...functions];
