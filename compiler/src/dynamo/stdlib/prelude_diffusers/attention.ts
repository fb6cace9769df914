// Attention, residual blocks and small helpers of diffusers. Python text.

export const ATTENTION = `
class AttnProcessor2_0:
    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, temb=None,
                 image_rotary_emb=None, **kwargs):
        kept = hidden_states
        if attn.spatial_norm is not None:
            hidden_states = attn.spatial_norm(hidden_states, temb)
        size = hidden_states.shape[2:] if hidden_states.dim() == 4 else None
        if size is not None:
            hidden_states = hidden_states.flatten(2).transpose(1, 2)
        if attn.group_norm is not None:
            hidden_states = attn.group_norm(hidden_states.transpose(1, 2)).transpose(1, 2)
        context = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        if encoder_hidden_states is not None and attn.norm_cross:
            context = attn.norm_encoder_hidden_states(context)
        q, k, v = attn.to_q(hidden_states), attn.to_k(context), attn.to_v(context)
        width = k.shape[-1] // attn.heads
        norm_q, norm_k = attn.norm_q or nn.Identity(), attn.norm_k or nn.Identity()
        if attn.norm_across_heads:
            q, k = norm_q(q), norm_k(k)
        q, k, v = (x.unflatten(-1, (attn.heads, width)).transpose(1, 2) for x in (q, k, v))
        if not attn.norm_across_heads:
            q, k = norm_q(q), norm_k(k)
        if attention_mask is not None:
            attention_mask = attn.prepare_attention_mask(attention_mask, k.shape[2], q.shape[0])
            attention_mask = attention_mask.view(q.shape[0], attn.heads, -1, attention_mask.shape[-1])
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attention_mask, dropout_p=0.0, is_causal=False)
        out = out.transpose(1, 2).flatten(2).to(q.dtype)
        out = attn.to_out[1](attn.to_out[0](out))
        if size is not None:
            out = out.transpose(-1, -2).unflatten(-1, size)
        if attn.residual_connection:
            out = out + kept
        return out / attn.rescale_output_factor


AttnProcessor = AttnProcessor2_0


class Attention(nn.Module):
    def __init__(self, query_dim, cross_attention_dim=None, heads=8, kv_heads=None, dim_head=64, dropout=0.0, bias=False,
                 upcast_attention=False, upcast_softmax=False, cross_attention_norm=None,
                 cross_attention_norm_num_groups=32, added_kv_proj_dim=None, added_proj_bias=True, norm_num_groups=None,
                 spatial_norm_dim=None, out_bias=True, scale_qk=True, qk_norm=None, only_cross_attention=False, eps=1e-5,
                 rescale_output_factor=1.0, residual_connection=False, _from_deprecated_attn_block=False, processor=None,
                 out_dim=None, context_pre_only=None, pre_only=False, **kwargs):
        super().__init__()
        self.inner_dim = self.inner_kv_dim = out_dim if out_dim is not None else dim_head * heads
        self.query_dim, self.out_dim = query_dim, out_dim if out_dim is not None else query_dim
        self.is_cross_attention = cross_attention_dim is not None
        self.cross_attention_dim = query_dim if cross_attention_dim is None else cross_attention_dim
        self.heads = out_dim // dim_head if out_dim is not None else heads
        self.sliceable_head_dim, self.dropout = heads, dropout
        self.scale = dim_head ** -0.5 if scale_qk else 1.0
        self.upcast_attention, self.upcast_softmax = upcast_attention, upcast_softmax
        self.rescale_output_factor, self.residual_connection = rescale_output_factor, residual_connection
        self.added_kv_proj_dim, self.only_cross_attention = added_kv_proj_dim, only_cross_attention
        self.group_norm = None if norm_num_groups is None else nn.GroupNorm(norm_num_groups, query_dim, eps=eps)
        self.spatial_norm = None if spatial_norm_dim is None else SpatialNorm(query_dim, spatial_norm_dim)

        def normed():
            if qk_norm is None:
                return None
            size = dim_head * heads if self.norm_across_heads else dim_head
            return (RMSNorm if "rms" in qk_norm else nn.LayerNorm)(size, eps=eps)
        self.norm_across_heads = qk_norm is not None and qk_norm.endswith("across_heads")
        self.norm_q, self.norm_k = normed(), normed()
        self.norm_added_q = self.norm_added_k = self.to_add_out = None
        self.fused_projections, self.use_bias, self.pre_only = False, bias, pre_only
        self.context_pre_only = context_pre_only
        self.norm_cross = nn.LayerNorm(self.cross_attention_dim) if cross_attention_norm == "layer_norm" else None
        self.to_q = nn.Linear(query_dim, self.inner_dim, bias=bias)
        self.to_k = nn.Linear(self.cross_attention_dim, self.inner_dim, bias=bias)
        self.to_v = nn.Linear(self.cross_attention_dim, self.inner_dim, bias=bias)
        if added_kv_proj_dim is not None:
            self.add_k_proj = nn.Linear(added_kv_proj_dim, self.inner_dim, bias=added_proj_bias)
            self.add_v_proj = nn.Linear(added_kv_proj_dim, self.inner_dim, bias=added_proj_bias)
            self.add_q_proj = nn.Linear(added_kv_proj_dim, self.inner_dim, bias=added_proj_bias)
            if context_pre_only is not None and not context_pre_only:
                self.to_add_out = nn.Linear(self.inner_dim, self.query_dim, bias=out_bias)
            self.norm_added_q, self.norm_added_k = normed(), normed()
        self.to_out = None if pre_only else nn.ModuleList(
            [nn.Linear(self.inner_dim, self.out_dim, bias=out_bias), nn.Dropout(dropout)])
        self.set_processor(processor or AttnProcessor2_0())

    def set_processor(self, processor, *args, **kwargs):
        self.processor = processor

    def get_processor(self, *args, **kwargs):
        return self.processor

    def set_use_memory_efficient_attention_xformers(self, *args, **kwargs):
        pass

    set_attention_slice = set_use_npu_flash_attention = set_use_memory_efficient_attention_xformers

    def norm_encoder_hidden_states(self, encoder_hidden_states):
        return self.norm_cross(encoder_hidden_states)

    def prepare_attention_mask(self, attention_mask, target_length, batch_size, out_dim=3):
        if attention_mask is None:
            return None
        if attention_mask.shape[0] < batch_size * self.heads:
            attention_mask = attention_mask.repeat_interleave(self.heads, dim=0)
        return attention_mask.unsqueeze(1) if out_dim == 4 and attention_mask.dim() == 3 else attention_mask

    def head_to_batch_dim(self, tensor, out_dim=3):
        tensor = tensor.unflatten(-1, (self.heads, tensor.shape[-1] // self.heads)).transpose(1, 2)
        return tensor.flatten(0, 1) if out_dim == 3 else tensor

    def batch_to_head_dim(self, tensor):
        return tensor.unflatten(0, (tensor.shape[0] // self.heads, self.heads)).transpose(1, 2).flatten(2)

    def get_attention_scores(self, query, key, attention_mask=None):
        scores = torch.bmm(query, key.transpose(-1, -2)) * self.scale
        return (scores if attention_mask is None else scores + attention_mask).softmax(dim=-1).to(query.dtype)

    def forward(self, hidden_states, encoder_hidden_states=None, attention_mask=None, **cross_attention_kwargs):
        return self.processor(self, hidden_states, encoder_hidden_states=encoder_hidden_states,
                              attention_mask=attention_mask, **cross_attention_kwargs)


class CrossAttention(Attention):
    # as releases until 0.12 have it
    _slice_size = None
    _use_memory_efficient_attention_xformers = False

    def reshape_heads_to_batch_dim(self, tensor):
        return self.head_to_batch_dim(tensor)

    def reshape_batch_dim_to_heads(self, tensor):
        return self.batch_to_head_dim(tensor)

    def _attention(self, query, key, value, attention_mask=None):
        scores = self.get_attention_scores(query, key, attention_mask)
        return self.batch_to_head_dim(torch.bmm(scores, value))
`;

