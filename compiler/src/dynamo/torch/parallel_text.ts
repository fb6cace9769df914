// What torch.nn.parallel is made of, on the devices that there are: inputs are cut along the batch, one piece for each.
export const PARALLEL_TEXT = `
class Scatter:
    @staticmethod
    def apply(target_gpus, chunk_sizes, dim, input):
        if len(target_gpus) == 1:
            return (input,)
        return torch.chunk(input, len(target_gpus), dim) if chunk_sizes is None else torch.split(input, chunk_sizes, dim)


class Gather:
    @staticmethod
    def apply(target_device, dim, *inputs):
        if len(inputs) == 1:
            return inputs[0]
        return torch.stack(inputs) if inputs[0].dim() == 0 else torch.cat(inputs, dim)


def scatter(inputs, target_gpus, dim=0):
    def pieces(x):
        if isinstance(x, torch.Tensor):
            return Scatter.apply(target_gpus, None, dim, x)
        if isinstance(x, (list, tuple)) and len(x) > 0:
            return [type(x)(part) for part in zip(*map(pieces, x))]
        if isinstance(x, dict) and len(x) > 0:
            return [type(x)(part) for part in zip(*map(pieces, x.items()))]
        return [x for _ in target_gpus]
    return pieces(inputs)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    args = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    most = max(len(args), len(named))
    args += [() for _ in range(most - len(args))]
    named += [{} for _ in range(most - len(named))]
    return tuple(args), tuple(named)


def gather(outputs, target_device, dim=0):
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        return Gather.apply(target_device, dim, *outputs)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((k, gather([d[k] for d in outputs], target_device, dim)) for k in first)
    return type(first)(gather(list(part), target_device, dim) for part in zip(*outputs))


def replicate(network, devices, detach=False):
    return [network for _ in devices]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    named = [{} for _ in modules] if kwargs_tup is None else kwargs_tup
    return [m(*(i if isinstance(i, (list, tuple)) else (i,)), **k) for m, i, k in zip(modules, inputs, named)]
`;
