// Configurations as frameworks hold them: omegaconf, ml_collections and its like, yacs. In: nothing. Out: Python texts.
import { ATTRIBUTE_DICT } from "./prelude_shared";

export const OMEGACONF = `${ATTRIBUTE_DICT}
DictConfig = AttributeDict
ListConfig = list


class OmegaConf:
    @staticmethod
    def create(value=None, flags=None):
        return _nested({} if value is None else value)

    @staticmethod
    def load(file):
        import yaml
        if isinstance(file, str) or hasattr(file, "__fspath__"):
            with open(file) as f:
                return _nested(yaml.safe_load(f))
        return _nested(yaml.safe_load(file))

    @staticmethod
    def from_dotlist(items):
        import yaml
        out = AttributeDict()
        for item in items:
            path, _, text = item.partition("=")
            at = out
            *parts, last = path.split(".")
            for part in parts:
                at = at.setdefault(part, AttributeDict())
            at[last] = _nested(yaml.safe_load(text))
        return out

    @staticmethod
    def from_cli(args=None):
        return AttributeDict()

    @staticmethod
    def structured(value):
        return value() if isinstance(value, type) else value

    @staticmethod
    def to_container(value, resolve=False, **kwargs):
        return value

    to_object = to_container

    @staticmethod
    def merge(*configs):
        first, *rest = configs
        out = _nested(first) if isinstance(first, dict) else first
        for c in rest:
            _merge(out, c if isinstance(c, dict) else vars(c))
        return out

    @staticmethod
    def set_struct(config, flag):
        pass

    @staticmethod
    def get_type(value, key=None):
        return type(value if key is None else value[key])

    @staticmethod
    def is_config(value):
        return isinstance(value, AttributeDict)

    @staticmethod
    def is_list(value):
        return isinstance(value, list)


def _merge(into, more):
    # into a dictionary, or an object of a structured configuration
    for k, v in more.items():
        old = into.get(k) if isinstance(into, dict) else getattr(into, k, None)
        if isinstance(v, dict) and (isinstance(old, dict) or hasattr(type(old), "__dataclass_fields__")):
            _merge(old, v)
        elif isinstance(into, dict):
            into[k] = v
        else:
            setattr(into, k, v)


def open_dict(config):
    return config
`;

export const CONFIG_DICTS = `${ATTRIBUTE_DICT}
class ConfigDict(AttributeDict):
    def __init__(self, initial=None, **kwargs):
        super().__init__()
        for k, v in {**(initial or {}), **kwargs}.items():
            self[k] = _nested(v, ConfigDict)

    def lock(self):
        return self

    unlock = lock


FrozenConfigDict = EasyDict = Munch = Dict = edict = DefaultMunch = ConfigDict


def munchify(value):
    return _nested(value, ConfigDict)
`;

export const YACS = `${ATTRIBUTE_DICT}
import copy
import yaml


class CfgNode(AttributeDict):
    def __init__(self, init_dict=None, key_list=None, new_allowed=False):
        super().__init__()
        for k, v in (init_dict or {}).items():
            self[k] = CfgNode(v) if type(v) is dict else v

    def clone(self):
        return copy.deepcopy(self)

    def freeze(self):
        pass

    defrost = freeze

    def is_frozen(self):
        return False

    def set_new_allowed(self, is_new_allowed):
        pass

    def merge_from_other_cfg(self, other):
        for k, v in other.items():
            if isinstance(v, dict) and isinstance(self.get(k), CfgNode):
                self[k].merge_from_other_cfg(v)
            else:
                self[k] = CfgNode(v) if type(v) is dict else v

    def merge_from_file(self, cfg_filename, allow_unsafe=False):
        with open(cfg_filename) as f:
            self.merge_from_other_cfg(yaml.safe_load(f) or {})

    def merge_from_list(self, cfg_list):
        for name, value in zip(cfg_list[0::2], cfg_list[1::2]):
            *path, last = name.split(".")
            node = self
            for part in path:
                node = node[part]
            node[last] = value

    def dump(self, **kwargs):
        return str(dict(self))

    @classmethod
    def load_cfg(cls, file):
        return cls(yaml.safe_load(file))


def load_cfg(file):
    return CfgNode.load_cfg(file)
`;
