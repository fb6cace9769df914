// What a fallback's results are asserted to be is named after the graph's operator, which may be another one than is called.
import { expect, test } from "vitest";
import { defaultSessionOptions, Session } from "../../../index";

const SORTED = `import torch

@torch.compile
def f(x):
    values, order = torch.sort(x, dim=-1, descending=True)
    return values.cumsum(-1), order

f(torch.randn(4, 50000, device="cuda"))
`;

test("a sort that Inductor leaves to ATen asserts its results as the graph's operator", () => {
  const options = { ...defaultSessionOptions(), preset: "torch-2.11" as const, target: "h200" };
  const session = new Session(() => undefined, options);
  session.update("/m.py", SORTED);
  const text = session.run("/m.py").compilations[0]?.outputCode.inductor ?? "";
  expect(text).toContain("torch.ops.aten.sort.stable(");
  const asserted = [...text.matchAll(/assert_size_stride\(.*'(torch\.ops\.[\w.]+)'/g)].map(m => m[1]);
  expect(new Set(asserted)).toEqual(new Set(["torch.ops.aten.sort.default"]));
}, 120_000);
