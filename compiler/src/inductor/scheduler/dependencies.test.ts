import { describe, expect, it } from "vitest";
import { depText } from "../../report/ir_dump";
import { type Expr, int, type SymExpr, sym } from "../symbolic";
import { SizeVars } from "../symbolic/size_vars";
import { decideLoopOrderToMatch, memoryDep, normalize, normalizeWithStrideOrder } from "./dependencies";
import { parseExpr } from "./testing/parse_expr";

const sv = new SizeVars();
const dep = (index: string, sizes: readonly number[]): ReturnType<typeof memoryDep> =>
  memoryDep(
    "buf0",
    parseExpr(index),
    sizes.map((_, i): SymExpr => sym(`d${i}`)),
    sizes.map((n): Expr => int(n)),
  );

describe("memory dependencies", () => {
  it("are the same object when they are equal", () => {
    expect(dep("64*d0 + d1", [8, 64])).toBe(dep("64*d0 + d1", [8, 64]));
    expect(dep("64*d0 + d1", [8, 64])).not.toBe(dep("d0 + 8*d1", [8, 64]));
  });
  it("normalise to one loop where the walk is contiguous", () => {
    expect(depText(normalize(dep("64*d0 + d1", [8, 64]), sv))).toBe("MemoryDep('buf0', c0, {c0: 512})");
    expect(depText(normalize(dep("d0 + 8*d1", [8, 64]), sv))).toBe("MemoryDep('buf0', c0 + 8*c1, {c0: 8, c1: 64})");
  });
  it("drop loops after the last one that they use", () => {
    expect(depText(normalize(dep("d0", [8, 64]), sv))).toBe("MemoryDep('buf0', c0, {c0: 8})");
  });
  it("are equal by stride order when they visit the same elements in another order", () => {
    const a = normalizeWithStrideOrder(dep("64*d0 + d1", [8, 64]), sv);
    expect(normalizeWithStrideOrder(dep("d0 + 64*d1", [64, 8]), sv)).toBe(a);
  });
  it("give the loop order that aligns two walks", () => {
    expect(decideLoopOrderToMatch(dep("d0 + 64*d1", [64, 8]), dep("64*d0 + d1", [8, 64]), sv)).toEqual([1, 0]);
  });
  it("give no order for a broadcast", () => {
    expect(decideLoopOrderToMatch(dep("d1", [64, 8]), dep("64*d0 + d1", [8, 64]), sv)).toBeNull();
  });
});
