// What training scripts use around a model: datasets and loaders, optimizers, gradient clipping. In: nothing. Out: Python
// text that the interpreter runs as library code. A loader of many batches gives its first ones and the last, which may
// be smaller: what comes between is compiled no differently.
export const TRAINING_TEXT = `
class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __len__(self):
        return sum(len(d) for d in self.datasets)

    def __getitem__(self, index):
        for d in self.datasets:
            if index < len(d):
                return d[index]
            index -= len(d)
        raise IndexError(index)


def random_split(dataset, lengths, generator=None):
    total = len(dataset)
    if sum(lengths) <= 1:
        lengths = [int(total * part) for part in lengths]
        lengths[0] += total - sum(lengths)
    parts, start = [], 0
    for n in lengths:
        parts.append(Subset(dataset, range(start, start + n)))
        start += n
    return parts


class Sampler:
    def __init__(self, data_source=None, *args, **kwargs):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)

    def set_epoch(self, epoch):
        pass


SequentialSampler = RandomSampler = DistributedSampler = WeightedRandomSampler = Sampler


def default_collate(batch):
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(first, (bool, int, float)):
        return torch.tensor(batch)
    if isinstance(first, dict):
        return {k: default_collate([d[k] for d in batch]) for k in first}
    if isinstance(first, (tuple, list)):
        return [default_collate(list(items)) for items in zip(*batch)]
    return batch


class DataLoader:
    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, **kwargs):
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.collate_fn = sampler, batch_sampler, collate_fn

    def __len__(self):
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        n, b = len(self.dataset), self.batch_size or 1
        return n // b if self.drop_last else (n + b - 1) // b

    def _batch(self, indices):
        data = self.dataset
        if self.batch_size is None:
            return data[indices[0]]
        if self.collate_fn is None and isinstance(data, TensorDataset):
            return [t[indices[0]:indices[-1] + 1] for t in data.tensors]
        items = [data[i] for i in indices]
        return default_collate(items) if self.collate_fn is None else self.collate_fn(items)

    def __iter__(self):
        if self.batch_sampler is not None:
            for n, indices in enumerate(self.batch_sampler):
                if n == 3:
                    return
                yield self._batch(list(indices))
            return
        if not hasattr(self.dataset, "__len__"):
            items = []
            for n, item in enumerate(self.dataset):
                if n == 3 * (self.batch_size or 1):
                    return
                if self.batch_size is None:
                    yield item
                    continue
                items.append(item)
                if len(items) == self.batch_size:
                    yield (self.collate_fn or default_collate)(items)
                    items = []
            return
        size, n = self.batch_size or 1, len(self.dataset)
        count = len(self)
        for i in range(count) if count <= 8 else [0, 1, 2, count - 1]:
            yield self._batch(list(range(i * size, min(n, i * size + size))))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    with torch.no_grad():
        norms = torch.stack([torch.linalg.vector_norm(g, norm_type) for g in grads])
        total = torch.linalg.vector_norm(norms, norm_type)
        scale = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        for g in grads:
            g.mul_(scale)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    with torch.no_grad():
        for p in parameters:
            if p.grad is not None:
                p.grad.clamp_(-clip_value, clip_value)


class Optimizer:
    _names = ()

    def __init__(self, params, *args, **kwargs):
        groups = list(params)
        defaults = {"lr": 1e-3, **dict(zip(self._names, args)), **kwargs}
        self.defaults = defaults
        if groups and isinstance(groups[0], tuple):
            groups = [p for _, p in groups]
        if groups and isinstance(groups[0], dict):
            self.param_groups = [{**defaults, **g, "params": list(g["params"])} for g in groups]
        else:
            self.param_groups = [dict(params=groups, **defaults)]
        self.state = {}

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad, self.state.setdefault(p, {}), group)
        return loss

    def _update(self, p, grad, state, group):
        pass

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p.grad is None:
                    p.grad = None
                else:
                    p.grad.zero_()

    def state_dict(self):
        return {"state": {}, "param_groups": self.param_groups}

    def load_state_dict(self, state):
        pass

    def add_param_group(self, group):
        self.param_groups.append({**self.defaults, **group, "params": list(group["params"])})

    def register_step_post_hook(self, hook):
        pass

    register_step_pre_hook = register_step_post_hook


class SGD(Optimizer):
    _names = ("lr", "momentum", "dampening", "weight_decay", "nesterov")

    def _update(self, p, grad, state, group):
        decay, momentum = group.get("weight_decay", 0), group.get("momentum", 0)
        if decay != 0:
            grad = grad.add(p, alpha=decay)
        if momentum != 0:
            buf = state.get("momentum_buffer")
            if buf is None:
                buf = torch.clone(grad).detach()
                state["momentum_buffer"] = buf
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - group.get("dampening", 0))
            grad = grad.add(buf, alpha=momentum) if group.get("nesterov", False) else buf
        p.add_(grad, alpha=-group["lr"])


class Adam(Optimizer):
    _names = ("lr", "betas", "eps", "weight_decay", "amsgrad")
    _decoupled = False
    _decay = 0

    def _update(self, p, grad, state, group):
        beta1, beta2 = group.get("betas", (0.9, 0.999))
        lr, eps, decay = group["lr"], group.get("eps", 1e-8), group.get("weight_decay", self._decay)
        if not state:
            state["step"] = 0
            state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
            state["exp_avg_sq"] = torch.zeros_like(p, memory_format=torch.preserve_format)
        state["step"] += 1
        step = state["step"]
        if decay != 0:
            if self._decoupled:
                p.mul_(1 - lr * decay)
            else:
                grad = grad.add(p, alpha=decay)
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = (state["exp_avg_sq"].sqrt() / ((1 - beta2 ** step) ** 0.5)).add_(eps)
        p.addcdiv_(state["exp_avg"], denom, value=-(lr / (1 - beta1 ** step)))


class AdamW(Adam):
    _decoupled = True
    _decay = 1e-2


class RMSprop(Optimizer):
    _names = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered")

    def _update(self, p, grad, state, group):
        alpha, eps = group.get("alpha", 0.99), group.get("eps", 1e-8)
        if group.get("weight_decay", 0) != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        if "square_avg" not in state:
            state["square_avg"] = torch.zeros_like(p)
        state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        p.addcdiv_(grad, state["square_avg"].sqrt().add_(eps), value=-group["lr"])


class Adagrad(Optimizer):
    _names = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")

    def _update(self, p, grad, state, group):
        if "sum" not in state:
            state["sum"] = torch.full_like(p, group.get("initial_accumulator_value", 0))
        state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state["sum"].sqrt().add_(group.get("eps", 1e-10)), value=-group["lr"])


class Adadelta(Optimizer):
    pass


class Adamax(Optimizer):
    pass


class NAdam(Optimizer):
    pass


class RAdam(Optimizer):
    pass


class Adafactor(Optimizer):
    pass


class LBFGS(Optimizer):
    pass


class Muon(Optimizer):
    pass


class _Scheduler:
    def __init__(self, optimizer=None, *args, **kwargs):
        self.optimizer = optimizer

    def step(self, *args):
        pass

    def get_last_lr(self):
        return [0.0] if self.optimizer is None else [g["lr"] for g in self.optimizer.param_groups]

    get_lr = get_last_lr

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass
`;
