// timm's transformers over the maps of a network: a ResNet whose weights are standardised and whose norms are of groups
// (Kolesnikov et al. 2020, Dosovitskiy et al. 2021). Python text that goes with timm's other networks.

export const TIMM_HYBRID = `
class StdConv2dSame(Conv2dSame):
    def forward(self, x):
        kept = self.weight
        weight = F.batch_norm(kept.reshape(1, self.out_channels, -1), None, None, training=True, momentum=0.0, eps=1e-8)
        return self._padded(x, weight.reshape(kept.shape))


class MaxPool2dSame(nn.MaxPool2d):
    def forward(self, x):
        x = F.pad(x, _same_pads(x.shape[-2:], (self.kernel_size,) * 2, (self.stride,) * 2), value=-float("inf"))
        return F.max_pool2d(x, self.kernel_size, self.stride)


class GroupNormAct(nn.GroupNorm):
    def __init__(self, num_channels, apply_act=True, num_groups=32):
        super().__init__(num_groups, num_channels)
        self.drop, self.act = nn.Identity(), nn.ReLU(inplace=True) if apply_act else nn.Identity()

    def forward(self, x):
        return self.act(super().forward(x))


class DownsampleConv(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.conv, self.norm = StdConv2dSame(into, out, 1, stride=stride, bias=False), GroupNormAct(out, apply_act=False)

    def forward(self, x):
        return self.norm(self.conv(x))


class _StandardisedBottleneck(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        inner = out // 4
        self.downsample = DownsampleConv(into, out, stride) if stride > 1 or into != out else None
        self.conv1, self.norm1 = StdConv2dSame(into, inner, 1, bias=False), GroupNormAct(inner)
        self.conv2, self.norm2 = StdConv2dSame(inner, inner, 3, stride=stride, bias=False), GroupNormAct(inner)
        self.conv3, self.norm3 = StdConv2dSame(inner, out, 1, bias=False), GroupNormAct(out, apply_act=False)
        self.drop_path, self.act3 = nn.Identity(), nn.ReLU(inplace=True)

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = self.norm2(self.conv2(self.norm1(self.conv1(x))))
        return self.act3(self.drop_path(self.norm3(self.conv3(x))) + kept)


class _Stage(nn.Module):
    def __init__(self, into, out, stride, depth):
        super().__init__()
        self.blocks = nn.Sequential(*[
            _StandardisedBottleneck(into if i == 0 else out, out, stride if i == 0 else 1) for i in range(depth)])

    def forward(self, x):
        return self.blocks(x)


class ResNetV2(nn.Module):
    def __init__(self, layers, in_chans=3):
        super().__init__()
        self.stem = nn.Sequential()
        self.stem.add_module("conv", StdConv2dSame(in_chans, 64, 7, stride=2, bias=False))
        self.stem.add_module("norm", GroupNormAct(64))
        self.stem.add_module("pool", MaxPool2dSame(3, stride=2))
        self.stages = nn.Sequential(*[
            _Stage(64 if i == 0 else 128 * 2 ** i, 256 * 2 ** i, 1 if i == 0 else 2, depth) for i, depth in enumerate(layers)])
        self.num_features, self.norm, self.head = 128 * 2 ** len(layers), nn.Identity(), nn.Identity()

    def forward_features(self, x):
        return self.norm(self.stages(self.stem(x)))

    def forward(self, x):
        return self.head(self.forward_features(x))


class HybridEmbed(nn.Module):
    def __init__(self, backbone, img_size=384, patch_size=1, in_chans=3, embed_dim=768, bias=True, **kwargs):
        super().__init__()
        size = img_size if isinstance(img_size, (tuple, list)) else (img_size, img_size)
        self.img_size, self.patch_size, self.backbone = tuple(size), (patch_size, patch_size), backbone(in_chans=in_chans)
        step = 2 ** (1 + len(self.backbone.stages)) * patch_size
        self.grid_size = self.feature_size = (size[0] // step, size[1] // step)
        self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.proj = nn.Conv2d(self.backbone.num_features, embed_dim, patch_size, stride=patch_size, bias=bias)

    def forward(self, x):
        return self.proj(self.backbone(x)).flatten(2).transpose(1, 2)


def _hybrid(name):
    found = re.match(r"^vit_(small|base|large)_(?:r26_s32|r50_s16|r50_s32|resnet50)_(\\d+)$", name)
    if found is None:
        return None
    width, depth, heads = _VITS[found.group(1)]
    layers = (2, 2, 2, 2) if "r26" in name else (3, 4, 6, 3) if "s32" in name else (3, 4, 9)
    return partial(VisionTransformer, img_size=int(found.group(2)), embed_dim=width, depth=depth, num_heads=heads,
                   embed_layer=partial(HybridEmbed, partial(ResNetV2, layers)), patch_size=1)
`;
