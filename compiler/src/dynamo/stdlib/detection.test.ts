// What detection models take from libraries that are not there: boxes and custom operators of torchvision, layers of
// detectron2 and mmcv; and custom operators of the program's own, which are one opaque node however they are called.
import { expect, test } from "vitest";
import { intValue } from "../../inductor/symbolic/expr";
import { analysed, framesOf, operatorsOf, printed } from "../infer/testing/analysed";

test("boxes are torch's operators; nms, roi_align and deform_conv2d are opaque and have their shapes", () => {
  const r = analysed(`
import torchvision
from torchvision.ops import DeformConv2d, box_iou, roi_align

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = nn.Conv2d(8, 18, 3, padding=1)
        self.deform = DeformConv2d(8, 16, 3, padding=1)

    def forward(self, x, boxes):
        y = self.deform(x, self.offset(x))
        kept = torchvision.ops.nms(boxes, boxes[:, 0], 0.5)
        return roi_align(y, [boxes, boxes], (7, 5), 0.25), box_iou(boxes, boxes), kept

a, b, c = torch.compile(Head())(torch.randn(2, 8, 16, 16), torch.rand(6, 4))
print(a.shape, b.shape, c.shape, c.dtype)
`);
  expect(printed(r)).toBe("torch.Size([12, 16, 7, 5]) torch.Size([6, 6]) torch.Size([6]) torch.int64\n");
  const opaque = framesOf(r, "Head").flatMap(f => f.graph.nodes.flatMap(n => (n.meta.opaque ? [n.target] : [])));
  expect(opaque).toEqual(["deform_conv2d", "nms", "roi_align"].map(n => `torchvision.${n}.default`));
});

test("detectron2's and mmcv's layers are built from names and dictionaries", () => {
  const r = analysed(`
from detectron2.layers import CNNBlockBase, Conv2d, get_norm
from detectron2.modeling import BACKBONE_REGISTRY
from mmcv.cnn import ConvModule
from mmcv.runner import BaseModule

@BACKBONE_REGISTRY.register()
class Stem(CNNBlockBase):
    def __init__(self, width=64, norm="FrozenBN"):
        super().__init__(3, width, 4)
        self.conv = Conv2d(3, width, kernel_size=7, stride=2, padding=3, bias=False, norm=get_norm(norm, width))

    def forward(self, x):
        return self.conv(x).relu_()

class Neck(BaseModule):
    def __init__(self):
        super().__init__()
        self.conv = ConvModule(3, 8, 3, padding=1, norm_cfg=dict(type="GN", num_groups=2), act_cfg=dict(type="GELU"))

    def forward(self, x):
        return self.conv(x)
`);
  const names = (root: string): string[] => operatorsOf(r, root).map(t => t.split(".").pop() ?? "");
  expect(names("Stem")).toEqual(["conv2d", "batch_norm", "relu_"]);
  expect(names("Neck")).toEqual(["conv2d", "group_norm", "gelu"]);
});

test("a custom operator is one opaque node whether its name or torch.ops calls it; one that writes is followed inside", () => {
  const r = analysed(`
@torch.library.custom_op("mine::mix", mutates_args=())
def mix(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x @ w).relu()

@mix.register_fake
def _(x, w):
    return x.new_empty(x.shape[0], w.shape[1])

@torch.library.custom_op("mine::fill", mutates_args={"x"})
def fill(x: torch.Tensor) -> None:
    x.fill_(1)

class Net(nn.Module):
    def forward(self, x, w):
        y = mix(x, w) + torch.ops.mine.mix(x, w)
        fill(y)
        return y

print(torch.compile(Net())(torch.randn(3, 4), torch.randn(4, 5)).shape)
`);
  expect(printed(r)).toBe("torch.Size([3, 5])\n");
  expect(operatorsOf(r, "Net")).toEqual(["mine.mix.default", "torch.ops.mine.mix", "operator.add", "fill_"]);
});

