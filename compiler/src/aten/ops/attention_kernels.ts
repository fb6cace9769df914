// The fused kernels of scaled_dot_product_attention as operators: cuDNN's, flash attention, memory-efficient attention and
// the gradients of each. What chooses among them is attention.ts.
import type {
  Args,
  ArgValue,
  Derivative,
  DerivativeContext,
  Dim,
  DType,
  GraphBuilder,
  MetaBuilder,
  OpRecord,
  TensorMeta,
} from "../types";
import { masked, NOT_DIFFERENTIABLE } from "./helpers/define";
import { at, denseLike, range } from "./helpers/shape";

export const given = <T>(a: Args<T>): Record<string, ArgValue<T>> => (a.has("scale") ? { scale: a.raw("scale") } : {});

/** a result shaped like attention's output and laid out like the query */
function likeQuery(m: MetaBuilder, q: TensorMeta, shape: readonly Dim[]): TensorMeta {
  if (shape.every((s, i) => s === q.shape[i] || m.knownEq(s, at(q.shape, i)))) return denseLike(m, q);
  const order = range(4).sort((i, j) => m.hint(at(q.stride, j)) - m.hint(at(q.stride, i)));
  const dense = m.contiguous(order.map(d => at(shape, d)));
  return m.tensor(
    shape,
    q,
    range(4).map(d => at(dense, order.indexOf(d))),
  );
}

/** [batch, heads, length, width] stored as [batch, length, heads, width] */
function headsInside(m: MetaBuilder, t: TensorMeta, shape: readonly Dim[]): TensorMeta {
  const [batch, heads, length, width] = shape as readonly [Dim, Dim, Dim, Dim];
  const s = m.contiguous([batch, length, heads, width]);
  return m.tensor(shape, t, [at(s, 0), at(s, 2), at(s, 1), at(s, 3)]);
}

function kernelShapes(a: Args<TensorMeta>): { q: TensorMeta; out: Dim[]; rows: Dim[] } {
  const [q, v] = [a.tensor("query"), a.tensor("value")];
  const [batch, heads, length] = q.shape as readonly [Dim, Dim, Dim, Dim];
  return { q, out: [batch, heads, length, at(v.shape, 3)], rows: [batch, heads, length] };
}

const TENSORS = ["query", "key", "value", "attn_bias"];

function lowerAttention(name: string, positional: readonly string[]): NonNullable<OpRecord["lower"]> {
  return (b, a) => {
    let last = positional.length - 1;
    while (last >= 0 && !a.has(positional[last] as string)) last--;
    const inputs = positional.flatMap(n => (a.isTensor(n) ? [a.tensor(n)] : []));
    return b.externMany({
      kernel: `torch.ops.${name}`,
      op: name,
      inputs,
      args: positional.slice(0, last + 1).map(n => a.raw(n)),
      kwargs: a.has("scale") ? { scale: a.raw("scale") } : {},
      strides: "sdpa",
    });
  };
}

const CUDNN_BACKWARD = [
  "grad_out",
  "query",
  "key",
  "value",
  "out",
  "logsumexp",
  "philox_seed",
  "philox_offset",
  "attn_bias",
  "cum_seq_q",
  "cum_seq_k",
  "max_q",
  "max_k",
  "dropout_p",
  "is_causal",
];
const FLASH_BACKWARD = [
  "grad_out",
  "query",
  "key",
  "value",
  "out",
  "logsumexp",
  "cum_seq_q",
  "cum_seq_k",
  "max_q",
  "max_k",
  "dropout_p",
  "is_causal",
  "philox_seed",
  "philox_offset",
];
const EFFICIENT_BACKWARD = [
  "grad_out_",
  "query",
  "key",
  "value",
  "attn_bias",
  "out",
  "logsumexp",
  "philox_seed",
  "philox_offset",
  "dropout_p",
  "grad_input_mask",
  "is_causal",
];

/** the tensors that every kernel differentiates */
const QKV = ["query", "key", "value"];

/**
 * Gradients by a kernel's own backward operator. Its parameters have the names of what they take: the forward's arguments
 * and results, the lengths of the sequences. `philox`: the forward's results that say where its random numbers began.
 */
function byBackward(
  kernel: "cudnn" | "flash" | "efficient",
  parameters: readonly string[],
  philox: readonly [number, number],
  of: readonly string[] = QKV,
): Derivative {
  return masked(of, <T>(b: GraphBuilder<T>, c: DerivativeContext<T>, mask: readonly boolean[]) => {
    const length = (name: string): Dim => at(b.meta(c.args.tensor(name)).shape, 2);
    const value = (name: string): ArgValue<T> => {
      switch (name) {
        case "grad_out":
        case "grad_out_":
          return c.grad();
        case "out":
          return c.result(0);
        case "logsumexp":
          return c.result(1);
        case "philox_seed":
          return c.result(philox[0]);
        case "philox_offset":
          return c.result(philox[1]);
        case "cum_seq_q":
        case "cum_seq_k":
          return null;
        case "max_q":
          return length("query");
        case "max_k":
          return length("key");
        case "grad_input_mask":
          return mask;
        default:
          return c.args.raw(name);
      }
    };
    const name = `aten._scaled_dot_product_${kernel}_attention_backward.default`;
    return b.callMany(name, parameters.map(value), given(c.args));
  });
}

