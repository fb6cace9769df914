// rotary_embedding_torch: positions as rotations of pairs of features. Run by the interpreter as the library's module.

export const ROTARY = `
from math import pi


def broadcat(tensors, dim=-1):
    shape = torch.broadcast_shapes(*[t.shape[:dim % t.ndim] + (1,) + t.shape[dim % t.ndim + 1:] for t in tensors])
    at = dim % len(shape)
    return torch.cat([t.expand(*shape[:at], t.shape[at], *shape[at + 1:]) for t in tensors], dim=dim)


def rotate_half(x):
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
    first, second = pairs.unbind(dim=-1)
    return torch.stack((-second, first), dim=-1).flatten(-2)


def apply_rotary_emb(freqs, t, start_index=0, scale=1.0, seq_dim=-2, freqs_seq_dim=None):
    if t.ndim == 3 or freqs_seq_dim is not None:
        freqs = freqs[-t.shape[seq_dim]:]
    end = start_index + freqs.shape[-1]
    left, middle, right = t[..., :start_index], t[..., start_index:end], t[..., end:]
    middle = middle * freqs.cos() * scale + rotate_half(middle) * freqs.sin() * scale
    return torch.cat((left, middle, right), dim=-1).type(t.dtype)


def apply_learned_rotations(rotations, t, start_index=0, freq_ranges=None):
    if freq_ranges is not None:
        rotations = (rotations.unsqueeze(-1) * freq_ranges).flatten(-2)
    return apply_rotary_emb(rotations.repeat_interleave(2, dim=-1), t, start_index=start_index)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, custom_freqs=None, freqs_for="lang", theta=10000, max_freq=10, num_freqs=1,
                 learned_freq=False, use_xpos=False, xpos_scale_base=512, interpolate_factor=1.0,
                 theta_rescale_factor=1.0, seq_before_head_dim=False, cache_if_possible=True, cache_max_seq_len=8192):
        super().__init__()
        theta = theta * theta_rescale_factor ** (dim / (dim - 2))
        if custom_freqs is not None:
            freqs = custom_freqs
        elif freqs_for == "lang":
            freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[:dim // 2].float() / dim))
        elif freqs_for == "pixel":
            freqs = torch.linspace(1.0, max_freq / 2, dim // 2) * pi
        else:
            freqs = torch.ones(num_freqs).float()
        self.freqs_for = freqs_for
        self.freqs = nn.Parameter(freqs, requires_grad=learned_freq)
        self.learned_freq = learned_freq
        self.interpolate_factor = interpolate_factor
        self.default_seq_dim = -3 if seq_before_head_dim else -2
        self.use_xpos, self.scale_base = use_xpos, xpos_scale_base
        if use_xpos:
            self.register_buffer("scale", (torch.arange(0, dim, 2) + 0.4 * dim) / (1.4 * dim), persistent=False)

    @property
    def device(self):
        return self.freqs.device

    def get_seq_pos(self, seq_len, device=None, dtype=None, offset=0):
        device = self.device if device is None else device
        dtype = self.freqs.dtype if dtype is None else dtype
        return (torch.arange(seq_len, device=device, dtype=dtype) + offset) / self.interpolate_factor

    def forward(self, t, seq_len=None, offset=0):
        t = t() if callable(t) else t
        freqs = t.type(self.freqs.dtype).unsqueeze(-1) * self.freqs
        return freqs.repeat_interleave(2, dim=-1)

    def rotate_queries_or_keys(self, t, seq_dim=None, offset=0, scale=None):
        seq_dim = self.default_seq_dim if seq_dim is None else seq_dim
        freqs = self(self.get_seq_pos(t.shape[seq_dim], device=t.device, dtype=t.dtype, offset=offset))
        if seq_dim == -3:
            freqs = freqs.unsqueeze(1)
        return apply_rotary_emb(freqs, t, scale=1.0 if scale is None else scale, seq_dim=seq_dim)

    def get_scale(self, t, seq_len=None, offset=0):
        power = (t - len(t) // 2) / self.scale_base
        return (self.scale ** power.unsqueeze(-1)).repeat(1, 2)

    def rotate_queries_and_keys(self, q, k, seq_dim=None):
        seq_dim = self.default_seq_dim if seq_dim is None else seq_dim
        seq = self.get_seq_pos(q.shape[seq_dim], device=q.device, dtype=q.dtype)
        freqs, scale = self(seq), self.get_scale(seq)
        if seq_dim == -3:
            freqs, scale = freqs.unsqueeze(1), scale.unsqueeze(1)
        return (apply_rotary_emb(freqs, q, scale=scale, seq_dim=seq_dim).type(q.dtype),
                apply_rotary_emb(freqs, k, scale=scale ** -1, seq_dim=seq_dim).type(k.dtype))

    def rotate_queries_with_cached_keys(self, q, k, seq_dim=None, offset=0):
        seq_dim = self.default_seq_dim if seq_dim is None else seq_dim
        offset = k.shape[seq_dim] - q.shape[seq_dim]
        return self.rotate_queries_or_keys(q, seq_dim, offset=offset), self.rotate_queries_or_keys(k, seq_dim)

    def get_axial_freqs(self, *dims, offsets=None):
        parts = []
        for at, size in enumerate(dims):
            if self.freqs_for == "pixel":
                pos = torch.linspace(-1, 1, steps=size, device=self.device)
            else:
                pos = torch.arange(size, device=self.device)
            if offsets is not None:
                pos = pos + offsets[at]
            freqs = self(pos)
            shape = [1] * len(dims)
            shape[at] = size
            parts.append(freqs.reshape(*shape, freqs.shape[-1]))
        return torch.cat([p.expand(*dims, p.shape[-1]) for p in torch.broadcast_tensors(*parts)], dim=-1)
`;
