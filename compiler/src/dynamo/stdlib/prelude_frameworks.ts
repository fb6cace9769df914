// Base classes and small helpers of frameworks around models, as far as a model's own code leans on them: Lightning,
// transformers, diffusers, mmcv, omegaconf, tqdm. In: nothing. Out: texts by module name. What a text lacks is unknown.

/** where a model lies and in what type, as each framework's base class says it */
const OWN_PLACE = `    @property
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

const LIGHTNING = `
class LightningModule(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.trainer = None
        self.current_epoch = self.global_step = 0
        self.automatic_optimization = True

${OWN_PLACE}
    def save_hyperparameters(self, *names, ignore=(), frame=None, logger=True):
        given = _caller_arguments(self)
        ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore or ())
        only = [n for n in names if isinstance(n, str)]
        self.hparams = AttributeDict({k: v for k, v in given.items() if k not in ignore and (not only or k in only)})
        for n in names:
            if not isinstance(n, str):
                self.hparams.update(n if isinstance(n, dict) else vars(n))

    def log(self, *args, **kwargs):
        pass

    log_dict = log

    def print(self, *args, **kwargs):
        pass

    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False

    def unfreeze(self):
        for p in self.parameters():
            p.requires_grad = True

    def forward(self, *args, **kwargs):
        raise NotImplementedError


class LightningDataModule:
    def __init__(self, *args, **kwargs):
        pass


class Callback:
    pass


def seed_everything(seed=None, workers=False):
    return seed


def rank_zero_only(fn):
    return fn


def rank_zero_info(*args, **kwargs):
    pass


rank_zero_warn = rank_zero_info
`;

const ATTRIBUTE_DICT = `
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

const OMEGACONF = `${ATTRIBUTE_DICT}
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
    def structured(value):
        return value() if isinstance(value, type) else value

    @staticmethod
    def to_container(value, resolve=False, **kwargs):
        return value

    to_object = to_container

    @staticmethod
    def merge(*configs):
        out = AttributeDict()
        for c in configs:
            out.update(c)
        return out

    @staticmethod
    def set_struct(config, flag):
        pass

    @staticmethod
    def is_config(value):
        return isinstance(value, AttributeDict)

    @staticmethod
    def is_list(value):
        return isinstance(value, list)


def open_dict(config):
    return config
`;

const CONFIG_DICTS = `${ATTRIBUTE_DICT}
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

const OUTPUTS = `
class ModelOutput(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for k, v in self.items():
            object.__setattr__(self, k, v)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name, value):
        self[name] = value
        object.__setattr__(self, name, value)

    def __getitem__(self, k):
        if isinstance(k, str):
            return getattr(self, k)
        return self.to_tuple()[k]

    def to_tuple(self):
        return tuple(v for v in self.values() if v is not None)


BaseOutput = ModelOutput
`;

const TRANSFORMERS = `${OUTPUTS}
class PretrainedConfig:
    model_type = ""
    attribute_map = {}

    def __init__(self, **kwargs):
        defaults = dict(
            return_dict=True, output_hidden_states=False, output_attentions=False, use_cache=True, torch_dtype=None,
            tie_word_embeddings=True, is_encoder_decoder=False, is_decoder=False, add_cross_attention=False,
            cross_attention_hidden_size=None, chunk_size_feed_forward=0, pruned_heads={}, num_labels=2,
            problem_type=None, pad_token_id=None, bos_token_id=None, eos_token_id=None, sep_token_id=None,
            decoder_start_token_id=None, torchscript=False, _attn_implementation="sdpa", id2label=None, label2id=None)
        for k, v in {**defaults, **kwargs}.items():
            setattr(self, k, v)

    @property
    def use_return_dict(self):
        return self.return_dict

    def to_dict(self):
        return dict(self.__dict__)

    def get(self, name, default=None):
        return getattr(self, name, default)


PreTrainedConfig = PretrainedConfig


class ModuleUtilsMixin:
    pass


