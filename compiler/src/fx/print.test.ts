import { describe, expect, it } from "vitest";
import { printReadable } from "./print";
import { floatRepr } from "./py_repr";
import { type PrintedGraph, parseLog } from "./testing/parse_printed";
import { logNames, readLog } from "./testing/truth";

describe("floats", () => {
  it("print as Python's repr", () => {
    for (const [x, text] of [
      [1e-5, "1e-05"],
      [0.0001, "0.0001"],
      [1, "1.0"],
      [-1e30, "-1e+30"],
      [1e16, "1e+16"],
      [1e15, "1000000000000000.0"],
      [-1e9, "-1000000000.0"],
      [Infinity, "inf"],
      [0.5, "0.5"],
      [123456.789, "123456.789"],
    ] as const) {
      expect(floatRepr(x)).toBe(text);
    }
  });
});

describe.skipIf(logNames().length === 0)("graphs of recorded logs", () => {
  it.each(logNames())("print again as torch printed them: %s", name => {
    for (const frame of parseLog(readLog(name))) {
      for (const g of [frame.pre, frame.joint, frame.forward, frame.backward, ...frame.post])
        if (g) expect(print(g)).toBe(g.text);
    }
  });
});

function print(g: PrintedGraph): string {
  return printReadable(g.graph, {
    title: g.title,
    className: g.className,
    file: g.file,
    joint: g.title.startsWith("Joint"),
  }).trimEnd();
}
