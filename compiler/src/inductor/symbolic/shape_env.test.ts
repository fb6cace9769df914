import { expect, test } from "vitest";
import { add, floorDiv, int, max, mod, mul, relation, sub } from "./expr";
import { failingGuard, inputGuards } from "./guards";
import { printLog } from "./print_log";
import { ShapeEnv } from "./shape_env";
import { SizeVars } from "./size_vars";

test("symbols are numbered by the hash of their source", () => {
  const env = new ShapeEnv();
  const names = ["L['x'].size()[0]", "L['x'].size()[1]", "L['x'].size()[2]", "L['y'].size()[1]"].map((source, i) =>
    printLog(env.createSymbol(source, 10 + i, "dynamic")),
  );
  expect(names).toEqual(["s77", "s27", "s53", "s94"]);
});

test("a duck size with a known example value reuses the symbol, a dynamic one does not", () => {
  const env = new ShapeEnv();
  const s = env.createSymbol("L['x'].size()[0]", 8, "duck");
  expect(env.createSymbol("L['y'].size()[0]", 8, "duck")).toBe(s);
  expect(env.createSymbol("L['z'].size()[0]", 8, "dynamic")).not.toBe(s);
});

test("sizes 0 and 1 become constants, and static sizes too", () => {
  const env = new ShapeEnv();
  expect(env.createSymbol("L['x'].size()[0]", 1, "dynamic")).toBe(int(1));
  expect(env.createSymbol("L['x'].size()[1]", 0, "duck")).toBe(int(0));
  expect(env.createSymbol("L['x'].size()[2]", 7, "static")).toBe(int(7));
});

test("sizes are known to be at least 2 without a guard", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  const t = env.createSymbol("L['x'].size()[1]", 9, "dynamic");
  expect(v.knownGeq(s, 2)).toBe(true);
  expect(v.knownGeq(mul(s, t), s)).toBe(true);
  expect(v.knownEquals(s, 1)).toBe(false);
  expect(v.isSizeOne(s)).toBe(false);
  expect(max(1, s)).toBe(s);
  expect(env.guards).toEqual([]);
});

test("a guarded equality replaces the symbol", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  const t = env.createSymbol("L['y'].size()[0]", 8, "dynamic");
  v.guardEquals(s, t);
  expect(v.knownEquals(s, t)).toBe(true);
  expect(v.simplify(sub(s, t))).toBe(int(0));
  expect(env.guards).toHaveLength(1);
  v.guardEquals(t, s);
  expect(env.guards).toHaveLength(1);
});

test("a guarded comparison decides weaker ones", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  expect(v.evaluateExpr(relation("le", s, 10), "test")).toBe(true);
  expect(v.knownLt(s, 12)).toBe(true);
  expect(v.knownLt(s, 10)).toBe(false);
  expect(env.guards.map(g => [printLog(g.expr), g.sources])).toEqual([["s77 <= 10", ["L['x'].size()[0]"]]]);
});

test("a guard on divisibility makes multiples known", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  expect(v.knownMultipleOf(s, 4)).toBe(false);
  expect(v.evaluateExpr(relation("eq", mod(s, 4), 0))).toBe(true);
  expect(v.knownMultipleOf(s, 4)).toBe(true);
  expect(v.knownMultipleOf(mul(s, 2048), 16)).toBe(true);
});

test("unbacked sizes are never guarded", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const u = env.createUnbacked();
  expect(printLog(u)).toBe("u0");
  expect(v.guardOrFalse(relation("eq", u, 1))).toBe(false);
  expect(v.knownGeq(u, 0)).toBe(true);
  expect(v.sizeHint(add(u, 3), 8192)).toBe(8192);
  expect(env.guards).toEqual([]);
});

test("a size expression that kernels need becomes a precomputed argument", () => {
  const env = new ShapeEnv();
  const v = new SizeVars(env);
  const s = env.createSymbol("L['x'].size()[0]", 8, "dynamic");
  const half = floorDiv(s, 2);
  const ps = v.lookupPrecomputedSize(half);
  expect(printLog(ps)).toBe("ps0");
  expect(v.lookupPrecomputedSize(half)).toBe(ps);
  expect(v.hint(ps)).toBe(4);
  expect(v.lookupPrecomputedSize(s)).toBe(s);
});

test("a later call fails with the first guard that its sizes break, in terms of their sources", () => {
  const env = new ShapeEnv();
  const x = env.createSymbol("L['x'].size()[0]", 8, "duck");
  env.createSymbol("L['y'].size()[0]", 8, "duck");
  env.evaluate(relation("le", x, 10), "test");
  expect(inputGuards(env).map(g => g.text)).toEqual([
    "L['y'].size()[0] == L['x'].size()[0]",
    "L['x'].size()[0] <= 10",
    "2 <= L['x'].size()[0] <= 10",
  ]);
  const call = (a: number, b: number) =>
    failingGuard(env, source => (source === "L['x'].size()[0]" ? a : source === "L['y'].size()[0]" ? b : undefined));
  expect(call(9, 9)).toBeUndefined();
  expect(call(9, 8)).toBe("L['y'].size()[0] == L['x'].size()[0]");
  expect(call(11, 11)).toBe("L['x'].size()[0] <= 10");
});

test("strides are products of the sizes that follow", () => {
  const env = new ShapeEnv();
  const t = env.createTensorSymbols("L['x']", [8, 4, 6], [24, 6, 1], ["duck", "duck", "duck"]);
  expect(t.sizes.map(printLog)).toEqual(["s77", "s27", "s53"]);
  expect(t.strides.map(printLog)).toEqual(["s27*s53", "s53", "1"]);
});

test("a transposed input's strides follow its memory order", () => {
  const env = new ShapeEnv();
  const t = env.createTensorSymbols("L['x']", [8, 4], [1, 8], ["dynamic", "dynamic"]);
  expect(t.strides.map(printLog)).toEqual(["1", "s77"]);
});

test("static tensors keep their numbers", () => {
  const env = new ShapeEnv();
  const t = env.createTensorSymbols("L['w']", [512, 512], [512, 1], ["static", "static"]);
  expect([...t.sizes, ...t.strides].map(printLog)).toEqual(["512", "512", "512", "1"]);
});
