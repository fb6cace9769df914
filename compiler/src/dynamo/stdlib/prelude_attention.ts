// Attention and norms of libraries of compiled kernels (flash_attn, xformers, apex) in torch's own operators: what they compute
// and in which layout, not how. In: nothing. Out: Python texts by module name, and which libraries they are.

/** (batch, length, heads, width) as these libraries have it, through torch's attention over (batch, heads, length, width) */
const CORE = `
def _attend(q, k, v, bias=None, p=0.0, scale=None, causal=False):
    out = F.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=bias, dropout_p=p, is_causal=causal,
        scale=scale, enable_gqa=q.shape[2] != k.shape[2])
    return out.transpose(1, 2)


def _parts(starts, length, device):
    # which of several sequences, one behind the other, each position is of
    at = torch.arange(length, device=device)
    return torch.searchsorted(starts[1:].to(at.dtype), at, right=True), at
`;

const FLASH_ATTENTION = `${CORE}
def _band(q_length, k_length, causal, window, device):
    left, right = window
    if right < 0 and causal:
        right = 0
    # the last queries and keys lie side by side
    i = torch.arange(q_length, device=device)[:, None] + (k_length - q_length)
    j = torch.arange(k_length, device=device)[None, :]
    seen = torch.ones(q_length, k_length, dtype=torch.bool, device=device)
    if left >= 0:
        seen = seen & (j >= i - left)
    if right >= 0:
        seen = seen & (j <= i + right)
    return seen


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                    alibi_slopes=None, deterministic=False, return_attn_probs=False, **kwargs):
    square = q.shape[1] == k.shape[1]
    if tuple(window_size) == (-1, -1) and (square or not causal):
        out = _attend(q, k, v, None, dropout_p, softmax_scale, causal)
    else:
        seen = _band(q.shape[1], k.shape[1], causal, tuple(window_size), q.device)
        out = _attend(q, k, v, seen, dropout_p, softmax_scale)
    return (out, None, None) if return_attn_probs else out


def flash_attn_qkvpacked_func(qkv, *args, **kwargs):
    return flash_attn_func(*qkv.unbind(2), *args, **kwargs)


def flash_attn_kvpacked_func(q, kv, *args, **kwargs):
    return flash_attn_func(q, *kv.unbind(2), *args, **kwargs)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0,
                           softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0, alibi_slopes=None,
                           deterministic=False, return_attn_probs=False, block_table=None, **kwargs):
    q_part, i = _parts(cu_seqlens_q, q.shape[0], q.device)
    k_part, j = _parts(cu_seqlens_k, k.shape[0], k.device)
    seen = q_part[:, None] == k_part[None, :]
    if causal:
        # counted from the ends of both sequences
        ends_q, ends_k = cu_seqlens_q[1:][q_part], cu_seqlens_k[1:][k_part]
        seen = seen & ((j - ends_k)[None, :] <= (i - ends_q)[:, None])
    out = _attend(q[None], k[None], v[None], seen, dropout_p, softmax_scale)[0]
    return (out, None, None) if return_attn_probs else out


def flash_attn_varlen_qkvpacked_func(qkv, cu_seqlens, max_seqlen=None, *args, **kwargs):
    return flash_attn_varlen_func(*qkv.unbind(1), cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, *args, **kwargs)


def flash_attn_varlen_kvpacked_func(q, kv, *args, **kwargs):
    return flash_attn_varlen_func(q, *kv.unbind(1), *args, **kwargs)


# as version 1 calls them
flash_attn_unpadded_func = flash_attn_varlen_func
flash_attn_unpadded_qkvpacked_func = flash_attn_varlen_qkvpacked_func
flash_attn_unpadded_kvpacked_func = flash_attn_varlen_kvpacked_func


class FlashSelfAttention(nn.Module):
    def __init__(self, causal=False, softmax_scale=None, attention_dropout=0.0, window_size=(-1, -1), **kwargs):
        super().__init__()
        self.causal, self.softmax_scale, self.window_size = causal, softmax_scale, window_size
        self.drop = nn.Dropout(attention_dropout)

    def forward(self, qkv, causal=None, cu_seqlens=None, max_seqlen=None):
        causal = self.causal if causal is None else causal
        p = self.drop.p if self.training else 0.0
        if cu_seqlens is not None:
            return flash_attn_varlen_qkvpacked_func(
                qkv, cu_seqlens, max_seqlen, p, softmax_scale=self.softmax_scale, causal=causal)
        return flash_attn_qkvpacked_func(
            qkv, p, softmax_scale=self.softmax_scale, causal=causal, window_size=self.window_size)


class FlashCrossAttention(FlashSelfAttention):
    def forward(self, q, kv, causal=None, **kwargs):
        return flash_attn_kvpacked_func(
            q, kv, self.drop.p if self.training else 0.0, softmax_scale=self.softmax_scale,
            causal=self.causal if causal is None else causal, window_size=self.window_size)
`;