export const RESIDUAL = `
class Upsample2D(nn.Module):
    def __init__(self, channels, use_conv=False, use_conv_transpose=False, out_channels=None, name="conv",
                 kernel_size=None, padding=1, **kwargs):
        super().__init__()
        self.channels, self.out_channels = channels, out_channels or channels
        self.conv = None
        if use_conv_transpose:
            self.conv = nn.ConvTranspose2d(channels, self.out_channels, kernel_size or 4, 2, padding)
        elif use_conv:
            self.conv = nn.Conv2d(channels, self.out_channels, kernel_size or 3, padding=padding)
        self.use_conv_transpose = use_conv_transpose

    def forward(self, hidden_states, output_size=None, *args, **kwargs):
        if self.use_conv_transpose:
            return self.conv(hidden_states)
        scale = 2.0 if output_size is None else None
        hidden_states = F.interpolate(hidden_states, size=output_size, scale_factor=scale, mode="nearest")
        return hidden_states if self.conv is None else self.conv(hidden_states)


class Downsample2D(nn.Module):
    def __init__(self, channels, use_conv=False, out_channels=None, padding=1, name="conv", kernel_size=3, **kwargs):
        super().__init__()
        self.channels, self.out_channels, self.padding = channels, out_channels or channels, padding
        self.use_conv = use_conv
        self.conv = nn.Conv2d(channels, self.out_channels, kernel_size, 2, padding) if use_conv else nn.AvgPool2d(2, 2)

    def forward(self, hidden_states, *args, **kwargs):
        if self.use_conv and self.padding == 0:
            hidden_states = F.pad(hidden_states, (0, 1, 0, 1), mode="constant", value=0)
        return self.conv(hidden_states)


class ResnetBlock2D(nn.Module):
    def __init__(self, *, in_channels, out_channels=None, conv_shortcut=False, dropout=0.0, temb_channels=512, groups=32,
                 groups_out=None, pre_norm=True, eps=1e-6, non_linearity="swish", time_embedding_norm="default",
                 output_scale_factor=1.0, use_in_shortcut=None, up=False, down=False, **kwargs):
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels or in_channels
        self.output_scale_factor, self.time_embedding_norm = output_scale_factor, time_embedding_norm
        out = self.out_channels
        self.norm1 = nn.GroupNorm(groups, in_channels, eps=eps)
        self.conv1 = nn.Conv2d(in_channels, out, 3, padding=1)
        scaled = time_embedding_norm == "scale_shift"
        self.time_emb_proj = nn.Linear(temb_channels, 2 * out if scaled else out) if temb_channels else None
        self.norm2 = nn.GroupNorm(groups_out or groups, out, eps=eps)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.nonlinearity = get_activation(non_linearity)
        self.upsample = Upsample2D(in_channels) if up else None
        self.downsample = Downsample2D(in_channels) if down else None
        shortcut = in_channels != out if use_in_shortcut is None else use_in_shortcut
        self.conv_shortcut = nn.Conv2d(in_channels, out, 1) if shortcut else None

    def forward(self, input_tensor, temb=None, *args, **kwargs):
        x = self.nonlinearity(self.norm1(input_tensor))
        resize = self.upsample or self.downsample
        if resize is not None:
            input_tensor, x = resize(input_tensor), resize(x)
        x = self.conv1(x)
        scale = None
        if self.time_emb_proj is not None and temb is not None:
            temb = self.time_emb_proj(self.nonlinearity(temb))[:, :, None, None]
            if self.time_embedding_norm == "scale_shift":
                scale, shift = temb.chunk(2, dim=1)
            else:
                x = x + temb
        x = self.norm2(x)
        if scale is not None:
            x = x * (1 + scale) + shift
        x = self.conv2(self.dropout(self.nonlinearity(x)))
        if self.conv_shortcut is not None:
            input_tensor = self.conv_shortcut(input_tensor)
        return (input_tensor + x) / self.output_scale_factor


class DiagonalGaussianDistribution:
    def __init__(self, parameters, deterministic=False):
        self.parameters, self.deterministic = parameters, deterministic
        self.mean, self.logvar = torch.chunk(parameters, 2, dim=1)
        self.logvar = torch.clamp(self.logvar, -30.0, 20.0)
        self.std, self.var = torch.exp(0.5 * self.logvar), torch.exp(self.logvar)
        if deterministic:
            self.var = self.std = torch.zeros_like(self.mean)

    def sample(self, generator=None):
        return self.mean + self.std * torch.randn_like(self.mean)

    def mode(self):
        return self.mean

    def kl(self, other=None):
        return 0.5 * torch.sum(self.mean.pow(2) + self.var - 1.0 - self.logvar, dim=[1, 2, 3])


def randn_tensor(shape, generator=None, device=None, dtype=None, layout=None):
    return torch.randn(shape, device=device, dtype=dtype)


def maybe_allow_in_graph(cls):
    return cls


def apply_forward_hook(method):
    return method


def deprecate(*args, **kwargs):
    pass


def is_torch_version(operation, version):
    return operation in (">", ">=", "!=")


def is_xformers_available():
    return False
`;
