// torch_einops_utils as far as model code uses it. In: nothing. Out: texts of its modules.

/** masks and padding by the dimension; what it lacks is unknown */
export const TORCH_EINOPS_UTILS_TEXT = `
from einops import pack, unpack


def maybe(fn):
    return lambda t, *args, **kwargs: t if t is None or fn is None else fn(t, *args, **kwargs)


def pad_at_dim(t, pad, *, dim=-1, value=0.0):
    behind = t.ndim - 1 - dim if dim >= 0 else -dim - 1
    return F.pad(t, (0, 0) * behind + tuple(pad), value=value)


def pad_left_at_dim(t, pad, **kwargs):
    return pad_at_dim(t, (pad, 0), **kwargs)


def pad_right_at_dim(t, pad, **kwargs):
    return pad_at_dim(t, (0, pad), **kwargs)


def pad_left_at_dim_to(t, length, *, dim=-1, value=0.0):
    return pad_left_at_dim(t, length - t.shape[dim], dim=dim, value=value) if t.shape[dim] < length else t


def pad_right_at_dim_to(t, length, *, dim=-1, value=0.0):
    return pad_right_at_dim(t, length - t.shape[dim], dim=dim, value=value) if t.shape[dim] < length else t


def pad_left_ndim(t, ndims):
    return t.reshape((1,) * ndims + tuple(t.shape))


def pad_right_ndim(t, ndims):
    return t.reshape(tuple(t.shape) + (1,) * ndims)


def _ones_behind(t, ndims):
    return pad_right_ndim(t, ndims - t.ndim) if t.ndim < ndims else t


pad_right_ndim_to = _ones_behind


def pad_left_ndim_to(t, ndims):
    return pad_left_ndim(t, ndims - t.ndim) if t.ndim < ndims else t


def align_dims_left(tensors, *, ndim=None):
    most = max(t.ndim for t in tensors) if ndim is None else ndim
    return tuple(_ones_behind(t, most) for t in tensors)


def pad_right_ndim_to_and_expand_as(source, target):
    return _ones_behind(source, target.ndim).expand(tuple(source.shape) + tuple(target.shape[source.ndim:]))


def slice_at_dim(t, slc, dim=-1):
    return t[(slice(None),) * (dim % t.ndim) + (slc,)]


def slice_left_at_dim(t, length, dim=-1):
    return slice_at_dim(t, slice(0, length), dim)


def slice_right_at_dim(t, length, dim=-1):
    return slice_at_dim(t, slice(t.shape[dim] - length, None), dim)


def shape_with_replace(t, replace_dict=None):
    return torch.Size([(replace_dict or {}).get(i, n) for i, n in enumerate(t.shape)])


def shift(t, amount=1, dim=-1, pad_value=0.0):
    return pad_at_dim(t, (amount, -amount), dim=dim, value=pad_value)


shift_right = shift


def shift_left(t, amount=1, dim=-1, pad_value=0.0):
    return shift(t, -amount, dim, pad_value)


def exclusive_cumsum(t, dim=-1):
    return t.cumsum(dim=dim) - t


def reverse_cumsum(t, dim=-1):
    return t.sum(dim=dim, keepdim=True) - t.cumsum(dim=dim) + t


def masked_mean(t, mask=None, dim=None, eps=1e-5, keepdim=False):
    if mask is None:
        return t.mean() if dim is None else t.mean(dim=dim, keepdim=keepdim)
    mask = _ones_behind(mask, t.ndim).expand_as(t)
    if dim is None:
        kept = t[mask]
        return kept.mean() if mask.any() else kept.sum()
    counted = mask.sum(dim=dim, keepdim=keepdim)
    return (t * mask).sum(dim=dim, keepdim=keepdim) / counted.clamp(min=eps)


def mask_after(t, value, dim=-1, inclusive=True):
    found = t == value
    return (shift(found, 1, dim, False) if inclusive else found).float().cumsum(dim=dim) == 0.0


def mask_before(t, value, dim=-1, inclusive=True):
    found = t == value
    return reverse_cumsum((shift(found, -1, dim, False) if inclusive else found).float(), dim) == 0.0


def _there(tensors):
    return [t for t in tensors if t is not None]


def safe_stack(tensors, dim=0):
    return torch.stack(_there(tensors), dim=dim) if _there(tensors) else None


def safe_cat(tensors, dim=0):
    found = _there(tensors)
    return torch.cat(found, dim=dim) if len(found) > 1 else found[0] if found else None


def pad_sequence(tensors, *, dim=-1, value=0.0, left=False, dim_stack=0, return_stacked=True, return_lens=False,
                 pad_lens=False):
    if len(tensors) == 0:
        return None
    sizes = [t.shape[dim] for t in tensors]
    most = max(sizes)
    pad = pad_left_at_dim_to if left else pad_right_at_dim_to
    padded = [pad(t, most, dim=dim, value=value) for t in tensors]
    if return_stacked:
        padded = torch.stack(padded, dim=dim_stack)
    told = torch.tensor([most - n if pad_lens else n for n in sizes], device=tensors[0].device)
    return (padded, told) if return_lens else padded


def pad_sequence_and_cat(tensors, *, dim_cat=0, **kwargs):
    return torch.cat(pad_sequence(tensors, return_stacked=False, **kwargs), dim=dim_cat)


def tree_map_tensor(fn, tree):
    from torch.utils._pytree import tree_map
    return tree_map(lambda t: fn(t) if isinstance(t, torch.Tensor) else t, tree)


def batched_index_select(values, indices, dim=1):
    behind = [indices.ndim - i - 1 for i in range(dim)]
    rows = [pad_right_ndim(torch.arange(values.shape[i], device=values.device), n) for i, n in enumerate(behind)]
    return values[tuple(rows) + (indices,)]


def repeat_interleave_to_match(t, target, dim=0, target_dim=None):
    wanted = target if isinstance(target, int) else target.shape[dim if target_dim is None else target_dim]
    return t if t.shape[dim] == wanted else t.repeat_interleave(wanted // t.shape[dim], dim=dim)


def lens_to_mask(lens, max_len=None):
    return torch.arange(lens.amax().item() if max_len is None else max_len, device=lens.device) < lens[..., None]


def _joined(masks, join):
    masks = [m for m in masks if m is not None]
    made = masks[0] if masks else None
    for m in masks[1:]:
        made = join(made, m)
    return made


def and_masks(masks):
    return _joined(masks, torch.logical_and)


def or_masks(masks):
    return _joined(masks, torch.logical_or)


def pack_with_inverse(t, pattern):
    alone = isinstance(t, torch.Tensor)
    packed, sizes = pack([t] if alone else t, pattern)

    def inverse(out, inv_pattern=None):
        parts = unpack(out, sizes, inv_pattern or pattern)
        return parts[0] if alone else parts

    return packed, inverse
`;

/** its layers: sequences leave out what is None */
export const TORCH_EINOPS_UTILS_NN_TEXT = `
Identity = nn.Identity


class Lambda(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


class Sequential(nn.Sequential):
    def __init__(self, *layers):
        super().__init__(*[layer for layer in layers if layer is not None])
`;
