import fc from "fast-check";
import { expect, test } from "vitest";
import { OpIndex, OpSet, unionOf } from "./op_set";

const names = Array.from({ length: 100 }, (_, i) => `op${i}`);
const subset = fc.subarray(names);

test("a union holds what a set of names would hold", () => {
  fc.assert(
    fc.property(subset, subset, subset, (a, b, more) => {
      const index = new OpIndex();
      for (const n of names) index.add(n);
      const [x, y] = [OpSet.union(index, [], a), OpSet.union(index, [], b)];
      const both = unionOf([x, y], more);
      expect(both).toBeInstanceOf(OpSet);
      expect(new Set(both)).toEqual(new Set([...a, ...b, ...more]));
      for (const n of names) expect(both.has(n)).toBe(a.includes(n) || b.includes(n) || more.includes(n));
      expect(new Set(x)).toEqual(new Set(a));
    }),
    { seed: 11, numRuns: 60 },
  );
});

test("an operation that no one has numbered is in no set, and gets a number when it is added", () => {
  const index = new OpIndex();
  index.add("op0");
  const set = OpSet.union(index, [], ["op0"]);
  expect(set.has("op9")).toBe(false);
  const wider = unionOf([set], ["op9"]);
  expect([...wider]).toEqual(["op0", "op9"]);
  expect(set.has("op9")).toBe(false);
});

test("sets of names and sets of bits join as names", () => {
  const index = new OpIndex();
  const bits = OpSet.union(index, [], ["op1"]);
  expect(new Set(unionOf([bits, new Set(["op2"])]))).toEqual(new Set(["op1", "op2"]));
  expect(new Set(unionOf([new Set(["op2"]), bits]))).toEqual(new Set(["op1", "op2"]));
});
