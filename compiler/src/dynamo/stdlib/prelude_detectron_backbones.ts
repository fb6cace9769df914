// Networks that detectron2's models are built on, and the options that its models read. In: nothing. Out: Python text.

/** detectron2.modeling.backbone's ResNets and feature pyramids */
export const DETECTRON_BACKBONES = `
from detectron2.layers import CNNBlockBase, Conv2d, ShapeSpec, get_norm
from detectron2.modeling import Backbone


def _conv(i, o, size, norm, stride=1, groups=1, dilation=1):
    return Conv2d(i, o, kernel_size=size, stride=stride, padding=dilation * (size // 2), dilation=dilation, groups=groups,
                  bias=False, norm=get_norm(norm, o))


class BasicBlock(CNNBlockBase):
    def __init__(self, in_channels, out_channels, *, stride=1, norm="BN"):
        super().__init__(in_channels, out_channels, stride)
        self.shortcut = _conv(in_channels, out_channels, 1, norm, stride) if in_channels != out_channels else None
        self.conv1 = _conv(in_channels, out_channels, 3, norm, stride)
        self.conv2 = _conv(out_channels, out_channels, 3, norm)

    def forward(self, x):
        out = self.conv2(F.relu_(self.conv1(x)))
        return F.relu_(out + (x if self.shortcut is None else self.shortcut(x)))


class BottleneckBlock(CNNBlockBase):
    def __init__(self, in_channels, out_channels, *, bottleneck_channels, stride=1, num_groups=1, norm="BN",
                 stride_in_1x1=False, dilation=1):
        super().__init__(in_channels, out_channels, stride)
        self.shortcut = _conv(in_channels, out_channels, 1, norm, stride) if in_channels != out_channels else None
        first, second = (stride, 1) if stride_in_1x1 else (1, stride)
        self.conv1 = _conv(in_channels, bottleneck_channels, 1, norm, first)
        self.conv2 = _conv(bottleneck_channels, bottleneck_channels, 3, norm, second, num_groups, dilation)
        self.conv3 = _conv(bottleneck_channels, out_channels, 1, norm)

    def forward(self, x):
        out = self.conv3(F.relu_(self.conv2(F.relu_(self.conv1(x)))))
        return F.relu_(out + (x if self.shortcut is None else self.shortcut(x)))


class BasicStem(CNNBlockBase):
    def __init__(self, in_channels=3, out_channels=64, norm="BN"):
        super().__init__(in_channels, out_channels, 4)
        self.conv1 = _conv(in_channels, out_channels, 7, norm, 2)

    def forward(self, x):
        return F.max_pool2d(F.relu_(self.conv1(x)), kernel_size=3, stride=2, padding=1)


class ResNet(Backbone):
    def __init__(self, stem, stages, num_classes=None, out_features=None, freeze_at=0):
        super().__init__()
        self.stem, self.num_classes = stem, num_classes
        stride = stem.stride
        self._out_feature_strides, self._out_feature_channels = {"stem": stride}, {"stem": stem.out_channels}
        self.stage_names = tuple(f"res{i + 2}" for i in range(len(stages)))
        for name, blocks in zip(self.stage_names, stages):
            self.add_module(name, nn.Sequential(*blocks))
            for b in blocks:
                stride *= b.stride
            self._out_feature_strides[name], self._out_feature_channels[name] = stride, blocks[-1].out_channels
        if num_classes is not None:
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.linear = nn.Linear(blocks[-1].out_channels, num_classes)
        self._out_features = out_features or ["linear" if num_classes is not None else name]
        self.freeze(freeze_at)

    @staticmethod
    def make_stage(block_class, num_blocks, *, in_channels, out_channels, **kwargs):
        blocks = []
        for i in range(num_blocks):
            own = {}
            for k, v in kwargs.items():
                if k.endswith("_per_block"):
                    own[k[: -len("_per_block")]] = v[i]
                else:
                    own[k] = v if k != "stride" or i == 0 else 1
            blocks.append(block_class(in_channels=in_channels, out_channels=out_channels, **own))
            in_channels = out_channels
        return blocks

    def forward(self, x):
        x, out = self.stem(x), {}
        if "stem" in self._out_features:
            out["stem"] = x
        for name in self.stage_names:
            x = getattr(self, name)(x)
            if name in self._out_features:
                out[name] = x
        if self.num_classes is not None:
            x = self.linear(torch.flatten(self.avgpool(x), 1))
            if "linear" in self._out_features:
                out["linear"] = x
        return out

    def freeze(self, freeze_at=0):
        stages = [self.stem, *(getattr(self, n) for n in self.stage_names)]
        for stage in stages[:freeze_at]:
            for p in stage.parameters():
                p.requires_grad = False
        return self


def build_resnet_backbone(cfg, input_shape):
    r = cfg.MODEL.RESNETS
    norm, depth, wide = r.NORM, r.DEPTH, r.RES2_OUT_CHANNELS
    stem = BasicStem(in_channels=input_shape.channels, out_channels=r.STEM_OUT_CHANNELS, norm=norm)
    counts = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}[depth]
    stages, width, before = [], r.NUM_GROUPS * r.WIDTH_PER_GROUP, r.STEM_OUT_CHANNELS
    last = max([int(f[3:]) for f in r.OUT_FEATURES if f.startswith("res")], default=2)
    for i, n in enumerate(counts[: last - 1]):
        dilation = r.RES5_DILATION if i == 3 else 1
        own = dict(in_channels=before, out_channels=wide, norm=norm, stride=1 if i == 0 or dilation == 2 else 2)
        if depth > 34:
            own.update(bottleneck_channels=width, stride_in_1x1=r.STRIDE_IN_1X1, num_groups=r.NUM_GROUPS, dilation=dilation)
        stages.append(ResNet.make_stage(BottleneckBlock if depth > 34 else BasicBlock, n, **own))
        before, wide, width = wide, wide * 2, width * 2
    return ResNet(stem, stages, out_features=list(r.OUT_FEATURES), freeze_at=cfg.MODEL.BACKBONE.FREEZE_AT)


class LastLevelMaxPool(nn.Module):
    num_levels, in_feature = 1, "p5"

    def forward(self, x):
        return [F.max_pool2d(x, kernel_size=1, stride=2, padding=0)]


class LastLevelP6P7(nn.Module):
    num_levels = 2

    def __init__(self, in_channels, out_channels, in_feature="res5"):
        super().__init__()
        self.in_feature = in_feature
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)

    def forward(self, c5):
        p6 = self.p6(c5)
        return [p6, self.p7(F.relu(p6))]


class FPN(Backbone):
    def __init__(self, bottom_up, in_features, out_channels, norm="", top_block=None, fuse_type="sum", square_pad=0):
        super().__init__()
        import math
        shapes = bottom_up.output_shape()
        strides = [shapes[f].stride for f in in_features]
        self.in_features, self.bottom_up, self.top_block, self._fuse_type = tuple(in_features), bottom_up, top_block, fuse_type
        self.lateral, self.output = [], []
        for f, s in zip(in_features, strides):
            level, bias = int(math.log2(s)), norm == ""
            one = Conv2d(shapes[f].channels, out_channels, kernel_size=1, bias=bias, norm=get_norm(norm, out_channels))
            three = Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=bias, norm=get_norm(norm, out_channels))
            self.add_module(f"fpn_lateral{level}", one)
            self.add_module(f"fpn_output{level}", three)
            self.lateral.insert(0, one)
            self.output.insert(0, three)
        names = [f"p{int(math.log2(s))}" for s in strides]
        last = int(math.log2(strides[-1]))
        names += [f"p{last + 1 + i}" for i in range(top_block.num_levels if top_block is not None else 0)]
        self._out_features = names
        self._out_feature_strides = {n: 2 ** int(n[1:]) for n in names}
        self._out_feature_channels = {n: out_channels for n in names}
        self._size_divisibility, self._square_pad = strides[-1], square_pad

    @property
    def size_divisibility(self):
        return self._size_divisibility

    @property
    def padding_constraints(self):
        return {"square_size": self._square_pad}

    def forward(self, x):
        features = self.bottom_up(x)
        results, before = [], None
        for f, one, three in zip(self.in_features[::-1], self.lateral, self.output):
            level = one(features[f])
            if before is not None:
                level = level + F.interpolate(before, scale_factor=2.0, mode="nearest")
                if self._fuse_type == "avg":
                    level = level / 2
            before = level
            results.insert(0, three(level))
        if self.top_block is not None:
            name = self.top_block.in_feature
            source = features[name] if name in features else results[self._out_features.index(name)]
            results.extend(self.top_block(source))
        return dict(zip(self._out_features, results))


def _pyramid(cfg, bottom_up, top):
    f = cfg.MODEL.FPN
    return FPN(bottom_up, f.IN_FEATURES, f.OUT_CHANNELS, norm=f.NORM, top_block=top(bottom_up, f.OUT_CHANNELS), fuse_type=f.FUSE_TYPE)


def build_resnet_fpn_backbone(cfg, input_shape):
    return _pyramid(cfg, build_resnet_backbone(cfg, input_shape), lambda b, n: LastLevelMaxPool())


def build_retinanet_resnet_fpn_backbone(cfg, input_shape):
    top = lambda b, n: LastLevelP6P7(b.output_shape()["res5"].channels, n)
    return _pyramid(cfg, build_resnet_backbone(cfg, input_shape), top)
`;

