// Context managers and decorators of torch, said in Python: each keeps what it replaces and puts it back. The functions
// they call (torch._C._set_grad_enabled, ...) are native and leave nodes while a frame is traced.

function gradMode(name: string, on: string): string {
  return `class ${name}(_Mode):
    def __new__(cls, orig_func=None):
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __init__(self, orig_func=None):
        pass

    def _again(self):
        return ${name}()

    def __enter__(self):
        self.prev = is_grad_enabled()
        _set_grad_enabled(${on})

    def __exit__(self, *args):
        _set_grad_enabled(self.prev)
`;
}

export const MODES_TEXT = `
class _Mode:
    def __call__(self, func):
        def wrapped(*args, **kwargs):
            with self._again():
                return func(*args, **kwargs)
        wrapped.__name__ = getattr(func, "__name__", "wrapped")
        wrapped.__qualname__ = getattr(func, "__qualname__", "wrapped")
        wrapped.__doc__ = getattr(func, "__doc__", None)
        wrapped.__wrapped__ = func
        return wrapped

    def _again(self):
        return self


${gradMode("no_grad", "False")}

${gradMode("enable_grad", "True")}

class set_grad_enabled(_Mode):
    def __init__(self, mode):
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def __call__(self, func):
        _set_grad_enabled(self.prev)
        return _Mode.__call__(self, func)

    def _again(self):
        return set_grad_enabled(self.mode)

    def __enter__(self):
        return None

    def __exit__(self, *args):
        _set_grad_enabled(self.prev)


class inference_mode(_Mode):
    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode=True):
        self.mode = mode

    def _again(self):
        return inference_mode(self.mode)

    def __enter__(self):
        self.prev = is_grad_enabled()
        if self.mode:
            _set_grad_enabled(False)
        return self

    def __exit__(self, *args):
        _set_grad_enabled(self.prev)


class autocast(_Mode):
    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        if not _is_compiling():
            # what was made before a trace knows its defaults
            dtype = _autocast_dtype(device_type) if dtype is None else dtype
            cache_enabled = True if cache_enabled is None else cache_enabled
        self.device_type, self.dtype, self.enabled, self.cache_enabled = device_type, dtype, enabled, cache_enabled

    def _again(self):
        return autocast(self.device_type, self.dtype, self.enabled, self.cache_enabled)

    def __enter__(self):
        self.prev = _enter_autocast(self.device_type, self.dtype, self.enabled, self.cache_enabled)
        return self

    def __exit__(self, *args):
        _exit_autocast(self.prev)


class _CudaAutocast(autocast):
    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def _again(self):
        return _CudaAutocast(self.enabled, self.dtype, self.cache_enabled)


class _Null(_Mode):
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class _Patch:
    def __init__(self, module, changes):
        self.module, self.changes = module, changes

    def __enter__(self):
        self.prev = {name: _config_get(self.module, name) for name in self.changes}
        for name, value in self.changes.items():
            _config_set(self.module, name, value)

    def __exit__(self, *args):
        for name, value in self.prev.items():
            _config_set(self.module, name, value)

    def __call__(self, func):
        def wrapped(*args, **kwargs):
            with _Patch(self.module, self.changes):
                return func(*args, **kwargs)
        wrapped.__name__ = getattr(func, "__name__", "wrapped")
        wrapped.__wrapped__ = func
        return wrapped
`;

/** the wrapper that Dynamo puts around library code handed to torch.compile (external_utils.wrap_inline) */
export const WRAP_INLINE_TEXT = `
def wrap_inline(fn):
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner
`;

