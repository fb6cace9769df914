import { describe, expect, it } from "vitest";
import { add, floorDiv, int, intValue, modularIndexing, mul, substitute, sum, sym } from "../symbolic";
import { inverseFormula } from "./invert";

const v = sym("p0");

function agrees(index: ReturnType<typeof add>, size: number): boolean {
  const inverse = inverseFormula(index, v);
  if (!inverse) return false;
  for (let i = 0; i < size; i++) {
    const there = intValue(substitute(index, new Map([[v, int(i)]])));
    if (intValue(substitute(inverse, new Map([[v, int(there ?? -1)]]))) !== i) return false;
  }
  return true;
}

describe("inverting an index", () => {
  it("undoes a transposition of a 6 x 4 matrix", () => {
    expect(agrees(add(modularIndexing(v, 4, 6), mul(6, modularIndexing(v, 1, 4))), 24)).toBe(true);
  });
  it("undoes three shuffled digits", () => {
    const index = sum([mul(12, modularIndexing(v, 1, 5)), mul(4, modularIndexing(v, 20, 3)), modularIndexing(v, 5, 4)]);
    expect(agrees(index, 60)).toBe(true);
  });
  it("refuses an index that visits elements twice", () => {
    expect(inverseFormula(add(floorDiv(v, 4), mul(3, modularIndexing(v, 1, 4))), v)).toBeNull();
  });
  it("refuses a digit of open range that is not the greatest", () => {
    expect(inverseFormula(add(floorDiv(v, 4), mul(6, modularIndexing(v, 1, 4))), v)).toBeNull();
  });
  it("refuses a plain stride", () => {
    expect(inverseFormula(mul(3, v), v)).toBeNull();
  });
});
