// Layers of torch.nn: containers and wrappers of modules. Python text by unit, compiled when one of its classes is asked for.

export const CONTAINERS: Readonly<Record<string, string>> = {
  // of torch.nn.quantized: arithmetic that an observer may watch; there is none here
  FloatFunctional: `
class FloatFunctional(Module):
    def forward(self, x):
        raise RuntimeError("FloatFunctional has no forward: call one of its operations")

    def add(self, x, y):
        return torch.add(x, y)

    add_scalar = add

    def mul(self, x, y):
        return torch.mul(x, y)

    mul_scalar = mul

    def cat(self, x, dim=0):
        return torch.cat(x, dim=dim)

    def add_relu(self, x, y):
        return F.relu(torch.add(x, y))

    def matmul(self, x, y):
        return torch.matmul(x, y)
`,
  Sequential: `
class Sequential(Module):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _at(self, index):
        keys = list(self._modules.keys())
        return keys[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(dict(list(self._modules.items())[index]))
        return self._modules[self._at(index)]

    def __setitem__(self, index, module):
        return setattr(self, self._at(index), module)

    def __delitem__(self, index):
        chosen = list(self._modules.keys())[index]
        for key in chosen if isinstance(index, slice) else [chosen]:
            delattr(self, key)
        kept = list(self._modules.values())
        self._modules.clear()
        for i, module in enumerate(kept):
            self._modules[str(i)] = module

    def __len__(self):
        return len(self._modules)

    def __add__(self, other):
        return self.__class__(*self, *other)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._modules.clear()
        for i, m in enumerate(kept):
            self._modules[str(i)] = m
        return self

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def forward(self, input):
        for module in self:
            input = module(input)
        return input
`,
  ModuleList: `
class ModuleList(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _key(self, index):
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        return setattr(self, self._key(index), module)

    def __delitem__(self, index):
        kept = list(self._modules.values())
        del kept[index]
        self._modules.clear()
        for i, module in enumerate(kept):
            self._modules[str(i)] = module

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        return ModuleList([*self, *other])

    def __iadd__(self, modules):
        return self.extend(modules)

    def __contains__(self, module):
        return any(m is module for m in self._modules.values())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        for i, m in enumerate(kept):
            self._modules[str(i)] = m

    def extend(self, modules):
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module
`,
  ModuleDict: `
class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def get(self, key, default=None):
        return self._modules.get(key, default)

    def update(self, modules):
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module
`,
  ParameterList: `
class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__([getattr(self, str(i)) for i in range(self._size)[index]])
        return getattr(self, str(index + self._size if index < 0 else index))

    def __setitem__(self, index, value):
        setattr(self, str(index), value)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def append(self, value):
        index = self._size
        self._size += 1
        if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        self[index] = value
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)


class ParameterDict(Module):
    def __init__(self, values=None):
        super().__init__()
        self._keys = {}
        if values is not None:
            for key, value in values.items():
                self[key] = value

    def __getitem__(self, key):
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)

    def __contains__(self, key):
        return key in self._keys

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((k, self[k]) for k in self._keys)

    def values(self):
        return (self[k] for k in self._keys)
`,
  DataParallel: `
class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids = [0] if device_ids is None else [d.index if isinstance(d, torch.device) else d for d in device_ids]
        self.output_device = self.device_ids[0] if output_device is None and self.device_ids else output_device

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def scatter(self, inputs, kwargs, device_ids):
        return [inputs], [kwargs]

    def replicate(self, module, device_ids):
        return [module]

    def parallel_apply(self, replicas, inputs, kwargs):
        return [m(*i, **k) for m, i, k in zip(replicas, inputs, kwargs)]

    def gather(self, outputs, output_device):
        return outputs[0]


class DistributedDataParallel(DataParallel):
    def __init__(self, module, *args, **kwargs):
        super().__init__(module)
`,
};
