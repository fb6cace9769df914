// torchvision's transforms as models run them on tensors: normalising, resizing, cropping and flipping; colours
// (prelude_colours.ts). In: nothing. Out: a text
// for transforms and transforms.functional; what it lacks is unknown.

import { COLOURS } from "./prelude_colours";

export const TRANSFORMS = `${COLOURS}
class InterpolationMode:
    NEAREST, NEAREST_EXACT, BILINEAR, BICUBIC = "nearest", "nearest-exact", "bilinear", "bicubic"
    BOX, HAMMING, LANCZOS = "box", "hamming", "lanczos"


def get_image_size(img):
    return [img.shape[-1], img.shape[-2]]


def get_dimensions(img):
    return [1 if img.ndim == 2 else img.shape[-3], img.shape[-2], img.shape[-1]]


def normalize(tensor, mean, std, inplace=False):
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError("Expected tensor to be a tensor image of size (..., C, H, W)")
    if not inplace:
        tensor = tensor.clone()
    mean = torch.as_tensor(mean, dtype=tensor.dtype, device=tensor.device)
    std = torch.as_tensor(std, dtype=tensor.dtype, device=tensor.device)
    if (std == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    mean, std = (v.view(-1, 1, 1) if v.ndim == 1 else v for v in (mean, std))
    return tensor.sub_(mean).div_(std)


def _resized(size, height, width, max_size):
    size = [size] if isinstance(size, int) else list(size)
    if len(size) == 2:
        return size
    short, long = (width, height) if width <= height else (height, width)
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None and new_long > max_size:
        new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if width <= height else [new_short, new_long]


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    height, width = img.shape[-2:]
    wanted = _resized(size, height, width, max_size)
    if [height, width] == wanted:
        return img
    smooth = interpolation in ("bilinear", "bicubic")
    squeezed, kept = img.ndim < 4, img.dtype
    if squeezed:
        img = img.unsqueeze(0)
    if kept not in (torch.float32, torch.float64):
        img = img.to(torch.float32)
    img = F.interpolate(img, size=wanted, mode=interpolation, align_corners=False if smooth else None,
                        antialias=bool(antialias) and smooth)
    if interpolation == "bicubic" and kept == torch.uint8:
        img = img.clamp(min=0, max=255)
    if squeezed:
        img = img.squeeze(0)
    if img.dtype != kept:
        img = (img if kept.is_floating_point else img.round()).to(kept)
    return img


def crop(img, top, left, height, width):
    return img[..., top : top + height, left : left + width]


def center_crop(img, output_size):
    size = [output_size] * 2 if isinstance(output_size, int) else list(output_size)
    size = size * 2 if len(size) == 1 else size
    (height, width), (h, w) = size, img.shape[-2:]
    if width > w or height > h:
        left, top = max(width - w, 0) // 2, max(height - h, 0) // 2
        img = F.pad(img, [left, max(width - w + 1, 0) // 2, top, max(height - h + 1, 0) // 2])
        h, w = img.shape[-2:]
    return crop(img, int(round((h - height) / 2.0)), int(round((w - width) / 2.0)), height, width)


def pad(img, padding, fill=0, padding_mode="constant"):
    padding = [padding] if isinstance(padding, int) else list(padding)
    padding = padding * 2 if len(padding) == 1 else padding
    left, top, right, bottom = padding * 2 if len(padding) == 2 else padding
    sides = [left, right, top, bottom]
    if padding_mode == "constant":
        return F.pad(img, sides, value=float(fill))
    squeezed = img.ndim < 4
    img = F.pad(img.unsqueeze(0) if squeezed else img, sides, mode="replicate" if padding_mode == "edge" else padding_mode)
    return img.squeeze(0) if squeezed else img


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img):
    return img.flip(-1)


def vflip(img):
    return img.flip(-2)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)


class Normalize(nn.Module):
    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return normalize(tensor, self.mean, self.std, self.inplace)


class Resize(nn.Module):
    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def forward(self, img):
        return resize(img, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, img):
        return center_crop(img, self.size)


class RandomHorizontalFlip(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return hflip(img) if torch.rand(1) < self.p else img


class RandomVerticalFlip(RandomHorizontalFlip):
    def forward(self, img):
        return vflip(img) if torch.rand(1) < self.p else img


class Pad(nn.Module):
    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return pad(img, self.padding, self.fill, self.padding_mode)


def _pair(size):
    return (size, size) if isinstance(size, int) else tuple(size) * (3 - len(size))


class RandomCrop(nn.Module):
    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size, self.padding, self.fill, self.padding_mode = _pair(size), padding, fill, padding_mode
        self.pad_if_needed = pad_if_needed

    def forward(self, img):
        if self.padding is not None:
            img = pad(img, self.padding, self.fill, self.padding_mode)
        height, width = self.size
        if self.pad_if_needed:
            missing = [max(width - img.shape[-1], 0), max(height - img.shape[-2], 0)]
            img = pad(img, missing, self.fill, self.padding_mode) if any(missing) else img
        h, w = img.shape[-2:]
        if h < height or w < width:
            raise ValueError(f"Required crop size {(height, width)} is larger than input image size {(h, w)}")
        if (h, w) == (height, width):
            return img
        return crop(img, random.randint(0, h - height), random.randint(0, w - width), height, width)


class RandomResizedCrop(nn.Module):
    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=InterpolationMode.BILINEAR,
                 antialias=True):
        super().__init__()
        self.size, self.scale, self.ratio = _pair(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    def forward(self, img):
        # a part in the middle of the mean area and ratio: any other one becomes the same operators
        height, width = img.shape[-2:]
        area = height * width * sum(self.scale) / 2
        ratio = math.sqrt(self.ratio[0] * self.ratio[1])
        h = max(1, min(height, int(round(math.sqrt(area / ratio)))))
        w = max(1, min(width, int(round(math.sqrt(area * ratio)))))
        return resized_crop(img, (height - h) // 2, (width - w) // 2, h, w, self.size, self.interpolation, self.antialias)


class RandomApply(nn.Module):
    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < torch.rand(1):
            return img
        for t in self.transforms:
            img = t(img)
        return img
`;
