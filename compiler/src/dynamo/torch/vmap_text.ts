// torch.vmap. In: nothing. Out: Python text of torch's helpers. A function is followed sample by sample and its results are
// stacked: shapes and values are those of a batched run, the graph has an operator per sample where torch has one for all.
export const VMAP_TEXT = `
def _mapped(tree, dims, found):
    # pairs of leaves and the dimensions that they are mapped over, None for those that are the same for all
    if isinstance(tree, (tuple, list)):
        inner = dims if isinstance(dims, (tuple, list)) else [dims] * len(tree)
        if len(inner) != len(tree):
            raise ValueError("vmap: in_dims is not compatible with the structure of inputs")
        return [_mapped(t, d, found) for t, d in zip(tree, inner)]
    if isinstance(tree, dict):
        return {k: _mapped(v, dims[k] if isinstance(dims, dict) else dims, found) for k, v in tree.items()}
    if dims is None:
        return None
    if not isinstance(tree, torch.Tensor):
        raise ValueError(f"vmap: Got in_dim={dims} for an input but the input is of type {type(tree)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim")
    if not -tree.dim() <= dims < tree.dim():
        raise ValueError(f"vmap: Got in_dim={dims} for some input, but that input is a Tensor of dimensionality {tree.dim()}")
    found.append(tree.size(dims))
    return dims


def _sample(tree, dims, i):
    if isinstance(tree, (tuple, list)):
        return type(tree)([_sample(t, d, i) for t, d in zip(tree, dims)])
    if isinstance(tree, dict):
        return {k: _sample(v, dims[k], i) for k, v in tree.items()}
    return tree if dims is None else tree.select(dims, i)


def _stacked(results, dims):
    first = results[0]
    if isinstance(first, (tuple, list)):
        inner = dims if isinstance(dims, (tuple, list)) else [dims] * len(first)
        return type(first)([_stacked([r[k] for r in results], inner[k]) for k in range(len(first))])
    if isinstance(first, dict):
        return {k: _stacked([r[k] for r in results], dims[k] if isinstance(dims, dict) else dims) for k in first}
    if not isinstance(first, torch.Tensor):
        raise ValueError(f"vmap: the function must only return Tensors, got type {type(first)}.")
    return first if dims is None else torch.stack(results, dims)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    def batched(*args, **kwargs):
        found = []
        dims = _mapped(args, in_dims, found)
        named = {k: _mapped(v, 0, found) for k, v in kwargs.items()}
        if not found:
            raise ValueError("vmap: at least one input must be mapped over")
        if any(n != found[0] for n in found):
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {found} for the mapped dimension")
        _followed_by_sample()
        results = [func(*_sample(args, dims, i), **{k: _sample(v, named[k], i) for k, v in kwargs.items()})
                   for i in range(int(found[0]))]
        return _stacked(results, out_dims)
    return batched
`;