/** version 1 has layers that give no weights beside the result, and takes out what is padded */
const FLASH_ATTENTION_1 = `
import torch
from torch import nn
from flash_attn import flash_attn_qkvpacked_func, flash_attn_varlen_qkvpacked_func
from flash_attn.bert_padding import pad_input, unpad_input


class FlashAttention(nn.Module):
    def __init__(self, softmax_scale=None, attention_dropout=0.0, device=None, dtype=None):
        super().__init__()
        self.softmax_scale, self.dropout_p = softmax_scale, attention_dropout

    def forward(self, qkv, key_padding_mask=None, causal=False, cu_seqlens=None, max_s=None, need_weights=False):
        assert not need_weights
        p = self.dropout_p if self.training else 0.0
        if cu_seqlens is not None:
            return flash_attn_varlen_qkvpacked_func(
                qkv, cu_seqlens, max_s, p, softmax_scale=self.softmax_scale, causal=causal), None
        if key_padding_mask is None:
            return flash_attn_qkvpacked_func(qkv, p, softmax_scale=self.softmax_scale, causal=causal), None
        batch, length = qkv.shape[:2]
        rows, indices, starts, longest = unpad_input(qkv.flatten(2), key_padding_mask)[:4]
        out = flash_attn_varlen_qkvpacked_func(
            rows.unflatten(-1, qkv.shape[2:]), starts, longest, p, softmax_scale=self.softmax_scale, causal=causal)
        return pad_input(out.flatten(1), indices, batch, length).unflatten(-1, out.shape[1:]), None


class FlashMHA(nn.Module):
    def __init__(self, embed_dim, num_heads, bias=True, batch_first=True, attention_dropout=0.0, causal=False,
                 device=None, dtype=None, **kwargs):
        super().__init__()
        assert batch_first and embed_dim % num_heads == 0
        self.num_heads, self.causal = num_heads, causal
        self.Wqkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias, device=device, dtype=dtype)
        self.inner_attn = FlashAttention(attention_dropout=attention_dropout)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)

    def forward(self, x, key_padding_mask=None, need_weights=False):
        qkv = self.Wqkv(x).unflatten(-1, (3, self.num_heads, -1))
        out, weights = self.inner_attn(qkv, key_padding_mask, causal=self.causal, need_weights=need_weights)
        return self.out_proj(out.flatten(-2)), weights
`;

/** version 3 gives the logarithm of the sums as well */
const FLASH_ATTENTION_3 = `
import flash_attn


def flash_attn_func(q, k, v, softmax_scale=None, causal=False, **kwargs):
    return flash_attn.flash_attn_func(q, k, v, softmax_scale=softmax_scale, causal=causal), None


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None,
                           seqused_q=None, seqused_k=None, softmax_scale=None, causal=False, **kwargs):
    out = flash_attn.flash_attn_varlen_func(
        q, k, v, cu_seqlens_q, cu_seqlens_k, softmax_scale=softmax_scale, causal=causal)
    return out, None
`;

const PADDING = `
def index_first_axis(x, indices):
    return x[indices]


def unpad_input(hidden_states, attention_mask, unused_mask=None):
    lengths = attention_mask.sum(dim=-1, dtype=torch.int32)
    indices = torch.nonzero(attention_mask.flatten(), as_tuple=False).flatten()
    starts = F.pad(torch.cumsum(lengths, dim=0, dtype=torch.int32), (1, 0))
    return hidden_states.flatten(0, 1)[indices], indices, starts, lengths.max().item(), lengths


def pad_input(hidden_states, indices, batch, seqlen):
    out = torch.zeros(batch * seqlen, *hidden_states.shape[1:], device=hidden_states.device, dtype=hidden_states.dtype)
    out[indices] = hidden_states
    return out.view(batch, seqlen, *hidden_states.shape[1:])
`;