test("a custom operator's result has the symbolic sizes that its fake implementation gives it", () => {
  const r = analysed(`
@torch.library.custom_op("mine::pick", mutates_args=())
def pick(x: torch.Tensor, n: int) -> torch.Tensor:
    print("called")
    return x.new_empty(x.shape[0], n)

def f(x):
    return pick(x, 8) + x[:, :8, 0]

print(torch.compile(f, dynamic=True)(torch.randn(6, 16, 3)).shape)
`);
  expect(printed(r)).toBe("called\ntorch.Size([6, 8])\n");
  const [node] = r.events.flatMap(e => (e.kind === "frame" ? e.frame.graph.nodes : [])).filter(n => n.meta.opaque);
  const shape = node?.meta.val && "shape" in node.meta.val ? node.meta.val.shape.map(d => intValue(d)) : [];
  expect(shape).toEqual([undefined, 8]);
});

test("points are sampled and found near others by operators of pointnet2_ops, and grouped by torch's", () => {
  const r = analysed(`
from pointnet2_ops import pointnet2_utils
from pointnet2_ops.pointnet2_utils import QueryAndGroup

class Sample(nn.Module):
    def __init__(self):
        super().__init__()
        self.group = QueryAndGroup(0.2, 4)

    def forward(self, xyz, features):
        idx = pointnet2_utils.furthest_point_sample(xyz, 16)
        centres = pointnet2_utils.gather_operation(xyz.transpose(1, 2).contiguous(), idx).transpose(1, 2)
        distance, nearest = pointnet2_utils.three_nn(xyz, centres)
        spread = pointnet2_utils.three_interpolate(centres.transpose(1, 2), nearest, distance)
        return self.group(xyz, centres, features), spread

a, b = torch.compile(Sample())(torch.randn(2, 64, 3), torch.randn(2, 5, 64))
print(a.shape, b.shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 8, 16, 4]) torch.Size([2, 3, 64])\n");
  const opaque = framesOf(r, "Sample").flatMap(f => f.graph.nodes.flatMap(n => (n.meta.opaque ? [n.target] : [])));
  expect(opaque).toEqual(["furthest_point_sampling", "ball_query"].map(n => `pointnet2_ops.${n}.default`));
});

test("detectron2's backbones are built from its options, images of several sizes are padded, and boxes are scaled back", () => {
  const r = analysed(`
from detectron2.config import configurable
from detectron2.modeling import META_ARCH_REGISTRY, build_backbone, detector_postprocess
from detectron2.structures import Boxes, ImageList, Instances

@META_ARCH_REGISTRY.register()
class Detector(nn.Module):
    @configurable
    def __init__(self, *, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Conv2d(backbone.output_shape()["res4"].channels, classes + 4, 1)
    @classmethod
    def from_config(cls, cfg):
        return {"backbone": build_backbone(cfg), "classes": cfg.MODEL.ROI_HEADS.NUM_CLASSES}
    def forward(self, inputs):
        images = ImageList.from_tensors([x["image"] for x in inputs], 32)
        y = self.head(self.backbone(images.tensor)["res4"]).flatten(2)
        found = Instances(images.image_sizes[0], pred_boxes=Boxes(y[0, -4:].t()))
        return detector_postprocess(found, 100, 100).pred_boxes.tensor

from detectron2.config import get_cfg
net = META_ARCH_REGISTRY.get("Detector")(get_cfg())
print(net([{"image": torch.randn(3, 64, 60)}, {"image": torch.randn(3, 50, 90)}]).shape)
`);
  expect(printed(r)).toBe("torch.Size([24, 4])\n");
  expect(operatorsOf(r, "Detector").filter(t => t.includes("conv2d"))).toHaveLength(44);
});

test("a class that takes apart a configuration in from_config() is built by it", () => {
  const r = analysed(
    `
from detectron2.config import configurable
class Head(nn.Module):
    @configurable
    def __init__(self, *, table, width, blocks):
        super().__init__()
        if table["sizes"] != 7 * width:
            raise ValueError("no such table")
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
    @classmethod
    def from_config(cls, cfg):
        return {"table": {"sizes": 7 * cfg.MODEL.HEAD.WIDTH}, "width": cfg.MODEL.HEAD.WIDTH, "blocks": cfg.MODEL.HEAD.BLOCKS}
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
`,
    { "pack/config.py": "def add(cfg):\n    cfg.MODEL.HEAD.WIDTH = 48\n    cfg.MODEL.HEAD.BLOCKS = 3\n" },
  );
  expect(operatorsOf(r, "Head")).toEqual(new Array(3).fill("torch._C._nn.linear"));
});
