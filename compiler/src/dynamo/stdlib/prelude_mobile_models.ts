// torchvision's small networks: MobileNetV3 (Howard et al. 2019), EfficientNet and its second version (Tan and Le 2019, 2021),
// SqueezeNet (Iandola et al. 2016), ShuffleNetV2 (Ma et al. 2018). Python text; weights are never loaded.

export const MOBILE_3 = `
from functools import partial
from torchvision.ops.misc import Conv2dNormActivation, Permute, SqueezeExcitation, StochasticDepth


class InvertedResidualConfig:
    def __init__(self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, dilation,
                 width_mult):
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.kernel, self.use_se, self.use_hs = kernel, use_se, activation == "HS"
        self.stride, self.dilation = stride, dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        return _make_divisible(channels * width_mult, 8)


class _InvertedResidual3(nn.Module):
    def __init__(self, cnf, norm_layer, se_layer=partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)):
        super().__init__()
        act = nn.Hardswish if cnf.use_hs else nn.ReLU
        part = partial(Conv2dNormActivation, norm_layer=norm_layer)
        wide, stride = cnf.expanded_channels, 1 if cnf.dilation > 1 else cnf.stride
        layers = []
        if wide != cnf.input_channels:
            layers.append(part(cnf.input_channels, wide, kernel_size=1, activation_layer=act))
        layers.append(part(wide, wide, kernel_size=cnf.kernel, stride=stride, dilation=cnf.dilation, groups=wide,
                           activation_layer=act))
        if cnf.use_se:
            layers.append(se_layer(wide, _make_divisible(wide // 4, 8)))
        layers.append(part(wide, cnf.out_channels, kernel_size=1, activation_layer=None))
        self.block = nn.Sequential(*layers)
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels, self._is_cn = cnf.out_channels, cnf.stride > 1

    def forward(self, input):
        return input + self.block(input) if self.use_res_connect else self.block(input)


class MobileNetV3(nn.Module):
    def __init__(self, inverted_residual_setting, last_channel, num_classes=1000, block=None, norm_layer=None,
                 dropout=0.2, **kwargs):
        super().__init__()
        block = block or _InvertedResidual3
        norm = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        part = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.Hardswish)
        last = inverted_residual_setting[-1].out_channels
        self.features = nn.Sequential(
            part(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2),
            *[block(c, norm) for c in inverted_residual_setting], part(last, 6 * last, kernel_size=1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(6 * last, last_channel), nn.Hardswish(inplace=True),
                                        nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def _mobilenet_v3_conf(arch, width_mult=1.0, reduced_tail=False, dilated=False, **kwargs):
    part, d = 2 if reduced_tail else 1, 2 if dilated else 1
    if arch == "mobilenet_v3_large":
        rows = [(16, 3, 16, 16, False, "RE", 1, 1), (16, 3, 64, 24, False, "RE", 2, 1), (24, 3, 72, 24, False, "RE", 1, 1),
                (24, 5, 72, 40, True, "RE", 2, 1), (40, 5, 120, 40, True, "RE", 1, 1), (40, 5, 120, 40, True, "RE", 1, 1),
                (40, 3, 240, 80, False, "HS", 2, 1), (80, 3, 200, 80, False, "HS", 1, 1),
                (80, 3, 184, 80, False, "HS", 1, 1), (80, 3, 184, 80, False, "HS", 1, 1),
                (80, 3, 480, 112, True, "HS", 1, 1), (112, 3, 672, 112, True, "HS", 1, 1),
                (112, 5, 672, 160 // part, True, "HS", 2, d)]
        rows += [(160 // part, 5, 960 // part, 160 // part, True, "HS", 1, d)] * 2
        last = 1280 // part
    else:
        rows = [(16, 3, 16, 16, True, "RE", 2, 1), (16, 3, 72, 24, False, "RE", 2, 1), (24, 3, 88, 24, False, "RE", 1, 1),
                (24, 5, 96, 40, True, "HS", 2, 1), (40, 5, 240, 40, True, "HS", 1, 1), (40, 5, 240, 40, True, "HS", 1, 1),
                (40, 5, 120, 48, True, "HS", 1, 1), (48, 5, 144, 48, True, "HS", 1, 1),
                (48, 5, 288, 96 // part, True, "HS", 2, d)]
        rows += [(96 // part, 5, 576 // part, 96 // part, True, "HS", 1, d)] * 2
        last = 1024 // part
    return ([InvertedResidualConfig(*r, width_mult) for r in rows],
            InvertedResidualConfig.adjust_channels(last, width_mult))


def mobilenet_v3_large(pretrained=False, progress=True, *, weights=None, **kwargs):
    return MobileNetV3(*_mobilenet_v3_conf("mobilenet_v3_large", **kwargs), **_unscaled(kwargs))


def mobilenet_v3_small(pretrained=False, progress=True, *, weights=None, **kwargs):
    return MobileNetV3(*_mobilenet_v3_conf("mobilenet_v3_small", **kwargs), **_unscaled(kwargs))


def _unscaled(kwargs):
    return {k: v for k, v in kwargs.items() if k not in ("width_mult", "reduced_tail", "dilated")}
`;

