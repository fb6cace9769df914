// Layers of detection frameworks that models are made of: detectron2's wrappers and registries, mmcv's conv-norm-activation
// modules and the functions that build layers from dictionaries; detectron2's models are in prelude_detectron. In: nothing. Out: texts by module name; what a text lacks
// is unknown.

import { DETECTRON, DETECTRON_PACKAGES } from "./prelude_detectron";
import { DETECTRON_DEFAULTS } from "./prelude_detectron_backbones";

const REGISTRY = `
class Registry:
    def __init__(self, name="", *args, **kwargs):
        self.name, self._modules = name, {}
        self._obj_map = self._module_dict = self.module_dict = self._modules

    def register(self, obj=None, name=None):
        if obj is not None:
            self._modules[obj.__name__] = obj
            return obj
        return lambda cls: self.register(cls)

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

    def __contains__(self, name):
        return name in self._modules

    def build(self, cfg, *args, **kwargs):
        given = dict(cfg)
        return self._modules[given.pop("type")](**given, **kwargs)


def build_from_cfg(cfg, registry, default_args=None):
    given = {**(default_args or {}), **cfg}
    kind = given.pop("type")
    return (registry.get(kind) if isinstance(kind, str) else kind)(**given)
`;

const DETECTRON_LAYERS = `
class ShapeSpec:
    def __init__(self, channels=None, height=None, width=None, stride=None):
        self.channels, self.height, self.width, self.stride = channels, height, width, stride


def cat(tensors, dim=0):
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)


interpolate = F.interpolate
BatchNorm2d = nn.BatchNorm2d
Linear = nn.Linear


def shapes_to_tensor(x, device=None):
    return torch.as_tensor(x, device=device)


def nonzero_tuple(x):
    return x.nonzero().unbind(1)


def cross_entropy(input, target, *, reduction="mean", **kwargs):
    return F.cross_entropy(input, target, reduction=reduction, **kwargs)


class FrozenBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.num_features, self.eps = num_features, eps
        self.register_buffer("weight", torch.ones(num_features))
        self.register_buffer("bias", torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features) - eps)

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps)

    @classmethod
    def convert_frozen_batchnorm(cls, module):
        return module


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


def get_norm(norm, out_channels):
    if norm is None or norm == "":
        return None
    if isinstance(norm, str):
        norm = {"BN": nn.BatchNorm2d, "SyncBN": nn.SyncBatchNorm, "FrozenBN": FrozenBatchNorm2d, "nnSyncBN": nn.SyncBatchNorm,
                "naiveSyncBN": nn.BatchNorm2d, "GN": lambda c: nn.GroupNorm(32, c), "LN": LayerNorm}[norm]
    return norm(out_channels)


class Conv2d(nn.Conv2d):
    def __init__(self, *args, **kwargs):
        norm, activation = kwargs.pop("norm", None), kwargs.pop("activation", None)
        super().__init__(*args, **kwargs)
        self.norm, self.activation = norm, activation

    def forward(self, x):
        x = F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        if self.norm is not None:
            x = self.norm(x)
        if self.activation is not None:
            x = self.activation(x)
        return x


ConvTranspose2d = nn.ConvTranspose2d


class CNNBlockBase(nn.Module):
    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.in_channels, self.out_channels, self.stride = in_channels, out_channels, stride

    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False
        return self
`;

