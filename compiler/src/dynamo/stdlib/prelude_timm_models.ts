// timm's networks by their names, under the names that timm gives to their parts, whole or as lists of feature maps:
// Vision Transformers, ResNets (He et al. 2016, Xie et al. 2017), EfficientNets and MobileNetV2 (Tan and Le 2019, Sandler et
// al. 2018), ConvNeXts (Liu et al. 2022, Woo et al. 2023). And what torch.hub finds under the names of known repositories. In:
// nothing. Out: Python text; weights are never loaded, and a name that is not known gives an unknown value.

import { TIMM_HYBRID } from "./prelude_timm_hybrid";

/** files of timm.models that a network is imported from */
export const TIMM_MODEL_FILES = [
  "resnet",
  "efficientnet",
  "convnext",
  "factory",
  "_factory",
  "_features",
  "features",
] as const;

const NETWORKS = `
import math
import re
from functools import partial
import torchvision.models.resnet as _plain
from timm.layers import (BatchNormAct2d, DropPath, GlobalResponseNorm, LayerNorm2d, Mlp, SelectAdaptivePool2d,
                         create_classifier, make_divisible)
from timm.models.efficientnet_blocks import SqueezeExcite
from timm.models.vision_transformer import VisionTransformer, VisionTransformerDistilled


class FeatureInfo:
    def __init__(self, rows, out_indices):
        self.info, self.out_indices = rows, tuple(out_indices)

    def get(self, key, idx=None):
        if idx is None:
            return [self.info[i][key] for i in self.out_indices]
        return self.info[idx][key] if isinstance(idx, int) else [self.info[i][key] for i in idx]

    def channels(self, idx=None):
        return self.get("num_chs", idx)

    def reduction(self, idx=None):
        return self.get("reduction", idx)

    def module_name(self, idx=None):
        return self.get("module", idx)

    def get_dicts(self, keys=None, idx=None):
        return [self.info[i] for i in (self.out_indices if idx is None else idx)]

    def __getitem__(self, i):
        return self.info[i]

    def __len__(self):
        return len(self.info)


class FeatureListNet(nn.ModuleDict):
    # the network up to its last wanted stage, whose wanted stages' results it lists
    def __init__(self, model, out_indices):
        super().__init__()
        rows = model.feature_info
        wanted = [i % len(rows) for i in out_indices]
        ends, steps = [rows[i]["module"] for i in wanted], model._steps()
        last = max([name for name, _ in steps].index(end) for end in ends)
        self._ends = set(ends)
        for name, module in steps[:last + 1]:
            self[name.replace(".", "_")] = module
        self._names = [name for name, _ in steps[:last + 1]]
        self.feature_info = FeatureInfo(rows, wanted)
        self.grad_checkpointing = False

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def forward(self, x):
        out = []
        for name, module in zip(self._names, self.values()):
            x = module(x)
            if name in self._ends:
                out.append(x)
        return out


class FeatureGetterNet(nn.Module):
    def __init__(self, model, out_indices):
        super().__init__()
        rows = model.feature_info
        self.model, self.out_indices = model, [i % len(rows) for i in out_indices]
        self.feature_info = FeatureInfo(rows, self.out_indices)

    def forward(self, x):
        return self.model.forward_intermediates(x, indices=self.out_indices, intermediates_only=True)


class _Network(nn.Module):
    head_name = "fc"

    def set_grad_checkpointing(self, enable=True):
        pass

    def get_classifier(self):
        return getattr(self, self.head_name)

    def reset_classifier(self, num_classes, global_pool="avg"):
        self.num_classes = num_classes
        self.global_pool, head = create_classifier(self.num_features, num_classes, pool_type=global_pool)
        setattr(self, self.head_name, head)

    def forward_features(self, x):
        for _, module in self._trunk():
            x = module(x)
        return x

    def forward_head(self, x, pre_logits=False):
        x = self.global_pool(x)
        if self.drop_rate:
            x = F.dropout(x, p=self.drop_rate, training=self.training)
        return x if pre_logits else self.get_classifier()(x)

    def forward(self, x):
        return self.forward_head(self.forward_features(x))

    def _trunk(self):
        return self._steps()


BasicBlock, Bottleneck = _plain.BasicBlock, _plain.Bottleneck


class ResNet(_Network):
    def __init__(self, block, layers, num_classes=1000, in_chans=3, output_stride=32, global_pool="avg", drop_rate=0.0,
                 cardinality=1, base_width=64, norm_layer=nn.BatchNorm2d, **kwargs):
        super().__init__()
        dilated = {32: [False] * 3, 16: [False, False, True], 8: [False, True, True]}[output_stride]
        net = _plain.ResNet(block, layers, groups=cardinality, width_per_group=base_width, norm_layer=norm_layer,
                            replace_stride_with_dilation=dilated)
        self.num_classes, self.drop_rate, self.num_features = num_classes, drop_rate, 512 * block.expansion
        self.conv1 = net.conv1 if in_chans == 3 else nn.Conv2d(in_chans, 64, 7, stride=2, padding=3, bias=False)
        self.bn1, self.act1, self.maxpool = net.bn1, net.relu, net.maxpool
        self.layer1, self.layer2, self.layer3, self.layer4 = net.layer1, net.layer2, net.layer3, net.layer4
        self.global_pool, self.fc = create_classifier(self.num_features, num_classes, pool_type=global_pool)
        self.feature_info = [dict(num_chs=64, reduction=2, module="act1")] + [
            dict(num_chs=64 * 2 ** i * block.expansion, reduction=min(4 * 2 ** i, output_stride), module="layer%d" % (i + 1))
            for i in range(4)]

    def _steps(self):
        names = ["conv1", "bn1", "act1", "maxpool", "layer1", "layer2", "layer3", "layer4"]
        return [(n, getattr(self, n)) for n in names]


def _same_pads(sizes, kernels, strides):
    pads = []
    for size, k, s in reversed(list(zip(sizes, kernels, strides))):
        need = max((-(-size // s) - 1) * s + k - size, 0)
        pads += [need // 2, need - need // 2]
    return pads


class Conv2dSame(nn.Conv2d):
    # padded as much as the input's size asks for
    def forward(self, x):
        return self._padded(x, self.weight)

    def _padded(self, x, weight):
        x = F.pad(x, _same_pads(x.shape[-2:], self.kernel_size, self.stride))
        return F.conv2d(x, weight, self.bias, self.stride, 0, self.dilation, self.groups)


def _conv(into, out, kernel=1, stride=1, groups=1, same=False):
    kind = Conv2dSame if same and stride > 1 else nn.Conv2d
    return kind(into, out, kernel, stride=stride, padding=0 if kind is Conv2dSame else kernel // 2, groups=groups, bias=False)


class DepthwiseSeparableConv(nn.Module):
    def __init__(self, into, out, kernel, stride, se, act, norm, same):
        super().__init__()
        self.has_skip = stride == 1 and into == out
        self.conv_dw, self.bn1 = _conv(into, into, kernel, stride, into, same), norm(into, act_layer=act)
        self.se = se(into, into) if se else nn.Identity()
        self.conv_pw, self.bn2 = _conv(into, out), norm(out, apply_act=False)
        self.drop_path = nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv_pw(self.se(self.bn1(self.conv_dw(x)))))
        return self.drop_path(y) + x if self.has_skip else y


class InvertedResidual(nn.Module):
    def __init__(self, into, out, kernel, stride, expand, se, act, norm, same):
        super().__init__()
        self.has_skip, wide = stride == 1 and into == out, make_divisible(into * expand)
        self.conv_pw, self.bn1 = _conv(into, wide), norm(wide, act_layer=act)
        self.conv_dw, self.bn2 = _conv(wide, wide, kernel, stride, wide, same), norm(wide, act_layer=act)
        self.se = se(wide, into) if se else nn.Identity()
        self.conv_pwl, self.bn3 = _conv(wide, out), norm(out, apply_act=False)
        self.drop_path = nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv_dw(self.bn1(self.conv_pw(x))))
        y = self.bn3(self.conv_pwl(self.se(y)))
        return self.drop_path(y) + x if self.has_skip else y


class EfficientNet(_Network):
    head_name = "classifier"

    def __init__(self, rows, width, depth, act_layer, se_ratio=0.0, keeps_ends=False, num_features=None, num_classes=1000,
                 in_chans=3, global_pool="avg", drop_rate=0.0, same=False, bn_eps=1e-5, **kwargs):
        super().__init__()
        norm = partial(BatchNormAct2d, eps=bn_eps)
        scaled = lambda n: make_divisible(n * width)
        se = partial(self._squeezed, ratio=se_ratio, act=act_layer) if se_ratio else None
        stem = 32 if keeps_ends else scaled(32)
        self.conv_stem, self.bn1 = _conv(in_chans, stem, 3, 2, same=same), norm(stem, act_layer=act_layer)
        # where releases before 0.6 had the activations that norms have now
        self.act1, self.act2 = nn.Identity(), nn.Identity()
        self.feature_info, stages, into, stride_now = [], [], stem, 2
        for i, (kernel, stride, expand, out, repeats) in enumerate(rows):
            at_end, out = i in (0, len(rows) - 1), scaled(out)
            blocks = []
            for j in range(repeats if keeps_ends and at_end else math.ceil(repeats * depth)):
                step = stride if j == 0 else 1
                blocks.append(DepthwiseSeparableConv(into, out, kernel, step, se, act_layer, norm, same) if expand == 1 else
                              InvertedResidual(into, out, kernel, step, expand, se, act_layer, norm, same))
                into = out
            stages.append(nn.Sequential(*blocks))
            stride_now *= stride
            if i + 1 == len(rows) or rows[i + 1][1] > 1:
                self.feature_info.append(dict(num_chs=into, reduction=stride_now, module="blocks.%d" % i))
        self.blocks = nn.Sequential(*stages)
        self.num_features, self.num_classes, self.drop_rate = num_features or scaled(1280), num_classes, drop_rate
        self.conv_head, self.bn2 = _conv(into, self.num_features), norm(self.num_features, act_layer=act_layer)
        self.global_pool, self.classifier = create_classifier(self.num_features, num_classes, pool_type=global_pool)

    @staticmethod
    def _squeezed(wide, into, ratio, act):
        return SqueezeExcite(wide, rd_channels=round(into * ratio), act_layer=act)

    def _steps(self):
        return [("conv_stem", self.conv_stem), ("bn1", self.bn1)] + [
            ("blocks.%d" % i, stage) for i, stage in enumerate(self.blocks)]

    def _trunk(self):
        return self._steps() + [("conv_head", self.conv_head), ("bn2", self.bn2)]


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim, drop_path=0.0, ls_init_value=1e-6, use_grn=False):
        super().__init__()
        self.conv_dw = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = _GlobalMlp(dim, 4 * dim) if use_grn else Mlp(dim, 4 * dim)
        self.gamma = nn.Parameter(ls_init_value * torch.ones(dim)) if ls_init_value else None
        self.shortcut, self.drop_path = nn.Identity(), DropPath(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x):
        y = self.mlp(self.norm(self.conv_dw(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)
        if self.gamma is not None:
            y = y.mul(self.gamma.reshape(1, -1, 1, 1))
        return self.drop_path(y) + self.shortcut(x)


class _GlobalMlp(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1, self.act, self.drop1 = nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(0.0)
        self.grn, self.fc2, self.drop2 = GlobalResponseNorm(hidden), nn.Linear(hidden, dim), nn.Dropout(0.0)

    def forward(self, x):
        return self.drop2(self.fc2(self.grn(self.drop1(self.act(self.fc1(x))))))


class ConvNeXtStage(nn.Module):
    def __init__(self, into, dim, stride, depth, rates, **kwargs):
        super().__init__()
        self.downsample = nn.Identity() if into == dim and stride == 1 else nn.Sequential(
            LayerNorm2d(into), nn.Conv2d(into, dim, stride, stride=stride))
        self.blocks = nn.Sequential(*[ConvNeXtBlock(dim, rates[j], **kwargs) for j in range(depth)])

    def forward(self, x):
        return self.blocks(self.downsample(x))


class _NormHead(nn.Module):
    def __init__(self, dim, num_classes, pool_type, drop_rate):
        super().__init__()
        self.global_pool, self.norm = SelectAdaptivePool2d(pool_type=pool_type), LayerNorm2d(dim)
        self.flatten, self.pre_logits, self.drop = nn.Flatten(1) if pool_type else nn.Identity(), nn.Identity(), nn.Dropout(drop_rate)
        self.fc = nn.Linear(dim, num_classes) if num_classes > 0 else nn.Identity()

    def forward(self, x, pre_logits=False):
        x = self.drop(self.pre_logits(self.flatten(self.norm(self.global_pool(x)))))
        return x if pre_logits else self.fc(x)


class ConvNeXt(_Network):
    def __init__(self, depths, dims, num_classes=1000, in_chans=3, global_pool="avg", drop_rate=0.0, drop_path_rate=0.0,
                 use_grn=False, patch_size=4, **kwargs):
        super().__init__()
        self.num_classes, self.num_features = num_classes, dims[-1]
        self.stem = nn.Sequential(nn.Conv2d(in_chans, dims[0], patch_size, stride=patch_size), LayerNorm2d(dims[0]))
        total, done, stages = sum(depths), 0, []
        for i, (depth, dim) in enumerate(zip(depths, dims)):
            rates = [drop_path_rate * (done + j) / max(1, total - 1) for j in range(depth)]
            stages.append(ConvNeXtStage(dims[max(0, i - 1)], dim, 2 if i > 0 else 1, depth, rates, use_grn=use_grn,
                                        ls_init_value=None if use_grn else 1e-6))
            done += depth
        self.stages = nn.Sequential(*stages)
        self.feature_info = [dict(num_chs=d, reduction=4 * 2 ** i, module="stages.%d" % i) for i, d in enumerate(dims)]
        self.norm_pre = nn.Identity()
        self.head = _NormHead(dims[-1], num_classes, global_pool, drop_rate)

    def _steps(self):
        return [("stem", self.stem)] + [("stages.%d" % i, stage) for i, stage in enumerate(self.stages)]

    def get_classifier(self):
        return self.head.fc

    def reset_classifier(self, num_classes, global_pool="avg"):
        self.num_classes = num_classes
        self.head.fc = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward_head(self, x, pre_logits=False):
        return self.head(x, pre_logits=pre_logits)


_RESNETS = {
    "resnet18": (BasicBlock, [2, 2, 2, 2]), "resnet34": (BasicBlock, [3, 4, 6, 3]), "resnet50": (Bottleneck, [3, 4, 6, 3]),
    "resnet101": (Bottleneck, [3, 4, 23, 3]), "resnet152": (Bottleneck, [3, 8, 36, 3]),
    "resnext50_32x4d": (Bottleneck, [3, 4, 6, 3], 32, 4), "resnext101_32x4d": (Bottleneck, [3, 4, 23, 3], 32, 4),
    "resnext101_32x8d": (Bottleneck, [3, 4, 23, 3], 32, 8), "resnext101_64x4d": (Bottleneck, [3, 4, 23, 3], 64, 4),
    "wide_resnet50_2": (Bottleneck, [3, 4, 6, 3], 1, 128), "wide_resnet101_2": (Bottleneck, [3, 4, 23, 3], 1, 128)}
_SCALES = [(1.0, 1.0), (1.0, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8), (1.6, 2.2), (1.8, 2.6), (2.0, 3.1)]
_SCALED = [(3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3), (5, 1, 6, 112, 3), (5, 2, 6, 192, 4),
           (3, 1, 6, 320, 1)]
_MOBILE = [(3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (3, 2, 6, 32, 3), (3, 2, 6, 64, 4), (3, 1, 6, 96, 3), (3, 2, 6, 160, 3),
           (3, 1, 6, 320, 1)]
_CONVNEXTS = {"atto": ([2, 2, 6, 2], 40), "femto": ([2, 2, 6, 2], 48), "pico": ([2, 2, 6, 2], 64), "nano": ([2, 2, 8, 2], 80),
              "tiny": ([3, 3, 9, 3], 96), "small": ([3, 3, 27, 3], 96), "base": ([3, 3, 27, 3], 128),
              "large": ([3, 3, 27, 3], 192), "xlarge": ([3, 3, 27, 3], 256), "huge": ([3, 3, 27, 3], 352)}
_VITS = {"tiny": (192, 12, 3), "xsmall": (256, 12, 4), "small": (384, 12, 6), "medium": (512, 12, 8), "base": (768, 12, 12),
         "large": (1024, 24, 16), "huge": (1280, 32, 16)}


def _transformer(name):
    found = re.match(r"^(vit|deit3|deit|vit_deit)_(tiny|xsmall|small|medium|base|large|huge)(_distilled)?_patch(\\d+)_?(.*)$", name)
    if found is None:
        return None
    family, size, _, patch, rest = found.groups()
    words = [w for w in rest.split("_") if w]
    if any(re.match(r"^(\\d+|dinov2|reg4|clip|quickgelu|openai|laion2b|mae|mocov3|in21k|augreg|dino|ft|in1k|in12k|lvd142m|a1)$", w) is None
           for w in words):
        return None
    width, depth, heads = _VITS[size]
    sizes = [int(w) for w in words if w.isdigit()]
    given = dict(patch_size=int(patch), embed_dim=width, depth=depth, num_heads=heads, img_size=sizes[0] if sizes else 224)
    if "dinov2" in words:
        given.update(init_values=1e-5, img_size=sizes[0] if sizes else 518)
    if "reg4" in words:
        given.update(reg_tokens=4, no_embed_class=True)
    if "clip" in words:
        given.update(pre_norm=True)
    if family == "deit3":
        given.update(no_embed_class=True, init_values=1e-6)
    return partial(VisionTransformerDistilled if found.group(3) else VisionTransformer, **given)


def _entrypoint(name):
    plain = re.sub(r"^(tf|ig|ssl|swsl|gluon|tv)_", "", re.sub(r"_(ns|ap|in21k|in21ft1k|in22k|in22ft1k|fb)$", "", name))
    if plain in _RESNETS:
        block, layers, *grouped = _RESNETS[plain]
        return partial(ResNet, block, layers, **dict(zip(("cardinality", "base_width"), grouped)))
    scaled = re.match(r"^efficientnet_(b|lite)(\\d)$", plain)
    if scaled is not None and int(scaled.group(2)) < (8 if scaled.group(1) == "b" else 5):
        width, depth = _SCALES[int(scaled.group(2))]
        given = dict(act_layer=nn.SiLU, se_ratio=0.25)
        if scaled.group(1) == "lite":
            given = dict(act_layer=nn.ReLU6, keeps_ends=True, num_features=1280)
        if name.startswith("tf_"):
            given.update(same=True, bn_eps=1e-3)
        return partial(EfficientNet, _SCALED, width, depth, **given)
    mobile = re.match(r"^mobilenetv2_(\\d\\d\\d)$", plain)
    if mobile is not None:
        width = int(mobile.group(1)) / 100
        return partial(EfficientNet, _MOBILE, width, 1.0, act_layer=nn.ReLU6, keeps_ends=width <= 1.0,
                       num_features=1280 if width <= 1.0 else None)
    following = re.match(r"^convnext(v2)?_(\\w+?)$", plain)
    if following is not None and following.group(2) in _CONVNEXTS and (following.group(1) or following.group(2) in (
            "tiny", "small", "base", "large", "xlarge")):
        depths, width = _CONVNEXTS[following.group(2)]
        return partial(ConvNeXt, depths, [width * 2 ** i for i in range(4)], use_grn=following.group(1) is not None)
    return _transformer(name) or _hybrid(name)


def is_model(model_name):
    return _entrypoint(model_name.split(".")[0]) is not None


def create_model(model_name, pretrained=False, pretrained_cfg=None, checkpoint_path="", scriptable=None, exportable=None,
                 no_jit=None, **kwargs):
    name = model_name.split("/")[-1].split(".")[0] if isinstance(model_name, str) else ""
    make = _entrypoint(name)
    if make is None:
        return _unknown("timm.create_model(...)")
    kwargs = {k: v for k, v in kwargs.items() if v is not None}
    listed, at = kwargs.pop("features_only", False), kwargs.pop("out_indices", None)
    kwargs.pop("feature_cfg", None)
    model = make(**kwargs)
    size = model.patch_embed.img_size if isinstance(model, VisionTransformer) else (224, 224)
    model.default_cfg = model.pretrained_cfg = dict(
        num_classes=1000, input_size=(3, *size), mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225), crop_pct=0.9,
        interpolation="bicubic", architecture=name)
    if not listed:
        return model
    most = len(model.feature_info)
    if isinstance(model, VisionTransformer):
        return FeatureGetterNet(model, range(most - 3, most) if at is None else range(most - at, most) if isinstance(at, int) else at)
    return FeatureListNet(model, range(most) if at is None else range(most - at, most) if isinstance(at, int) else at)


for _name in [*_RESNETS, *["efficientnet_b%d" % i for i in range(8)], *["tf_efficientnet_b%d" % i for i in range(8)],
              *["tf_efficientnet_lite%d" % i for i in range(5)], "mobilenetv2_100",
              *["convnext_" + n for n in ("tiny", "small", "base", "large")]]:
    globals()[_name] = partial(create_model, _name)
`;

/** all of them, as one module */
export const TIMM_MODELS = NETWORKS + TIMM_HYBRID;
