// Images of sizes that networks are made for, and what operators outside of compiled frames read of them.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("an image that can't be halved as often as the network does gets another size", () => {
  const r = analysed(`
class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(3 if i == 0 else 8, 8, 3, stride=2, padding=1) for i in range(7))

    def forward(self, img):
        maps = []
        for layer in self.down:
            img = layer(img)
            maps.append(img)
        top = maps[-1]
        for m in reversed(maps[:-1]):
            top = F.interpolate(top, scale_factor=2, mode="nearest") + m
        return top
`);
  expect(assumedOf(r, "Pyramid")).toContain("img is float32[8, 3, 256, 256]");
});

test("maps of fixed sizes tell the image's size", () => {
  const r = analysed(`
class Attention(nn.Module):
    def __init__(self, channels, size):
        super().__init__()
        self.channels, self.size = channels, size
        self.qkv = nn.Linear(channels, channels)

    def forward(self, x):
        rows = x.view(-1, self.channels, self.size * self.size).swapaxes(1, 2)
        return self.qkv(rows).swapaxes(1, 2).view(-1, self.channels, self.size, self.size)

class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.attention = Attention(16, 32)
        self.times = nn.Linear(1, 16)

    def forward(self, x, t):
        h = self.attention(self.stem(x))
        return h + self.times(t.unsqueeze(-1).float())[:, :, None, None]
`);
  expect(assumedOf(r, "Denoiser")).toContain("x is float32[8, 3, 64, 64]");
});

test("an operator behind a graph break names the input that it read", () => {
  const r = analysed(`
class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.deviation = torch.tensor([0.2, 0.3, 0.4])
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, data):
        data = data.clone()
        if (self.deviation == 0).any():
            raise ValueError("division by zero")
        return self.layer(data.div_(self.deviation.to(data.device)[:, None, None]))
`);
  expect(assumedOf(r, "Normalised")).toMatch(/data is float32\[8, 3, \d+, \d+\]/);
});

test("other ways of branches that nobody knows are left out where they would take more steps than there are", () => {
  const r = analysed(`
class Filtered(nn.Module):
    def forward(self, x):
        for _ in range(1500):
            x = x + 1
        if (x > 0.5).sum() == 0:
            x = x * 2
        if (x > 1.5).sum() == 0:
            x = x * 3
        if (x > 2.5).sum() == 0:
            x = x * 4
        return x
`);
  expect(operatorsOf(r, "Filtered").length).toBeGreaterThan(1500);
});

test("a mask beside an image has its size and one channel, and images that are joined share the channels of a layer", () => {
  const r = analysed(`
class Fill(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 8, 3)

    def forward(self, image, mask):
        return self.first(torch.cat([image * (1 - mask), mask], dim=1))
`);
  expect(assumedOf(r, "Fill")).toContain("image is float32[8, 3, 224, 224]; mask is float32[8, 1, 224, 224]");
});

test("square maps of two sizes that meet become of one size", () => {
  const r = analysed(`
class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(9, 8, 3)

    def forward(self, image, seg):
        assert seg.dim() == 4 and seg.shape[1] == 6
        return self.first(torch.cat([image, seg], dim=1))
`);
  expect(assumedOf(r, "Join")).toMatch(/image is float32\[8, 3, (\d+), \1\]; seg is float32\[8, 6, \1, \1\]/);
});

test("height and width that a constructor is given are those of the image", () => {
  const r = analysed(`
class Grid(nn.Module):
    def __init__(self, height=96, width=160):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.weights = nn.Parameter(torch.ones(8, height * width // 4))

    def forward(self, x):
        x = F.max_pool2d(self.first(x), 2)
        return x.flatten(2) * self.weights
`);
  expect(assumedOf(r, "Grid")).toContain("x is float32[8, 3, 96, 160]");
});

test("intrinsics and poses of cameras are matrices", () => {
  const r = analysed(`
class Project(nn.Module):
    def forward(self, points, K, cam2world):
        return (K @ cam2world)[:, :3] @ points
`);
  expect(assumedOf(r, "Project")).toMatch(/K is float32\[8, 4, 4\]; cam2world is float32\[8, 4, 4\]/);
});

test("what meets an image and of which nothing is known is an image, and what it is compared with too", () => {
  const r = analysed(`
class Losses(nn.Module):
    def forward(self, image, other, gt):
        assert image.shape[1] == 3
        return (image - other).abs().mean() + F.mse_loss(image, gt)
`);
  expect(assumedOf(r, "Losses")).toMatch(
    /image is float32\[8, 3, 224, 224\]; other is float32\[8, 3, 224, 224\]; gt is float32\[8, 3, 224, 224\]/,
  );
});

