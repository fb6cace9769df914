// Layers of libraries that model files import: timm and fairscale, as far as models use them as building blocks. In:
// nothing. Out: Python text by module name, run by the interpreter as library code.

import { AUDIO, AUDIO_PACKAGES } from "./prelude_audio/index";
import { DETECTION, DETECTION_PACKAGES } from "./prelude_detection";
import { EINX } from "./prelude_einx";
import { ROTARY } from "./prelude_rotary";
import { SCIPY } from "./prelude_scipy";
import { TIMM_BLOCKS } from "./prelude_timm_blocks";

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

const TIMM_VIT = `
from timm.layers import DropPath, LayerScale, Mlp, PatchEmbed, trunc_normal_, use_fused_attn


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=False, qk_norm=False, proj_bias=True, attn_drop=0.0, proj_drop=0.0,
                 norm_layer=nn.LayerNorm, **kwargs):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.fused_attn = use_fused_attn()
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x, attn_mask=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        if self.fused_attn:
            x = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask,
                                               dropout_p=self.attn_drop.p if self.training else 0.0)
        else:
            q = q * self.scale
            attn = q @ k.transpose(-2, -1)
            attn = attn.softmax(dim=-1)
            attn = self.attn_drop(attn)
            x = attn @ v
        x = x.transpose(1, 2).reshape(B, N, C)
        x = self.proj(x)
        x = self.proj_drop(x)
        return x


class Block(nn.Module):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, qkv_bias=False, qk_norm=False, proj_bias=True, proj_drop=0.0,
                 attn_drop=0.0, init_values=None, drop_path=0.0, act_layer=nn.GELU, norm_layer=nn.LayerNorm,
                 mlp_layer=Mlp, **kwargs):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads=num_heads, qkv_bias=qkv_bias, qk_norm=qk_norm, proj_bias=proj_bias,
                              attn_drop=attn_drop, proj_drop=proj_drop, norm_layer=norm_layer)
        self.ls1 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = mlp_layer(in_features=dim, hidden_features=int(dim * mlp_ratio), act_layer=act_layer, bias=proj_bias,
                             drop=proj_drop)
        self.ls2 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x, attn_mask=None):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x), attn_mask=attn_mask)))
        x = x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))
        return x


class VisionTransformer(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, num_classes=1000, global_pool="token", embed_dim=768,
                 depth=12, num_heads=12, mlp_ratio=4.0, qkv_bias=True, qk_norm=False, init_values=None,
                 drop_rate=0.0, pos_drop_rate=0.0, proj_drop_rate=0.0, attn_drop_rate=0.0, drop_path_rate=0.0,
                 norm_layer=None, act_layer=None, block_fn=Block, embed_layer=PatchEmbed, **kwargs):
        super().__init__()
        norm_layer = norm_layer or (lambda d: nn.LayerNorm(d, eps=1e-6))
        act_layer = act_layer or nn.GELU
        self.num_classes, self.global_pool = num_classes, global_pool
        self.num_features = self.embed_dim = embed_dim
        self.num_prefix_tokens = 1
        self.patch_embed = embed_layer(img_size=img_size, patch_size=patch_size, in_chans=in_chans, embed_dim=embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.patch_embed.num_patches + 1, embed_dim))
        self.pos_drop = nn.Dropout(p=pos_drop_rate)
        self.blocks = nn.Sequential(*[
            block_fn(dim=embed_dim, num_heads=num_heads, mlp_ratio=mlp_ratio, qkv_bias=qkv_bias, qk_norm=qk_norm,
                     init_values=init_values, proj_drop=proj_drop_rate, attn_drop=attn_drop_rate,
                     drop_path=drop_path_rate * i / max(1, depth - 1), norm_layer=norm_layer, act_layer=act_layer)
            for i in range(depth)])
        self.norm = norm_layer(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def init_weights(self, mode=""):
        pass

    def _init_weights(self, m):
        pass

    def no_weight_decay(self):
        return {"pos_embed", "cls_token", "dist_token"}

    def forward_features(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)
        x = self.pos_drop(x + self.pos_embed)
        x = self.blocks(x)
        return self.norm(x)

    def forward_head(self, x, pre_logits=False):
        x = x[:, 1:].mean(dim=1) if self.global_pool == "avg" else x[:, 0]
        return x if pre_logits else self.head(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.forward_head(x)


def _cfg(url="", **kwargs):
    return {"url": url, **kwargs}
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
  rotary_embedding_torch: ROTARY,
  einx: EINX,
  "timm.layers": TIMM_LAYERS + TIMM_BLOCKS,
  "timm.models.layers": TIMM_LAYERS + TIMM_BLOCKS,
  "timm.models.vision_transformer": TIMM_VIT,
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
]);
