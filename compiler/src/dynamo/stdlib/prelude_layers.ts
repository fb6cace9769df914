// Layers of libraries that model files import: timm and fairscale, as far as models use them as building blocks. In:
// nothing. Out: Python text by module name, run by the interpreter as library code.

import { AUDIO, AUDIO_PACKAGES } from "./prelude_audio/index";
import { DETECTION, DETECTION_PACKAGES } from "./prelude_detection";
import { EINX } from "./prelude_einx";
import { HUB } from "./prelude_hub";
import { PERCEPTUAL, PERCEPTUAL_PACKAGES } from "./prelude_perceptual";
import { QUANTIZER_PACKAGES, QUANTIZERS } from "./prelude_quantizers";
import { ROTARY } from "./prelude_rotary";
import { SCIPY } from "./prelude_scipy";
import { TIMM_BLOCKS } from "./prelude_timm_blocks";
import { TIMM_MODEL_FILES, TIMM_MODELS } from "./prelude_timm_models";
import { TIMM_VIT } from "./prelude_timm_vit";

const TIMM_LAYERS = `
import math
from itertools import repeat


def to_ntuple(n):
    def parse(x):
        if isinstance(x, (tuple, list)):
            return tuple(x)
        return tuple(repeat(x, n))
    return parse


to_1tuple, to_2tuple, to_3tuple, to_4tuple = to_ntuple(1), to_ntuple(2), to_ntuple(3), to_ntuple(4)


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    min_value = min_value or divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    if new_v < round_limit * v:
        new_v += divisor
    return new_v


def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    if keep_prob > 0.0 and scale_by_keep:
        random_tensor.div_(keep_prob)
    return x * random_tensor


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        super().__init__()
        self.drop_prob = drop_prob
        self.scale_by_keep = scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training, self.scale_by_keep)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    return nn.init.trunc_normal_(tensor, mean, std, a, b)


trunc_normal_tf_ = trunc_normal_


def lecun_normal_(tensor):
    return nn.init.normal_(tensor)


def get_act_layer(name="relu"):
    if name is None or not isinstance(name, str):
        return name
    return {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "swish": nn.SiLU, "hard_swish": nn.Hardswish,
            "hard_sigmoid": nn.Hardsigmoid, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "mish": nn.Mish,
            "leaky_relu": nn.LeakyReLU, "relu6": nn.ReLU6, "prelu": nn.PReLU}[name]


def create_act_layer(name, inplace=None, **kwargs):
    act = get_act_layer(name)
    return act(inplace=inplace, **kwargs) if inplace is not None and act is not nn.GELU else act(**kwargs)


class LayerNorm(nn.LayerNorm):
    def __init__(self, num_channels, eps=1e-6, affine=True, **kwargs):
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)

    def forward(self, x):
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class LayerNorm2d(nn.LayerNorm):
    def __init__(self, num_channels, eps=1e-6, affine=True, **kwargs):
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class RmsNorm(nn.RMSNorm):
    def __init__(self, channels, eps=1e-6, affine=True, **kwargs):
        super().__init__(channels, eps=eps, elementwise_affine=affine)


class LayerScale(nn.Module):
    def __init__(self, dim, init_values=1e-5, inplace=False):
        super().__init__()
        self.inplace = inplace
        self.gamma = nn.Parameter(init_values * torch.ones(dim))

    def forward(self, x):
        return x.mul_(self.gamma) if self.inplace else x * self.gamma


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, norm_layer=None,
                 bias=True, drop=0.0, use_conv=False):
        super().__init__()
        out_features = out_features or in_features
        hidden_features = hidden_features or in_features
        bias, drops = to_2tuple(bias), to_2tuple(drop)
        linear = (lambda a, b, bias: nn.Conv2d(a, b, 1, bias=bias)) if use_conv else nn.Linear
        self.fc1 = linear(in_features, hidden_features, bias=bias[0])
        self.act = act_layer()
        self.drop1 = nn.Dropout(drops[0])
        self.norm = norm_layer(hidden_features) if norm_layer is not None else nn.Identity()
        self.fc2 = linear(hidden_features, out_features, bias=bias[1])
        self.drop2 = nn.Dropout(drops[1])

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.drop1(x)
        x = self.norm(x)
        x = self.fc2(x)
        x = self.drop2(x)
        return x


class PatchEmbed(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768, norm_layer=None, flatten=True,
                 bias=True, strict_img_size=True, dynamic_img_pad=False, **kwargs):
        super().__init__()
        self.patch_size = to_2tuple(patch_size)
        self.img_size = to_2tuple(img_size)
        self.grid_size = tuple(s // p for s, p in zip(self.img_size, self.patch_size))
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten = flatten
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=self.patch_size, stride=self.patch_size, bias=bias)
        self.norm = norm_layer(embed_dim) if norm_layer else nn.Identity()

    def forward(self, x):
        B, C, H, W = x.shape
        x = self.proj(x)
        if self.flatten:
            x = x.flatten(2).transpose(1, 2)
        x = self.norm(x)
        return x


class SqueezeExcite(nn.Module):
    def __init__(self, channels, rd_ratio=1.0 / 16, rd_channels=None, rd_divisor=8, bias=True, act_layer=nn.ReLU,
                 gate_layer="sigmoid", norm_layer=None, **kwargs):
        super().__init__()
        rd_channels = rd_channels or make_divisible(channels * rd_ratio, rd_divisor, round_limit=0.0)
        self.fc1 = nn.Conv2d(channels, rd_channels, kernel_size=1, bias=bias)
        self.bn = norm_layer(rd_channels) if norm_layer else nn.Identity()
        self.act = create_act_layer(act_layer, inplace=True) if isinstance(act_layer, str) else act_layer(inplace=True)
        self.fc2 = nn.Conv2d(rd_channels, channels, kernel_size=1, bias=bias)
        self.gate = create_act_layer(gate_layer) if isinstance(gate_layer, str) else gate_layer()

    def forward(self, x):
        x_se = x.mean((2, 3), keepdim=True)
        x_se = self.fc1(x_se)
        x_se = self.act(self.bn(x_se))
        x_se = self.fc2(x_se)
        return x * self.gate(x_se)


SEModule = SqueezeExcite


def use_fused_attn(experimental=False):
    return True


class ClassifierHead(nn.Module):
    def __init__(self, in_features, num_classes, pool_type="avg", drop_rate=0.0, **kwargs):
        super().__init__()
        self.global_pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(drop_rate)
        self.fc = nn.Linear(in_features, num_classes)
        self.flatten = nn.Flatten(1)

    def forward(self, x, pre_logits=False):
        x = self.flatten(self.global_pool(x))
        x = self.drop(x)
        return x if pre_logits else self.fc(x)
`;

