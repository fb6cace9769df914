// timm's networks have as many parameters as their model cards say, and their feature maps the channels that they tell.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

const counted = (names: readonly string[]): string =>
  printed(
    analysed(
      `import timm\nfor n in ${JSON.stringify(names)}:\n    print(n, sum(p.numel() for p in timm.create_model(n).parameters()))`,
    ),
  );

test("convolutional networks by their names", () => {
  expect(counted(["resnet50", "efficientnet_b0", "tf_efficientnet_lite3", "mobilenetv2_100"])).toBe(
    "resnet50 25557032\nefficientnet_b0 5288548\ntf_efficientnet_lite3 8197096\nmobilenetv2_100 3504872\n",
  );
  expect(counted(["convnext_tiny.fb_in1k", "convnextv2_tiny"])).toBe(
    "convnext_tiny.fb_in1k 28589128\nconvnextv2_tiny 28635496\n",
  );
});

test("transformers by their names", () => {
  expect(
    counted([
      "vit_base_resnet50_384",
      "vit_base_patch16_224",
      "vit_deit_tiny_distilled_patch16_224",
      "deit_small_patch16_224",
      "vit_small_patch14_dinov2.lvd142m",
    ]),
  ).toBe(
    "vit_base_resnet50_384 98950952\nvit_base_patch16_224 86567656\nvit_deit_tiny_distilled_patch16_224 5910800\ndeit_small_patch16_224 22050664\nvit_small_patch14_dinov2.lvd142m 22441192\n",
  );
});

test("feature maps are listed with their channels and reductions", () => {
  const r = analysed(`
import timm
net = timm.create_model("resnet18", features_only=True, out_indices=(1, 3), in_chans=1)
print(net.feature_info.channels(), net.feature_info.reduction())
print([tuple(f.shape) for f in net(torch.randn(2, 1, 64, 64))])
lite = timm.create_model("tf_efficientnet_b3", pretrained=True, features_only=True)
print(lite.feature_info.channels(), [tuple(f.shape) for f in lite(torch.randn(1, 3, 66, 66))])
vit = timm.create_model("vit_tiny_patch16_224", features_only=True, dynamic_img_size=True)
print([tuple(f.shape) for f in vit(torch.randn(1, 3, 64, 32))])
print(timm.create_model("convnext_tiny", num_classes=0)(torch.randn(1, 3, 64, 64)).shape)
`);
  expect(printed(r)).toBe(
    "[64, 256] [4, 16]\n[(2, 64, 16, 16), (2, 256, 4, 4)]\n" +
      "[24, 32, 48, 136, 384] [(1, 24, 33, 33), (1, 32, 17, 17), (1, 48, 9, 9), (1, 136, 5, 5), (1, 384, 3, 3)]\n" +
      "[(1, 192, 4, 2), (1, 192, 4, 2), (1, 192, 4, 2)]\ntorch.Size([1, 768])\n",
  );
});

test("torch.hub makes networks of known repositories and what the project's hubconf.py makes", () => {
  const r = analysed(
    `
teacher = torch.hub.load("facebookresearch/dinov2", "dinov2_vits14")
print({k: tuple(v.shape) for k, v in teacher(torch.randn(1, 3, 28, 42), is_training=True).items() if v is not None})
print(sum(p.numel() for p in teacher.parameters()))
print(torch.hub.load("facebookresearch/WSL-Images", "resnext101_32x8d_wsl").layer4[0].conv2.groups)
print(torch.hub.load("hub/blocks", "scaled", source="local", pretrained=False, width=3).weight.shape)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.hub.load("pytorch/vision:v0.10.0", "resnet18", pretrained=True)
    def forward(self, image):
        return self.trunk(image)
`,
    {
      "pack/hub/blocks/hubconf.py":
        "from torch import nn\ndef scaled(pretrained=True, width=2):\n    return nn.Linear(width, width)\n",
    },
  );
  expect(printed(r)).toBe(
    "{'x_norm_clstoken': (1, 384), 'x_norm_regtokens': (1, 0, 384), 'x_norm_patchtokens': (1, 6, 384), 'x_prenorm': (1, 7, 384)}\n" +
      "22056576\n32\ntorch.Size([3, 3])\n",
  );
  expect(operatorsOf(r, "Net").filter(t => /conv2d/.test(t)).length).toBe(20);
});

test("what asserts the version of a library gets it", () => {
  const r = analysed(`
import timm
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        assert timm.__version__ == "0.4.5", "please use timm 0.4.5"
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        return self.fc(x)
`);
  expect(operatorsOf(r, "Net")).toHaveLength(1);
});
