// Activations, feed-forward layers and norms of diffusers. Python text; what its norms embed, embeddings.ts has.

export const ACTIVATIONS = `
import math

_ACTIVATIONS = {"swish": nn.SiLU, "silu": nn.SiLU, "mish": nn.Mish, "gelu": nn.GELU, "relu": nn.ReLU, "tanh": nn.Tanh}


def get_activation(act_fn):
    return _ACTIVATIONS[act_fn.lower()]()


class FP32SiLU(nn.Module):
    def forward(self, inputs):
        return F.silu(inputs.float()).to(inputs.dtype)


class _Projected(nn.Module):
    parts = 1

    def __init__(self, dim_in, dim_out, approximate="none", bias=True):
        super().__init__()
        self.proj = nn.Linear(dim_in, dim_out * self.parts, bias=bias)
        self.approximate = approximate

    def forward(self, hidden_states, *args, **kwargs):
        return self.act(self.proj(hidden_states))


class GELU(_Projected):
    def act(self, x):
        return F.gelu(x, approximate=self.approximate)


class GEGLU(_Projected):
    parts = 2

    def __init__(self, dim_in, dim_out, bias=True):
        super().__init__(dim_in, dim_out, bias=bias)

    def act(self, x):
        value, gate = x.chunk(2, dim=-1)
        return value * F.gelu(gate)


class SwiGLU(GEGLU):
    def act(self, x):
        value, gate = x.chunk(2, dim=-1)
        return value * F.silu(gate)


class ApproximateGELU(GEGLU):
    parts = 1

    def act(self, x):
        return x * torch.sigmoid(1.702 * x)


class LoRACompatibleLinear(nn.Linear):
    def forward(self, x, scale=1.0):
        return F.linear(x, self.weight, self.bias)


class LoRACompatibleConv(nn.Conv2d):
    def forward(self, x, scale=1.0):
        return super().forward(x)


class FeedForward(nn.Module):
    def __init__(self, dim, dim_out=None, mult=4, dropout=0.0, activation_fn="geglu", final_dropout=False,
                 inner_dim=None, bias=True):
        super().__init__()
        inner = inner_dim or int(dim * mult)
        made = {"gelu": lambda: GELU(dim, inner, bias=bias),
                "gelu-approximate": lambda: GELU(dim, inner, approximate="tanh", bias=bias),
                "geglu": lambda: GEGLU(dim, inner, bias=bias),
                "geglu-approximate": lambda: ApproximateGELU(dim, inner, bias=bias),
                "swiglu": lambda: SwiGLU(dim, inner, bias=bias)}
        layers = [made[activation_fn](), nn.Dropout(dropout), nn.Linear(inner, dim_out or dim, bias=bias)]
        self.net = nn.ModuleList(layers + ([nn.Dropout(dropout)] if final_dropout else []))

    def forward(self, hidden_states, *args, **kwargs):
        for module in self.net:
            hidden_states = module(hidden_states)
        return hidden_states
`;

