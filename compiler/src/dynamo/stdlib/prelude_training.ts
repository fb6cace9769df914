// What libraries of training put around a module: torchmetrics' metrics, and accelerate's Accelerator: one process, nothing
// wrapped, what is prepared is given back. In: nothing. Out: texts by module name.

const METRICS = `
class Metric(nn.Module):
    is_differentiable = None
    higher_is_better = None
    full_state_update = False

    def __init__(self, **kwargs):
        super().__init__()
        self._defaults = {}
        self._reductions = {}
        self._update_count = 0

    def add_state(self, name, default, dist_reduce_fx=None, persistent=False):
        self._defaults[name] = default
        self._reductions[name] = dist_reduce_fx
        if isinstance(default, list):
            setattr(self, name, [])
        else:
            self.register_buffer(name, default.clone(), persistent=persistent)

    def _states(self):
        return {name: getattr(self, name) for name in self._defaults}

    def _merge(self, before, count):
        for name, reduction in self._reductions.items():
            old, new = before[name], getattr(self, name)
            if isinstance(new, list):
                merged = old + new
            elif reduction == "sum" or reduction is torch.sum:
                merged = old + new
            elif reduction == "mean" or reduction is torch.mean:
                merged = ((count - 1) * old + new) / count
            elif reduction == "max" or reduction is torch.max:
                merged = torch.max(old, new)
            elif reduction == "min" or reduction is torch.min:
                merged = torch.min(old, new)
            elif reduction == "cat":
                merged = torch.cat([old, new])
            else:
                merged = new
            setattr(self, name, merged)

    def forward(self, *args, **kwargs):
        before, count = self._states(), self._update_count + 1
        self.reset()
        self.update(*args, **kwargs)
        value = self.compute()
        self._update_count = count
        self._merge(before, count)
        return value

    def update(self, *args, **kwargs):
        raise NotImplementedError

    def compute(self):
        raise NotImplementedError

    def reset(self):
        self._update_count = 0
        for name, default in self._defaults.items():
            if isinstance(default, list):
                setattr(self, name, [])
            else:
                setattr(self, name, default.detach().clone().to(getattr(self, name).device))

    def clone(self, prefix=None, postfix=None):
        return copy.deepcopy(self)


class _Mean(Metric):
    def __init__(self, num_outputs=1, **kwargs):
        super().__init__(**kwargs)
        self.add_state("total_value", torch.zeros(num_outputs).squeeze(), dist_reduce_fx="sum")
        self.add_state("total", torch.tensor(0), dist_reduce_fx="sum")

    def _error(self, preds, target):
        raise NotImplementedError

    def update(self, preds, target):
        error = self._error(preds, target)
        self.total_value += error.sum()
        self.total += error.numel()

    def compute(self):
        return self.total_value / self.total


class MeanSquaredError(_Mean):
    def __init__(self, squared=True, num_outputs=1, **kwargs):
        super().__init__(num_outputs, **kwargs)
        self.squared = squared

    def _error(self, preds, target):
        return (preds - target) * (preds - target)

    def compute(self):
        return super().compute() if self.squared else torch.sqrt(super().compute())


class MeanAbsoluteError(_Mean):
    def _error(self, preds, target):
        return torch.abs(preds - target)


class SumMetric(Metric):
    def __init__(self, nan_strategy="warn", **kwargs):
        super().__init__(**kwargs)
        self.add_state("sum_value", torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, value):
        self.sum_value += torch.as_tensor(value, dtype=torch.float32).sum()

    def compute(self):
        return self.sum_value


class MeanMetric(Metric):
    def __init__(self, nan_strategy="warn", **kwargs):
        super().__init__(**kwargs)
        self.add_state("mean_value", torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("weight", torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, value, weight=1.0):
        value = torch.as_tensor(value, dtype=torch.float32)
        weight = torch.broadcast_to(torch.as_tensor(weight, dtype=torch.float32, device=value.device), value.shape)
        self.mean_value += (value * weight).sum()
        self.weight += weight.sum()

    def compute(self):
        return self.mean_value / self.weight


class MetricCollection(nn.ModuleDict):
    def __init__(self, metrics, *additional, prefix=None, postfix=None, **kwargs):
        super().__init__()
        given = [metrics] if isinstance(metrics, Metric) else metrics
        named = given.items() if isinstance(given, dict) else [(type(m).__name__, m) for m in [*given, *additional]]
        self.prefix, self.postfix = prefix or "", postfix or ""
        for name, metric in named:
            self[name] = metric

    def _named(self, what):
        return {self.prefix + name + self.postfix: what(m) for name, m in self.items()}

    def forward(self, *args, **kwargs):
        return self._named(lambda m: m(*args, **kwargs))

    def update(self, *args, **kwargs):
        for m in self.values():
            m.update(*args, **kwargs)

    def compute(self):
        return self._named(lambda m: m.compute())

    def reset(self):
        for m in self.values():
            m.reset()

    def clone(self, prefix=None, postfix=None):
        made = copy.deepcopy(self)
        made.prefix, made.postfix = prefix or self.prefix, postfix or self.postfix
        return made
`;

