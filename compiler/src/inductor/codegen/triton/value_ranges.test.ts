// Bounds of values: none is narrower than what the operation may give.
import { describe, expect, test } from "vitest";
import type { DType, OpName } from "../../../aten/types";
import { UNKNOWN } from "./cse";
import { castRange, rangeOfCall } from "./value_ranges";

const between = (lower: number, upper: number) => ({ lower, upper });

describe("a cast", () => {
  test.each<[DType, number, number]>([
    ["int8", -128, 127],
    ["uint8", 0, 255],
    ["int16", -32768, 32767],
    ["uint16", 0, 65535],
    ["int32", -(2 ** 31), 2 ** 31 - 1],
    ["uint32", 0, 2 ** 32 - 1],
  ])("to %s keeps what fits, and knows nothing of what wraps around", (dtype, least, most) => {
    expect(castRange(between(least, most), dtype)).toEqual(between(least, most));
    expect(castRange(between(least - 1, most), dtype)).toBe(UNKNOWN);
    expect(castRange(between(least, most + 1), dtype)).toBe(UNKNOWN);
  });

  test("to whole numbers cuts, to floats keeps, to bool has two values", () => {
    expect(castRange(between(-1.5, 2.7), "int64")).toEqual(between(-1, 2));
    expect(castRange(between(-1.5, 2.7), "float32")).toEqual(between(-1.5, 2.7));
    expect(castRange(between(-1.5, 2.7), "bool")).toEqual(between(0, 1));
  });
});

/** whole numbers of both signs, in ranges of every kind */
const RANGES = [between(-5, -2), between(-3, 4), between(0, 6), between(2, 3)];
const wholes = ({ lower, upper }: { lower: number; upper: number }): number[] =>
  Array.from({ length: upper - lower + 1 }, (_, i) => lower + i);

const TWO: Partial<Record<OpName, (x: number, y: number) => number>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  truediv: (x, y) => x / y,
  truncdiv: (x, y) => Math.trunc(x / y),
  floordiv: (x, y) => Math.floor(x / y),
  mod: (x, y) => x % y,
  maximum: Math.max,
  minimum: Math.min,
  lt: (x, y) => Number(x < y),
};
const ONE: Partial<Record<OpName, (x: number) => number>> = {
  neg: x => -x,
  abs: Math.abs,
  square: x => x * x,
  exp: Math.exp,
  sigmoid: x => 1 / (1 + Math.exp(-x)),
};

test.each(Object.entries(TWO))("%s of two values lies within its bounds", (fn, f) => {
  for (const a of RANGES)
    for (const b of RANGES) {
      const { lower, upper } = rangeOfCall(fn as OpName, [a, b]);
      for (const x of wholes(a))
        for (const y of wholes(b)) {
          const r = f(x, y);
          if (Number.isFinite(r)) expect(r >= lower && r <= upper, `${fn}(${x}, ${y})`).toBe(true);
        }
    }
});

test.each(Object.entries(ONE))("%s of a value lies within its bounds", (fn, f) => {
  for (const a of RANGES) {
    const { lower, upper } = rangeOfCall(fn as OpName, [a]);
    for (const x of wholes(a)) expect(f(x) >= lower && f(x) <= upper, `${fn}(${x})`).toBe(true);
  }
});
