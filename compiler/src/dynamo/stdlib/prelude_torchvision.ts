// torchvision where its source is not in the workspace's environment: ResNets (He et al. 2015, and the wide and grouped
// variants), VGGs (Simonyan and Zisserman 2014), AlexNet, and the helpers that detection models take from it. Weights are
// never loaded. In: nothing. Out: texts by module name; what a text lacks is unknown.

import { DENSE, INCEPTION, MOBILE } from "./prelude_backbones";
import { EFFICIENT, MOBILE_3, SQUEEZED } from "./prelude_mobile_models";
import { LARGE, SEGMENTATION, VIDEO } from "./prelude_more_models";
import { TORCHVISION_OPS } from "./prelude_torchvision_ops";
import { TRANSFORMS } from "./prelude_transforms";

const MISC = `
class FrozenBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", torch.ones(num_features))
        self.register_buffer("bias", torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, x):
        w = self.weight.reshape(1, -1, 1, 1)
        b = self.bias.reshape(1, -1, 1, 1)
        rv = self.running_var.reshape(1, -1, 1, 1)
        rm = self.running_mean.reshape(1, -1, 1, 1)
        scale = w * (rv + self.eps).rsqrt()
        bias = b - rm * scale
        return x * scale + bias


class StochasticDepth(nn.Module):
    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)


def stochastic_depth(input, p, mode, training=True):
    if not training or p == 0.0:
        return input
    size = [input.shape[0]] + [1] * (input.ndim - 1) if mode == "row" else [1] * input.ndim
    noise = torch.empty(size, dtype=input.dtype, device=input.device).bernoulli_(1.0 - p)
    if p < 1.0:
        noise.div_(1.0 - p)
    return input * noise


class Conv2dNormActivation(nn.Sequential):
    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1,
                 norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None):
        if padding is None:
            padding = (kernel_size - 1) // 2 * dilation
        layers = [nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups,
                            bias=norm_layer is None if bias is None else bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(inplace=inplace) if inplace is not None else activation_layer())
        super().__init__(*layers)
        self.out_channels = out_channels


ConvNormActivation = Conv2dNormActivation


class SqueezeExcitation(nn.Module):
    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input):
        scale = self.activation(self.fc1(self.avgpool(input)))
        return self.scale_activation(self.fc2(scale)) * input


class MLP(nn.Sequential):
    def __init__(self, in_channels, hidden_channels, norm_layer=None, activation_layer=nn.ReLU, inplace=None,
                 bias=True, dropout=0.0):
        layers, width = [], in_channels
        for h in hidden_channels[:-1]:
            layers.append(nn.Linear(width, h, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(h))
            layers += [activation_layer(), nn.Dropout(dropout)]
            width = h
        super().__init__(*layers, nn.Linear(width, hidden_channels[-1], bias=bias), nn.Dropout(dropout))


class Permute(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return torch.permute(x, self.dims)
`;

