// torchvision's larger networks beside ResNets: GoogLeNet (Szegedy et al. 2014), ConvNeXt (Liu et al. 2022), Vision Transformers
// (Dosovitskiy et al. 2020), networks for clips (Tran et al. 2018), heads of segmentation (Chen et al. 2017). Python text;
// weights are never loaded.

export const LARGE = `
class _Inception1(nn.Module):
    def __init__(self, i, n1, r3, n3, r5, n5, pool):
        super().__init__()
        self.branch1 = BasicConv2d(i, n1, kernel_size=1)
        self.branch2 = nn.Sequential(BasicConv2d(i, r3, kernel_size=1), BasicConv2d(r3, n3, kernel_size=3, padding=1))
        self.branch3 = nn.Sequential(BasicConv2d(i, r5, kernel_size=1), BasicConv2d(r5, n5, kernel_size=3, padding=1))
        self.branch4 = nn.Sequential(nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
                                     BasicConv2d(i, pool, kernel_size=1))

    def forward(self, x):
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class _InceptionAux1(nn.Module):
    def __init__(self, i, num_classes, dropout=0.7):
        super().__init__()
        self.conv = BasicConv2d(i, 128, kernel_size=1)
        self.fc1, self.fc2 = nn.Linear(2048, 1024), nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        x = torch.flatten(self.conv(F.adaptive_avg_pool2d(x, (4, 4))), 1)
        return self.fc2(self.dropout(F.relu(self.fc1(x), inplace=True)))


GoogLeNetOutputs = namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])


class GoogLeNet(nn.Module):
    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, init_weights=None, blocks=None,
                 dropout=0.2, dropout_aux=0.7):
        super().__init__()
        pool = lambda k: nn.MaxPool2d(k, stride=2, ceil_mode=True)
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = BasicConv2d(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = pool(3)
        self.conv2 = BasicConv2d(64, 64, kernel_size=1)
        self.conv3 = BasicConv2d(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = pool(3)
        self.inception3a = _Inception1(192, 64, 96, 128, 16, 32, 32)
        self.inception3b = _Inception1(256, 128, 128, 192, 32, 96, 64)
        self.maxpool3 = pool(3)
        self.inception4a = _Inception1(480, 192, 96, 208, 16, 48, 64)
        self.inception4b = _Inception1(512, 160, 112, 224, 24, 64, 64)
        self.inception4c = _Inception1(512, 128, 128, 256, 24, 64, 64)
        self.inception4d = _Inception1(512, 112, 144, 288, 32, 64, 64)
        self.inception4e = _Inception1(528, 256, 160, 320, 32, 128, 128)
        self.maxpool4 = pool(2)
        self.inception5a = _Inception1(832, 256, 160, 320, 32, 128, 128)
        self.inception5b = _Inception1(832, 384, 192, 384, 48, 128, 128)
        self.aux1 = _InceptionAux1(512, num_classes, dropout_aux) if aux_logits else None
        self.aux2 = _InceptionAux1(528, num_classes, dropout_aux) if aux_logits else None
        self.avgpool, self.dropout = nn.AdaptiveAvgPool2d((1, 1)), nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)

    def forward(self, x):
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))
        extra = self.training and self.aux_logits
        aux1 = self.aux1(x) if extra else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        aux2 = self.aux2(x) if extra else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        x = self.fc(self.dropout(torch.flatten(self.avgpool(x), 1)))
        return GoogLeNetOutputs(x, aux2, aux1) if extra else x


def googlenet(pretrained=False, progress=True, *, weights=None, **kwargs):
    return GoogLeNet(**kwargs)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True), Permute([0, 2, 3, 1]),
            (norm_layer or partial(nn.LayerNorm, eps=1e-6))(dim), nn.Linear(dim, 4 * dim), nn.GELU(),
            nn.Linear(4 * dim, dim), Permute([0, 3, 1, 2]))
        self.layer_scale = nn.Parameter(torch.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        return input + self.stochastic_depth(self.layer_scale * self.block(input))


class CNBlockConfig:
    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers


class ConvNeXt(nn.Module):
    def __init__(self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000, block=None,
                 norm_layer=None):
        super().__init__()
        block, norm = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        width = block_setting[0].input_channels
        layers = [Conv2dNormActivation(3, width, kernel_size=4, stride=4, padding=0, norm_layer=norm,
                                       activation_layer=None, bias=True)]
        total, done = sum(c.num_layers for c in block_setting), 0
        for c in block_setting:
            stage = []
            for _ in range(c.num_layers):
                stage.append(block(c.input_channels, layer_scale, stochastic_depth_prob * done / (total - 1.0)))
                done += 1
            layers.append(nn.Sequential(*stage))
            width = c.input_channels
            if c.out_channels is not None:
                layers.append(nn.Sequential(norm(width), nn.Conv2d(width, c.out_channels, kernel_size=2, stride=2)))
                width = c.out_channels
        self.features, self.avgpool = nn.Sequential(*layers), nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(norm(width), nn.Flatten(1), nn.Linear(width, num_classes))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def _convnext(depth, *widths):
    def build(pretrained=False, progress=True, *, weights=None, **kwargs):
        ends = [*widths[1:], None]
        return ConvNeXt([CNBlockConfig(w, e, depth if i == 2 else 3) for i, (w, e) in enumerate(zip(widths, ends))], **kwargs)
    return build


convnext_tiny = _convnext(9, 96, 192, 384, 768)
convnext_small = _convnext(27, 96, 192, 384, 768)
convnext_base = _convnext(27, 128, 256, 512, 1024)
convnext_large = _convnext(27, 192, 384, 768, 1536)


class MLPBlock(nn.Sequential):
    def __init__(self, in_dim, mlp_dim, dropout):
        super().__init__(nn.Linear(in_dim, mlp_dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(mlp_dim, in_dim),
                         nn.Dropout(dropout))


class EncoderBlock(nn.Module):
    def __init__(self, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer):
        super().__init__()
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input):
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    def __init__(self, seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(OrderedDict(
            (f"encoder_layer_{i}", EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer))
            for i in range(num_layers)))
        self.ln = norm_layer(hidden_dim)

    def forward(self, input):
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    def __init__(self, image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, dropout=0.0,
                 attention_dropout=0.0, num_classes=1000, representation_size=None,
                 norm_layer=partial(nn.LayerNorm, eps=1e-6), conv_stem_configs=None):
        super().__init__()
        self.image_size, self.patch_size, self.hidden_dim, self.mlp_dim = image_size, patch_size, hidden_dim, mlp_dim
        self.conv_proj = nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
                               norm_layer)
        heads, width = OrderedDict(), hidden_dim
        if representation_size is not None:
            heads["pre_logits"], heads["act"] = nn.Linear(hidden_dim, representation_size), nn.Tanh()
            width = representation_size
        heads["head"] = nn.Linear(width, num_classes)
        self.heads = nn.Sequential(heads)

    def _process_input(self, x):
        return self.conv_proj(x).flatten(2).permute(0, 2, 1)

    def forward(self, x):
        x = self._process_input(x)
        x = self.encoder(torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1))
        return self.heads(x[:, 0])


def _vit(patch, layers, heads, width):
    def build(pretrained=False, progress=True, *, weights=None, image_size=224, **kwargs):
        return VisionTransformer(image_size, patch, layers, heads, width, 4 * width, **kwargs)
    return build


vit_b_16, vit_b_32 = _vit(16, 12, 12, 768), _vit(32, 12, 12, 768)
vit_l_16, vit_l_32, vit_h_14 = _vit(16, 24, 16, 1024), _vit(32, 24, 16, 1024), _vit(14, 32, 16, 1280)
`;

