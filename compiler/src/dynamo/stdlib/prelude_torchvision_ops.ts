// torchvision.ops where its source is not in the workspace's environment: boxes, and its custom operators, which stay opaque
// operators with the shapes that they give. In: nothing. Out: Python text.

export const TORCHVISION_OPS = `
import math


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _intersection(a, b):
    low = torch.max(a[:, None, :2], b[None, :, :2])
    high = torch.min(a[:, None, 2:], b[None, :, 2:])
    size = (high - low).clamp(min=0)
    return size[..., 0] * size[..., 1]


def box_iou(boxes1, boxes2):
    inter = _intersection(boxes1, boxes2)
    return inter / (box_area(boxes1)[:, None] + box_area(boxes2)[None] - inter)


def generalized_box_iou(boxes1, boxes2):
    inter = _intersection(boxes1, boxes2)
    union = box_area(boxes1)[:, None] + box_area(boxes2)[None] - inter
    low = torch.min(boxes1[:, None, :2], boxes2[None, :, :2])
    high = torch.max(boxes1[:, None, 2:], boxes2[None, :, 2:])
    size = (high - low).clamp(min=0)
    hull = size[..., 0] * size[..., 1]
    return inter / union - (hull - union) / hull


def clip_boxes_to_image(boxes, size):
    height, width = size
    x = boxes[..., 0::2].clamp(min=0, max=width)
    y = boxes[..., 1::2].clamp(min=0, max=height)
    return torch.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    keep = (boxes[:, 2] - boxes[:, 0] >= min_size) & (boxes[:, 3] - boxes[:, 1] >= min_size)
    return torch.where(keep)[0]


def box_convert(boxes, in_fmt, out_fmt):
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return torch.stack((a, b, c, d), dim=-1)


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    p = torch.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * ((1 - (p * targets + (1 - p) * (1 - targets))) ** gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def _custom(name, fake):
    return torch.library.custom_op("torchvision::" + name, fake)


# as many boxes as there are: how many are left hangs on the data
_nms = _custom("nms", lambda boxes, scores, threshold: boxes.new_empty(boxes.shape[0], dtype=torch.int64))
_roi_align = _custom("roi_align", lambda input, boxes, scale, height, width, ratio, aligned: input.new_empty(
    boxes.shape[0], input.shape[1], height, width))
_roi_pool = _custom("roi_pool", lambda input, boxes, scale, height, width: input.new_empty(
    boxes.shape[0], input.shape[1], height, width))
_ps_roi_align = _custom("ps_roi_align", lambda input, boxes, scale, height, width, ratio: input.new_empty(
    boxes.shape[0], input.shape[1] // (height * width), height, width))


def _conv_size(n, kernel, stride, padding, dilation):
    return (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _deform_shape(input, offset, weight, mask, bias, stride, padding, dilation):
    height, width = (_conv_size(input.shape[2 + i], weight.shape[2 + i], stride[i], padding[i], dilation[i]) for i in (0, 1))
    return input.new_empty(input.shape[0], weight.shape[0], height, width)


_deform_conv2d = _custom("deform_conv2d", _deform_shape)


def nms(boxes, scores, iou_threshold):
    return _nms(boxes, scores, iou_threshold)


def batched_nms(boxes, scores, idxs, iou_threshold):
    offsets = idxs.to(boxes) * (boxes.max() + 1)
    return nms(boxes + offsets[:, None], scores, iou_threshold)


def _rois(boxes):
    if isinstance(boxes, torch.Tensor):
        return boxes
    ids = [torch.full_like(b[:, :1], i) for i, b in enumerate(boxes)]
    return torch.cat([torch.cat(ids), torch.cat(list(boxes))], dim=1)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    height, width = _pair(output_size)
    return _roi_align(input, _rois(boxes), spatial_scale, height, width, sampling_ratio, aligned)


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    height, width = _pair(output_size)
    return _roi_pool(input, _rois(boxes), spatial_scale, height, width)


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    height, width = _pair(output_size)
    return _ps_roi_align(input, _rois(boxes), spatial_scale, height, width, sampling_ratio)


def deform_conv2d(input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mask=None):
    return _deform_conv2d(input, offset, weight, mask, bias, _pair(stride), _pair(padding), _pair(dilation))


class RoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


class RoIPool(nn.Module):
    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, input, rois):
        return roi_pool(input, rois, self.output_size, self.spatial_scale)


class DeformConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        super().__init__()
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *self.kernel_size))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, input, offset, mask=None):
        return deform_conv2d(input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask)


class FeaturePyramidNetwork(nn.Module):
    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.inner_blocks, self.layer_blocks = nn.ModuleList(), nn.ModuleList()
        for n in in_channels_list:
            self.inner_blocks.append(Conv2dNormActivation(n, out_channels, 1, padding=0, norm_layer=norm_layer, activation_layer=None))
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, 3, norm_layer=norm_layer, activation_layer=None))
        self.extra_blocks = extra_blocks

    def forward(self, x):
        names, values = list(x.keys()), list(x.values())
        last = self.inner_blocks[-1](values[-1])
        results = [self.layer_blocks[-1](last)]
        for i in range(len(values) - 2, -1, -1):
            lateral = self.inner_blocks[i](values[i])
            last = lateral + F.interpolate(last, size=lateral.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[i](last))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, values, names)
        return dict(zip(names, results))


class LastLevelMaxPool(nn.Module):
    def forward(self, x, y, names):
        names.append("pool")
        x.append(F.max_pool2d(x[-1], kernel_size=1, stride=2, padding=0))
        return x, names
`;
