// What `values --verify` says of each output.
import { expect, it } from "vitest";
import { verdictText } from "./values";

it("a verdict says of each output how far it is off, what it may be, and whether it agrees", () => {
  const output = { dtype: "float32", maxAbs: 0, maxRel: 0, tolerance: 0.001, agrees: true };
  const wrong = { dtype: "int64", maxAbs: 2, maxRel: 0.123456, tolerance: 0, agrees: false };
  expect(
    verdictText([
      { name: "f", kind: "inference", outputs: [output, { ...output, maxAbs: 1e-7, maxRel: 2e-7 }, wrong] },
    ]),
  ).toBe(`f (inference), fused against unfused:
  output 0 (float32): agrees: the same (tolerance 0.001)
  output 1 (float32): agrees: off by 1e-7, 2e-7 of its magnitude (tolerance 0.001)
  output 2 (int64): DISAGREES: off by 2, 0.123 of its magnitude (tolerance 0)
of 3 outputs, disagreeing: 1
`);
  expect(verdictText([{ name: "f", kind: "inference", outputs: [output] }])).toMatch(/\nthe only output agrees\n$/);
});
