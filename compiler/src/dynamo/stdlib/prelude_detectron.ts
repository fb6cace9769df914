// What detectron2 and fvcore have besides layers: registries, structures that hold images, boxes and instances, the usual
// options, ResNets and feature pyramids. In: nothing. Out: texts by module name; what a text lacks is unknown.

const FVCORE_REGISTRY = `
class Registry:
    def __init__(self, name):
        self._name, self._obj_map = name, {}

    def register(self, obj=None):
        if obj is None:
            return self.register
        self._obj_map[obj.__name__] = obj
        return obj

    def get(self, name):
        if name not in self._obj_map:
            raise KeyError(f"No object named '{name}' found in '{self._name}' registry!")
        return self._obj_map[name]

    def __contains__(self, name):
        return name in self._obj_map

    def __iter__(self):
        return iter(self._obj_map.items())
`;

const WEIGHT_INIT = `
def _zero_bias(module):
    if module.bias is not None:
        nn.init.constant_(module.bias, 0)


def c2_msra_fill(module):
    nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    _zero_bias(module)


def c2_xavier_fill(module):
    nn.init.kaiming_uniform_(module.weight, a=1)
    _zero_bias(module)
`;

const FVCORE_NN = `
def _reduced(loss, reduction):
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def smooth_l1_loss(input, target, beta, reduction="none"):
    d = torch.abs(input - target)
    return _reduced(d if beta < 1e-5 else torch.where(d < beta, 0.5 * d ** 2 / beta, d - 0.5 * beta), reduction)


def sigmoid_focal_loss(inputs, targets, alpha=-1, gamma=2, reduction="none"):
    inputs, targets = inputs.float(), targets.float()
    p = torch.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * ((1 - (p * targets + (1 - p) * (1 - targets))) ** gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return _reduced(loss, reduction)


sigmoid_focal_loss_jit = sigmoid_focal_loss


def giou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    ax1, ay1, ax2, ay2 = boxes1.unbind(dim=-1)
    bx1, by1, bx2, by2 = boxes2.unbind(dim=-1)
    width = (torch.min(ax2, bx2) - torch.max(ax1, bx1)).clamp(min=0)
    height = (torch.min(ay2, by2) - torch.max(ay1, by1)).clamp(min=0)
    shared = width * height
    union = (ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared
    around = (torch.max(ax2, bx2) - torch.min(ax1, bx1)) * (torch.max(ay2, by2) - torch.min(ay1, by1))
    loss = 1 - (shared / (union + eps) - (around - union) / (around + eps))
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    return _reduced(loss, reduction)
`;