const TIMM_EFFICIENTNET = `
class SqueezeExcite(nn.Module):
    def __init__(self, in_chs, rd_ratio=0.25, rd_channels=None, act_layer=nn.ReLU, gate_layer=nn.Sigmoid,
                 force_act_layer=None, rd_round_fn=None, **kwargs):
        super().__init__()
        rd_channels = rd_channels or (rd_round_fn or round)(in_chs * rd_ratio)
        act_layer = force_act_layer or act_layer
        self.conv_reduce = nn.Conv2d(in_chs, rd_channels, 1, bias=True)
        self.act1 = act_layer(inplace=True)
        self.conv_expand = nn.Conv2d(rd_channels, in_chs, 1, bias=True)
        self.gate = gate_layer()

    def forward(self, x):
        se = x.mean((2, 3), keepdim=True)
        se = self.conv_expand(self.act1(self.conv_reduce(se)))
        return x * self.gate(se)
`;

const FAIRSCALE_LAYERS = `
class ColumnParallelLinear(nn.Linear):
    def __init__(self, in_features, out_features, bias=True, gather_output=True, init_method=None, **kwargs):
        super().__init__(in_features, out_features, bias=bias)

    def forward(self, input_):
        return F.linear(input_, self.weight, self.bias)


class RowParallelLinear(nn.Linear):
    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False, init_method=None, **kwargs):
        super().__init__(in_features, out_features, bias=bias)

    def forward(self, input_):
        output = F.linear(input_, self.weight)
        return output + self.bias if self.bias is not None else output


class VocabParallelEmbedding(nn.Embedding):
    def __init__(self, num_embeddings, embedding_dim, init_method=None, **kwargs):
        super().__init__(num_embeddings, embedding_dim)


class ParallelEmbedding(VocabParallelEmbedding):
    pass
`;

const FAIRSCALE_INIT = `
def get_model_parallel_world_size():
    return 1


get_data_parallel_world_size = get_model_parallel_world_size


def get_model_parallel_rank():
    return 0


get_data_parallel_rank = get_model_parallel_rank


def model_parallel_is_initialized():
    return True


def initialize_model_parallel(*args, **kwargs):
    pass
`;

const TIMM_REGISTRY = `
def register_model(fn):
    return fn


def register_notrace_module(module):
    return module


def register_notrace_function(fn):
    return fn


def is_scriptable():
    return False


is_exportable = is_no_jit = is_scriptable
`;

const TIMM_DATA = `
IMAGENET_DEFAULT_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEFAULT_STD = (0.229, 0.224, 0.225)
IMAGENET_INCEPTION_MEAN = IMAGENET_INCEPTION_STD = (0.5, 0.5, 0.5)
OPENAI_CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
OPENAI_CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
`;

/** a module's text; what the text lacks is unknown */
export const LAYER_LIBRARIES: Readonly<Record<string, string>> = {
  ...AUDIO,
  ...SCIPY,
  ...DETECTION,
  ...QUANTIZERS,
  ...PERCEPTUAL,
  rotary_embedding_torch: ROTARY,
  einx: EINX,
  "timm.layers": TIMM_LAYERS + TIMM_BLOCKS,
  "timm.models.layers": TIMM_LAYERS + TIMM_BLOCKS,
  "timm.models.vision_transformer": TIMM_VIT,
  "timm.models._networks": TIMM_MODELS,
  ...Object.fromEntries(TIMM_MODEL_FILES.map(n => [`timm.models.${n}`, "from timm.models._networks import *\n"])),
  torch_hub: HUB,
  "timm.models.efficientnet_blocks": TIMM_EFFICIENTNET,
  "timm.models._efficientnet_blocks": TIMM_EFFICIENTNET,
  "timm.models.registry": TIMM_REGISTRY,
  "timm.models._registry": TIMM_REGISTRY,
  "timm.data": TIMM_DATA,
  "timm.data.constants": TIMM_DATA,
  "fairscale.nn.model_parallel.layers": FAIRSCALE_LAYERS,
  "fairscale.nn.model_parallel.initialize": FAIRSCALE_INIT,
};

/** packages that hold them: unknown but for these submodules */
export const LAYER_PACKAGES = new Set([
  "timm",
  "timm.models",
  "fairscale",
  "fairscale.nn",
  "fairscale.nn.model_parallel",
  ...AUDIO_PACKAGES,
  ...DETECTION_PACKAGES,
  ...QUANTIZER_PACKAGES,
  ...PERCEPTUAL_PACKAGES,
]);
