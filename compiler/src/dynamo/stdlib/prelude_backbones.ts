// torchvision's Inception v3, MobileNet v2 and DenseNet: backbones whose blocks repositories subclass or take apart, under
// the names that torchvision gives to their parts. Weights are not loaded. Python text.

export const INCEPTION = `
class BasicConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class _Branches(nn.Module):
    def forward(self, x):
        return torch.cat(self._forward(x), 1)

    def _chain(self, x, *names):
        for name in names:
            x = getattr(self, name)(x)
        return x


class InceptionA(_Branches):
    def __init__(self, in_channels, pool_features, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1x1 = conv(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = conv(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = conv(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, padding=1)
        self.branch_pool = conv(in_channels, pool_features, kernel_size=1)

    def _forward(self, x):
        pooled = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return [self.branch1x1(x), self._chain(x, "branch5x5_1", "branch5x5_2"),
                self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"), self.branch_pool(pooled)]


class InceptionB(_Branches):
    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3 = conv(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, stride=2)

    def _forward(self, x):
        return [self.branch3x3(x), self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
                F.max_pool2d(x, kernel_size=3, stride=2)]


class InceptionC(_Branches):
    def __init__(self, in_channels, channels_7x7, conv_block=None):
        super().__init__()
        conv, c = conv_block or BasicConv2d, channels_7x7
        wide, tall = dict(kernel_size=(1, 7), padding=(0, 3)), dict(kernel_size=(7, 1), padding=(3, 0))
        self.branch1x1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = conv(in_channels, c, kernel_size=1)
        self.branch7x7_2 = conv(c, c, **wide)
        self.branch7x7_3 = conv(c, 192, **tall)
        self.branch7x7dbl_1 = conv(in_channels, c, kernel_size=1)
        self.branch7x7dbl_2 = conv(c, c, **tall)
        self.branch7x7dbl_3 = conv(c, c, **wide)
        self.branch7x7dbl_4 = conv(c, c, **tall)
        self.branch7x7dbl_5 = conv(c, 192, **wide)
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def _forward(self, x):
        pooled = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return [self.branch1x1(x), self._chain(x, "branch7x7_1", "branch7x7_2", "branch7x7_3"),
                self._chain(x, *["branch7x7dbl_%d" % i for i in range(1, 6)]), self.branch_pool(pooled)]


class InceptionD(_Branches):
    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = conv(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = conv(192, 192, kernel_size=(1, 7), padding=(0, 3))
        self.branch7x7x3_3 = conv(192, 192, kernel_size=(7, 1), padding=(3, 0))
        self.branch7x7x3_4 = conv(192, 192, kernel_size=3, stride=2)

    def _forward(self, x):
        return [self._chain(x, "branch3x3_1", "branch3x3_2"),
                self._chain(x, *["branch7x7x3_%d" % i for i in range(1, 5)]), F.max_pool2d(x, kernel_size=3, stride=2)]


class InceptionE(_Branches):
    def __init__(self, in_channels, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1x1 = conv(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = conv(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = conv(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3_2b = conv(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = conv(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = conv(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = conv(384, 384, kernel_size=(1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = conv(384, 384, kernel_size=(3, 1), padding=(1, 0))
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def _forward(self, x):
        one = self.branch3x3_1(x)
        two = self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2")
        pooled = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return [self.branch1x1(x), torch.cat([self.branch3x3_2a(one), self.branch3x3_2b(one)], 1),
                torch.cat([self.branch3x3dbl_3a(two), self.branch3x3dbl_3b(two)], 1), self.branch_pool(pooled)]


class InceptionAux(nn.Module):
    def __init__(self, in_channels, num_classes, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.conv0 = conv(in_channels, 128, kernel_size=1)
        self.conv1 = conv(128, 768, kernel_size=5)
        self.fc = nn.Linear(768, num_classes)

    def forward(self, x):
        x = self.conv1(self.conv0(F.avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


class Inception3(nn.Module):
    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, inception_blocks=None, init_weights=None,
                 dropout=0.5):
        super().__init__()
        conv, a, b, c, d, e, aux = inception_blocks or [
            BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux]
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = a(192, 32), a(256, 64), a(288, 64)
        self.Mixed_6a = b(288)
        self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e = c(768, 128), c(768, 160), c(768, 160), c(768, 192)
        self.AuxLogits = aux(768, num_classes) if aux_logits else None
        self.Mixed_7a, self.Mixed_7b, self.Mixed_7c = d(768), e(1280), e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)

    def _forward(self, x):
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        for name in ("5b", "5c", "5d", "6a", "6b", "6c", "6d", "6e"):
            x = getattr(self, "Mixed_" + name)(x)
        aux = self.AuxLogits(x) if self.AuxLogits is not None and self.training else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        x = torch.flatten(self.dropout(self.avgpool(x)), 1)
        return self.fc(x), aux

    def forward(self, x):
        x, aux = self._forward(x)
        return InceptionOutputs(x, aux) if self.training and self.aux_logits else x


InceptionOutputs = namedtuple("InceptionOutputs", ["logits", "aux_logits"])


def inception_v3(pretrained=False, progress=True, *, weights=None, **kwargs):
    return Inception3(**kwargs)
`;

