import { describe, expect, it } from "vitest";
import { keptApart } from "./kept_apart";
import type { ReportKernel, ReportRefusal } from "./types";

const kernel = (name: string, ...nodes: string[]): ReportKernel => ({
  name,
  type: "FusedSchedulerNode",
  nodes,
  origins: nodes,
  lines: [1],
  at: [1],
  reads: [],
  writes: [],
  bytes: 100,
  estimate_us: 1,
  assumed: [],
});

const refusal = (a: string, b: string, bytesLost: number, code = "no_shared_data"): ReportRefusal => ({
  code,
  a,
  b,
  detail: "",
  aIndex: "d0",
  bIndex: "d1",
  buffer: "arg0_1",
  aAccess: "reads",
  bAccess: "reads",
  bytesLost,
  lines: [[1], [2]],
  at: [[1], [2]],
});

describe("kernels that are kept apart", () => {
  const kernels = [kernel("k0", "op0", "op2"), kernel("k1", "op1"), kernel("k2", "op3")];

  it("leaves out pairs that met in one kernel after all", () => {
    const refusals = [refusal("op0", "op2", 900, "intermediate_nodes"), refusal("op0_op2", "op1", 500)];
    expect(keptApart({ kernels, refusals }).map(r => r.kernels)).toEqual([[0, 1]]);
  });

  it("keeps the last reason that a pair of kernels was given, and the costliest pair first", () => {
    const refusals = [
      refusal("op1", "op3", 100),
      refusal("op0", "op1", 500, "intermediate_nodes"),
      refusal("op0_op2", "op1", 500, "no_shared_data"),
    ];
    const found = keptApart({ kernels, refusals });
    expect(found.map(r => r.kernels)).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(found[0]?.code).toBe("no_shared_data");
  });

  it("prefers any reason to the order of the pair asked the other way round", () => {
    const refusals = [refusal("op0", "op1", 500, "template_prologue"), refusal("op1", "op0", 500, "order")];
    for (const given of [refusals, refusals.toReversed()]) {
      expect(keptApart({ kernels, refusals: given }).map(r => r.code)).toEqual(["template_prologue"]);
    }
    expect(keptApart({ kernels, refusals: refusals.slice(1) }).map(r => r.code)).toEqual(["order"]);
  });

  it("does not tell what costs nothing", () => {
    expect(keptApart({ kernels, refusals: [refusal("op0", "op1", 0)] })).toEqual([]);
    const little = refusal("op0", "op1", 800, "score_fusion_memory_threshold");
    expect(keptApart({ kernels, refusals: [little] })).toEqual([]);
  });
});
