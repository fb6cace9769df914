// Base classes and small helpers of frameworks around models, as far as a model's own code leans on them: Lightning,
// transformers, diffusers, mmcv, configurations, tqdm. In: nothing. Out: texts by module name. What a text lacks is unknown.
import { KERNEL_LIBRARIES } from "./prelude_attention";
import { EMA_TEXT } from "./prelude_averages";
import { CONFIG_DICTS, OMEGACONF, YACS } from "./prelude_config";
import { MMCV_LAYERS } from "./prelude_detection";
import { EINOPS_EXTS_TEXT } from "./prelude_einops";
import { TORCH_EINOPS_UTILS_NN_TEXT, TORCH_EINOPS_UTILS_TEXT } from "./prelude_einops_utils";
import { GYM_MODULES } from "./prelude_gym";
import { DIFFUSERS, HUB, TRANSFORMERS } from "./prelude_huggingface";
import { isTransformers } from "./prelude_language_models";
import { POINT_MODULES } from "./prelude_points";
import { AXIAL_POSITIONS } from "./prelude_positions";
import { ATTRIBUTE_DICT, OWN_PLACE } from "./prelude_shared";
import { TRAINING } from "./prelude_training";

const LIGHTNING = `
import inspect


class _Hyperparameters(AttributeDict):
    def __init__(self, kept, objects):
        super().__init__(kept)
        object.__setattr__(self, "_objects", objects)

    def _has(self, name):
        return dict.__contains__(self, name) or any(hasattr(o, name) for o in self._objects)

    def __getattr__(self, name):
        if name.startswith("_") or not self._has(name):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name):
        if not dict.__contains__(self, name):
            for o in self._objects:
                if hasattr(o, name):
                    self[name] = getattr(o, name)
                    break
        return dict.__getitem__(self, name)

    def __contains__(self, name):
        return self._has(name)

    def get(self, name, default=None):
        return self[name] if self._has(name) else default


class LightningModule(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.trainer = None
        self.automatic_optimization = True

${OWN_PLACE}
    @property
    def current_epoch(self):
        return 0

    @property
    def global_step(self):
        return 0

    def save_hyperparameters(self, *names, ignore=(), frame=None, logger=True):
        given = _caller_arguments(self)
        ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore or ())
        only = [n for n in names if isinstance(n, str)]
        kept = {k: v for k, v in given.items() if k not in ignore and (not only or k in only)}
        objects = [n for n in names if not isinstance(n, str)]
        before = self.hparams
        self.hparams = _Hyperparameters(before, [n for n in objects if not isinstance(n, dict)])
        self.hparams.update(kept)
        for n in objects:
            self.hparams.update(n if isinstance(n, dict) else vars(n))

    @property
    def hparams(self):
        return self.__dict__.setdefault("_hparams", _Hyperparameters({}, []))

    @hparams.setter
    def hparams(self, value):
        self.__dict__["_hparams"] = value

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


def get_init_args(frame):
    local = frame.f_locals
    if "__class__" not in local:
        return {}
    parameters = inspect.signature(local["__class__"].__init__).parameters
    kept = {}
    for name, p in list(parameters.items())[1:]:
        if p.kind == p.VAR_KEYWORD:
            kept.update(local[name])
        elif p.kind != p.VAR_POSITIONAL:
            kept[name] = local[name]
    return kept


def rank_zero_only(fn):
    return fn


def rank_zero_info(*args, **kwargs):
    pass


rank_zero_warn = rank_zero_info
`;

const MMCV = `${MMCV_LAYERS}
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

/** attributes out of the arguments of the constructor that calls it */
const FASTCORE = `
import re
import sys


def store_attr(names=None, self=None, but="", cast=False, store_args=None, **attrs):
    given = sys._getframe(0).f_locals
    own = list(given)
    target = given[own[0]] if self is None else self
    listed = lambda x: [n for n in re.split(" *[,;] *", x) if n] if isinstance(x, str) else list(x)
    wanted = [n for n in own if given[n] is not target and not n.startswith("__")] if names is None else listed(names)
    for name in wanted:
        if name not in listed(but):
            setattr(target, name, given[name])
    for name, value in attrs.items():
        setattr(target, name, value)