const ACCELERATE = `
import contextlib
import enum


class DistributedType(str, enum.Enum):
    NO = "NO"
    MULTI_CPU = "MULTI_CPU"
    MULTI_GPU = "MULTI_GPU"
    DEEPSPEED = "DEEPSPEED"
    FSDP = "FSDP"
    XLA = "XLA"
    MEGATRON_LM = "MEGATRON_LM"


class _Settings:
    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)


class DistributedDataParallelKwargs(_Settings):
    pass


class InitProcessGroupKwargs(_Settings):
    pass


class GradScalerKwargs(_Settings):
    pass


class DataLoaderConfiguration(_Settings):
    pass


class ProjectConfiguration(_Settings):
    pass


class Accelerator:
    def __init__(self, *args, mixed_precision=None, split_batches=False, gradient_accumulation_steps=1, **kwargs):
        self.mixed_precision = "no" if mixed_precision is None else mixed_precision
        self.split_batches = split_batches
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.native_amp = self.mixed_precision != "no"
        self.device = torch.device("cuda")
        self.distributed_type = DistributedType.NO
        self.num_processes = 1
        self.process_index = self.local_process_index = 0
        self.is_main_process = self.is_local_main_process = self.is_last_process = True
        self.sync_gradients = True
        self.use_distributed = False
        self.optimizer_step_was_skipped = False
        self.state = self
        self.scaler = None

    def prepare(self, *objects, **kwargs):
        for o in objects:
            if isinstance(o, nn.Module):
                o.to(self.device)
        return objects[0] if len(objects) == 1 else objects

    def prepare_model(self, model, *args, **kwargs):
        return self.prepare(model)

    def unwrap_model(self, model, *args, **kwargs):
        return model

    def autocast(self, *args, **kwargs):
        if self.mixed_precision == "no":
            return contextlib.nullcontext()
        return torch.autocast("cuda", dtype=torch.float16 if self.mixed_precision == "fp16" else torch.bfloat16)

    def accumulate(self, *models):
        return contextlib.nullcontext()

    def no_sync(self, model=None):
        return contextlib.nullcontext()

    main_process_first = local_main_process_first = accumulate

    def backward(self, loss, **kwargs):
        (loss / self.gradient_accumulation_steps).backward(**kwargs)

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type=norm_type)

    def clip_grad_value_(self, parameters, clip_value):
        torch.nn.utils.clip_grad_value_(parameters, clip_value)

    def gather(self, tensor, *args, **kwargs):
        return tensor

    gather_for_metrics = reduce = pad_across_processes = gather

    def on_main_process(self, function=None):
        return function

    on_local_main_process = on_main_process

    def print(self, *args, **kwargs):
        pass

    wait_for_everyone = end_training = log = init_trackers = save = save_state = load_state = print
    register_for_checkpointing = free_memory = print

    def get_state_dict(self, model, *args, **kwargs):
        return model.state_dict()


PartialState = AcceleratorState = Accelerator


@contextlib.contextmanager
def init_empty_weights(include_buffers=False):
    yield


init_on_device = init_empty_weights


def set_seed(seed, *args, **kwargs):
    torch.manual_seed(seed)
`;

const COPY = `
import copy
`;

export const TRAINING: Readonly<Record<string, string>> = {
  torchmetrics: COPY + METRICS,
  "torchmetrics.metric": COPY + METRICS,
  "torchmetrics.aggregation": COPY + METRICS,
  "torchmetrics.regression": COPY + METRICS,
  "pytorch_lightning.metrics": COPY + METRICS,
  accelerate: ACCELERATE,
  "accelerate.utils": ACCELERATE,
  "accelerate.state": ACCELERATE,
};
