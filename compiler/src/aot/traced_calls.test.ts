import { describe, expect, it } from "vitest";
import { STATIC_GUARDS } from "../aten/dim_math";
import { DTypeArg, PyFloat } from "../aten/types";
import { argumentText } from "../fx/print";
import type { FakeTensor } from "../fx/types";
import { int } from "../inductor/symbolic/expr";
import { TracedTensor } from "./traced_tensor";
import { Tracer } from "./tracer";

const meta = (...shape: number[]): FakeTensor => ({
  shape: shape.map(int),
  stride: shape.map((_, i) => int(shape.slice(i + 1).reduce((n, d) => n * d, 1))),
  storageOffset: int(0),
  dtype: "float32",
  device: { type: "cuda", index: 0 },
  requiresGrad: false,
});

function tracer(): { t: Tracer; input: (...shape: number[]) => TracedTensor; calls: (from?: number) => string[] } {
  const t = new Tracer(STATIC_GUARDS, {
    dtype: "float32",
    device: { type: "cpu", index: null },
    config: () => undefined,
  });
  let inputs = 0;
  return {
    t,
    input: (...shape) => {
      const m = meta(...shape);
      return new TracedTensor(t.placeholder(`x${inputs++}`, m), m);
    },
    calls: (from = 0) =>
      t.graph.nodes
        .filter(n => n.op === "call_function")
        .slice(from)
        .map(n => `${n.name} = ${n.target}(${n.args.map(argumentText).join(", ")}) of ${n.meta.originalAten}`),
  };
}

describe("a call of a form that the trace knows", () => {
  it("makes the nodes that it makes for the first time, over its own arguments and under its own names", () => {
    const again = tracer();
    const [x, y] = [again.input(4, 8), again.input(4, 8)];
    again.t.builder.call("aten.softplus.default", [x]);
    const first = again.calls();
    again.t.builder.call("aten.softplus.default", [y]);
    const anew = tracer();
    anew.input(4, 8);
    anew.t.builder.call("aten.softplus.default", [anew.input(4, 8)]);
    const digits = (lines: readonly string[]): string[] => lines.map(l => l.replace(/(?<=[a-z])_\d+\b/g, ""));
    expect(first.length).toBeGreaterThan(3);
    expect(digits(again.calls(first.length))).toEqual(digits(anew.calls()));
    expect(new Set(again.t.graph.nodes.map(n => n.name)).size).toBe(again.t.graph.nodes.length);
  });

  it("is told apart by shapes, by numbers, and by which of its arguments are one tensor", () => {
    const { t, input, calls } = tracer();
    const [x, y, row] = [input(4, 8), input(4, 8), input(8)];
    t.builder.call("aten.mul.Tensor", [x, y]);
    t.builder.call("aten.mul.Tensor", [x, x]);
    t.builder.call("aten.mul.Tensor", [row, y]);
    t.builder.call("aten.mul.Tensor", [x, new PyFloat(0.5)]);
    t.builder.call("aten.mul.Tensor", [y, new PyFloat(0.25)]);
    expect(calls().map(c => /\(.*\)/.exec(c)?.[0])).toEqual([
      "(x0, x1)",
      "(x0, x0)",
      "(x2, x1)",
      "(x0, 0.5)",
      "(x1, 0.25)",
    ]);
  });

  it("gives back the argument that an operator without effect gives back", () => {
    const { t, input, calls } = tracer();
    const [x, y] = [input(4), input(4)];
    const same = (v: TracedTensor) => t.builder.call("aten.clone.default", [v]);
    expect([same(x).node === x.node, same(y).node === y.node]).toEqual([false, false]);
    const cast = (v: TracedTensor) => t.builder.call("aten.to.dtype", [v, new DTypeArg("float32")]);
    expect(cast(x)).toBe(x);
    expect(cast(y)).toBe(y);
    expect(calls()).toHaveLength(2);
  });
});
