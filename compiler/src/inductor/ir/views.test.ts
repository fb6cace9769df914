import { expect, test } from "vitest";
import { type Expr, int, sym } from "../symbolic/expr";
import { printLog } from "../symbolic/print_log";
import { SizeVars } from "../symbolic/size_vars";
import { normalizeSlice, reshapeIndexer } from "./views";

const es = (...ns: number[]): Expr[] => ns.map(int);
const sizevars = new SizeVars();

/** the old index of a reshape, printed */
function reshaped(old: number[], size: number[]): string[] {
  const vars = size.map((_, i) => sym(`i${i}`));
  return reshapeIndexer(es(...old), es(...size), sizevars)(vars).map(printLog);
}

test("a dimension that is split is put together again", () => {
  expect(reshaped([6, 8], [6, 2, 4])).toEqual(["i0", "4*i1 + i2"]);
});

test("dimensions that were joined are taken apart by remainder", () => {
  expect(reshaped([4, 8], [32])).toEqual(["ModularIndexing(i0, 8, 4)", "ModularIndexing(i0, 1, 8)"]);
});

test("dimensions of one element come and go", () => {
  expect(reshaped([1, 5, 1], [5])).toEqual(["0", "i0", "0"]);
  expect(reshaped([5], [1, 5, 1])).toEqual(["i1"]);
});

test("shapes without common factors go through the flat index", () => {
  expect(reshaped([2, 3], [3, 2])).toEqual(["ModularIndexing(2*i0 + i1, 3, 2)", "ModularIndexing(2*i0 + i1, 1, 3)"]);
});

test("slice bounds count from the end when negative and stop at the ends", () => {
  const bounds = (start: number, end: number): string[] =>
    normalizeSlice(sizevars, int(10), int(start), int(end)).map(printLog);
  expect(bounds(-3, 100)).toEqual(["7", "10"]);
  expect(bounds(4, 2)).toEqual(["4", "4"]);
  expect(bounds(-100, -1)).toEqual(["0", "9"]);
});