export const EFFICIENT = `
import math


class MBConvConfig:
    fused = False

    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, width_mult=1.0,
                 depth_mult=1.0, block=None):
        self.expand_ratio, self.kernel, self.stride = expand_ratio, kernel, stride
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.num_layers = int(math.ceil(num_layers * depth_mult))
        self.block = block or (FusedMBConv if self.fused else MBConv)

    @staticmethod
    def adjust_channels(channels, width_mult, min_value=None):
        return _make_divisible(channels * width_mult, 8, min_value)


class FusedMBConvConfig(MBConvConfig):
    fused = True


class _Scaled(nn.Module):
    def __init__(self, cnf, input_channels, stride, stochastic_depth_prob, norm_layer):
        super().__init__()
        wide = cnf.adjust_channels(input_channels, cnf.expand_ratio)
        part = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        self.block = nn.Sequential(*self.parts(part, input_channels, wide, cnf, stride))
        self.use_res_connect = stride == 1 and input_channels == cnf.out_channels
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input):
        result = self.block(input)
        return self.stochastic_depth(result) + input if self.use_res_connect else result


class MBConv(_Scaled):
    def parts(self, part, width, wide, cnf, stride):
        first = [] if wide == width else [part(width, wide, kernel_size=1)]
        return first + [
            part(wide, wide, kernel_size=cnf.kernel, stride=stride, groups=wide),
            SqueezeExcitation(wide, max(1, width // 4), activation=partial(nn.SiLU, inplace=True)),
            part(wide, cnf.out_channels, kernel_size=1, activation_layer=None)]


class FusedMBConv(_Scaled):
    def parts(self, part, width, wide, cnf, stride):
        if wide == width:
            return [part(width, cnf.out_channels, kernel_size=cnf.kernel, stride=stride)]
        return [part(width, wide, kernel_size=cnf.kernel, stride=stride),
                part(wide, cnf.out_channels, kernel_size=1, activation_layer=None)]


class EfficientNet(nn.Module):
    def __init__(self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000, norm_layer=None,
                 last_channel=None):
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        part = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        layers = [part(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2)]
        total, done = sum(c.num_layers for c in inverted_residual_setting), 0
        for cnf in inverted_residual_setting:
            stage = []
            for i in range(cnf.num_layers):
                width, stride = (cnf.out_channels, 1) if i > 0 else (cnf.input_channels, cnf.stride)
                stage.append(cnf.block(cnf, width, stride, stochastic_depth_prob * done / total, norm))
                done += 1
            layers.append(nn.Sequential(*stage))
        last = inverted_residual_setting[-1].out_channels
        top = 4 * last if last_channel is None else last_channel
        layers.append(part(last, top, kernel_size=1))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(top, num_classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


_ROWS = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
         (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1)]
_ROWS_V2 = {
    "s": [(1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4),
          (4, 3, 2, 64, 128, 6), (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)],
    "m": [(1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5),
          (4, 3, 2, 80, 160, 7), (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5)],
    "l": [(1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7),
          (4, 3, 2, 96, 192, 10), (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7)],
}


def _efficientnet(width, depth, dropout, exact):
    def build(pretrained=False, progress=True, *, weights=None, **kwargs):
        if exact:
            kwargs.setdefault("norm_layer", partial(nn.BatchNorm2d, eps=0.001, momentum=0.01))
        kwargs.setdefault("dropout", dropout)
        return EfficientNet([MBConvConfig(*r, width, depth) for r in _ROWS], **kwargs)
    return build


def _efficientnet_v2(size, dropout):
    def build(pretrained=False, progress=True, *, weights=None, **kwargs):
        kwargs.setdefault("norm_layer", partial(nn.BatchNorm2d, eps=0.001))
        kwargs.setdefault("dropout", dropout)
        rows = [(FusedMBConvConfig if i < 3 else MBConvConfig)(*r) for i, r in enumerate(_ROWS_V2[size])]
        return EfficientNet(rows, last_channel=1280, **kwargs)
    return build


efficientnet_b0 = _efficientnet(1.0, 1.0, 0.2, False)
efficientnet_b1 = _efficientnet(1.0, 1.1, 0.2, False)
efficientnet_b2 = _efficientnet(1.1, 1.2, 0.3, False)
efficientnet_b3 = _efficientnet(1.2, 1.4, 0.3, False)
efficientnet_b4 = _efficientnet(1.4, 1.8, 0.4, False)
efficientnet_b5 = _efficientnet(1.6, 2.2, 0.4, True)
efficientnet_b6 = _efficientnet(1.8, 2.6, 0.5, True)
efficientnet_b7 = _efficientnet(2.0, 3.1, 0.5, True)
efficientnet_v2_s = _efficientnet_v2("s", 0.2)
efficientnet_v2_m = _efficientnet_v2("m", 0.3)
efficientnet_v2_l = _efficientnet_v2("l", 0.4)
`;