export const NORMS = `
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6, elementwise_affine=True, bias=False):
        super().__init__()
        self.eps, self.dim = eps, (dim,) if isinstance(dim, int) else tuple(dim)
        self.weight = nn.Parameter(torch.ones(self.dim)) if elementwise_affine else None

    def forward(self, hidden_states):
        return F.rms_norm(hidden_states, self.dim, self.weight, self.eps)


class FP32LayerNorm(nn.LayerNorm):
    def forward(self, inputs):
        weight, bias = (None if p is None else p.float() for p in (self.weight, self.bias))
        return F.layer_norm(inputs.float(), self.normalized_shape, weight, bias, self.eps).to(inputs.dtype)


class AdaLayerNorm(nn.Module):
    def __init__(self, embedding_dim, num_embeddings=None, output_dim=None, norm_elementwise_affine=False,
                 norm_eps=1e-5, chunk_dim=0):
        super().__init__()
        self.chunk_dim = chunk_dim
        output_dim = output_dim or embedding_dim * 2
        self.emb = nn.Embedding(num_embeddings, embedding_dim) if num_embeddings is not None else None
        self.silu = nn.SiLU()
        self.linear = nn.Linear(embedding_dim, output_dim)
        self.norm = nn.LayerNorm(output_dim // 2, norm_eps, norm_elementwise_affine)

    def forward(self, x, timestep=None, temb=None):
        if self.emb is not None:
            temb = self.emb(timestep)
        temb = self.linear(self.silu(temb))
        if self.chunk_dim == 1:
            shift, scale = temb[:, None].chunk(2, dim=-1)
        else:
            scale, shift = temb.chunk(2, dim=0 if temb.dim() == 1 else -1)
        return self.norm(x) * (1 + scale) + shift


class AdaLayerNormZero(nn.Module):
    def __init__(self, embedding_dim, num_embeddings=None, norm_type="layer_norm", bias=True):
        super().__init__()
        self.emb = CombinedTimestepLabelEmbeddings(num_embeddings, embedding_dim) if num_embeddings else None
        self.silu = nn.SiLU()
        self.linear = nn.Linear(embedding_dim, 6 * embedding_dim, bias=bias)
        self.norm = nn.LayerNorm(embedding_dim, elementwise_affine=False, eps=1e-6)

    def forward(self, x, timestep=None, class_labels=None, hidden_dtype=None, emb=None):
        if self.emb is not None:
            emb = self.emb(timestep, class_labels, hidden_dtype=hidden_dtype)
        parts = self.linear(self.silu(emb)).chunk(6, dim=1)
        return self.norm(x) * (1 + parts[1][:, None]) + parts[0][:, None], *parts[2:]


class AdaLayerNormZeroSingle(nn.Module):
    def __init__(self, embedding_dim, norm_type="layer_norm", bias=True):
        super().__init__()
        self.silu = nn.SiLU()
        self.linear = nn.Linear(embedding_dim, 3 * embedding_dim, bias=bias)
        self.norm = nn.LayerNorm(embedding_dim, elementwise_affine=False, eps=1e-6)

    def forward(self, x, emb=None):
        shift, scale, gate = self.linear(self.silu(emb)).chunk(3, dim=1)
        return self.norm(x) * (1 + scale[:, None]) + shift[:, None], gate


class AdaLayerNormContinuous(nn.Module):
    def __init__(self, embedding_dim, conditioning_embedding_dim, elementwise_affine=True, eps=1e-5, bias=True,
                 norm_type="layer_norm"):
        super().__init__()
        self.silu = nn.SiLU()
        self.linear = nn.Linear(conditioning_embedding_dim, embedding_dim * 2, bias=bias)
        rms = norm_type == "rms_norm"
        self.norm = RMSNorm(embedding_dim, eps, elementwise_affine) if rms else nn.LayerNorm(
            embedding_dim, eps, elementwise_affine)

    def forward(self, x, conditioning_embedding):
        scale, shift = self.linear(self.silu(conditioning_embedding).to(x.dtype)).chunk(2, dim=1)
        return self.norm(x) * (1 + scale)[:, None, :] + shift[:, None, :]


class AdaLayerNormSingle(nn.Module):
    def __init__(self, embedding_dim, use_additional_conditions=False):
        super().__init__()
        self.emb = PixArtAlphaCombinedTimestepSizeEmbeddings(
            embedding_dim, embedding_dim // 3, use_additional_conditions)
        self.silu = nn.SiLU()
        self.linear = nn.Linear(embedding_dim, 6 * embedding_dim)

    def forward(self, timestep, added_cond_kwargs=None, batch_size=None, hidden_dtype=None):
        added = added_cond_kwargs or {"resolution": None, "aspect_ratio": None}
        embedded = self.emb(timestep, batch_size=batch_size, hidden_dtype=hidden_dtype, **added)
        return self.linear(self.silu(embedded)), embedded


class SpatialNorm(nn.Module):
    def __init__(self, f_channels, zq_channels):
        super().__init__()
        self.norm_layer = nn.GroupNorm(32, f_channels, eps=1e-6)
        self.conv_y = nn.Conv2d(zq_channels, f_channels, 1)
        self.conv_b = nn.Conv2d(zq_channels, f_channels, 1)

    def forward(self, f, zq):
        zq = F.interpolate(zq, size=f.shape[-2:], mode="nearest")
        return self.norm_layer(f) * self.conv_y(zq) + self.conv_b(zq)
`;
