// einx as model files use it: operators by the names of axes, and items picked along one.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("einx aligns axes by their names, and picks items along the one in brackets", () => {
  const r = analysed(`
import einx
from einx import get_at

a, b = torch.randn(2, 3), torch.randn(2, 5)
shapes = [
    einx.add("b i, b j -> b i j", a, b), einx.multiply("b i, i", a, torch.ones(3)),
    einx.where("b n, b n d, -> b n d", torch.ones(2, 3).bool(), torch.randn(2, 3, 4), 0.0),
    einx.add("... d, d -> ... d", torch.ones(2, 3, 4), torch.ones(4)),
    get_at("h [c] d, h b n -> h b n d", torch.randn(4, 10, 8), torch.zeros(4, 2, 6, dtype=torch.long)),
    get_at("b n [c], b n -> b n", torch.randn(2, 6, 7), torch.zeros(2, 6, dtype=torch.long)),
    einx.sum("b [n] d", torch.ones(2, 3, 4)), einx.mean("b n d -> b d", torch.ones(2, 3, 4)),
    einx.sum("... c -> ...", torch.ones(2, 3, 4)), einx.mean("b [...]", torch.ones(2, 3, 4)),
]
print([list(s.shape) for s in shapes])
print(einx.less("j, i -> i j", torch.arange(2), torch.arange(3)).tolist())

class Book(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(16, 8))

    def forward(self, indices):
        return get_at("[c] d, b n -> b n d", self.codes, indices)
`);
  expect(printed(r)).toBe(
    "[[2, 3, 5], [2, 3], [2, 3, 4], [2, 3, 4], [4, 2, 6, 8], [2, 6], [2, 4], [2, 4], [2, 3], [2]]\n" +
      "[[False, False], [True, False], [True, True]]\n",
  );
  expect(operatorsOf(r, "Book")).toEqual(["operator.getitem"]);
});
