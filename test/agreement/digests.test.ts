import { expect, test } from "vitest";
import { digestsOf, firstDifference } from "./digests";

test("the first line that differs is told", () => {
  const recorded = digestsOf(["a", "b", "c"]);
  expect(firstDifference(["a", "b", "c"], recorded)).toBeNull();
  expect(firstDifference(["a", "x", "c"], recorded)).toEqual({ line: 2, ours: "x", lines: [3, 3] });
  expect(firstDifference(["a", "b"], recorded)).toEqual({ line: 3, ours: null, lines: [2, 3] });
  expect(firstDifference(["a", "b", "c", "d"], recorded)).toEqual({ line: 4, ours: "d", lines: [4, 3] });
  expect(firstDifference([], digestsOf([]))).toBeNull();
});
