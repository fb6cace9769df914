// Names that torch keeps for itself or has given up, as model code uses them.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

test("losses, layers and attention of other people are made of them", () => {
  const r = analysed(`
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.modules.loss import _Loss, _WeightedLoss
from torch._six import container_abcs, string_classes
from torch.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from torch.nn.modules.transformer import _get_clones, _get_activation_fn
class Dice(_Loss):
    def forward(self, a, b):
        return (a * b).sum() if self.reduction == "sum" else a
print(isinstance([1], container_abcs.Iterable), isinstance("a", string_classes), _ntuple(3)(2), _reverse_repeat_tuple((1, 2), 2))
print(len(_get_clones(nn.Linear(2, 2), 3)), _get_activation_fn("gelu") is F.gelu, torch.onnx.is_in_onnx_export())
print(torch.compile(Dice(reduction="sum"))(torch.ones(3), torch.ones(3)).shape, _WeightedLoss(torch.ones(2)).weight.shape)
q, w = torch.randn(5, 2, 8), torch.randn(24, 8)
print(*[[tuple(t.shape) for t in F._in_projection_packed(q, k, v, w)] for k, v in ((q, q), (q + 1, q), (w[:4, None], w[:4, None]))])
print(F._scaled_dot_product_attention(q, q, q)[1].shape, F.has_torch_function((q,)))
`);
  expect(r.diagnostics.filter(d => d.severity === "error")).toEqual([]);
  expect(printed(r).trimEnd().split("\n")).toEqual([
    "True True (2, 2, 2) (2, 2, 1, 1)",
    "3 True False",
    "torch.Size([]) torch.Size([2])",
    "[(5, 2, 8), (5, 2, 8), (5, 2, 8)] [(5, 2, 8), (5, 2, 8), (5, 2, 8)] [(5, 2, 8), (4, 1, 8), (4, 1, 8)]",
    "torch.Size([5, 2, 2]) False",
  ]);
});
