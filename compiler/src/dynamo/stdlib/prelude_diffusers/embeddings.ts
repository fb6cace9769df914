// Embeddings of diffusers: of times, labels, texts, sizes and patches. Python text.

export const EMBEDDINGS = `
def get_timestep_embedding(timesteps, embedding_dim, flip_sin_to_cos=False, downscale_freq_shift=1, scale=1,
                           max_period=10000):
    half = embedding_dim // 2
    exponents = -math.log(max_period) * torch.arange(half, dtype=torch.float32, device=timesteps.device)
    angles = scale * timesteps[:, None].float() * torch.exp(exponents / (half - downscale_freq_shift))[None, :]
    parts = [torch.cos(angles), torch.sin(angles)] if flip_sin_to_cos else [torch.sin(angles), torch.cos(angles)]
    out = torch.cat(parts, dim=-1)
    return F.pad(out, (0, 1, 0, 0)) if embedding_dim % 2 == 1 else out


class Timesteps(nn.Module):
    def __init__(self, num_channels, flip_sin_to_cos, downscale_freq_shift, scale=1):
        super().__init__()
        self.num_channels, self.flip_sin_to_cos = num_channels, flip_sin_to_cos
        self.downscale_freq_shift, self.scale = downscale_freq_shift, scale

    def forward(self, timesteps):
        return get_timestep_embedding(
            timesteps, self.num_channels, self.flip_sin_to_cos, self.downscale_freq_shift, self.scale)


class TimestepEmbedding(nn.Module):
    def __init__(self, in_channels, time_embed_dim, act_fn="silu", out_dim=None, post_act_fn=None, cond_proj_dim=None,
                 sample_proj_bias=True):
        super().__init__()
        self.linear_1 = nn.Linear(in_channels, time_embed_dim, sample_proj_bias)
        self.cond_proj = nn.Linear(cond_proj_dim, in_channels, bias=False) if cond_proj_dim is not None else None
        self.act = get_activation(act_fn)
        self.linear_2 = nn.Linear(time_embed_dim, out_dim or time_embed_dim, sample_proj_bias)
        self.post_act = get_activation(post_act_fn) if post_act_fn is not None else None

    def forward(self, sample, condition=None):
        if condition is not None:
            sample = sample + self.cond_proj(condition)
        sample = self.linear_2(self.act(self.linear_1(sample)))
        return sample if self.post_act is None else self.post_act(sample)


class LabelEmbedding(nn.Module):
    def __init__(self, num_classes, hidden_size, dropout_prob):
        super().__init__()
        self.embedding_table = nn.Embedding(num_classes + (dropout_prob > 0), hidden_size)
        self.num_classes, self.dropout_prob = num_classes, dropout_prob

    def forward(self, labels, force_drop_ids=None):
        if (self.training and self.dropout_prob > 0) or force_drop_ids is not None:
            drop = torch.rand(labels.shape[0], device=labels.device) < self.dropout_prob
            drop = drop if force_drop_ids is None else force_drop_ids == 1
            labels = torch.where(drop, self.num_classes, labels)
        return self.embedding_table(labels)


class CombinedTimestepLabelEmbeddings(nn.Module):
    def __init__(self, num_classes, embedding_dim, class_dropout_prob=0.1):
        super().__init__()
        self.time_proj = Timesteps(256, True, 1)
        self.timestep_embedder = TimestepEmbedding(256, embedding_dim)
        self.class_embedder = LabelEmbedding(num_classes, embedding_dim, class_dropout_prob)

    def forward(self, timestep, class_labels, hidden_dtype=None):
        return self.timestep_embedder(self.time_proj(timestep).to(hidden_dtype)) + self.class_embedder(class_labels)


class PixArtAlphaTextProjection(nn.Module):
    def __init__(self, in_features, hidden_size, out_features=None, act_fn="gelu_tanh", num_tokens=120):
        super().__init__()
        self.linear_1 = nn.Linear(in_features, hidden_size)
        self.act_1 = {"gelu_tanh": lambda: nn.GELU(approximate="tanh"), "silu": nn.SiLU, "silu_fp32": FP32SiLU}[act_fn]()
        self.linear_2 = nn.Linear(hidden_size, out_features or hidden_size)

    def forward(self, caption):
        return self.linear_2(self.act_1(self.linear_1(caption)))


class CombinedTimestepTextProjEmbeddings(nn.Module):
    def __init__(self, embedding_dim, pooled_projection_dim):
        super().__init__()
        self.time_proj = Timesteps(256, True, 0)
        self.timestep_embedder = TimestepEmbedding(256, embedding_dim)
        self.text_embedder = PixArtAlphaTextProjection(pooled_projection_dim, embedding_dim, act_fn="silu")

    def forward(self, timestep, pooled_projection):
        timed = self.timestep_embedder(self.time_proj(timestep).to(pooled_projection.dtype))
        return timed + self.text_embedder(pooled_projection)


class PixArtAlphaCombinedTimestepSizeEmbeddings(nn.Module):
    def __init__(self, embedding_dim, size_emb_dim, use_additional_conditions=False):
        super().__init__()
        self.outdim, self.use_additional_conditions = size_emb_dim, use_additional_conditions
        self.time_proj = Timesteps(256, True, 0)
        self.timestep_embedder = TimestepEmbedding(256, embedding_dim)
        if use_additional_conditions:
            self.resolution_embedder = TimestepEmbedding(256, size_emb_dim)
            self.aspect_ratio_embedder = TimestepEmbedding(256, size_emb_dim)

    def forward(self, timestep, resolution, aspect_ratio, batch_size, hidden_dtype):
        out = self.timestep_embedder(self.time_proj(timestep).to(hidden_dtype))
        if not self.use_additional_conditions:
            return out

        def sized(embedder, x):
            return embedder(self.time_proj(x.flatten()).to(hidden_dtype)).reshape(batch_size, -1)
        sizes = [sized(self.resolution_embedder, resolution), sized(self.aspect_ratio_embedder, aspect_ratio)]
        return out + torch.cat(sizes, dim=1)


def _sincos(embed_dim, pos):
    omega = 1.0 / 10000 ** (torch.arange(embed_dim // 2, dtype=torch.float64) / (embed_dim / 2.0))
    angles = torch.outer(pos.reshape(-1), omega)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class PatchEmbed(nn.Module):
    def __init__(self, height=224, width=224, patch_size=16, in_channels=3, embed_dim=768, layer_norm=False,
                 flatten=True, bias=True, interpolation_scale=1, pos_embed_type="sincos", pos_embed_max_size=None):
        super().__init__()
        self.flatten, self.patch_size = flatten, patch_size
        self.height, self.width = height // patch_size, width // patch_size
        self.base_size, self.interpolation_scale = height // patch_size, interpolation_scale
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size, bias=bias)
        self.norm = nn.LayerNorm(embed_dim, elementwise_affine=False, eps=1e-6) if layer_norm else None
        self.pos_embed_max_size, side = pos_embed_max_size, pos_embed_max_size or self.base_size
        y, x = torch.meshgrid(torch.arange(side).double(), torch.arange(side).double(), indexing="ij")
        table = torch.cat([_sincos(embed_dim // 2, x), _sincos(embed_dim // 2, y)], dim=1).float()[None]
        self.register_buffer("pos_embed", None if pos_embed_type is None else table, persistent=False)

    def forward(self, latent):
        height, width = latent.shape[-2] // self.patch_size, latent.shape[-1] // self.patch_size
        out = self.proj(latent)
        if self.flatten:
            out = out.flatten(2).transpose(1, 2)
        if self.norm is not None:
            out = self.norm(out)
        if self.pos_embed is None:
            return out
        side = self.pos_embed_max_size or self.base_size
        top, left = ((side - n) // 2 if self.pos_embed_max_size else 0 for n in (height, width))
        table = self.pos_embed.reshape(1, side, side, -1)[:, top:top + height, left:left + width]
        return (out + table.reshape(1, -1, table.shape[-1])).to(out.dtype)
`;