const ROTARY = `
def rotate_half(x, interleaved=False):
    if not interleaved:
        a, b = x.chunk(2, dim=-1)
        return torch.cat((-b, a), dim=-1)
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def apply_rotary_emb_torch(x, cos, sin, interleaved=False):
    turned = cos.shape[-1] * 2

    def wide(a):
        a = a.repeat_interleave(2, dim=-1) if interleaved else torch.cat((a, a), dim=-1)
        return a[..., None, :]
    head, rest = x[..., :turned], x[..., turned:]
    return torch.cat((head * wide(cos) + rotate_half(head, interleaved) * wide(sin), rest), dim=-1)


def apply_rotary_emb(x, cos, sin, interleaved=False, inplace=False, seqlen_offsets=0, cu_seqlens=None, max_seqlen=None):
    return apply_rotary_emb_torch(x, cos[: x.shape[1]], sin[: x.shape[1]], interleaved)


apply_rotary_emb_func = apply_rotary_emb


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0, interleaved=False, scale_base=None, pos_idx_in_fp32=True, device=None):
        super().__init__()
        self.dim, self.base, self.interleaved = dim, float(base), interleaved
        exponents = torch.arange(0, dim, 2, device=device, dtype=torch.float32) / dim
        self.register_buffer("inv_freq", 1.0 / (self.base ** exponents), persistent=False)

    def forward(self, qkv, kv=None, seqlen_offset=0, cu_seqlens=None, max_seqlen=None, num_heads_q=None):
        at = torch.arange(qkv.shape[1], device=qkv.device, dtype=torch.float32) + seqlen_offset
        angles = torch.outer(at, self.inv_freq)
        cos, sin = angles.cos().to(qkv.dtype), angles.sin().to(qkv.dtype)

        def turn(x):
            return apply_rotary_emb_torch(x, cos, sin, self.interleaved)
        if kv is not None:
            return turn(qkv), torch.stack((turn(kv[:, :, 0]), kv[:, :, 1]), dim=2)
        q, k, v = qkv.unbind(2)
        return torch.stack((turn(q), turn(k), v), dim=2)
`;

/** norms that other libraries fuse */
const NORMS = `
class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-5, elementwise_affine=True, **kwargs):
        super().__init__()
        self.eps = eps
        size = (hidden_size,) if isinstance(hidden_size, int) else tuple(hidden_size)
        self.normalized_shape = size
        self.weight = nn.Parameter(torch.ones(size)) if elementwise_affine else None

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class _LayerNorm(nn.LayerNorm):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, **kwargs):
        super().__init__(normalized_shape, eps=eps, elementwise_affine=elementwise_affine)


FusedLayerNorm = MixedFusedLayerNorm = FastLayerNorm = LayerNorm = _LayerNorm
FusedRMSNorm = MixedFusedRMSNorm = RMSNorm
`;

const LOSSES = `
class CrossEntropyLoss(nn.CrossEntropyLoss):
    def __init__(self, ignore_index=-100, reduction="mean", label_smoothing=0.0, **kwargs):
        super().__init__(ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
`;

/** what one query may see: a bias that is worked out where attention asks for it */
const XFORMERS_BIAS = `
class AttentionBias:
    causal = False

    def seen(self, queries, keys, device):
        raise NotImplementedError


class LowerTriangularMask(AttentionBias):
    causal = True

    def __init__(self, *args, **kwargs):
        pass

    def seen(self, queries, keys, device):
        return torch.ones(queries, keys, dtype=torch.bool, device=device).tril()

    def materialize(self, shape, dtype=torch.float32, device="cpu"):
        return torch.full(shape, float("-inf"), dtype=dtype, device=device).triu(1)


class LowerTriangularFromBottomRightMask(LowerTriangularMask):
    def seen(self, queries, keys, device):
        return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


class BlockDiagonalMask(AttentionBias):
    def __init__(self, q_lengths, k_lengths=None):
        self.q_lengths = list(q_lengths)
        self.k_lengths = list(k_lengths) if k_lengths is not None else self.q_lengths
        self._batch_sizes = None

    @classmethod
    def from_seqlens(cls, q_seqlen, kv_seqlen=None, **kwargs):
        return cls(q_seqlen, kv_seqlen)

    @classmethod
    def from_tensor_list(cls, tensors):
        made = cls([x.shape[1] for x in tensors for _ in range(x.shape[0])])
        made._batch_sizes = [x.shape[0] for x in tensors]
        return made, torch.cat([x.reshape(1, -1, *x.shape[2:]) for x in tensors], dim=1)

    def split(self, tensor):
        sizes = self._batch_sizes or [1] * len(self.q_lengths)
        out, at, part = [], 0, 0
        for n in sizes:
            length = self.q_lengths[part]
            out.append(tensor[:, at:at + n * length].reshape(n, length, *tensor.shape[2:]))
            at, part = at + n * length, part + n
        return out

    def make_causal(self):
        return BlockDiagonalCausalMask(self.q_lengths, self.k_lengths)

    def seen(self, queries, keys, device):
        def parts(lengths):
            ids = torch.arange(len(lengths), device=device)
            return torch.repeat_interleave(ids, torch.tensor(lengths, device=device), output_size=sum(lengths))
        return parts(self.q_lengths)[:, None] == parts(self.k_lengths)[None, :]


class BlockDiagonalCausalMask(BlockDiagonalMask):
    def seen(self, queries, keys, device):
        return super().seen(queries, keys, device).tril()
`;

