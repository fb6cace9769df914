// Attention. scaled_dot_product_attention picks a kernel as PyTorch does on this GPU (cuDNN, flash, memory-efficient, or
// plain operators); the kernels themselves are calls that Inductor makes.
import {
  type Args,
  type ArgValue,
  DeviceArg,
  type Dim,
  type DType,
  DTypeArg,
  type GraphBuilder,
  type OpRecord,
  PyFloat,
  type TensorMeta,
} from "../types";
import { attentionKernels, given } from "./attention_kernels";
import { each } from "./helpers/define";
import { at, composed, decomposed } from "./helpers/shape";
import { cast, isHalf, STRIDED } from "./helpers/trace";
import { matmul } from "./matmul_composed";

export type Kernel = "cudnn" | "flash" | "efficient" | "math";

/** order in which kernels are tried: cuDNN first on Hopper with a cuDNN newer than 9.15, as recorded */
const PRIORITY: readonly Kernel[] = ["cudnn", "flash", "efficient", "math"];

interface Problem {
  readonly q: TensorMeta;
  readonly k: TensorMeta;
  readonly v: TensorMeta;
  readonly mask: TensorMeta | null;
  readonly dropout: number;
  readonly causal: boolean;
  readonly gqa: boolean;
}

/** the last dim is dense in all three */
const denseRows = (b: { knownEq(a: Dim, c: number): boolean }, p: Problem): boolean =>
  [p.q, p.k, p.v].every(t => b.knownEq(at(t.stride, 3), 1));

function fits<T>(b: GraphBuilder<T>, kernel: Kernel, p: Problem): boolean {
  if (kernel === "math") return true;
  const { q, k, v, mask } = p;
  if (q.device.type !== "cuda" || [q, k, v].some(t => t.shape.length !== 4)) return false;
  if ([k, v].some(t => t.dtype !== q.dtype)) return false;
  const half = q.dtype === "float16" || q.dtype === "bfloat16";
  const width = (t: TensorMeta): number => b.hint(at(t.shape, 3));
  const length = (t: TensorMeta): number => b.hint(at(t.shape, 2));
  const multiple = (n: number): boolean => [q, k, v].every(t => width(t) % n === 0);
  if ([q, k, v].some(t => length(t) === 0) || !denseRows(b, p)) return false;
  if (!b.eq(at(q.shape, 0), at(k.shape, 0)) || !b.eq(at(q.shape, 0), at(v.shape, 0))) return false;
  const heads = [q, k, v].map(t => b.hint(at(t.shape, 1)));
  const sameHeads = heads.every(h => h === heads[0]);
  const grouped = p.gqa && heads[1] === heads[2] && (heads[0] as number) % (heads[1] as number) === 0;
  switch (kernel) {
    case "cudnn":
      return (
        half &&
        (sameHeads || grouped) &&
        multiple(8) &&
        width(q) <= 256 &&
        width(v) <= 256 &&
        width(q) === width(k) &&
        length(k) !== 1 &&
        (p.dropout === 0 || length(q) !== 1) &&
        !(mask?.requiresGrad ?? false)
      );
    case "flash":
      return (
        half &&
        mask === null &&
        (sameHeads || grouped) &&
        width(q) <= 256 &&
        width(q) === width(k) &&
        width(k) === width(v) &&
        (!p.causal || length(q) === length(k))
      );
    case "efficient":
      return (half || q.dtype === "float32") && sameHeads && multiple(half ? 8 : 4) && width(q) === width(k);
    default: {
      const never: never = kernel;
      return never;
    }
  }
}

function chooseKernel<T>(b: GraphBuilder<T>, p: Problem): Kernel {
  const order = (b.config("sdpa_priority_order") as readonly Kernel[] | undefined) ?? PRIORITY;
  const enabled = b.config("sdpa_enabled") as readonly Kernel[] | undefined;
  for (const kernel of order) {
    if (enabled !== undefined && !enabled.includes(kernel)) continue;
    if (fits(b, kernel, p)) return kernel;
  }
  return b.fail("No available kernel. Aborting execution.");
}