export const MOBILE = `
def _make_divisible(v, divisor, min_value=None):
    low = divisor if min_value is None else min_value
    n = max(low, int(v + divisor / 2) // divisor * divisor)
    return n + divisor if n < 0.9 * v else n


class ConvBNReLU(nn.Sequential):
    def __init__(self, i, o, kernel_size=3, stride=1, groups=1):
        super().__init__(nn.Conv2d(i, o, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(o), nn.ReLU6(inplace=True))
        self.out_channels = o


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        hidden = int(round(inp * expand_ratio))
        self.stride, self.use_res_connect, self.out_channels = stride, stride == 1 and inp == oup, oup
        layers = [] if expand_ratio == 1 else [ConvBNReLU(inp, hidden, kernel_size=1)]
        layers += [ConvBNReLU(hidden, hidden, stride=stride, groups=hidden), nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
                   nn.BatchNorm2d(oup)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8, block=None,
                 norm_layer=None, dropout=0.2):
        super().__init__()
        block = block or InvertedResidual
        rows = inverted_residual_setting or [
            [1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]]
        width = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        features = [ConvBNReLU(3, width, stride=2)]
        for t, c, n, s in rows:
            out = _make_divisible(c * width_mult, round_nearest)
            for i in range(n):
                features.append(block(width, out, s if i == 0 else 1, expand_ratio=t))
                width = out
        features.append(ConvBNReLU(width, self.last_channel, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


def mobilenet_v2(pretrained=False, progress=True, *, weights=None, **kwargs):
    return MobileNetV2(**kwargs)
`;

export const DENSE = `
class _DenseLayer(nn.Module):
    def __init__(self, num_input_features, growth_rate, bn_size, drop_rate, memory_efficient=False):
        super().__init__()
        self.norm1, self.relu1 = nn.BatchNorm2d(num_input_features), nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, stride=1, bias=False)
        self.norm2, self.relu2 = nn.BatchNorm2d(bn_size * growth_rate), nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def forward(self, input):
        parts = [input] if isinstance(input, torch.Tensor) else input
        x = self.conv1(self.relu1(self.norm1(torch.cat(parts, 1))))
        x = self.conv2(self.relu2(self.norm2(x)))
        return F.dropout(x, p=self.drop_rate, training=self.training) if self.drop_rate > 0 else x


class _DenseBlock(nn.ModuleDict):
    def __init__(self, num_layers, num_input_features, bn_size, growth_rate, drop_rate, memory_efficient=False):
        super().__init__()
        for i in range(num_layers):
            self.add_module("denselayer%d" % (i + 1), _DenseLayer(
                num_input_features + i * growth_rate, growth_rate, bn_size, drop_rate, memory_efficient))

    def forward(self, init_features):
        features = [init_features]
        for name, layer in self.items():
            features.append(layer(features))
        return torch.cat(features, 1)


class _Transition(nn.Sequential):
    def __init__(self, num_input_features, num_output_features):
        super().__init__()
        self.norm, self.relu = nn.BatchNorm2d(num_input_features), nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, kernel_size=1, stride=1, bias=False)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    def __init__(self, growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, bn_size=4, drop_rate=0,
                 num_classes=1000, memory_efficient=False):
        super().__init__()
        n = num_init_features
        self.features = nn.Sequential(OrderedDict([
            ("conv0", nn.Conv2d(3, n, kernel_size=7, stride=2, padding=3, bias=False)), ("norm0", nn.BatchNorm2d(n)),
            ("relu0", nn.ReLU(inplace=True)), ("pool0", nn.MaxPool2d(kernel_size=3, stride=2, padding=1))]))
        for i, layers in enumerate(block_config):
            self.features.add_module("denseblock%d" % (i + 1), _DenseBlock(layers, n, bn_size, growth_rate, drop_rate))
            n += layers * growth_rate
            if i != len(block_config) - 1:
                self.features.add_module("transition%d" % (i + 1), _Transition(n, n // 2))
                n //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(n))
        self.classifier = nn.Linear(n, num_classes)

    def forward(self, x):
        x = F.relu(self.features(x), inplace=True)
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def _densenet(growth, config, first):
    return lambda pretrained=False, progress=True, *, weights=None, **kwargs: DenseNet(growth, config, first, **kwargs)


densenet121, densenet169, densenet201, densenet161 = (
    _densenet(32, (6, 12, 24, 16), 64), _densenet(32, (6, 12, 32, 32), 64), _densenet(32, (6, 12, 48, 32), 64),
    _densenet(48, (6, 12, 36, 24), 96))
`;