const RESIDUAL_AND_PLAIN = `
from collections import OrderedDict, namedtuple


def conv3x3(in_planes, out_planes, stride=1, groups=1, dilation=1):
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=dilation, groups=groups, bias=False,
                     dilation=dilation)


def conv1x1(in_planes, out_planes, stride=1):
    return nn.Conv2d(in_planes, out_planes, kernel_size=1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
                 norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1,
                 norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, layers, num_classes=1000, zero_init_residual=False, groups=1, width_per_group=64,
                 replace_stride_with_dilation=None, norm_layer=None):
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        dilated = replace_stride_with_dilation or [False, False, False]
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilated[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilated[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilated[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        norm_layer, downsample, previous = self._norm_layer, None, self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(conv1x1(self.inplanes, planes * block.expansion, stride),
                                       norm_layer(planes * block.expansion))
        layers = [block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, previous, norm_layer)]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            layers.append(block(self.inplanes, planes, groups=self.groups, base_width=self.base_width,
                                dilation=self.dilation, norm_layer=norm_layer))
        return nn.Sequential(*layers)

    def _forward_impl(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)

    def forward(self, x):
        return self._forward_impl(x)


def _resnet(block, layers, **fixed):
    def make(pretrained=False, progress=True, *, weights=None, **kwargs):
        return ResNet(block, layers, **{**fixed, **kwargs})
    return make


resnet18 = _resnet(BasicBlock, [2, 2, 2, 2])
resnet34 = _resnet(BasicBlock, [3, 4, 6, 3])
resnet50 = _resnet(Bottleneck, [3, 4, 6, 3])
resnet101 = _resnet(Bottleneck, [3, 4, 23, 3])
resnet152 = _resnet(Bottleneck, [3, 8, 36, 3])
resnext50_32x4d = _resnet(Bottleneck, [3, 4, 6, 3], groups=32, width_per_group=4)
resnext101_32x8d = _resnet(Bottleneck, [3, 4, 23, 3], groups=32, width_per_group=8)
wide_resnet50_2 = _resnet(Bottleneck, [3, 4, 6, 3], width_per_group=128)
wide_resnet101_2 = _resnet(Bottleneck, [3, 4, 23, 3], width_per_group=128)


class VGG(nn.Module):
    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(dropout),
            nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(dropout), nn.Linear(4096, num_classes))

    def forward(self, x):
        x = torch.flatten(self.avgpool(self.features(x)), 1)
        return self.classifier(x)


_VGG = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def _vgg(depth, batch_norm):
    def make(pretrained=False, progress=True, *, weights=None, **kwargs):
        layers, width = [], 3
        for repeats, planes in zip(_VGG[depth], (64, 128, 256, 512, 512)):
            for _ in range(repeats):
                layers.append(nn.Conv2d(width, planes, kernel_size=3, padding=1))
                if batch_norm:
                    layers.append(nn.BatchNorm2d(planes))
                layers.append(nn.ReLU(inplace=True))
                width = planes
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        return VGG(nn.Sequential(*layers), **kwargs)
    return make


vgg11, vgg13, vgg16, vgg19 = [_vgg(d, False) for d in (11, 13, 16, 19)]
vgg11_bn, vgg13_bn, vgg16_bn, vgg19_bn = [_vgg(d, True) for d in (11, 13, 16, 19)]


class AlexNet(nn.Module):
    def __init__(self, num_classes=1000, dropout=0.5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=11, stride=4, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, kernel_size=5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, kernel_size=3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, kernel_size=3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, kernel_size=3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True), nn.Dropout(p=dropout),
            nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, num_classes))

    def forward(self, x):
        x = torch.flatten(self.avgpool(self.features(x)), 1)
        return self.classifier(x)


def alexnet(pretrained=False, progress=True, *, weights=None, **kwargs):
    return AlexNet(**kwargs)


class IntermediateLayerGetter(nn.ModuleDict):
    def __init__(self, model, return_layers):
        left, layers = {str(k): str(v) for k, v in return_layers.items()}, OrderedDict()
        self_layers = dict(left)
        for name, module in model.named_children():
            layers[name] = module
            left.pop(name, None)
            if not left:
                break
        super().__init__(layers)
        self.return_layers = self_layers

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
`;

const OPS = MISC + TORCHVISION_OPS;
const MODELS = RESIDUAL_AND_PLAIN + INCEPTION + MOBILE + DENSE + MOBILE_3 + EFFICIENT + SQUEEZED + LARGE;

export const TORCHVISION: Readonly<Record<string, string>> = {
  "torchvision.models": MODELS,
  "torchvision.models.resnet": MODELS,
  "torchvision.models.vgg": MODELS,
  "torchvision.models.alexnet": MODELS,
  "torchvision.models._utils": MODELS,
  "torchvision.models.inception": MODELS,
  "torchvision.models.mobilenet": MODELS,
  "torchvision.models.mobilenetv2": MODELS,
  "torchvision.models.mobilenetv3": MODELS,
  "torchvision.models.densenet": MODELS,
  "torchvision.models.efficientnet": MODELS,
  "torchvision.models.squeezenet": MODELS,
  "torchvision.models.shufflenetv2": MODELS,
  "torchvision.models.googlenet": MODELS,
  "torchvision.models.convnext": MODELS,
  "torchvision.models.vision_transformer": MODELS,
  "torchvision.models.video": VIDEO,
  "torchvision.models.video.resnet": VIDEO,
  "torchvision.models.segmentation": SEGMENTATION,
  "torchvision.models.segmentation.deeplabv3": SEGMENTATION,
  "torchvision.models.segmentation.fcn": SEGMENTATION,
  "torchvision.transforms": TRANSFORMS,
  "torchvision.transforms.functional": TRANSFORMS,
  "torchvision.transforms.transforms": TRANSFORMS,
  "torchvision.ops": OPS,
  "torchvision.ops.misc": OPS,
  "torchvision.ops.stochastic_depth": OPS,
  "torchvision.ops.boxes": OPS,
  "torchvision.ops.feature_pyramid_network": OPS,
  "torchvision.ops.deform_conv": OPS,
  "torchvision.ops.roi_align": OPS,
};
