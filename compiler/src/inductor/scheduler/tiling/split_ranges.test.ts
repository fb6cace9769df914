import { expect, test } from "vitest";
import { int, intValue } from "../../symbolic/expr";
import { SizeVars } from "../../symbolic/size_vars";
import { splitIterationRanges } from "./split_ranges";

const split = (groups: number[], lengths: number[][]): (number | undefined)[][] | undefined =>
  splitIterationRanges(
    groups.map(n => int(n)),
    lengths.map(l => l.map(n => int(n))),
    new SizeVars(),
  )?.ranges.map(l => l.map(intValue));

test("one loop covers the rest of a group and the next", () => {
  expect(split([48, 930], [[44640], []])).toEqual([[48], [930]]);
  expect(split([48, 930], [[2, 24, 930], []])).toEqual([[2, 24], [930]]);
});

test("one loop covers three groups only where they are z, y and x of a kernel without a reduction", () => {
  expect(split([2, 24, 930], [[44640], []])).toBeUndefined();
  expect(split([2, 24, 930, 1], [[44640], []])).toEqual([[2], [24], [930], []]);
});
