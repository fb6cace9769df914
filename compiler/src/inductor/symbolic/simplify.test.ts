import { expect, test } from "vitest";
import {
  add,
  type Expr,
  floorDiv,
  identity,
  int,
  modularIndexing,
  mul,
  product,
  relation,
  type SymExpr,
  sum,
  sym,
} from "./expr";
import { printLog } from "./print_log";
import { bounds } from "./ranges";
import { ShapeEnv } from "./shape_env";
import {
  combineModularIndexingPairs,
  contiguousIndex,
  expandFloorDiv,
  joinDimensions,
  mergeLoops,
  offsetVar,
  simplifyLoops,
  simplifyWithRanges,
  strideHints,
  strideOrder,
  strideVars,
} from "./simplify";
import { SizeVars } from "./size_vars";

const [p0, p1, p2] = [sym("p0"), sym("p1"), sym("p2")];
const sizevars = new SizeVars();
const ranges = (...sizes: number[]): Map<SymExpr, Expr> =>
  new Map(sizes.map((n, i): [SymExpr, Expr] => [[p0, p1, p2][i] as SymExpr, int(n)]));

test("a division that the range makes trivial disappears", () => {
  const index = add(mul(64, p0), p1);
  expect(simplifyWithRanges(floorDiv(index, 64), ranges(8, 64), sizevars)).toBe(p0);
  expect(simplifyWithRanges(modularIndexing(index, 1, 64), ranges(8, 64), sizevars)).toBe(p1);
  expect(simplifyWithRanges(modularIndexing(p0, 1, 8), ranges(8), sizevars)).toBe(p0);
  expect(simplifyWithRanges(modularIndexing(p0, 1, 8), ranges(9), sizevars)).toBe(modularIndexing(p0, 1, 8));
});

test("what a symbolic range bounds is known below the same size", () => {
  const env = new ShapeEnv();
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  const v = new SizeVars(env);
  expect(simplifyWithRanges(modularIndexing(p0, 1, s), new Map([[p0, s]]), v)).toBe(p0);
  expect(simplifyWithRanges(floorDiv(add(mul(s, p1), p0), s), new Map([[p0, s]]), v)).toBe(p1 as Expr);
});

test("split dimensions are joined again", () => {
  const join = joinDimensions(add(modularIndexing(p0, 1, 32), mul(32, modularIndexing(p0, 32, 4))));
  expect(join).toBe(modularIndexing(p0, 1, 128));
  expect(joinDimensions(add(modularIndexing(p0, 1, 32), mul(32, floorDiv(p0, 32))))).toBe(p0);
  const even = mul(2, p0);
  expect(joinDimensions(add(modularIndexing(even, 1, 32), mul(32, floorDiv(even, 32))))).toBe(even);
});

test("nested wrap-arounds become one when the inner period is a multiple", () => {
  const nested = (a: number, b: number): Expr => modularIndexing(modularIndexing(p0, 1, a), 1, b);
  expect(combineModularIndexingPairs(nested(64, 8), sizevars)).toBe(modularIndexing(p0, 1, 8));
  expect(combineModularIndexingPairs(nested(12, 8), sizevars)).toBe(nested(12, 8));
});

test("a sum with one division becomes one division", () => {
  const [numerator, denominator] = expandFloorDiv(add(mul(8, p0), floorDiv(p1, 2)), sizevars) ?? [];
  expect(numerator).toBe(add(mul(16, p0), p1));
  expect(denominator).toBe(int(2));
});

test("contiguous loops merge and loops of one step vanish", () => {
  const loops = simplifyLoops([p0, p1, p2], [int(8), int(1), int(64)], [sum([mul(64, p0), mul(64, p1), p2])], sizevars);
  expect(loops.sizes).toEqual([int(512)]);
  expect(loops.reindex([sym("c0")])).toEqual([int(0), int(0), sym("c0")]);
  expect(loops.prune(["a", "b", "c"])).toEqual(["c"]);
});

test("loops that one formula walks in another order stay apart", () => {
  const contiguous = add(mul(64, p0), p1);
  const transposed = add(p0, mul(8, p1));
  expect(simplifyLoops([p0, p1], [int(8), int(64)], [contiguous, transposed], sizevars).sizes).toHaveLength(2);
});

test("a transposed walk merges only if reordering is allowed", () => {
  const transposed = add(p0, mul(8, p1));
  expect(simplifyLoops([p0, p1], [int(8), int(64)], [transposed], sizevars).sizes).toEqual([int(512)]);
  expect(mergeLoops([p0, p1], [int(8), int(64)], [transposed], sizevars).sizes).toHaveLength(2);
});

test("a wrap-around that only looks strided is not merged", () => {
  const index = add(mul(64, p0), modularIndexing(add(p1, 1), 1, 64));
  expect(mergeLoops([p0, p1], [int(8), int(64)], [index], sizevars).sizes).toHaveLength(2);
});

test("a condition blocks a merge that would change it", () => {
  const index = add(mul(64, p0), p1);
  expect(mergeLoops([p0, p1], [int(8), int(64)], [index, relation("lt", p1, 32)], sizevars).sizes).toHaveLength(2);
});

test("symbolic sizes merge as numbers do", () => {
  const env = new ShapeEnv();
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  const loops = mergeLoops([p0, p1], [int(4), s], [add(mul(s, p0), p1)], new SizeVars(env));
  expect(loops.sizes.map(printLog)).toEqual(["4*s77"]);
});

test("strides, their order and the offset", () => {
  const index = sum([mul(64, p0), p1, 7]);
  expect(strideVars(index, [p0, p1, p2], sizevars)).toEqual([int(64), int(1), int(0)]);
  expect(strideHints(index, [p0, p1, p2], sizevars)).toEqual([64, 1, 0]);
  expect(strideOrder(index, [p0, p1, p2], sizevars)).toEqual([1, 0, 2]);
  expect(offsetVar(index, [p0, p1], sizevars)).toBe(int(7));
  expect(strideHints(add(sym("indirect0", { kind: "indirect" }), mul(3, p0)), [p0], sizevars)).toEqual([3]);
});

test("an Identity keeps a loop from merging", () => {
  const index = add(mul(64, p0), identity(p1));
  expect(mergeLoops([p0, p1], [int(8), int(64)], [index], sizevars).sizes).toHaveLength(2);
});

test("bounds follow ranges, sizes and wrap-arounds", () => {
  const r = ranges(8, 64);
  expect(bounds(add(mul(64, p0), p1), r)).toEqual({ lower: 0, upper: 511 });
  expect(bounds(modularIndexing(p1, 4, 4), r)).toEqual({ lower: 0, upper: 3 });
  expect(bounds(add(p0, -3), r)).toEqual({ lower: -3, upper: 4 });
  expect(bounds(sym("s77", { kind: "size" }), r)).toEqual({ lower: 2, upper: Number.POSITIVE_INFINITY });
  expect(bounds(sym("u0", { kind: "unbacked" }), r).lower).toBe(0);
});

test("the contiguous index of a shape", () => {
  expect(printLog(contiguousIndex([p0, p1, p2], [int(2), int(3), int(4)]))).toBe("12*p0 + 4*p1 + p2");
});

test("a size that is 0 while one looks along another variable leaves no stride, and no error", () => {
  const [r, x, s] = [sym("r0_1"), sym("x0"), sym("s0")];
  const index = modularIndexing(add(r, product([2, s, x])), 1, mul(64, s));
  expect(strideHints(index, [r], sizevars, [r, x, s])).toEqual([0]);
});