export const VIDEO = `
class Conv3DSimple(nn.Conv3d):
    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, kernel_size=3, stride=stride, padding=padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, kernel_size=(1, 3, 3), stride=(1, stride, stride),
                         padding=(0, padding, padding), bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        return 1, stride, stride


class Conv2Plus1D(nn.Sequential):
    def __init__(self, in_planes, out_planes, midplanes, stride=1, padding=1):
        super().__init__(
            nn.Conv3d(in_planes, midplanes, kernel_size=(1, 3, 3), stride=(1, stride, stride),
                      padding=(0, padding, padding), bias=False),
            nn.BatchNorm3d(midplanes), nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, kernel_size=(3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0), bias=False))

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        mid = (inplanes * planes * 3 * 3 * 3) // (inplanes * 3 * 3 + 3 * planes)
        self.conv1 = nn.Sequential(conv_builder(inplanes, planes, mid, stride), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, mid), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        residual = x if self.downsample is None else self.downsample(x)
        return self.relu(self.conv2(self.conv1(x)) + residual)


class BasicStem(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv3d(3, 64, kernel_size=(3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False),
                         nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class R2Plus1dStem(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv3d(3, 45, kernel_size=(1, 7, 7), stride=(1, 2, 2), padding=(0, 3, 3), bias=False),
                         nn.BatchNorm3d(45), nn.ReLU(inplace=True),
                         nn.Conv3d(45, 64, kernel_size=(3, 1, 1), stride=1, padding=(1, 0, 0), bias=False),
                         nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class VideoResNet(nn.Module):
    def __init__(self, block, conv_makers, layers, stem, num_classes=400, zero_init_residual=False):
        super().__init__()
        self.inplanes, self.stem = 64, stem()
        for i, (maker, n) in enumerate(zip(conv_makers, layers)):
            setattr(self, f"layer{i + 1}", self._make_layer(block, maker, 64 * 2**i, n, stride=1 if i == 0 else 2))
        self.avgpool, self.fc = nn.AdaptiveAvgPool3d((1, 1, 1)), nn.Linear(512 * block.expansion, num_classes)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.avgpool(x).flatten(1))

    def _make_layer(self, block, conv_builder, planes, blocks, stride=1):
        down, out = None, planes * block.expansion
        if stride != 1 or self.inplanes != out:
            down = nn.Sequential(nn.Conv3d(self.inplanes, out, kernel_size=1,
                                           stride=conv_builder.get_downsample_stride(stride), bias=False), nn.BatchNorm3d(out))
        layers = [block(self.inplanes, planes, conv_builder, stride, down)]
        self.inplanes = out
        return nn.Sequential(*layers, *[block(out, planes, conv_builder) for _ in range(1, blocks)])


def r3d_18(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VideoResNet(BasicBlock, [Conv3DSimple] * 4, [2, 2, 2, 2], BasicStem, **kwargs)


def mc3_18(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VideoResNet(BasicBlock, [Conv3DSimple] + [Conv3DNoTemporal] * 3, [2, 2, 2, 2], BasicStem, **kwargs)


def r2plus1d_18(pretrained=False, progress=True, *, weights=None, **kwargs):
    return VideoResNet(BasicBlock, [Conv2Plus1D] * 4, [2, 2, 2, 2], R2Plus1dStem, **kwargs)
`;