const likeInputs: OpRecord["meta"] = (m, a) => QKV.map(n => denseLike(m, a.tensor(n)));

export const attentionKernels: readonly OpRecord[] = [
  {
    name: "aten._scaled_dot_product_cudnn_attention.default",
    schema:
      "_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)",
    nonDifferentiable: [1, 2, 3, 4, 5, 6, 7, 8],
    tags: ["extern"],
    meta: (m, a) => {
      const { q, out, rows } = kernelShapes(a);
      const sums = a.bool("compute_log_sumexp") ? [...rows, 1] : [0];
      const logsumexp = m.tensor(sums, { dtype: "float32", device: q.device });
      const seed = m.tensor([], { dtype: "int64", device: q.device });
      return [likeQuery(m, q, out), logsumexp, null, null, null, null, seed, seed, null];
    },
    derivative: byBackward("cudnn", CUDNN_BACKWARD, [6, 7]),
    lower: lowerAttention("aten._scaled_dot_product_cudnn_attention.default", [
      ...TENSORS,
      "compute_log_sumexp",
      "dropout_p",
      "is_causal",
      "return_debug_mask",
    ]),
  },
  {
    name: "aten._scaled_dot_product_cudnn_attention_backward.default",
    schema:
      "_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, Tensor? attn_bias, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? scale=None) -> (Tensor, Tensor, Tensor)",
    tags: ["extern"],
    meta: likeInputs,
    derivative: NOT_DIFFERENTIABLE,
    lower: lowerAttention("aten._scaled_dot_product_cudnn_attention_backward.default", CUDNN_BACKWARD),
  },
  {
    name: "aten._scaled_dot_product_flash_attention.default",
    schema:
      "_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)",
    nonDifferentiable: [1, 2, 3, 4, 5, 6, 7, 8],
    tags: ["extern"],
    meta: (m, a) => {
      const { q, rows } = kernelShapes(a);
      const at0 = (shape: readonly number[], dtype: DType): TensorMeta => m.tensor(shape, { dtype, device: q.device });
      return [
        denseLike(m, q),
        m.tensor(rows, { dtype: "float32", device: q.device }),
        null,
        null,
        null,
        null,
        at0([2], "uint64"),
        at0([], "uint64"),
        at0([0], q.dtype),
      ];
    },
    derivative: byBackward("flash", FLASH_BACKWARD, [6, 7]),
    lower: lowerAttention("aten._scaled_dot_product_flash_attention.default", [
      "query",
      "key",
      "value",
      "dropout_p",
      "is_causal",
      "return_debug_mask",
    ]),
  },
  {
    name: "aten._scaled_dot_product_flash_attention_backward.default",
    schema:
      "_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    tags: ["extern"],
    meta: likeInputs,
    derivative: NOT_DIFFERENTIABLE,
    lower: lowerAttention("aten._scaled_dot_product_flash_attention_backward.default", FLASH_BACKWARD),
  },
  {
    name: "aten._scaled_dot_product_efficient_attention.default",
    schema:
      "_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> (Tensor output, Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)",
    nonDifferentiable: [1, 2, 3],
    tags: ["extern"],
    meta: (m, a) => {
      const { q, out, rows } = kernelShapes(a);
      // the kernel writes whole blocks of 32 rows
      const blocks = a.bool("compute_log_sumexp") ? m.mul(m.ceildiv(at(rows, 2), 32), 32) : m.int(0);
      const seed = m.tensor([], { dtype: "int64", device: q.device });
      return [
        headsInside(m, q, out),
        m.tensor([at(rows, 0), at(rows, 1), blocks], { dtype: "float32", device: q.device }),
        seed,
        seed,
      ];
    },
    derivative: byBackward("efficient", EFFICIENT_BACKWARD, [2, 3], TENSORS),
    lower: lowerAttention("aten._scaled_dot_product_efficient_attention.default", [
      ...TENSORS,
      "compute_log_sumexp",
      "dropout_p",
      "is_causal",
    ]),
  },
  {
    name: "aten._scaled_dot_product_efficient_attention_backward.default",
    schema:
      "_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor key, Tensor value, Tensor? attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, float dropout_p, bool[4] grad_input_mask, bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)",
    tags: ["extern"],
    meta: (m, a) => {
      const [q, k, v] = [a.tensor("query"), a.tensor("key"), a.tensor("value")];
      const [batch, heads] = q.shape as readonly [Dim, Dim, Dim, Dim];
      const like = (t: TensorMeta, length: Dim): TensorMeta =>
        headsInside(m, t, [batch, heads, length, at(t.shape, 3)]);
      const bias = a.optTensor("attn_bias");
      const mask = a.raw("grad_input_mask") as readonly boolean[];
      let ofBias: TensorMeta | null = null;
      if (bias !== null && mask[3] === true) {
        const wide = bias.shape.map((s, i) => (i === bias.shape.length - 1 ? m.mul(m.ceildiv(s, 16), 16) : s));
        ofBias = m.tensor(bias.shape, bias, m.contiguous(wide));
      }
      return [like(q, at(q.shape, 2)), like(k, at(k.shape, 2)), like(v, at(k.shape, 2)), ofBias];
    },
    derivative: NOT_DIFFERENTIABLE,
    lower: lowerAttention("aten._scaled_dot_product_efficient_attention_backward.default", EFFICIENT_BACKWARD),
  },
];
