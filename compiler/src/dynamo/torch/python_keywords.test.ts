// Keywords that functions of torch take in Python beside those of their schemas.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("split names its sizes as Python does, nonzero gives a tensor or one for each dimension", () => {
  const r = analysed(`
x = torch.ones(4, 6)
print([p.shape[1] for p in torch.split(x, split_size_or_sections=4, dim=1)])
print([p.shape[1] for p in x.split(split_size_or_sections=[1, 5], dim=1)])

class Places(nn.Module):
    def forward(self, x):
        rows, columns = (x > 0).nonzero(as_tuple=True)
        return torch.nonzero(x < 0, as_tuple=False), rows + columns
`);
  expect(printed(r)).toBe("[4, 2]\n[1, 5]\n");
  expect(operatorsOf(r, "Places").length).toBeGreaterThan(0);
});