/** pieces of torch that are plain Python over other pieces */
export const HELPERS_TEXT = `
def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check=None, debug=False, **kwargs):
    kwargs.pop("preserve_rng_state", None)
    outer = _checkpoint_enter(*args, *kwargs.values())
    given = [None]
    try:
        given[0] = function(*args, **kwargs)
    finally:
        _checkpoint_exit(outer)
    return _checkpoint_results(given[0], use_reentrant)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    functions = list(functions)
    size = len(functions) // segments

    def segment(start, end):
        def run(input):
            for j in range(start, end):
                input = functions[j](input)
            return input
        return run

    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(segment(start, end), input, use_reentrant=use_reentrant)
    return segment(end, len(functions))(input)


def _repeat(n, value):
    if isinstance(value, (tuple, list)):
        return tuple(value)
    return (value,) * n


def fuse_conv_bn_eval(conv, bn, transpose=False):
    return conv


def tree_flatten(tree, is_leaf=None):
    if isinstance(tree, dict):
        keys = list(tree.keys())
        leaves, specs = [], []
        for k in keys:
            part, spec = tree_flatten(tree[k], is_leaf)
            leaves += part
            specs.append(spec)
        return leaves, (dict, keys, specs)
    if isinstance(tree, (list, tuple)):
        leaves, specs = [], []
        for item in tree:
            part, spec = tree_flatten(item, is_leaf)
            leaves += part
            specs.append(spec)
        return leaves, (type(tree), None, specs)
    return [tree], None


def _build(leaves, spec):
    if spec is None:
        return leaves.pop(0)
    kind, keys, specs = spec
    items = [_build(leaves, s) for s in specs]
    if kind is dict:
        return dict(zip(keys, items))
    return list(items) if kind is list else tuple(items)


def tree_unflatten(leaves, spec):
    return _build(list(leaves), spec)


def tree_map(fn, tree, *rest, is_leaf=None):
    leaves, spec = tree_flatten(tree)
    others = [tree_flatten(r)[0] for r in rest]
    return tree_unflatten([fn(*xs) for xs in zip(leaves, *others)], spec)


def tree_map_only(kind, fn, tree):
    return tree_map(lambda x: fn(x) if isinstance(x, kind) else x, tree)


def tree_leaves(tree):
    return tree_flatten(tree)[0]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        out = s.new_full((longest, *s.shape[1:]), padding_value)
        out[: s.size(0)] = s
        rows.append(out)
    return torch.stack(rows, 0 if batch_first else 1)


class PackedSequence:
    def __init__(self, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        self.data, self.batch_sizes = data, batch_sizes
        self.sorted_indices, self.unsorted_indices = sorted_indices, unsorted_indices
        self._batch_first = False

    def __iter__(self):
        return iter((self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices))

    def __getitem__(self, index):
        return (self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)[index]

    def to(self, *args, **kwargs):
        self.data = self.data.to(*args, **kwargs)
        return self


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    packed = PackedSequence(input, lengths)
    packed._batch_first = batch_first
    return packed


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences, True), torch.tensor([len(s) for s in sequences]), True)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    x = sequence.data
    return (x if sequence._batch_first == batch_first else x.transpose(0, 1)), sequence.batch_sizes


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


class _Reduction:
    @staticmethod
    def get_enum(reduction):
        if reduction not in ("none", "mean", "sum", "elementwise_mean"):
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return ("none", "mean", "sum").index("mean" if reduction == "elementwise_mean" else reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = torch.pairwise_distance if distance_function is None else distance_function
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    if reduction == "sum":
        return torch.sum(loss)
    return torch.mean(loss) if reduction == "mean" else loss


class GradScaler:
    def __init__(self, *args, **kwargs):
        pass

    def scale(self, loss):
        return loss

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step()

    def update(self, *args):
        pass

    def unscale_(self, optimizer):
        pass

    def is_enabled(self):
        return False


class _Context:
    needs_input_grad = saved_tensors = _non_differentiable = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    set_materialize_grads = mark_dirty


class Function(_Context):
    @classmethod
    def apply(cls, *args, **kwargs):
        return _apply_function(cls, args, kwargs)

    # as before 1.5, where forward was no static method and the function its own context
    def __call__(self, *args):
        return _apply_function(type(self), args, {}, self)

    @staticmethod
    def forward(ctx, *args):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError


class Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, *args):
        pass

    def synchronize(self):
        pass

    wait = record
    query = synchronize

    def elapsed_time(self, other):
        return 0.0


class Stream:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def synchronize(self):
        pass

    wait_stream = wait_event = record_event = lambda self, *args: None


class Generator:
    def __init__(self, device="cpu"):
        self.device = device

    def manual_seed(self, seed):
        return self

    def seed(self):
        return 0
`;