const STRUCTURES = `
class ImageList:
    def __init__(self, tensor, image_sizes):
        self.tensor, self.image_sizes = tensor, image_sizes

    def __len__(self):
        return len(self.image_sizes)

    def __getitem__(self, i):
        height, width = self.image_sizes[i]
        return self.tensor[i, ..., :height, :width]

    def to(self, *args, **kwargs):
        return ImageList(self.tensor.to(*args, **kwargs), self.image_sizes)

    @property
    def device(self):
        return self.tensor.device

    @staticmethod
    def from_tensors(tensors, size_divisibility=0, pad_value=0.0, padding_constraints=None):
        sizes = [(t.shape[-2], t.shape[-1]) for t in tensors]
        most = [max(s[d] for s in sizes) for d in (0, 1)]
        wanted = padding_constraints or {}
        side = wanted.get("square_size", 0)
        if side > 0:
            most = [side, side]
        step = wanted.get("size_divisibility", size_divisibility)
        if step > 1:
            most = [(m + step - 1) // step * step for m in most]
        padded = [F.pad(t, [0, most[1] - s[1], 0, most[0] - s[0]], value=pad_value) for t, s in zip(tensors, sizes)]
        batched = padded[0].unsqueeze(0) if len(padded) == 1 else torch.stack(padded)
        return ImageList(batched.contiguous(), sizes)


class Boxes:
    def __init__(self, tensor):
        tensor = tensor.to(torch.float32) if isinstance(tensor, torch.Tensor) else torch.as_tensor(tensor, dtype=torch.float32)
        self.tensor = tensor.reshape((-1, 4)) if tensor.numel() == 0 else tensor

    def clone(self):
        return Boxes(self.tensor.clone())

    def to(self, device):
        return Boxes(self.tensor.to(device=device))

    def area(self):
        b = self.tensor
        return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])

    def clip(self, box_size):
        h, w = box_size
        x1, y1, x2, y2 = self.tensor.unbind(dim=1)
        self.tensor = torch.stack((x1.clamp(min=0, max=w), y1.clamp(min=0, max=h), x2.clamp(min=0, max=w),
                                   y2.clamp(min=0, max=h)), dim=-1)

    def nonempty(self, threshold=0.0):
        b = self.tensor
        return (b[:, 2] - b[:, 0] > threshold) & (b[:, 3] - b[:, 1] > threshold)

    def __getitem__(self, item):
        return Boxes(self.tensor[item].view(1, -1) if isinstance(item, int) else self.tensor[item])

    def __len__(self):
        return self.tensor.shape[0]

    def __iter__(self):
        yield from self.tensor

    def get_centers(self):
        return (self.tensor[:, :2] + self.tensor[:, 2:]) / 2

    def scale(self, scale_x, scale_y):
        self.tensor[:, 0::2] *= scale_x
        self.tensor[:, 1::2] *= scale_y

    @classmethod
    def cat(cls, boxes_list):
        return cls(torch.cat([b.tensor for b in boxes_list], dim=0) if len(boxes_list) > 0 else torch.empty(0))

    @property
    def device(self):
        return self.tensor.device


def pairwise_intersection(boxes1, boxes2):
    a, b = boxes1.tensor, boxes2.tensor
    sides = torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])
    return sides.clamp_(min=0).prod(dim=2)


def pairwise_iou(boxes1, boxes2):
    shared = pairwise_intersection(boxes1, boxes2)
    union = boxes1.area()[:, None] + boxes2.area() - shared
    return torch.where(shared > 0, shared / union, torch.zeros(1, dtype=shared.dtype, device=shared.device))


class BitMasks:
    def __init__(self, tensor):
        self.tensor = torch.as_tensor(tensor, dtype=torch.bool)
        self.image_size = self.tensor.shape[1:]

    def to(self, *args, **kwargs):
        return BitMasks(self.tensor.to(*args, **kwargs))

    def __getitem__(self, item):
        return BitMasks(self.tensor[item].unsqueeze(0) if isinstance(item, int) else self.tensor[item])

    def __len__(self):
        return self.tensor.shape[0]

    def nonempty(self):
        return self.tensor.flatten(1).any(dim=1)

    @property
    def device(self):
        return self.tensor.device


class Instances:
    def __init__(self, image_size, **kwargs):
        self._image_size, self._fields = image_size, {}
        for k, v in kwargs.items():
            self.set(k, v)

    @property
    def image_size(self):
        return self._image_size

    def __setattr__(self, name, val):
        if name.startswith("_"):
            super().__setattr__(name, val)
        else:
            self.set(name, val)

    def __getattr__(self, name):
        if name == "_fields" or name not in self._fields:
            raise AttributeError(f"Cannot find field '{name}' in the given Instances!")
        return self._fields[name]

    def set(self, name, value):
        self._fields[name] = value

    def has(self, name):
        return name in self._fields

    def remove(self, name):
        del self._fields[name]

    def get(self, name):
        return self._fields[name]

    def get_fields(self):
        return self._fields

    def _with(self, change):
        made = Instances(self._image_size)
        for k, v in self._fields.items():
            made.set(k, change(v))
        return made

    def to(self, *args, **kwargs):
        return self._with(lambda v: v.to(*args, **kwargs) if hasattr(v, "to") else v)

    def __getitem__(self, item):
        return self._with(lambda v: v[slice(item, item + 1) if type(item) is int else item])

    def __len__(self):
        for v in self._fields.values():
            return len(v)
        raise NotImplementedError("Empty Instances does not support __len__!")

    @staticmethod
    def cat(instance_lists):
        if len(instance_lists) == 1:
            return instance_lists[0]
        made = Instances(instance_lists[0].image_size)
        for k in instance_lists[0]._fields:
            values = [i.get(k) for i in instance_lists]
            first = values[0]
            joined = torch.cat(values, dim=0) if isinstance(first, torch.Tensor) else type(first).cat(values)
            made.set(k, joined)
        return made
`;

const POSTPROCESSING = `
from detectron2.structures import Instances


def detector_postprocess(results, output_height, output_width, mask_threshold=0.5):
    scale_x, scale_y = output_width / results.image_size[1], output_height / results.image_size[0]
    made = Instances((output_height, output_width), **results.get_fields())
    boxes = made.pred_boxes if made.has("pred_boxes") else made.proposal_boxes if made.has("proposal_boxes") else None
    if boxes is not None:
        boxes.scale(scale_x, scale_y)
        boxes.clip(made.image_size)
        made = made[boxes.nonempty()]
    return made


def sem_seg_postprocess(result, img_size, output_height, output_width):
    result = result[:, : img_size[0], : img_size[1]].expand(1, -1, -1, -1)
    return F.interpolate(result, size=(output_height, output_width), mode="bilinear", align_corners=False)[0]
`;

const RESNETS = `
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

/** texts by module name */
export const DETECTRON: Readonly<Record<string, string>> = {
  "fvcore.common.registry": FVCORE_REGISTRY,
  "fvcore.nn": FVCORE_NN,
  "fvcore.nn.weight_init": WEIGHT_INIT,
  "detectron2.structures": STRUCTURES,
  "detectron2.modeling.postprocessing": POSTPROCESSING,
  "detectron2.modeling.backbone.resnet": RESNETS,
  "detectron2.modeling.backbone.fpn": "from detectron2.modeling.backbone.resnet import *\n",
};

export const DETECTRON_PACKAGES = ["fvcore", "fvcore.common"] as const;
