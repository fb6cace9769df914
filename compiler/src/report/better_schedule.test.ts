import { describe, expect, it } from "vitest";
import { betterSchedule, gainText } from "./better_schedule";
import type { ReportGraph, ReportKernel } from "./types";

const kernel = (name: string, nodes: string[], bytes: number, us: number, lines: number[]): ReportKernel => ({
  name,
  type: nodes.length > 1 ? "FusedSchedulerNode" : "SchedulerNode",
  nodes,
  origins: nodes.map(n => n.replace("op", "aten_")),
  lines,
  at: lines,
  reads: [],
  writes: [],
  bytes,
  estimate_us: us,
  assumed: [],
});

const graph = (kernels: ReportKernel[]): ReportGraph => ({
  name: "f",
  kind: "inference",
  bytes: kernels.reduce((n, k) => n + k.bytes, 0),
  peak_bytes: 0,
  saved_bytes: [],
  inputs: [],
  aten: [],
  kernels,
  refusals: [],
});

const apart = [
  kernel("sum", ["op1"], 310e6, 80, [8]),
  kernel("sum_2", ["op2"], 1e6, 2, [8]),
  kernel("copy", ["op0"], 620e6, 155, [7]),
  kernel("other", ["op9"], 5e6, 3, [20]),
];
const together = [
  kernel("pass", ["op0", "op1"], 620e6, 157, [7, 8]),
  kernel("sum_2", ["op2"], 1e6, 2, [8]),
  kernel("other", ["op9"], 5e6, 3, [20]),
];

describe("a better schedule", () => {
  it("is told by place, with kernels, bytes and time of both sides", () => {
    const b = betterSchedule(graph(apart), graph(together));
    expect(b?.places).toHaveLength(1);
    const [p] = b?.places ?? [];
    expect(p).toMatchObject({ lines: [7, 8], before: [0, 2], after: [0] });
    expect(p?.text).toBe("one kernel instead of two, saves 310 MB, est. 1.5x");
    expect(b?.before.kernels).toBe(4);
    expect(b?.after.kernels).toBe(3);
  });
  it("is not told where nothing is gained", () => {
    expect(betterSchedule(graph(apart), graph(apart))).toBeNull();
    expect(betterSchedule(graph(together), graph(apart))).toBeNull();
  });
  it("names saved passes where kernels stay as many", () => {
    const cost = (us: number) => ({ kernels: 1, bytes: 1e6, estimateUs: us });
    expect(gainText(cost(80), cost(40))).toBe("fewer passes over memory, est. 2.0x");
  });
});