`;

/** a program's settings are those that its class falls back to */
const TYRO = `
def cli(f, *args, default=None, **kwargs):
    return f() if default is None else default


class conf:
    def __getattr__(self, name):
        return self

    def __getitem__(self, key):
        return key[0] if isinstance(key, tuple) else key


conf = conf()
`;

const VERSIONS = `
import re


class Version:
    def __init__(self, text):
        self.text = str(text)
        self.release = tuple(int(n) for n in re.findall(r"\\d+", self.text.split("+")[0])[:3])
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
  "lightning.pytorch.callbacks": ATTRIBUTE_DICT + LIGHTNING,
  "lightning.pytorch.utilities.parsing": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.callbacks": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities.parsing": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities.rank_zero": ATTRIBUTE_DICT + LIGHTNING,
  "pytorch_lightning.utilities.distributed": ATTRIBUTE_DICT + LIGHTNING,
  omegaconf: OMEGACONF,
  ml_collections: CONFIG_DICTS,
  "ml_collections.config_dict": CONFIG_DICTS,
  easydict: CONFIG_DICTS,
  munch: CONFIG_DICTS,
  addict: CONFIG_DICTS,
  "yacs.config": YACS,
  "fvcore.common.config": YACS,
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
  "mmcv.cnn.bricks": MMCV,
  "mmcv.cnn.bricks.transformer": MMCV,
  "mmcv.cnn.bricks.registry": MMCV,
  "mmcv.cnn.utils": MMCV,
  "mmcv.cnn.utils.weight_init": MMCV,
  "mmcv.runner.base_module": MMCV,
  "mmengine.model.weight_init": MMCV,
  "mmengine.model": MMCV,
  "mmengine.registry": MMCV,
  einops_exts: EINOPS_EXTS_TEXT,
  "einops_exts.torch": EINOPS_EXTS_TEXT,
  torch_einops_utils: TORCH_EINOPS_UTILS_TEXT,
  "torch_einops_utils.nn": TORCH_EINOPS_UTILS_NN_TEXT,
  "torch_einops_utils.torch_einops_utils": TORCH_EINOPS_UTILS_TEXT,
  axial_positional_embedding: AXIAL_POSITIONS,
  ema_pytorch: EMA_TEXT,
  "ema_pytorch.ema_pytorch": EMA_TEXT,
  tqdm: TQDM,
  "tqdm.auto": TQDM,
  "tqdm.notebook": TQDM,
  tyro: TYRO,
  "fastcore.basics": FASTCORE,
  "fastcore.all": FASTCORE,
  "packaging.version": VERSIONS,
  ...KERNEL_LIBRARIES,
  ...POINT_MODULES,
  ...GYM_MODULES,
  ...TRAINING,
};

/** decoders with a gate in their feed-forward layers */
const GATED = /^(Llama|Mistral|Mixtral|Qwen\w*|Phi3|Deepseek\w*|InternLM\w*|Baichuan\w*|Olmo\w*)Config$/;

/** names that a framework has for many classes of one kind */
export function frameworkAlias(module: string, name: string): string | undefined {
  if (isTransformers(module) && /(Output\w*|Outputs)$/.test(name)) return "ModelOutput";
  if (module.startsWith("diffusers") && /Output$/.test(name)) return "BaseOutput";
  if (/^(diffusers|transformers)/.test(module) && /Mixin$/.test(name)) return name;
  if (isTransformers(module) && /^[A-Z]\w*Tokenizer(Fast)?$/.test(name)) return "PreTrainedTokenizer";
  if (isTransformers(module) && GATED.test(name)) return "DecoderConfig";
  if (isTransformers(module) && /^[A-Z]\w*Config$/.test(name)) return "LibraryConfig";
  // Gemma's multiplies by 1 + weight
  if (module.startsWith("transformers") && /^(?!Gemma)\w*RMSNorm$/.test(name)) return "LlamaRMSNorm";
  return undefined;
}
