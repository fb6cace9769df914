import { expect, it } from "vitest";
import { naturalLog } from "./numbers";

it("rounds natural logarithms as C does", () => {
  expect(naturalLog(3)).toBe(1.0986122886681098);
  expect(naturalLog(10)).toBe(Math.LN10);
  expect(naturalLog(2)).toBe(Math.LN2);
  expect(naturalLog(0.7)).toBe(-0.35667494393873245);
  expect(naturalLog(1.5)).toBe(0.4054651081081644);
  expect(naturalLog(1e300)).toBe(690.7755278982137);
});

it("leaves the edges to the language", () => {
  expect(naturalLog(1)).toBe(0);
  expect(naturalLog(0)).toBe(-Infinity);
  expect(naturalLog(-1)).toBeNaN();
});
