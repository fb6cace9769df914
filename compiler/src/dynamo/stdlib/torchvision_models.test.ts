// torchvision's networks have as many parameters as the papers and model cards of their weights say, and run.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

const counted = (names: readonly string[], module = "models"): string =>
  printed(
    analysed(
      `from torchvision import models\n${names.map(n => `print("${n}", sum(p.numel() for p in ${module}.${n}().parameters()))`).join("\n")}`,
    ),
  );

test("networks for small devices", () => {
  const names = ["mobilenet_v3_large", "mobilenet_v3_small", "squeezenet1_0", "squeezenet1_1", "shufflenet_v2_x1_0"];
  expect(counted(names)).toBe(
    "mobilenet_v3_large 5483032\nmobilenet_v3_small 2542856\nsqueezenet1_0 1248424\nsqueezenet1_1 1235496\nshufflenet_v2_x1_0 2278604\n",
  );
});

test("scaled networks", () => {
  expect(counted(["efficientnet_b0", "efficientnet_b3", "efficientnet_v2_s"])).toBe(
    "efficientnet_b0 5288548\nefficientnet_b3 12233232\nefficientnet_v2_s 21458488\n",
  );
});

test("larger networks", () => {
  expect(counted(["convnext_tiny", "vit_b_16"])).toBe("convnext_tiny 28589128\nvit_b_16 86567656\n");
});

test("networks for clips", () => {
  expect(counted(["r3d_18", "mc3_18", "r2plus1d_18"], "models.video")).toBe(
    "r3d_18 33371472\nmc3_18 11695440\nr2plus1d_18 31505325\n",
  );
});

test("a class of the program's own derives from one and takes its layers apart", () => {
  const r = analysed(`
from torchvision.models.mobilenetv3 import MobileNetV3, InvertedResidualConfig
from torchvision.models import googlenet
from torchvision.models.segmentation.deeplabv3 import ASPP

class Encoder(MobileNetV3):
    def __init__(self):
        rows = [InvertedResidualConfig(16, 3, 64, 24, False, "RE", 2, 1, 1),
                InvertedResidualConfig(24, 5, 72, 40, True, "HS", 2, 2, 1)]
        super().__init__(inverted_residual_setting=rows, last_channel=128)
        del self.avgpool
        del self.classifier
        self.aspp = ASPP(240, [2, 4], 32)

    def forward(self, image):
        for layer in self.features:
            image = layer(image)
        return self.aspp(image)

class Aided(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = googlenet(aux_logits=False)

    def forward(self, image):
        return self.net(image)
`);
  expect(operatorsOf(r, "Encoder").filter(t => /conv2d/.test(t)).length).toBe(15);
  expect(operatorsOf(r, "Aided").filter(t => /cat$/.test(t)).length).toBe(9);
});