test("what functions and methods do with an input counts until its name is bound again", () => {
  const r = analysed(`
def halved(y):
    b, c, h, w = y.shape
    return y.view(b, c, h // 2, 2, w // 2, 2).mean(dim=(3, 5))

class Half(nn.Module):
    def forward(self, x):
        if self.training:
            x = x[..., 1:-1, 1:-1]
        return self.inner(x)

    def inner(self, z):
        return halved(z)

class Other(nn.Module):
    def forward(self, x):
        x = x.unsqueeze(1)
        return halved(x)
`);
  expect(assumedOf(r, "Half")).toMatch(/x is float32\[8, 512, 32, 32\]/);
  expect(assumedOf(r, "Other")).toMatch(/x is float32\[\d+, \d+, \d+\]/);
});

test("the program's own words about shapes make inputs equal", () => {
  const r = analysed(`
class Compare(nn.Module):
    def forward(self, a, other):
        assert a.shape == other.shape, f"different sizes {a.shape} and {other.shape}"
        return F.conv2d(a, torch.ones(1, 1, 3, 3, device=a.device).expand(a.shape[1], 1, 3, 3), groups=a.shape[1]) - 1
`);
  expect(assumedOf(r, "Compare")).toMatch(/a is float32\[(.*)\]; other is float32\[\1\]/);
});

test("a sequence that is taken for the cells of a square grid is as long as one", () => {
  const r = analysed(`
class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 32)

    def forward(self, x, pos):
        x = self.first(x) + pos
        table = torch.zeros(int(x.shape[1] ** 0.5) ** 2, device=x.device)
        assert table.shape[0] == x.shape[1]
        return x * table[:, None]
`);
  expect(assumedOf(r, "Cells")).toMatch(/x is float32\[8, (256|196|49|64|144|100|121), 32\]/);
});

test("the sizes of clips and images stand in the order in which the code names them, in a batch of one where it asks for that", () => {
  const r = analysed(`
class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)

    def forward(self, video):
        B, T, C, H, W = video.shape
        return self.stem(video.view(T, C, H, W))

class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)

    def forward(self, image):
        b, h, w, c = image.shape
        return self.stem(image.permute(0, 3, 1, 2))
`);
  expect(assumedOf(r, "Tracker")).toContain("video is float32[1, 16, 3, 112, 112]");
  expect(assumedOf(r, "Last")).toMatch(/image is float32\[\d+, 224, 224, 3\]/);
});

test("a square map has as many cells as a table of the module has rows", () => {
  const r = analysed(`
class Mixing(nn.Module):
    def __init__(self, num_tokens=196):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(num_tokens, num_tokens))

    def forward(self, x):
        B, H, W, C = x.shape
        return torch.einsum("mn, bnc -> bmc", self.matrix, x.reshape(B, H * W, C)).reshape(B, H, W, C)
`);
  expect(assumedOf(r, "Mixing")).toMatch(/x is float32\[\d+, 14, 14, \d+\]/);
});

test("maps that are kept by their sizes decide which size an image has, and what is named after it is like it", () => {
  const r = analysed(`
class Levels(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 4, stride=4)

    def forward(self, x, x_target):
        maps = {}
        for _ in range(2):
            y = self.conv(x if not maps else x.repeat(1, 1, 2, 2)[..., ::8, ::8])
            maps[y.shape[2]] = y
        return maps[16] + x_target.sum()
`);
  expect(assumedOf(r, "Levels")).toMatch(/x is float32\[\d+, 3, 256, 256\].*x_target is float32\[\d+, 3, 256, 256\]/);
});

test("cells of a map and tokens beside them are as many as there are positions", () => {
  const r = analysed(`
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(16, 32)
        self.positions = nn.Parameter(torch.zeros(1, 16 * 16 + 64, 32))

    def forward(self, imgs):
        b, c, h, w = imgs.shape
        x = self.proj(imgs.permute(0, 2, 3, 1).reshape(b, h * w, c))
        return torch.cat([torch.zeros(b, 64, 32, device=x.device), x], dim=1) + self.positions
`);
  expect(assumedOf(r, "Masked")).toMatch(/imgs is float32\[\d+, 16, 16, 16\]/);
});

test("an image beside its smaller version, of the size that the constructor was told with the channels", () => {
  const r = analysed(`
class Inpainting(nn.Module):
    def __init__(self, input_shape):
        super().__init__()
        channels, _, _ = input_shape
        self.down = nn.Sequential(nn.Conv2d(channels, 8, 4, 2, 1), nn.Conv2d(8, 8, 4, 2, 1))
        self.out = nn.Conv2d(8 + channels, channels, 3, 1, 1)

    def forward(self, x, x_lr):
        return self.out(torch.cat((self.down(x), x_lr), 1))

def main():
    return Inpainting((3, 96, 96))
`);
  expect(assumedOf(r, "Inpainting")).toMatch(/x is float32\[\d+, 3, (\d+), \1\]; x_lr is float32\[\d+, 3, \d+, \d+\]/);
});
