// torchvision's transforms of colours on tensors: brightness, contrast, saturation, hue, grey, blur. In: nothing. Out: a text that
// prelude_transforms.ts begins with. Factors that torchvision draws are drawn by Python's random here, and always applied in
// one order.

export const COLOURS = `
import math
import random


def _mixed(img, other, share):
    most = 1.0 if img.is_floating_point() else 255.0
    return (share * img + (1.0 - share) * other).clamp(0, most).to(img.dtype)


def rgb_to_grayscale(img, num_output_channels=1):
    if img.shape[-3] == 3:
        r, g, b = img.unbind(dim=-3)
        grey = (0.2989 * r + 0.587 * g + 0.114 * b).to(img.dtype).unsqueeze(dim=-3)
    else:
        grey = img.clone()
    return grey.expand(img.shape[:-3] + (3,) + img.shape[-2:]) if num_output_channels == 3 else grey


to_grayscale = rgb_to_grayscale


def adjust_brightness(img, brightness_factor):
    return _mixed(img, torch.zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor):
    grey = rgb_to_grayscale(img)
    grey = grey if grey.is_floating_point() else grey.to(torch.float32)
    return _mixed(img, grey.mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img, saturation_factor):
    return img if img.shape[-3] == 1 else _mixed(img, rgb_to_grayscale(img), saturation_factor)


def _hsv(img):
    r, g, b = img.unbind(dim=-3)
    most, least = img.max(dim=-3).values, img.min(dim=-3).values
    grey, one = most == least, torch.ones_like(most)
    span = torch.where(grey, one, most - least)
    saturation = (most - least) / torch.where(grey, one, most)
    dr, dg, db = (most - r) / span, (most - g) / span, (most - b) / span
    is_red, is_green = most == r, (most == g) & (most != r)
    hue = is_red * (db - dg) + is_green * (2.0 + dr - db) + ((most != g) & (most != r)) * (4.0 + dg - dr)
    return torch.fmod(hue / 6.0 + 1.0, 1.0), saturation, most


def _rgb(h, s, v):
    sector = torch.floor(h * 6.0)
    rest = h * 6.0 - sector
    p = (v * (1.0 - s)).clamp(0.0, 1.0)
    q = (v * (1.0 - s * rest)).clamp(0.0, 1.0)
    t = (v * (1.0 - s * (1.0 - rest))).clamp(0.0, 1.0)
    sector = (sector.to(torch.int32) % 6).unsqueeze(dim=-3)
    here = (sector == torch.arange(6, device=h.device).view(-1, 1, 1)).to(v.dtype)
    ways = [(v, q, p, p, t, v), (t, v, v, q, p, p), (p, p, t, v, v, q)]
    return torch.stack([(here * torch.stack(way, dim=-3)).sum(dim=-3) for way in ways], dim=-3)


def adjust_hue(img, hue_factor):
    if img.shape[-3] == 1:
        return img
    kept = img.dtype
    h, s, v = _hsv(img if img.is_floating_point() else img.to(torch.float32) / 255.0)
    made = _rgb((h + hue_factor) % 1.0, s, v)
    return made if kept.is_floating_point else (made * 255.0).to(kept)


def _kernel1d(size, sigma):
    half = (size - 1) * 0.5
    x = torch.linspace(-half, half, steps=size)
    weights = torch.exp(-0.5 * (x / sigma).pow(2))
    return weights / weights.sum()


def gaussian_blur(img, kernel_size, sigma=None):
    kernel_size = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    sigma = [0.3 * ((k - 1) * 0.5 - 1) + 0.8 for k in kernel_size] if sigma is None else sigma
    sigma = [sigma] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (3 - len(sigma))
    kept, squeezed = img.dtype, img.ndim < 4
    img = img.unsqueeze(0) if squeezed else img
    img = img if kept.is_floating_point else img.to(torch.float32)
    x, y = (_kernel1d(k, s).to(img.device, dtype=img.dtype) for k, s in zip(kernel_size, sigma))
    kernel = torch.mm(y[:, None], x[None, :]).expand(img.shape[-3], 1, kernel_size[1], kernel_size[0])
    px, py = kernel_size[0] // 2, kernel_size[1] // 2
    img = F.conv2d(F.pad(img, [px, px, py, py], mode="reflect"), kernel, groups=img.shape[-3])
    img = img if kept.is_floating_point else img.round().to(kept)
    return img.squeeze(0) if squeezed else img


def _range(value, around=1.0, least=0.0):
    if isinstance(value, (int, float)):
        low, high = around - value, around + value
        value = (low if least is None else max(low, least), high)
    return None if value[0] == value[1] == around else (float(value[0]), float(value[1]))


class ColorJitter(nn.Module):
    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness, self.contrast, self.saturation = _range(brightness), _range(contrast), _range(saturation)
        self.hue = _range(hue, 0.0, None)

    def forward(self, img):
        if self.brightness is not None:
            img = adjust_brightness(img, random.uniform(*self.brightness))
        if self.contrast is not None:
            img = adjust_contrast(img, random.uniform(*self.contrast))
        if self.saturation is not None:
            img = adjust_saturation(img, random.uniform(*self.saturation))
        if self.hue is not None:
            img = adjust_hue(img, random.uniform(*self.hue))
        return img


class Grayscale(nn.Module):
    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return rgb_to_grayscale(img, self.num_output_channels)


class RandomGrayscale(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.p = p

    def forward(self, img):
        return rgb_to_grayscale(img, img.shape[-3]) if torch.rand(1) < self.p else img


class GaussianBlur(nn.Module):
    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
        self.sigma = (sigma, sigma) if isinstance(sigma, (int, float)) else tuple(sigma)

    def forward(self, img):
        return gaussian_blur(img, self.kernel_size, random.uniform(*self.sigma))
`;
