// Python that several frameworks' preludes have in common. In: nothing. Out: texts.

/** where a model lies and in what type, as each framework's base class says it */
export const OWN_PLACE = `    @property
    def device(self):
        for p in self.parameters():
            return p.device
        return torch.device("cuda")

    @property
    def dtype(self):
        for p in self.parameters():
            return p.dtype
        return torch.float32
`;

export const ATTRIBUTE_DICT = `
class AttributeDict(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        del self[name]

    def copy(self):
        return type(self)(self)

    def to_dict(self):
        return dict(self)


def _nested(value, kind=AttributeDict):
    if isinstance(value, dict):
        return kind({k: _nested(v, kind) for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return [_nested(v, kind) for v in value]
    return value
`;
