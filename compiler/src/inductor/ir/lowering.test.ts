import { expect, test } from "vitest";
import { PyFloat } from "../../aten/types";
import { lowerTraced, summary } from "./testing/traced";
import type { LoweredGraph } from "./types";
import { verifyLowered } from "./verify";

const matrix = { shape: [64, 128] };

function lowered(...args: Parameters<typeof lowerTraced>): LoweredGraph {
  const g = lowerTraced(...args);
  expect(verifyLowered(g)).toEqual([]);
  return g;
}

test("a chain of elementwise operators is one node", () => {
  const g = lowered([matrix], (call, [x]) => {
    const a = call("aten.relu.default", [x ?? null]);
    return [call("aten.mul.Tensor", [call("aten.exp.default", [a]), a])];
  });
  expect(summary(g)).toEqual(["op0 Pointwise [64,128]"]);
  expect(g.operations[0]?.origins.map(n => n.name)).toEqual(["mul", "exp", "relu"]);
});

test("a value of five reads is put in memory once it has two users", () => {
  const six = Array.from({ length: 6 }, () => matrix);
  const add5 = (count: number): string[] =>
    summary(
      lowered(six, (call, xs) => {
        let sum = xs[0] as (typeof xs)[number];
        for (let i = 1; i < count; i++) sum = call("aten.add.Tensor", [sum, xs[i] as (typeof xs)[number]]);
        return [call("aten.exp.default", [sum]), call("aten.sin.default", [sum])];
      }),
    );
  expect(add5(4)).toEqual(["op0 Pointwise [64,128]", "op1 Pointwise [64,128]"]);
  expect(add5(5)).toEqual(["op0 Pointwise [64,128]", "op1 Pointwise [64,128]", "op2 Pointwise [64,128]"]);
});

test("a reduction of fewer than eight elements is written out", () => {
  const sums = (n: number): string[] =>
    summary(lowered([{ shape: [64, n] }], (call, [x]) => [call("aten.sum.dim_IntList", [x ?? null, [1]])]));
  expect(sums(7)).toEqual(["op0 Pointwise [64]"]);
  expect(sums(8)).toEqual(["op0 Reduction [64]/[8]"]);
});

test("a long full reduction runs in two steps, and its input is put in memory first", () => {
  const g = lowered([{ shape: [4096, 4096] }], (call, [x]) => [
    call("aten.sum.default", [call("aten.exp.default", [x ?? null])]),
  ]);
  expect(summary(g)).toEqual(["op0 Pointwise [4096,4096]", "op1 Reduction [512]/[32768]", "op2 Reduction []/[512]"]);
  const first = g.operations[1];
  expect(first?.kind === "computed" && first.loops.kind === "Reduction" ? first.loops.split?.size : undefined).toBe(
    512,
  );
});

test("variance leaves the number of its weight unused", () => {
  const g = lowered([matrix], (_call, [x], b) =>
    b.callMany("aten.var_mean.correction", [x ?? null, [1]], { correction: 0, keepdim: true }),
  );
  expect(summary(g).slice(0, 3)).toEqual([
    "op0 WelfordReduction [64]/[128]",
    "op1 WelfordReduction [64]/[128]",
    "op2 WelfordReduction [64]/[128]",
  ]);
});

test("joined values that are not in memory become one selection", () => {
  const g = lowered([matrix, matrix], (call, [x, y]) => [
    call("aten.cat.default", [[call("aten.exp.default", [x ?? null]), call("aten.sin.default", [y ?? null])], 1]),
  ]);
  expect(summary(g)).toEqual(["op0 Pointwise [64,256]"]);
});

test("joined reductions are written where the result wants them", () => {
  const g = lowered([matrix, matrix], (call, [x, y]) => [
    call("aten.cat.default", [
      [call("aten.sum.dim_IntList", [x ?? null, [1]]), call("aten.sum.dim_IntList", [y ?? null, [1]])],
      0,
    ]),
  ]);
  expect(summary(g)).toEqual(["op0 Reduction [64]/[128]", "op1 Reduction [64]/[128]", "op2 ConcatKernel"]);
  const second = g.buffers.get("buf1")?.layout;
  expect(second?.kind === "non_owning" ? [second.base, second.baseOffset, second.offset] : []).toMatchObject([
    "buf2",
    { value: 64 },
    { value: 0 },
  ]);
});

test("a matrix product takes a transposed operand as strides", () => {
  const g = lowered([{ shape: [32, 64] }, { shape: [16, 64] }], (call, [x, w]) => [
    call("aten.mm.default", [x ?? null, call("aten.permute.default", [w ?? null, [1, 0]])]),
  ]);
  expect(summary(g)).toEqual(["op0 extern_kernels.mm"]);
  const [mm] = g.operations;
  expect(mm?.kind === "extern" ? mm.reads[1]?.stride.map(s => (s.kind === "int" ? s.value : 0)) : []).toEqual([1, 64]);
});

test("a write into an input mutates it, after those who read it before", () => {
  const g = lowered([matrix, matrix], (call, [x, y]) => {
    const before = call("aten.exp.default", [x ?? null]);
    call("aten.copy_.default", [x ?? null, y ?? null]);
    return [before];
  });
  expect(g.mutatedInputs).toEqual(["arg0_1"]);
  expect(g.buffers.get("buf1")?.layout).toMatchObject({ kind: "mutation", target: "arg0_1" });
});

test("division by a number multiplies by its reciprocal", () => {
  const g = lowered([matrix], (call, [x]) => [call("aten.div.Tensor", [x ?? null, new PyFloat(448)])]);
  const [op] = g.operations;
  const fns = op?.kind === "computed" ? op.body.block.nodes.flatMap(n => (n.op === "call" ? [n.fn] : [])) : [];
  expect(fns).toEqual(["mul"]);
});

test("division by a tensor that is one number everywhere multiplies by its reciprocal too", () => {
  const g = lowered([matrix], (call, [x]) => [
    call("aten.div.Tensor", [x ?? null, call("aten.pow.Tensor_Scalar", [x ?? null, new PyFloat(0)])]),
  ]);
  expect(summary(g)).toEqual(["op0 Pointwise [64,128]"]);
});

test("an operator without a lowering is called as it is, and says why if it can't be", () => {
  const g = lowered([{ shape: [8, 1000] }], (_call, [x], b) => b.callMany("aten.topk.default", [x ?? null, 5]));
  expect(summary(g)).toEqual(["op0 torch.ops.aten.topk.default", "op1 unpack", "op2 unpack"]);
});

test("verification names what is broken", () => {
  const g = lowered([matrix], (call, [x]) => [call("aten.exp.default", [x ?? null])]);
  const [op] = g.operations;
  if (op?.kind !== "computed") throw new Error("one loop expected");
  const broken = { ...g, operations: [{ ...op, name: "kernel", sizes: [[], []] as const }] };
  expect(verifyLowered(broken)).toEqual([
    "kernel: not an operation's name",
    "kernel: writes buf0, which says it belongs to op0",
    "kernel: iteration sizes and loops disagree",
  ]);
});