export const SEGMENTATION = `
from collections import OrderedDict
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models import resnet50, resnet101


class ASPPConv(nn.Sequential):
    def __init__(self, in_channels, out_channels, dilation):
        super().__init__(nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())


class ASPPPooling(nn.Sequential):
    def __init__(self, in_channels, out_channels):
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())

    def forward(self, x):
        size = x.shape[-2:]
        for mod in self:
            x = mod(x)
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    def __init__(self, in_channels, atrous_rates, out_channels=256):
        super().__init__()
        flat = lambda i: [nn.Conv2d(i, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()]
        self.convs = nn.ModuleList([nn.Sequential(*flat(in_channels)),
                                    *[ASPPConv(in_channels, out_channels, r) for r in atrous_rates],
                                    ASPPPooling(in_channels, out_channels)])
        self.project = nn.Sequential(*flat(len(self.convs) * out_channels), nn.Dropout(0.5))

    def forward(self, x):
        return self.project(torch.cat([conv(x) for conv in self.convs], dim=1))


class DeepLabHead(nn.Sequential):
    def __init__(self, in_channels, num_classes, atrous_rates=(12, 24, 36)):
        super().__init__(ASPP(in_channels, atrous_rates), nn.Conv2d(256, 256, 3, padding=1, bias=False), nn.BatchNorm2d(256),
                         nn.ReLU(), nn.Conv2d(256, num_classes, 1))


class FCNHead(nn.Sequential):
    def __init__(self, in_channels, channels):
        inner = in_channels // 4
        super().__init__(nn.Conv2d(in_channels, inner, 3, padding=1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
                         nn.Dropout(0.1), nn.Conv2d(inner, channels, 1))


class _SimpleSegmentationModel(nn.Module):
    def __init__(self, backbone, classifier, aux_classifier=None):
        super().__init__()
        self.backbone, self.classifier, self.aux_classifier = backbone, classifier, aux_classifier

    def forward(self, x):
        size, features = x.shape[-2:], self.backbone(x)
        result = OrderedDict()
        result["out"] = F.interpolate(self.classifier(features["out"]), size=size, mode="bilinear", align_corners=False)
        if self.aux_classifier is not None:
            aux = self.aux_classifier(features["aux"])
            result["aux"] = F.interpolate(aux, size=size, mode="bilinear", align_corners=False)
        return result


class DeepLabV3(_SimpleSegmentationModel):
    pass


class FCN(_SimpleSegmentationModel):
    pass


def _segmentation(kind, head, network):
    def build(pretrained=False, progress=True, num_classes=21, aux_loss=None, *, weights=None, weights_backbone=None,
              pretrained_backbone=False):
        layers = {"layer4": "out"}
        if aux_loss:
            layers["layer3"] = "aux"
        backbone = IntermediateLayerGetter(network(replace_stride_with_dilation=[False, True, True]), return_layers=layers)
        return kind(backbone, head(2048, num_classes), FCNHead(1024, num_classes) if aux_loss else None)
    return build


deeplabv3_resnet50 = _segmentation(DeepLabV3, DeepLabHead, resnet50)
deeplabv3_resnet101 = _segmentation(DeepLabV3, DeepLabHead, resnet101)
fcn_resnet50 = _segmentation(FCN, FCNHead, resnet50)
fcn_resnet101 = _segmentation(FCN, FCNHead, resnet101)
`;
