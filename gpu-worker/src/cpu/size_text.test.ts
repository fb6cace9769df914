import { describe, expect, it } from "vitest";
import { evaluateSizeText, SizeTextError } from "./size_text";

const s = new Map([
  ["s77", 10],
  ["s27", 3],
]);

describe("evaluateSizeText", () => {
  it("follows Python's precedence", () => {
    expect(evaluateSizeText("2*s77 + s27*(s77 + 1)", s)).toBe(53);
    expect(evaluateSizeText("-s27 ** 2", s)).toBe(-9);
    expect(evaluateSizeText("s77 // s27 % 2", s)).toBe(1);
  });

  it("rounds divisions down", () => {
    expect(evaluateSizeText("(1 - s77) // 4", s)).toBe(-3);
    expect(evaluateSizeText("(1 - s77) % 4", s)).toBe(3);
  });

  it("chooses", () => {
    expect(evaluateSizeText("(s77 if s77 < s27 else max(s27, 7))", s)).toBe(7);
    expect(evaluateSizeText("1 if s77 == 10 and not s27 > 3 else 0", s)).toBe(1);
  });

  it("refuses what is no size", () => {
    expect(() => evaluateSizeText("s0", s)).toThrow(SizeTextError);
    expect(() => evaluateSizeText("s77 +", s)).toThrow(SizeTextError);
    expect(() => evaluateSizeText("import os", s)).toThrow(SizeTextError);
  });
});
