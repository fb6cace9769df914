// What detectron2 and fvcore have besides layers and backbones: registries, structures that hold images, boxes and instances.
// In: nothing. Out: texts by module name; what a text lacks is unknown.
import { DETECTRON_BACKBONES } from "./prelude_detectron_backbones";

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

/** texts by module name */
export const DETECTRON: Readonly<Record<string, string>> = {
  "fvcore.common.registry": FVCORE_REGISTRY,
  "fvcore.nn": FVCORE_NN,
  "fvcore.nn.weight_init": WEIGHT_INIT,
  "detectron2.structures": STRUCTURES,
  "detectron2.modeling.postprocessing": POSTPROCESSING,
  "detectron2.modeling.backbone.resnet": DETECTRON_BACKBONES,
  "detectron2.modeling.backbone.fpn": "from detectron2.modeling.backbone.resnet import *\n",
};

export const DETECTRON_PACKAGES = ["fvcore", "fvcore.common"] as const;
