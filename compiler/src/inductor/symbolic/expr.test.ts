import { expect, test } from "vitest";
import {
  add,
  and,
  ceilDiv,
  coefficientOf,
  expand,
  FALSE,
  floorDiv,
  freeSymbols,
  int,
  intValue,
  isNonnegative,
  isTrue,
  mod,
  modularIndexing,
  mul,
  neg,
  not,
  product,
  relation,
  sub,
  substitute,
  sum,
  sym,
  TRUE,
  where,
} from "./expr";
import { InternTable, withInternTable } from "./intern";
import { printLog } from "./print_log";
import { printTriton } from "./print_triton";

const p0 = sym("p0");
const p1 = sym("p1");
const s = sym("s77", { kind: "size" });

test("equal expressions are one object", () => {
  expect(add(p0, mul(4, p1))).toBe(add(mul(p1, 4), p0));
  expect(sub(add(p0, p1), p1)).toBe(p0);
  expect(int(-0)).toBe(int(0));
});

test("a table is entered for the duration of a call only, and its nodes are its own", () => {
  const table = new InternTable();
  const inside = withInternTable(table, () => sym("p0"));
  expect(inside).not.toBe(p0);
  expect(withInternTable(table, () => sym("p0"))).toBe(inside);
  expect(sym("p0")).toBe(p0);
  expect(() => withInternTable(table, () => int(0.5))).toThrow(RangeError);
  expect(sym("p0")).toBe(p0);
});

test("symbols of one name differ by their assumptions", () => {
  expect(sym("s77", { kind: "size" })).toBe(s);
  expect(sym("s77", { kind: "size", positive: false })).not.toBe(s);
});

test("an integer is distributed over a sum, a symbol is not", () => {
  expect(printLog(mul(2, add(p0, 3)))).toBe("2*p0 + 6");
  expect(printLog(mul(p1, add(p0, 3)))).toBe("p1*(p0 + 3)");
  expect(printLog(expand(mul(p1, add(p0, 3))))).toBe("p0*p1 + 3*p1");
});

test("logs list terms by powers, Triton text by class of argument", () => {
  const index = sum([mul(8190, p0), p1, -1]);
  expect(printLog(index)).toBe("8190*p0 + p1 - 1");
  expect(printTriton(index)).toBe("(-1) + p1 + 8190*p0");
});

test("floor division takes exact terms out and joins nested divisions", () => {
  expect(floorDiv(add(mul(64, p0), p1), 64)).toBe(add(p0, floorDiv(p1, 64)));
  expect(floorDiv(floorDiv(p0, 4), 8)).toBe(floorDiv(p0, 32));
  expect(floorDiv(mul(6, s), mul(4, s))).toBe(int(1));
  expect(intValue(floorDiv(-7, 2))).toBe(-4);
  expect(() => floorDiv(p0, 0)).toThrow(RangeError);
});

test("ModularIndexing drops multiples of its period and common factors", () => {
  expect(modularIndexing(add(mul(256, p0), p1), 4, 64)).toBe(modularIndexing(p1, 4, 64));
  expect(modularIndexing(mul(4, p0), 8, 5)).toBe(modularIndexing(p0, 2, 5));
  expect(modularIndexing(floorDiv(p0, 4), 2, 3)).toBe(modularIndexing(p0, 8, 3));
  expect(printLog(modularIndexing(sub(p1, 256), 4, 64))).toBe("ModularIndexing(p1, 4, 64)");
  expect(printLog(modularIndexing(sum([mul(256, p0), p1, -1]), 4, 64))).toBe("ModularIndexing(256*p0 + p1 - 1, 4, 64)");
});

test("division that rounds up", () => {
  expect(printLog(ceilDiv(s, 8))).toBe("((s77 + 7)//8)");
  expect(ceilDiv(mul(8, s), 8)).toBe(s);
});

test("Python's remainder", () => {
  expect(mod(mul(4, p0), 4)).toBe(int(0));
  expect(intValue(mod(-7, 4))).toBe(1);
  expect(printLog(mod(s, 8))).toBe("Mod(s77, 8)");
  expect(printLog(mod(sub(p0, 1), 8))).toBe("PythonMod(p0 - 1, 8)");
});

test("comparisons are decided by assumptions where possible", () => {
  expect(isTrue(relation("ge", p0, 0))).toBe(true);
  expect(relation("lt", add(p0, 1), 0)).toBe(FALSE());
  expect(printLog(relation("lt", p0, 4))).toBe("p0 < 4");
  expect(not(relation("lt", p0, 4))).toBe(relation("ge", p0, 4));
  expect(and(relation("lt", p0, 4), TRUE())).toBe(relation("lt", p0, 4));
  expect(where(TRUE(), p0, p1)).toBe(p0);
});

test("a positive size less one is nonnegative", () => {
  expect(isNonnegative(sub(s, 1))).toBe(true);
  expect(isNonnegative(sub(p0, 1))).toBe(false);
});

test("free symbols come in order of first occurrence", () => {
  expect([...freeSymbols(sum([p1, mul(3, p0), floorDiv(s, 2)]))].map(x => x.name)).toEqual(["p1", "p0", "s77"]);
});

test("substitution replaces all symbols at once", () => {
  const swapped = substitute(
    add(p0, mul(4, p1)),
    new Map([
      [p0, p1],
      [p1, p0],
    ]),
  );
  expect(swapped).toBe(add(p1, mul(4, p0)));
});

test("the coefficient of a variable", () => {
  expect(coefficientOf(sum([product([6, p0, s]), p0, p1]), p0)).toBe(add(mul(6, s), 1));
  expect(coefficientOf(neg(p0), p1)).toBe(int(0));
});
