import { expect, test } from "vitest";
import { lookup, lookupPython } from "./registry";

test("an operator that keeps its input's shape has an in-place form, where PyTorch has one", () => {
  for (const name of ["cumsum_", "atan2_", "hypot_", "copysign_", "xlogy_", "gcd_", "ldexp_"])
    expect(lookupPython(`Tensor.${name}`), name).not.toHaveLength(0);
  expect(lookup("aten.cumsum_.default")).toMatchObject({
    functional: "aten.cumsum.default",
    schema: expect.stringMatching(/^cumsum_\(Tensor\(a!\) self, int dim.* -> Tensor\(a!\)$/),
  });
  for (const name of ["maximum_", "isnan_", "sum_", "matmul_", "clone_", "float_"])
    expect(lookupPython(`Tensor.${name}`), name).toHaveLength(0);
});