const XFORMERS = `${CORE}${XFORMERS_BIAS}
def memory_efficient_attention(query, key, value, attn_bias=None, p=0.0, scale=None, *, op=None, output_dtype=None):
    rank = query.dim()
    if rank == 3:
        query, key, value = query[:, :, None], key[:, :, None], value[:, :, None]
    groups = query.shape[2:4] if rank == 5 else None
    if groups is not None:
        query, key, value = (t.flatten(2, 3) for t in (query, key, value))
    bias, causal = attn_bias, False
    if isinstance(bias, AttentionBias):
        causal = bias.causal and query.shape[1] == key.shape[1]
        bias = None if causal else bias.seen(query.shape[1], key.shape[1], query.device)
    elif bias is not None and rank == 3:
        bias = bias[:, None]
    out = _attend(query, key, value, bias, p, scale, causal)
    if groups is not None:
        out = out.unflatten(2, groups)
    return out[:, :, 0] if rank == 3 else out


memory_efficient_attention_forward = memory_efficient_attention


def unbind(x, dim):
    return torch.unbind(x, dim)


def scaled_index_add(input, index, source, scaling=None, alpha=1.0):
    return torch.index_add(input, 0, index, source if scaling is None else source * scaling, alpha=alpha)


def index_select_cat(sources, indices):
    return torch.cat([s[i].flatten() for s, i in zip(sources, indices)], dim=0)


class SwiGLU(nn.Module):
    def __init__(self, in_features, hidden_features, out_features=None, bias=True, *, _pack_weights=True):
        super().__init__()
        self.w12 = nn.Linear(in_features, 2 * hidden_features, bias=bias)
        self.w3 = nn.Linear(hidden_features, out_features or in_features, bias=bias)

    def forward(self, x):
        gate, value = self.w12(x).chunk(2, dim=-1)
        return self.w3(F.silu(gate) * value)


# ways to compute it, among which a program may choose
class MemoryEfficientAttentionOp:
    pass


MemoryEfficientAttentionFlashAttentionOp = MemoryEfficientAttentionCutlassOp = MemoryEfficientAttentionOp
`;

/** packages that hold modules alone */
const PACKAGES =
  "xformers apex flash_attn.layers flash_attn.ops flash_attn.ops.triton flash_attn.losses flash_attn.modules";

/** a module's text by its name; what the text lacks is unknown */
export const KERNEL_LIBRARIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PACKAGES.split(" ").map(name => [name, `# ${name}\n`])),
  flash_attn: FLASH_ATTENTION,
  "flash_attn.flash_attn_interface": FLASH_ATTENTION,
  "flash_attn.flash_attention": FLASH_ATTENTION_1,
  "flash_attn.modules.mha": FLASH_ATTENTION,
  "flash_attn.bert_padding": PADDING,
  "flash_attn.layers.rotary": ROTARY,
  "flash_attn.ops.rms_norm": NORMS,
  "flash_attn.ops.layer_norm": NORMS,
  "flash_attn.ops.triton.layer_norm": NORMS,
  "flash_attn.losses.cross_entropy": LOSSES,
  flash_attn_interface: FLASH_ATTENTION_3,
  "xformers.ops": XFORMERS,
  "xformers.ops.fmha": XFORMERS,
  "xformers.ops.fmha.attn_bias": XFORMERS,
  "apex.normalization": NORMS,
  "apex.normalization.fused_layer_norm": NORMS,
};

/** whether a module is of a library of compiled kernels: code that is prepared to miss it does without it */
export const hasOwnKernels = (name: string): boolean =>
  /^(flash_attn|flash_attn_interface|xformers|apex)(\.|$)/.test(name);
