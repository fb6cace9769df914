import { expect, test } from "vitest";
import { PyFloat } from "../../aten/types";
import { printLoopBody } from "../../report/loop_body";
import { add, int, mul, sym } from "../symbolic/expr";
import { SizeVars } from "../symbolic/size_vars";
import type { BodyOps } from "./body_ops";
import { buildBody } from "./build_body";
import type { LoopBody } from "./loop_body";
import { bodySizes, mergeLoops, reorderIterLoops } from "./transform";

const sizevars = new SizeVars();
const [p0, p1] = [sym("p0"), sym("p1")];
const shape = [int(8), int(16)];
const flat = add(mul(p0, 16), p1);

function capture(run: <V>(ops: BodyOps<V>) => void): LoopBody {
  return buildBody([p0, p1], shape, [], [], bodySizes(sizevars), run);
}
const text = (b: LoopBody): string[] =>
  printLoopBody(b)
    .map(l => l.trim())
    .filter(l => !l.startsWith("get_index"));

test("a constant is emitted at each use and prints as its dtype holds it", () => {
  const b = capture(ops => {
    const three = ops.constant(3, "float32");
    const x = ops.op("add", ops.load("a", flat), three);
    ops.store("b", flat, ops.op("mul", x, three), null);
  });
  expect(text(b)).toContain("constant = ops.constant(3.0, torch.float32)");
  expect(text(b)).toContain("constant_1 = ops.constant(3.0, torch.float32)");
});

test("index arithmetic becomes one index expression", () => {
  const b = capture(ops => {
    const i = ops.op("add", ops.indexExpr(p1, "int64"), ops.constant(2, "int64"));
    ops.store("b", flat, ops.op("mul", i, ops.constant(4, "int64")), null);
  });
  expect([...b.indexing.keys()]).toEqual(["index0", "index1"]);
  expect(text(b)).toContain("index0 = 4*p1 + 8");
});

test("an index known to lie within bounds keeps a check that checks nothing", () => {
  const b = capture(ops => {
    const at = ops.indirectIndexing(ops.indexExpr(p1, "int64"), int(16));
    ops.store("b", flat, ops.load("a", at as never), null);
  });
  expect(text(b)).toContain("check_bounds = ops.check_bounds(get_index, get_index_1, False, False)");
});

test("a loaded index is a symbol of its own", () => {
  const b = capture(ops => {
    const at = ops.indirectIndexing(ops.load("i", p0), int(100));
    ops.store("b", flat, ops.load("a", add(at as never, p1)), null);
  });
  expect(b.indirect.map(s => s.name)).toEqual(["indirect0"]);
  expect(text(b)).toContain("index1 = indirect0 + p1");
});

test("nested masked blocks are numbered from the outside and listed from the inside", () => {
  const b = capture(ops => {
    const m = ops.op("lt", ops.indexExpr(p1, "int64"), ops.constant(3, "int64"));
    const inner = (): ReturnType<typeof ops.load> => ops.masked(m, () => ops.load("a", flat), new PyFloat(0));
    ops.store("b", flat, ops.masked(m, inner, 0), null);
  });
  expect([...b.subblocks.keys()]).toEqual(["masked_subblock2", "masked_subblock1"]);
  expect(text(b).some(l => l.includes("masked_subblock1(lt, 0)"))).toBe(true);
  expect(text(b).some(l => l.includes(", 0.0)"))).toBe(true);
});

test("loops merge when every index steps through them as one, and not otherwise", () => {
  const dense = capture(ops => ops.store("b", flat, ops.load("a", flat), null));
  expect(mergeLoops(dense, sizevars).iterSizes).toEqual([int(128)]);
  const turned = capture(ops => ops.store("b", flat, ops.load("a", add(p0, mul(p1, 8))), null));
  expect(mergeLoops(turned, sizevars).iterSizes).toEqual(shape);
});

test("reordered loops keep what is computed", () => {
  const b = capture(ops => ops.store("b", flat, ops.load("a", p1), null));
  const r = reorderIterLoops(b, [1, 0], sizevars);
  expect(r.iterSizes).toEqual([int(16), int(8)]);
  expect([...r.indexing.values()]).toEqual([p0, add(p0, mul(p1, 16))]);
});