class PreTrainedModel(nn.Module):
    config_class = None
    base_model_prefix = ""
    main_input_name = "input_ids"

    def __init__(self, config=None, *inputs, **kwargs):
        super().__init__()
        self.config = config
        self.generation_config = None
        self.gradient_checkpointing = False

    def post_init(self):
        self.init_weights()

    def init_weights(self):
        if hasattr(self, "_init_weights"):
            self.apply(self._init_weights)

    def gradient_checkpointing_enable(self, *args, **kwargs):
        pass

    gradient_checkpointing_disable = gradient_checkpointing_enable

    def tie_weights(self, *args, **kwargs):
        pass

    def get_head_mask(self, head_mask, num_hidden_layers, is_attention_chunked=False):
        return [None] * num_hidden_layers

    def get_extended_attention_mask(self, attention_mask, input_shape=None, device=None, dtype=None):
        if attention_mask.dim() == 3:
            mask = attention_mask[:, None, :, :]
        else:
            mask = attention_mask[:, None, None, :]
        mask = mask.to(self.dtype)
        return (1.0 - mask) * torch.finfo(self.dtype).min

    invert_attention_mask = get_extended_attention_mask

    def num_parameters(self, only_trainable=False):
        return sum(p.numel() for p in self.parameters())

${OWN_PLACE}

class GenerationMixin:
    pass


class _Activations(dict):
    def __missing__(self, name):
        return nn.GELU()


ACT2FN = _Activations(
    gelu=nn.GELU(), gelu_new=nn.GELU(approximate="tanh"), gelu_fast=nn.GELU(approximate="tanh"),
    gelu_pytorch_tanh=nn.GELU(approximate="tanh"), relu=nn.ReLU(), silu=nn.SiLU(), swish=nn.SiLU(), tanh=nn.Tanh(),
    sigmoid=nn.Sigmoid(), mish=nn.Mish(), relu6=nn.ReLU6(), linear=nn.Identity(), leaky_relu=nn.LeakyReLU())


class GradientCheckpointingLayer(nn.Module):
    gradient_checkpointing = False


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf, self.nx = nf, nx
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        size_out = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return x.view(size_out)
`;

const DIFFUSERS = `${OUTPUTS}${ATTRIBUTE_DICT}
import functools
import inspect


class ConfigMixin:
    config_name = "config.json"

    def register_to_config(self, **kwargs):
        config = AttributeDict(self.__dict__.get("_internal_dict") or {})
        config.update(kwargs)
        self.__dict__["_internal_dict"] = config

    @property
    def config(self):
        return self.__dict__["_internal_dict"]


def register_to_config(init):
    @functools.wraps(init)
    def inner(self, *args, **kwargs):
        given = {}
        names = [n for n in inspect.signature(init).parameters if n != "self"]
        for n in names:
            default = inspect.signature(init).parameters[n].default
            if default is not inspect.Parameter.empty:
                given[n] = default
        given.update(dict(zip(names, args)))
        given.update(kwargs)
        self.register_to_config(**given)
        init(self, *args, **kwargs)
    return inner


class ModelMixin(nn.Module):
    _supports_gradient_checkpointing = False

    def __init__(self, *args, **kwargs):
        super().__init__()

${OWN_PLACE}

class FromOriginalModelMixin:
    pass


PeftAdapterMixin = UNet2DConditionLoadersMixin = FromSingleFileMixin = FromOriginalModelMixin
`;

const HUB = `
class PyTorchModelHubMixin:
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__()


ModelHubMixin = PyTorchModelHubMixin
`;

const MMCV = `
class BaseModule(nn.Module):
    def __init__(self, init_cfg=None):
        super().__init__()
        self.init_cfg = init_cfg

    def init_weights(self):
        pass


class Sequential(nn.Sequential):
    def __init__(self, *args, init_cfg=None):
        super().__init__(*args)


class ModuleList(nn.ModuleList):
    def __init__(self, modules=None, init_cfg=None):
        super().__init__(modules)


def auto_fp16(*args, **kwargs):
    return lambda f: f


