// What docstrings say of the types of parameters.
import { expect, test } from "vitest";
import { analysed, assumedOf } from "../testing/analysed";
import { documentedTypes } from "./documented";

test.each([
  ["width (int): how wide", { width: "int" }],
  ["- x (torch.Tensor, optional): the input", { x: "Tensor" }],
  ["`sizes` (tuple[int]): by stage", { sizes: "tuple[int]" }],
  ["feats (list of Tensors): by level", { feats: "list[Tensor]" }],
  ["scale : float, default 1.0", { scale: "float" }],
  ["    :type depth: int or None", { depth: "int|None" }],
  [":param float rate: how often", { rate: "float" }],
  ["kernel (int | tuple[int, int]): of both sides", { kernel: "int|tuple[int,int]" }],
  ["cfg (dict): the rest", {}],
  ["x (B, C, H, W): the input", {}],
  ["see f(int): it is alike", {}],
])("%s", (line, types) => {
  expect(Object.fromEntries(documentedTypes([`Does it.\n\n${line}\n`]))).toEqual(types);
});

test("stands for an annotation where there is none", () => {
  const r = analysed(`
class Net(nn.Module):
    """Scales.

    Args:
        amount (str): none, or how much
    """
    def __init__(self, amount):
        super().__init__()
        self.amount = amount

    def forward(self, x, strength):
        """
        Args:
            x (Tensor): the input
            strength (float): of it
        """
        return x * strength if self.amount else x
`);
  expect(assumedOf(r, "Net")).toMatch(/amount is ".*strength is 0\.5/);
});
