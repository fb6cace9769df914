// torch.vmap is followed sample by sample: the results' shapes and the errors are those of a batched run.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf, printed } from "../infer/testing/analysed";

test("maps dimensions in and out, through tuples, dictionaries and keywords", () => {
  const r = analysed(`
from torch.func import vmap

class Mapped(nn.Module):
    def forward(self, x, w):
        one = lambda row, w: ((row @ w).relu(), row.sum())
        return torch.vmap(one, in_dims=(0, None), out_dims=(1, 0))(x, w)

a, b = torch.compile(Mapped())(torch.randn(3, 4, 5), torch.randn(5, 2))
print(a.shape, b.shape)
print(vmap(lambda d, scale: d["a"] * scale)({"a": torch.ones(3, 2)}, scale=torch.ones(3)).shape)
`);
  expect(printed(r)).toBe("torch.Size([4, 3, 2]) torch.Size([3])\ntorch.Size([3, 2])\n");
  expect(operatorsOf(r, "Mapped").filter(t => t === "operator.matmul")).toHaveLength(3);
  expect(assumedOf(r, "Mapped")).toBe("");
});

test("refuses what torch refuses", () => {
  const r = analysed(`
for args in [(torch.ones(3), torch.ones(4)), (torch.ones(3), 2)]:
    try:
        torch.vmap(torch.add)(*args)
    except ValueError as e:
        print(str(e)[:47])
for q in (1.5, -0.25):
    try:
        torch.quantile(torch.ones(4), q)
    except RuntimeError as e:
        print(e)
`);
  expect(printed(r)).toBe(
    "vmap: Expected all tensors to have the same siz\nvmap: Got in_dim=0 for an input but the input i\n" +
      "quantile() q must be in the range [0, 1] but got 1.5\nquantile() q must be in the range [0, 1] but got -0.25\n",
  );
});
