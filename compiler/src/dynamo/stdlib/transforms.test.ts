// torchvision's transforms inside models are torch's operators.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("images are resized by their shorter edge, cropped in the middle and normalised", () => {
  const r = analysed(`
import torchvision
import torchvision.transforms as T
import torchvision.transforms.functional as TF
from torchvision.transforms import InterpolationMode

chain = nn.Sequential(T.Resize(8, interpolation=InterpolationMode.BICUBIC), T.CenterCrop(6))
scaled = T.Normalize((0.5,) * 3, (0.5,) * 3)

class Seen(nn.Module):
    def forward(self, x):
        return scaled(chain(x) * 2)

x = torch.rand(2, 3, 16, 24, device="cuda")
print(torch.compile(Seen())(x).shape, TF.resize(x, (4, 4)).shape, TF.resize(x, 8, max_size=10).shape)
print(TF.center_crop(x, [20, 20]).shape, TF.hflip(x[0]).shape, TF.resize((x[0] * 255).to(torch.uint8), [5, 5]).dtype)
print(T.Compose([T.Lambda(lambda v: v + 1), torchvision.transforms.Resize(16)])(x) is x, TF.resize(x, 16) is x)
`);
  expect(r.diagnostics.filter(d => d.severity === "error" || d.code.startsWith("unknown"))).toEqual([]);
  expect(printed(r).trimEnd().split("\n")).toEqual([
    "torch.Size([2, 3, 6, 6]) torch.Size([2, 3, 4, 4]) torch.Size([2, 3, 6, 10])",
    "torch.Size([2, 3, 20, 20]) torch.Size([3, 16, 24]) torch.uint8",
    "False True",
  ]);
  const targets = r.events.flatMap(e => (e.kind === "frame" ? e.frame.graph.nodes.map(n => n.target) : []));
  expect(targets).toEqual(expect.arrayContaining(["torch.nn.functional.interpolate", "operator.mul"]));
});

test("colours are changed, greyed and blurred, and parts cut out and padded, in torch's operators", () => {
  const r = analysed(`
import torchvision.transforms as T
import torchvision.transforms.functional as TF

class Augmented(nn.Module):
    def __init__(self):
        super().__init__()
        self.colours = T.Compose([T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.GaussianBlur((3, 3), (1.0, 2.0))])
        self.cut = nn.Sequential(T.Pad(2), T.RandomCrop(18), T.RandomResizedCrop((12, 10)))

    def forward(self, images):
        return self.cut(self.colours(images)).mean()

x = torch.rand(2, 3, 16, 24)
print(TF.rgb_to_grayscale(x, 3).shape, TF.adjust_hue(x, 0.1).shape, TF.gaussian_blur(x[0], 5).shape, TF.pad(x, (1, 2)).shape)
print(TF.adjust_contrast((x * 255).to(torch.uint8), 2.0).dtype, T.Grayscale()(x).shape, T.RandomGrayscale(p=0.2)(x).shape, T.ColorJitter(hue=0).hue)
`);
  expect(r.diagnostics.filter(d => d.severity === "error" || d.code.startsWith("unknown"))).toEqual([]);
  expect(printed(r).trimEnd().split("\n")).toEqual([
    "torch.Size([2, 3, 16, 24]) torch.Size([2, 3, 16, 24]) torch.Size([3, 16, 24]) torch.Size([2, 3, 20, 26])",
    "torch.uint8 torch.Size([2, 1, 16, 24]) torch.Size([2, 3, 16, 24]) None",
  ]);
  expect(operatorsOf(r, "Augmented")).toEqual(expect.arrayContaining(["torch.conv2d", "torch.fmod"]));
});