const DETECTRON_MODELING = `
from fvcore.common.registry import Registry

BACKBONE_REGISTRY = Registry("BACKBONE")
META_ARCH_REGISTRY = Registry("META_ARCH")
SEM_SEG_HEADS_REGISTRY = Registry("SEM_SEG_HEADS")
ROI_HEADS_REGISTRY = Registry("ROI_HEADS")
ROI_BOX_HEAD_REGISTRY = Registry("ROI_BOX_HEAD")
ROI_MASK_HEAD_REGISTRY = Registry("ROI_MASK_HEAD")
PROPOSAL_GENERATOR_REGISTRY = Registry("PROPOSAL_GENERATOR")
RPN_HEAD_REGISTRY = Registry("RPN_HEAD")


class Backbone(nn.Module):
    @property
    def size_divisibility(self):
        return 0

    @property
    def padding_constraints(self):
        return {}

    def output_shape(self):
        from detectron2.layers import ShapeSpec
        return {name: ShapeSpec(channels=self._out_feature_channels[name], stride=self._out_feature_strides[name])
                for name in self._out_features}


def build_backbone(cfg, input_shape=None):
    from detectron2.layers import ShapeSpec
    from detectron2.modeling.backbone import fpn
    name = cfg.MODEL.BACKBONE.NAME
    if input_shape is None:
        input_shape = ShapeSpec(channels=len(cfg.MODEL.PIXEL_MEAN))
    own = {"build_resnet_backbone", "build_resnet_fpn_backbone", "build_retinanet_resnet_fpn_backbone"}
    made = getattr(fpn, name) if name in own else BACKBONE_REGISTRY.get(name)
    return made(cfg, input_shape)


def build_sem_seg_head(cfg, input_shape):
    return SEM_SEG_HEADS_REGISTRY.get(cfg.MODEL.SEM_SEG_HEAD.NAME)(cfg, input_shape)


def build_model(cfg):
    return META_ARCH_REGISTRY.get(cfg.MODEL.META_ARCHITECTURE)(cfg)


def detector_postprocess(*args, **kwargs):
    from detectron2.modeling.postprocessing import detector_postprocess as own
    return own(*args, **kwargs)
`;

const DETECTRON_CONFIG = `
import functools
import inspect
from yacs.config import CfgNode

_C = CfgNode()
for _part in ("MODEL", "INPUT", "TEST", "DATASETS", "DATALOADER", "SOLVER"):
    _C[_part] = CfgNode()
for _part in ("BACKBONE", "FPN", "PROPOSAL_GENERATOR", "RPN", "ROI_HEADS", "ROI_BOX_HEAD", "ROI_MASK_HEAD", "SEM_SEG_HEAD", "RESNETS"):
    _C.MODEL[_part] = CfgNode()
${DETECTRON_DEFAULTS}

def get_cfg():
    return _C.clone()


def _with_cfg(args, kwargs):
    first = args[0] if args else kwargs.get("cfg")
    return isinstance(first, CfgNode)


def _explicit(from_config, args, kwargs):
    own = inspect.signature(from_config).parameters
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in own.values()):
        return from_config(*args, **kwargs)
    more = {k: kwargs.pop(k) for k in list(kwargs) if k not in own}
    return {**from_config(*args, **kwargs), **more}


def configurable(init_func=None, *, from_config=None):
    if init_func is not None:
        @functools.wraps(init_func)
        def wrapped(self, *args, **kwargs):
            if _with_cfg(args, kwargs):
                return init_func(self, **_explicit(type(self).from_config, args, kwargs))
            return init_func(self, *args, **kwargs)
        return wrapped

    def wrapper(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            return func(**_explicit(from_config, args, kwargs)) if _with_cfg(args, kwargs) else func(*args, **kwargs)
        wrapped.from_config = from_config
        return wrapped
    return wrapper
`;

/** a module that has what another one has */
const same = (name: string): string => `from ${name} import *\n`;