/** an additive mask of 0 where a boolean one holds and `low` elsewhere */
function additiveMask<T>(b: GraphBuilder<T>, mask: T, dtype: DType, low: number): T {
  const t = b.meta(mask);
  if (t.dtype !== "bool") return mask;
  const masked = b.call("aten.scalar_tensor.default", [new PyFloat(low)], {
    dtype: new DTypeArg(dtype),
    device: new DeviceArg(t.device),
  });
  const kept = b.call("aten.scalar_tensor.default", [new PyFloat(0)], {
    dtype: new DTypeArg(dtype),
    layout: STRIDED,
    device: new DeviceArg(t.device),
  });
  return b.call("aten.where.self", [mask, kept, masked]);
}

/** the efficient kernel reads the mask in runs of 8 elements: its rows get room for that */
function alignedMask<T>(b: GraphBuilder<T>, mask: T, q: TensorMeta, k: TensorMeta): T {
  const t = b.meta(mask);
  const last = t.shape.length - 1;
  const aligned = b.knownEq(at(t.stride, last), 1) && t.stride.slice(0, -1).every(s => b.hint(b.mod(s, 8)) === 0);
  let m = mask;
  if (!aligned) {
    const width = at(t.shape, last);
    const missing = 8 - (b.hint(width) % 8);
    const padded = b.call("aten.pad.default", [mask, [0, missing]]);
    m = b.call("aten.slice.Tensor", [padded, -1, 0, width, 1]);
  }
  return b.call("aten.expand.default", [m, [at(q.shape, 0), at(q.shape, 1), at(q.shape, 2), at(k.shape, 2)]]);
}

/** the scale that is used when none is given */
const scaleOf = <T>(b: GraphBuilder<T>, a: Args<T>, q: TensorMeta): number =>
  a.optNumber("scale") ?? 1 / Math.sqrt(b.hint(at(q.shape, q.shape.length - 1)));

function attend<T>(b: GraphBuilder<T>, a: Args<T>): T {
  const [query, key, value] = [a.tensor("query"), a.tensor("key"), a.tensor("value")];
  const mask = a.optTensor("attn_mask");
  const [q, k, v] = [b.meta(query), b.meta(key), b.meta(value)];
  const m = mask === null ? null : b.meta(mask);
  checkProblem(b, q, k, v, m, a);
  const dropout = a.number("dropout_p");
  const causal = a.bool("is_causal");
  const kernel = chooseKernel(b, { q, k, v, mask: m, dropout, causal, gqa: a.bool("enable_gqa") });
  const tail: ArgValue<T>[] = [new PyFloat(dropout), causal];
  const logSumExp = b.training() && [q, k, v].some(t => t.requiresGrad);
  switch (kernel) {
    case "cudnn": {
      const bias = mask === null ? null : additiveMask(b, mask, q.dtype, -65504);
      const args = [query, key, value, bias, logSumExp, ...tail];
      return first(b, b.callMany("aten._scaled_dot_product_cudnn_attention.default", args, given(a)));
    }
    case "flash": {
      const width = at(q.shape, 3);
      const pad = (x: T): T => {
        const extra = b.hint(at(b.meta(x).shape, 3)) % 8;
        return extra === 0 ? x : b.call("aten.pad.default", [x, [0, 8 - extra]]);
      };
      const [p, r, s] = [pad(query), pad(key), pad(value)];
      const out = first(
        b,
        b.callMany("aten._scaled_dot_product_flash_attention.default", [p, r, s, ...tail, false], {
          scale: new PyFloat(scaleOf(b, a, q)),
        }),
      );
      if (b.eq(at(b.meta(out).shape, 3), width)) return out;
      return b.call("aten.slice.Tensor", [out, -1, 0, width, 1]);
    }
    case "efficient": {
      const bias =
        mask === null ? null : alignedMask(b, additiveMask(b, mask, q.dtype, Number.NEGATIVE_INFINITY), q, k);
      const args = [query, key, value, bias, logSumExp, ...tail];
      return first(b, b.callMany("aten._scaled_dot_product_efficient_attention.default", args, given(a)));
    }
    case "math":
      return plainAttention(b, a, query, key, value, mask);
    default: {
      const never: never = kernel;
      return never;
    }
  }
}

function first<T>(b: GraphBuilder<T>, xs: readonly T[]): T {
  const x = xs[0];
  return x === undefined ? b.fail("attention gave no result") : x;
}

