// torch.nn.utils.weight_norm, spectral_norm and parametrize, said in Python. Spectral norm divides by an estimate of the
// largest singular value from one power iteration (Miyato et al. 2018).
export const REPARAMETRIZE_TEXT = `
class WeightNorm:
    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return _weight_norm_hook(v, g, self.dim)

    def remove(self, module):
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, torch.nn.Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    fn = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", torch.nn.Parameter(torch.norm_except_dim(weight, 2, fn.dim).detach()))
    module.register_parameter(name + "_v", torch.nn.Parameter(weight.detach()))
    setattr(module, name, fn.compute_weight(module))
    handle = module.register_forward_pre_hook(fn)
    _undo(module)[name] = (fn, handle)
    return module


def _undo(module):
    if "_reparametrized" not in module.__dict__:
        module.__dict__["_reparametrized"] = {}
    return module.__dict__["_reparametrized"]


def _remove(module, name):
    fn, handle = _undo(module).pop(name)
    fn.remove(module)
    handle.remove()
    return module


def remove_weight_norm(module, name="weight"):
    if name not in _undo(module):
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    return _remove(module, name)


class SpectralNorm:
    def __init__(self, name, n_power_iterations, dim, eps):
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(torch.nn.functional.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(torch.nn.functional.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        sigma = torch.dot(u, torch.mv(matrix, v))
        return weight / sigma

    def remove(self, module):
        weight = self.compute_weight(module, False)
        delattr(module, self.name)
        for suffix in ("_u", "_v"):
            del module._buffers[self.name + suffix]
        del module._parameters[self.name + "_orig"]
        module.register_parameter(self.name, torch.nn.Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    fn = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    matrix = fn.matrix(weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", torch.nn.functional.normalize(weight.new_empty(matrix.size(0)).normal_(0, 1), dim=0))
    module.register_buffer(name + "_v", torch.nn.functional.normalize(weight.new_empty(matrix.size(1)).normal_(0, 1), dim=0))
    _undo(module)[name] = (fn, module.register_forward_pre_hook(fn))
    return module


def remove_spectral_norm(module, name="weight"):
    if name not in _undo(module):
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    return _remove(module, name)


class ParametrizationList(torch.nn.ModuleList):
    def __init__(self, modules, original):
        super().__init__(modules)
        first = modules[0]
        parts = first.right_inverse(original) if hasattr(first, "right_inverse") else original
        self.parts = len(parts) if isinstance(parts, (tuple, list)) else 0
        if self.parts:
            for i, p in enumerate(parts):
                self.register_parameter(f"original{i}", torch.nn.Parameter(p.detach()))
        else:
            self.register_parameter("original", original)

    def forward(self):
        if self.parts:
            x = self[0](*[getattr(self, f"original{i}") for i in range(self.parts)])
        else:
            x = self[0](self.original)
        for p in list(self)[1:]:
            x = p(x)
        return x


_cached_weights = {}
_regions = [0]


class cached:
    def __enter__(self):
        _regions[0] += 1
        return self

    def __exit__(self, *error):
        global _cached_weights
        _regions[0] -= 1
        if _regions[0] == 0:
            _cached_weights = {}


def _parametrized(module, name):
    if _regions[0] == 0:
        return module.parametrizations[name]()
    key = (id(module), name)
    if key not in _cached_weights:
        _cached_weights[key] = module.parametrizations[name]()
    return _cached_weights[key]


def _parametrized_property(name):
    return property(lambda self: _parametrized(self, name))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    original = module._parameters[tensor_name]
    del module._parameters[tensor_name]
    if not is_parametrized(module):
        module.parametrizations = torch.nn.ModuleDict()
    module.parametrizations[tensor_name] = ParametrizationList([parametrization], original)
    cls = type(module)
    module.__class__ = type("Parametrized" + cls.__name__, (cls,), {tensor_name: _parametrized_property(tensor_name)})
    return module


def is_parametrized(module, tensor_name=None):
    lists = module._modules.get("parametrizations")
    return lists is not None and (tensor_name is None or tensor_name in lists)


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    weight = getattr(module, tensor_name)
    del module.parametrizations[tensor_name]
    module.__class__ = type(module).__mro__[1]
    if len(module.parametrizations) == 0:
        del module.parametrizations
    module.register_parameter(tensor_name, torch.nn.Parameter(weight.detach()))
    return module


class _WeightNorm(torch.nn.Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        x = _weight_norm_parametrized(weight_v, weight_g, self.dim)
        return x

    def right_inverse(self, weight):
        return torch.norm_except_dim(weight, 2, self.dim), weight


def _parametrized_weight_norm(module, name="weight", dim=0):
    return register_parametrization(module, name, _WeightNorm(dim))


class _SpectralNorm(torch.nn.Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        self.norm = SpectralNorm("", n_power_iterations, dim, eps)
        matrix = self.norm.matrix(weight)
        self.register_buffer("_u", torch.nn.functional.normalize(weight.new_empty(matrix.size(0)).normal_(0, 1), dim=0))
        self.register_buffer("_v", torch.nn.functional.normalize(weight.new_empty(matrix.size(1)).normal_(0, 1), dim=0))

    def forward(self, weight):
        matrix = self.norm.matrix(weight)
        u, v = self._u, self._v
        if self.training:
            with torch.no_grad():
                for _ in range(self.norm.n_power_iterations):
                    u.copy_(torch.nn.functional.normalize(torch.mv(matrix, v), dim=0, eps=self.norm.eps))
                    v.copy_(torch.nn.functional.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.norm.eps))
                u, v = u.clone(), v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))


def _parametrized_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    weight = getattr(module, name)
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
`;