const MMCV_LAYERS = `${REGISTRY}
_NORMS = {"BN": nn.BatchNorm2d, "BN1d": nn.BatchNorm1d, "BN2d": nn.BatchNorm2d, "BN3d": nn.BatchNorm3d,
          "SyncBN": nn.SyncBatchNorm, "IN": nn.InstanceNorm2d, "LN": nn.LayerNorm}
_CONVS = {"Conv1d": nn.Conv1d, "Conv2d": nn.Conv2d, "Conv3d": nn.Conv3d, "Conv": nn.Conv2d}
_ACTIVATIONS = {"ReLU": nn.ReLU, "LeakyReLU": nn.LeakyReLU, "PReLU": nn.PReLU, "ReLU6": nn.ReLU6, "GELU": nn.GELU,
                "Sigmoid": nn.Sigmoid, "Tanh": nn.Tanh, "SiLU": nn.SiLU, "Swish": nn.SiLU, "HSwish": nn.Hardswish,
                "HSigmoid": nn.Hardsigmoid, "ELU": nn.ELU, "Mish": nn.Mish}
_UPSAMPLES = {"deconv": nn.ConvTranspose2d, "deconv3d": nn.ConvTranspose3d, "nearest": nn.Upsample, "bilinear": nn.Upsample,
              "bicubic": nn.Upsample}


def _registry(name, known):
    made = Registry(name)
    made._modules.update(known)
    return made


CONV_LAYERS, NORM_LAYERS = _registry("conv layer", _CONVS), _registry("norm layer", _NORMS)
ACTIVATION_LAYERS, UPSAMPLE_LAYERS = _registry("activation layer", _ACTIVATIONS), _registry("upsample layer", _UPSAMPLES)
PLUGIN_LAYERS, PADDING_LAYERS = Registry("plugin layer"), Registry("padding layer")
ATTENTION, FEEDFORWARD_NETWORK = Registry("attention"), Registry("feed-forward network")
TRANSFORMER_LAYER, TRANSFORMER_LAYER_SEQUENCE = Registry("transformer layer"), Registry("transformer layers")
POSITIONAL_ENCODING, MODELS = Registry("position encoding"), Registry("model")


def build_conv_layer(cfg, *args, **kwargs):
    given = dict(cfg) if cfg is not None else {"type": "Conv2d"}
    kind = given.pop("type")
    return CONV_LAYERS.get(kind)(*args, **kwargs, **given)


def build_norm_layer(cfg, num_features, postfix=""):
    given = dict(cfg)
    kind = given.pop("type")
    trained = given.pop("requires_grad", True)
    given.setdefault("eps", 1e-5)
    if kind == "GN":
        layer = nn.GroupNorm(num_channels=num_features, **given)
    else:
        layer = NORM_LAYERS.get(kind)(num_features, **given)
    for p in layer.parameters():
        p.requires_grad = trained
    names = {"GN": "gn", "LN": "ln", "IN": "in"}
    return names.get(kind, "bn") + str(postfix), layer


def build_activation_layer(cfg):
    given = dict(cfg)
    kind = given.pop("type")
    if kind in ("Sigmoid", "Tanh", "GELU", "PReLU"):
        given.pop("inplace", None)
    return ACTIVATION_LAYERS.get(kind)(**given)


def build_upsample_layer(cfg, *args, **kwargs):
    given = dict(cfg)
    kind = given.pop("type")
    if kind in ("nearest", "bilinear", "bicubic"):
        given["mode"] = kind
    return UPSAMPLE_LAYERS.get(kind)(*args, **kwargs, **given)


def build_padding_layer(cfg, *args, **kwargs):
    kinds = {"zero": nn.ZeroPad2d, "reflect": nn.ReflectionPad2d, "replicate": nn.ReplicationPad2d}
    return kinds[cfg["type"]](*args, **kwargs)


class ConvModule(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias="auto",
                 conv_cfg=None, norm_cfg=None, act_cfg=dict(type="ReLU"), inplace=True, with_spectral_norm=False,
                 padding_mode="zeros", order=("conv", "norm", "act"), **kwargs):
        super().__init__()
        self.order = order
        self.with_norm, self.with_activation = norm_cfg is not None, act_cfg is not None
        self.conv = build_conv_layer(conv_cfg, in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                     dilation=dilation, groups=groups, bias=not self.with_norm if bias == "auto" else bias)
        self.in_channels, self.out_channels = in_channels, out_channels
        if self.with_norm:
            before = order.index("norm") < order.index("conv")
            self.norm_name, norm = build_norm_layer(norm_cfg, in_channels if before else out_channels)
            self.add_module(self.norm_name, norm)
        if self.with_activation:
            given = dict(act_cfg)
            if given["type"] not in ("Tanh", "PReLU", "Sigmoid", "HSigmoid", "Swish", "GELU"):
                given.setdefault("inplace", inplace)
            self.activate = build_activation_layer(given)

    @property
    def norm(self):
        return getattr(self, self.norm_name) if self.with_norm else None

    def forward(self, x, activate=True, norm=True):
        for layer in self.order:
            if layer == "conv":
                x = self.conv(x)
            elif layer == "norm" and norm and self.with_norm:
                x = self.norm(x)
            elif layer == "act" and activate and self.with_activation:
                x = self.activate(x)
        return x


class DepthwiseSeparableConvModule(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, norm_cfg=None,
                 act_cfg=dict(type="ReLU"), dw_norm_cfg="default", dw_act_cfg="default", pw_norm_cfg="default",
                 pw_act_cfg="default", **kwargs):
        super().__init__()
        of = lambda given, own: own if given == "default" else given
        self.depthwise_conv = ConvModule(in_channels, in_channels, kernel_size, stride, padding, dilation, in_channels,
                                         norm_cfg=of(dw_norm_cfg, norm_cfg), act_cfg=of(dw_act_cfg, act_cfg), **kwargs)
        self.pointwise_conv = ConvModule(in_channels, out_channels, 1, norm_cfg=of(pw_norm_cfg, norm_cfg),
                                         act_cfg=of(pw_act_cfg, act_cfg), **kwargs)

    def forward(self, x):
        return self.pointwise_conv(self.depthwise_conv(x))


class Scale(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale, dtype=torch.float))

    def forward(self, x):
        return x * self.scale


def _init(module, bias, fill, *args, **kwargs):
    if getattr(module, "weight", None) is not None:
        fill(module.weight, *args, **kwargs)
    if getattr(module, "bias", None) is not None:
        nn.init.constant_(module.bias, bias)


def constant_init(module, val, bias=0):
    _init(module, bias, nn.init.constant_, val)


def normal_init(module, mean=0, std=1, bias=0):
    _init(module, bias, nn.init.normal_, mean, std)


def kaiming_init(module, a=0, mode="fan_out", nonlinearity="relu", bias=0, distribution="normal"):
    _init(module, bias, nn.init.kaiming_normal_, a=a, mode=mode, nonlinearity=nonlinearity)


def xavier_init(module, gain=1, bias=0, distribution="normal"):
    _init(module, bias, nn.init.xavier_normal_, gain=gain)


caffe2_xavier_init = kaiming_init


def trunc_normal_init(module, mean=0.0, std=1.0, a=-2.0, b=2.0, bias=0.0):
    normal_init(module, mean, std, bias)


def bias_init_with_prob(prior_prob):
    import math
    return float(-math.log((1 - prior_prob) / prior_prob))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return nn.init.trunc_normal_(tensor, mean, std, a, b)


def is_norm(layer, exclude=None):
    return isinstance(layer, (nn.modules.batchnorm._BatchNorm, nn.GroupNorm, nn.LayerNorm))
`;

/** layers by module name */
export const DETECTION: Readonly<Record<string, string>> = {
  "detectron2.layers": DETECTRON_LAYERS,
  "detectron2.layers.batch_norm": same("detectron2.layers"),
  "detectron2.layers.wrappers": same("detectron2.layers"),
  "detectron2.modeling": DETECTRON_MODELING,
  "detectron2.modeling.backbone": same("detectron2.modeling"),
  "detectron2.modeling.backbone.build": same("detectron2.modeling"),
  "detectron2.modeling.backbone.backbone": same("detectron2.modeling"),
  "detectron2.modeling.meta_arch": same("detectron2.modeling"),
  "detectron2.modeling.meta_arch.build": same("detectron2.modeling"),
  "detectron2.config": DETECTRON_CONFIG,
  "detectron2.utils.registry": same("fvcore.common.registry"),
  ...DETECTRON,
  "mmcv.utils": REGISTRY,
  "mmcv.utils.registry": REGISTRY,
};

export const DETECTION_PACKAGES = ["detectron2", "detectron2.utils", ...DETECTRON_PACKAGES] as const;

/** what mmcv.cnn has besides its base classes */
export { MMCV_LAYERS };