/** the options that models read, as detectron2 sets them; a project's own stand before them */
export const DETECTRON_DEFAULTS = `
_C.MODEL.DEVICE = "cuda"
_C.MODEL.META_ARCHITECTURE = "GeneralizedRCNN"
_C.MODEL.MASK_ON = False
_C.MODEL.KEYPOINT_ON = False
_C.MODEL.LOAD_PROPOSALS = False
_C.MODEL.WEIGHTS = ""
_C.MODEL.PIXEL_MEAN = [103.530, 116.280, 123.675]
_C.MODEL.PIXEL_STD = [1.0, 1.0, 1.0]
_C.MODEL.BACKBONE.NAME = "build_resnet_backbone"
_C.MODEL.BACKBONE.FREEZE_AT = 2
_C.MODEL.FPN.IN_FEATURES = ["res2", "res3", "res4", "res5"]
_C.MODEL.FPN.OUT_CHANNELS = 256
_C.MODEL.FPN.NORM = ""
_C.MODEL.FPN.FUSE_TYPE = "sum"
_C.MODEL.PROPOSAL_GENERATOR.NAME = "RPN"
_C.MODEL.RPN.HEAD_NAME = "StandardRPNHead"
_C.MODEL.RPN.IN_FEATURES = ["res4"]
_C.MODEL.ROI_HEADS.NAME = "Res5ROIHeads"
_C.MODEL.ROI_HEADS.NUM_CLASSES = 80
_C.MODEL.ROI_HEADS.IN_FEATURES = ["res4"]
_C.MODEL.ROI_BOX_HEAD.NUM_FC = 2
_C.MODEL.ROI_BOX_HEAD.FC_DIM = 1024
_C.MODEL.ROI_BOX_HEAD.NUM_CONV = 4
_C.MODEL.ROI_BOX_HEAD.CONV_DIM = 256
_C.MODEL.ROI_BOX_HEAD.NORM = ""
_C.MODEL.ROI_BOX_HEAD.POOLER_RESOLUTION = 14
_C.MODEL.ROI_MASK_HEAD.NUM_CONV = 4
_C.MODEL.ROI_MASK_HEAD.CONV_DIM = 256
_C.MODEL.ROI_MASK_HEAD.NORM = ""
_C.MODEL.ROI_MASK_HEAD.CLS_AGNOSTIC_MASK = False
_C.MODEL.ROI_MASK_HEAD.POOLER_RESOLUTION = 14
_C.MODEL.SEM_SEG_HEAD.NAME = "SemSegFPNHead"
_C.MODEL.SEM_SEG_HEAD.IN_FEATURES = ["p2", "p3", "p4", "p5"]
_C.MODEL.SEM_SEG_HEAD.IGNORE_VALUE = 255
_C.MODEL.SEM_SEG_HEAD.NUM_CLASSES = 54
_C.MODEL.SEM_SEG_HEAD.CONVS_DIM = 128
_C.MODEL.SEM_SEG_HEAD.COMMON_STRIDE = 4
_C.MODEL.SEM_SEG_HEAD.NORM = "GN"
_C.MODEL.SEM_SEG_HEAD.LOSS_WEIGHT = 1.0
_C.MODEL.RESNETS.DEPTH = 50
_C.MODEL.RESNETS.OUT_FEATURES = ["res4"]
_C.MODEL.RESNETS.NUM_GROUPS = 1
_C.MODEL.RESNETS.WIDTH_PER_GROUP = 64
_C.MODEL.RESNETS.NORM = "FrozenBN"
_C.MODEL.RESNETS.STRIDE_IN_1X1 = True
_C.MODEL.RESNETS.RES5_DILATION = 1
_C.MODEL.RESNETS.RES2_OUT_CHANNELS = 256
_C.MODEL.RESNETS.STEM_OUT_CHANNELS = 64
_C.MODEL.RESNETS.DEFORM_ON_PER_STAGE = [False, False, False, False]
_C.MODEL.RESNETS.DEFORM_MODULATED = False
_C.MODEL.RESNETS.DEFORM_NUM_GROUPS = 1
_C.INPUT.FORMAT = "BGR"
_C.TEST.DETECTIONS_PER_IMAGE = 100
`;
