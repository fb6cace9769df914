// Names that torch has and the operator table lacks.
import { expect, test } from "vitest";
import { analysed, framesOf } from "../infer/testing/analysed";

test("functions that are not in the table are opaque, those that are methods in another form are those methods", () => {
  const r = analysed(`
def f(x: torch.Tensor):
    torch.clamp_(x, min=0)
    y = x * 2 if torch.is_signed(x) else x
    return torch.nonzero_static(y > 0, size=8), y.argwhere()
`);
  const nodes = framesOf(r, "f").flatMap(f => f.graph.nodes);
  const opaque = nodes.filter(n => n.meta.opaque !== undefined).map(n => n.target);
  expect(opaque).toEqual(["torch.nonzero_static", "argwhere"]);
  expect(nodes.map(n => n.target)).toContain("torch.clamp_");
});