function checkProblem<T>(
  b: GraphBuilder<T>,
  q: TensorMeta,
  k: TensorMeta,
  v: TensorMeta,
  mask: TensorMeta | null,
  a: Args<T>,
): void {
  if (q.dtype !== k.dtype || q.dtype !== v.dtype) {
    b.fail(
      `Expected query, key, and value to have the same dtype, but got query.dtype: ${q.dtype} key.dtype: ${k.dtype} and value.dtype: ${v.dtype} instead.`,
    );
  }
  if ([q, k, v].some(t => t.shape.length < 2)) {
    b.fail(
      `Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ${q.shape.length}, key.dim: ${k.shape.length} and value.dim: ${v.shape.length} instead.`,
    );
  }
  if (mask !== null) {
    if (mask.dtype !== "bool" && mask.dtype !== q.dtype) {
      b.fail(
        `Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ${mask.dtype} and  query.dtype: ${q.dtype} instead.`,
      );
    }
    if (a.bool("is_causal"))
      b.fail("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  }
}

/** at::_scaled_dot_product_attention_math */
function plainAttention<T>(b: GraphBuilder<T>, a: Args<T>, query: T, key: T, value: T, mask: T | null): T {
  const dtype = b.meta(query).dtype;
  let bias = mask === null ? null : additiveMask(b, mask, dtype, Number.NEGATIVE_INFINITY);
  // half precision is worked out in float32
  const wide: DType = isHalf(dtype) ? "float32" : dtype;
  let [q, k, v] = [cast(b, query, wide), cast(b, key, wide), cast(b, value, wide)];
  if (bias !== null && isHalf(dtype)) bias = cast(b, bias, wide);
  const root = new PyFloat(Math.sqrt(scaleOf(b, a, b.meta(query))));
  q = b.call("aten.mul.Scalar", [q, root]);
  const rank = (x: T): number => b.meta(x).shape.length;
  if (a.bool("is_causal")) {
    const rows = at(b.meta(q).shape, rank(q) - 2);
    const cols = at(b.meta(k).shape, rank(k) - 2);
    const ones = b.call("aten.ones.default", [[rows, cols]], {
      dtype: new DTypeArg("bool"),
      device: new DeviceArg(b.meta(q).device),
    });
    bias = additiveMask(b, b.call("aten.tril.default", [ones]), wide, Number.NEGATIVE_INFINITY);
  }
  if (a.bool("enable_gqa") && rank(q) >= 3) {
    const heads = (x: T): Dim => at(b.meta(x).shape, rank(x) - 3);
    const widen = (x: T): T => {
      const times = b.hint(heads(q)) / b.hint(heads(x));
      return times === 1 ? x : b.call("aten.repeat_interleave.self_int", [x, times, -3]);
    };
    [k, v] = [widen(k), widen(v)];
  }
  const keys = b.call("aten.mul.Scalar", [b.call("aten.transpose.int", [k, -2, -1]), root]);
  let scores = matmul(b, q, keys);
  if (bias !== null) scores = b.call("aten.add.Tensor", [scores, bias]);
  let weights = b.call("aten._safe_softmax.default", [scores, -1]);
  const dropout = a.number("dropout_p");
  if (dropout > 0) weights = b.call("aten.dropout.default", [weights, new PyFloat(dropout), true]);
  // the weights are a result too, which nobody asks for here; C++ evaluates it first
  cast(b, weights, dtype);
  return cast(b, matmul(b, weights, v), dtype);
}

const functions: OpRecord[] = [
  composed({
    name: "aten.scaled_dot_product_attention.default",
    schema:
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    python: ["torch.nn.functional.scaled_dot_product_attention"],
    printedAs: "torch._C._nn.scaled_dot_product_attention",
    composite: attend,
  }),
  decomposed({
    // rows that are masked out altogether give zeros, not NaN
    name: "aten._safe_softmax.default",
    schema: "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    decompose: (b, a) => {
      const x = a.tensor("self");
      const out = b.call("aten._softmax.default", [x, a.raw("dim"), false]);
      const masked = b.call("aten.eq.Scalar", [x, new PyFloat(Number.NEGATIVE_INFINITY)]);
      const all = b.call("aten.all.dim", [masked, a.raw("dim"), true]);
      const zeros = b.call("aten.zeros_like.default", [out]);
      return b.call("aten.where.self", [all, zeros, out]);
    },
    derivative: each({
      self: (b, c) =>
        b.call("aten._softmax_backward_data.default", [
          c.grad(),
          c.result(),
          c.args.raw("dim"),
          new DTypeArg(b.meta(c.args.tensor("self")).dtype),
        ]),
    }),
  }),
];

export const records: readonly OpRecord[] = [...attentionKernels, ...functions];
