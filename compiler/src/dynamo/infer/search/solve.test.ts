// How many sizes are tried for one failure.
import { expect, test } from "vitest";
import type { Decision, Failure } from "../types";
import { pairedResizes, resizes, trials } from "./solve";

/** a failure whose last question is `holds` for no size but these */
function asked(
  wanted: (size: number) => boolean,
  count: { tried: number },
  constants: readonly number[] = [],
): Failure {
  const question: Decision = {
    holds: false,
    after: 0,
    constants,
    over: [
      { hole: "x", dim: 0 },
      { hole: "y", dim: 0 },
    ],
    along: () => size => {
      count.tried += 1;
      return wanted(size);
    },
  };
  return {
    at: null,
    line: "",
    ownLine: "",
    asserted: null,
    equal: null,
    divisible: null,
    type: "RuntimeError",
    message: "",
    progress: 0,
    operators: 0,
    decisions: Array.from({ length: 8 }, () => question),
    touched: [],
    places: [],
    lines: [],
  };
}

test("a size that is no usual one is found", () => {
  const count = { tried: 0 };
  const found = resizes(
    asked(size => size === 1234, count),
    () => [5],
    trials(),
  );
  expect(found[0]).toMatchObject({ size: 1234 });
});

test("sizes that nothing fits end after so many trials, whatever is asked", () => {
  const count = { tried: 0 };
  const left = trials();
  const f = asked(() => false, count, [96, 192, 384, 768]);
  expect(resizes(f, () => [5], left)).toEqual([]);
  expect(pairedResizes(f, () => [5], left)).toEqual([]);
  expect(left.left).toBe(0);
  expect(count.tried).toBeLessThan(40_000);
});