force_fp32 = auto_fp16


class Registry:
    def __init__(self, name, *args, **kwargs):
        self.name, self._modules = name, {}

    def register_module(self, name=None, force=False, module=None):
        if module is not None:
            self._modules[name or module.__name__] = module
            return module

        def add(cls):
            self._modules[name if isinstance(name, str) else cls.__name__] = cls
            return cls
        return add

    def get(self, name):
        return self._modules.get(name)

    def build(self, cfg, *args, **kwargs):
        given = dict(cfg)
        return self._modules[given.pop("type")](**given, **kwargs)
`;

const TQDM = `
class tqdm:
    def __init__(self, iterable=None, *args, **kwargs):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable if self.iterable is not None else ())

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def update(self, *args, **kwargs):
        pass

    set_description = set_postfix = set_postfix_str = close = write = refresh = update


def trange(*args, **kwargs):
    return tqdm(range(*args))
`;

const VERSIONS = `
import re


class Version:
    def __init__(self, text):
        self.text = str(text)
        self.release = tuple(int(n) for n in re.findall(r"\\\\d+", self.text.split("+")[0])[:3])
        self.major, self.minor, self.micro = (self.release + (0, 0, 0))[:3]
        self.base_version = ".".join(str(n) for n in self.release)
        self.is_prerelease = self.is_devrelease = False

    def __repr__(self):
        return self.text

    __str__ = __repr__

    def __lt__(self, other):
        return self.release < Version(other).release

    def __le__(self, other):
        return self.release <= Version(other).release

    def __gt__(self, other):
        return self.release > Version(other).release

    def __ge__(self, other):
        return self.release >= Version(other).release

    def __eq__(self, other):
        return self.release == Version(other).release


LegacyVersion = Version


def parse(text):
    return Version(text)
`;

/** a module's text by its name */
export const FRAMEWORKS: Readonly<Record<string, string>> = {
  pytorch_lightning: ATTRIBUTE_DICT + LIGHTNING,
  lightning: ATTRIBUTE_DICT + LIGHTNING,
  "lightning.pytorch": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.core": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities.rank_zero": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities.distributed": ATTRIBUTE_DICT + LIGHTNING,
  omegaconf: OMEGACONF,
  ml_collections: CONFIG_DICTS,
  "ml_collections.config_dict": CONFIG_DICTS,
  easydict: CONFIG_DICTS,
  munch: CONFIG_DICTS,
  addict: CONFIG_DICTS,
  transformers: TRANSFORMERS,
  "transformers.modeling_utils": TRANSFORMERS,
  "transformers.configuration_utils": TRANSFORMERS,
  "transformers.activations": TRANSFORMERS,
  "transformers.modeling_outputs": TRANSFORMERS,
  "transformers.file_utils": TRANSFORMERS,
  "transformers.utils": TRANSFORMERS,
  "transformers.pytorch_utils": TRANSFORMERS,
  "transformers.generation": TRANSFORMERS,
  "transformers.modeling_layers": TRANSFORMERS,
  diffusers: DIFFUSERS,
  "diffusers.configuration_utils": DIFFUSERS,
  "diffusers.models.modeling_utils": DIFFUSERS,
  "diffusers.modeling_utils": DIFFUSERS,
  "diffusers.utils": DIFFUSERS,
  huggingface_hub: HUB,
  "mmcv.runner": MMCV,
  "mmcv.cnn": MMCV,
  "mmengine.model": MMCV,
  "mmengine.registry": MMCV,
  tqdm: TQDM,
  "tqdm.auto": TQDM,
  "tqdm.notebook": TQDM,
  "packaging.version": VERSIONS,
};

/** names that a framework has for many classes of one kind */
export function frameworkAlias(module: string, name: string): string | undefined {
  if (module.startsWith("transformers") && /(Output\w*|Outputs)$/.test(name)) return "ModelOutput";
  if (/^(diffusers|transformers)/.test(module) && /Mixin$/.test(name)) return name;
  return undefined;
}
