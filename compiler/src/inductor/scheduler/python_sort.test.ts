import { describe, expect, it } from "vitest";
import { sortAscending, sortDescending } from "./python_sort";

const less = (a: readonly number[], b: readonly number[]): boolean => (a[0] ?? 0) < (b[0] ?? 0);

describe("sorting as Python does", () => {
  it("keeps equal items in order both ways", () => {
    const items = [
      [2, 0],
      [1, 1],
      [2, 2],
      [1, 3],
    ];
    expect(sortAscending(items, less)).toEqual([
      [1, 1],
      [1, 3],
      [2, 0],
      [2, 2],
    ]);
    expect(sortDescending(items, less)).toEqual([
      [2, 0],
      [2, 2],
      [1, 1],
      [1, 3],
    ]);
  });

  it("sorts long lists of many runs", () => {
    const items = Array.from({ length: 1000 }, (_, i) => [(i * 7919) % 263, i]);
    const wanted = [...items].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
    expect(sortAscending(items, less)).toEqual(wanted);
  });
});