export const SQUEEZED = `
class Fire(nn.Module):
    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return torch.cat([self.expand1x1_activation(self.expand1x1(x)),
                          self.expand3x3_activation(self.expand3x3(x))], 1)


class SqueezeNet(nn.Module):
    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        first = (96, 7) if version == "1_0" else (64, 3)
        pools = (2, 6) if version == "1_0" else (1, 3)
        layers = [nn.Conv2d(3, first[0], kernel_size=first[1], stride=2), nn.ReLU(inplace=True),
                  nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)]
        width = first[0]
        for i, n in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
            layers.append(Fire(width, n, 4 * n, 4 * n))
            width = 8 * n
            if i in pools:
                layers.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Conv2d(512, num_classes, kernel_size=1),
                                        nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
        self.num_classes = num_classes

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


def squeezenet1_0(pretrained=False, progress=True, *, weights=None, **kwargs):
    return SqueezeNet("1_0", **kwargs)


def squeezenet1_1(pretrained=False, progress=True, *, weights=None, **kwargs):
    return SqueezeNet("1_1", **kwargs)


def channel_shuffle(x, groups):
    n, c, h, w = x.size()
    return torch.transpose(x.view(n, groups, c // groups, h, w), 1, 2).contiguous().view(n, c, h, w)


class _ShuffleUnit(nn.Module):
    def __init__(self, inp, oup, stride):
        super().__init__()
        self.stride, half = stride, oup // 2
        deep = lambda c: nn.Conv2d(c, c, 3, stride, 1, bias=False, groups=c)
        flat = lambda i: nn.Conv2d(i, half, kernel_size=1, bias=False)
        self.branch1 = nn.Sequential() if stride == 1 else nn.Sequential(
            deep(inp), nn.BatchNorm2d(inp), flat(inp), nn.BatchNorm2d(half), nn.ReLU(inplace=True))
        self.branch2 = nn.Sequential(
            flat(inp if stride > 1 else half), nn.BatchNorm2d(half), nn.ReLU(inplace=True), deep(half),
            nn.BatchNorm2d(half), flat(half), nn.BatchNorm2d(half), nn.ReLU(inplace=True))

    def forward(self, x):
        a, b = x.chunk(2, dim=1) if self.stride == 1 else (self.branch1(x), x)
        return channel_shuffle(torch.cat((a, self.branch2(b)), dim=1), 2)


class ShuffleNetV2(nn.Module):
    def __init__(self, stages_repeats, stages_out_channels, num_classes=1000, inverted_residual=None):
        super().__init__()
        unit, width = inverted_residual or _ShuffleUnit, stages_out_channels[0]
        self.conv1 = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for i, repeats in enumerate(stages_repeats):
            out = stages_out_channels[i + 1]
            units = [unit(width if k == 0 else out, out, 2 if k == 0 else 1) for k in range(repeats)]
            setattr(self, f"stage{i + 2}", nn.Sequential(*units))
            width = out
        last = stages_out_channels[-1]
        self.conv5 = nn.Sequential(nn.Conv2d(width, last, 1, 1, 0, bias=False), nn.BatchNorm2d(last), nn.ReLU(inplace=True))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x):
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        return self.fc(x.mean([2, 3]))


def _shufflenet(*widths):
    def build(pretrained=False, progress=True, *, weights=None, **kwargs):
        return ShuffleNetV2([4, 8, 4], [24, *widths], **kwargs)
    return build


shufflenet_v2_x0_5 = _shufflenet(48, 96, 192, 1024)
shufflenet_v2_x1_0 = _shufflenet(116, 232, 464, 1024)
shufflenet_v2_x1_5 = _shufflenet(176, 352, 704, 1024)
shufflenet_v2_x2_0 = _shufflenet(244, 488, 976, 2048)
`;
