import { describe, expect, it } from "vitest";
import { DEFAULT_TARGET } from "../inductor/ir/target";
import { schedule } from "../inductor/scheduler/schedule";
import { buildGraph } from "../inductor/scheduler/testing/build_graph";
import { defaultBehaviours, defaultConfig } from "../presets";
import { dotLabel, dotString, schedulerDot } from "./scheduler_dot";
import { schedulerGraph } from "./scheduler_graph";

/** two elementwise operations over one input, the second reading the first, and a reduction of the second */
const graph = () => {
  const lowered = buildGraph({
    inputs: { arg0_1: [64, 128] },
    ops: [
      { sizes: [8192], loads: [["arg0_1", "p0"]], store: "p0", shape: [64, 128] },
      { sizes: [8192], loads: [["buf0", "p0"]], store: "p0", shape: [64, 128] },
      { sizes: [64], reduce: [128], loads: [["buf1", "128*p0 + p1"]], store: "p0" },
    ],
    outputs: ["buf0", "buf1", "buf2"],
  });
  const preset = "nightly-2026-11";
  const done = schedule(lowered, {
    config: defaultConfig(preset),
    behaviours: defaultBehaviours(preset),
    target: DEFAULT_TARGET,
    wantDumps: false,
    fuse: true,
  });
  return schedulerGraph(done, "x.py", "f", "inference");
};

describe("schedulerGraph", () => {
  it("has an edge for every buffer that one operation writes and another reads", () => {
    const { ops, edges } = graph();
    const named = edges.map(e => `${ops[e.from]?.name} ${e.buffer} ${ops[e.to]?.name}`);
    expect(named).toEqual(["op0 buf0 op1", "op1 buf1 op2"]);
  });

  it("starts with every operation alone and ends with the kernels that are launched", () => {
    const { rounds, final } = graph();
    expect(rounds[0]?.groups).toEqual([[0], [1], [2]]);
    expect(rounds[rounds.length - 1]?.groups).toEqual(final);
    expect(final.length).toBeLessThan(3);
  });

  it("draws a group of several operations as a cluster", () => {
    expect(schedulerDot(graph())).toMatch(/subgraph cluster_0 \{\n {4}label="\d ops"/);
    expect(schedulerDot(graph(), 0)).not.toContain("cluster");
  });

  it("names the kernels that are launched where their titles are given", () => {
    const titles = ["kernel 1: a", "kernel 2: b"];
    const made = graph();
    const dot = schedulerDot(made, undefined, titles);
    made.final.forEach((members, i) => {
      if (members.length > 1) expect(dot).toContain(`label="${titles[i]}"`);
      else expect(dot).toContain(`label="${titles[i]}\\n${made.ops[members[0] ?? 0]?.name}\\n`);
    });
    expect(schedulerDot(made, 0, titles)).not.toContain("kernel 1");
  });

  it("keeps text of the user's inside its string", () => {
    expect(dotString('a"; evil [x="\\')).toBe('"a\\"; evil [x=\\"\\\\"');
    expect(dotString("a\r\u2028b\nc\x1b\ud800d")).toBe('"a b c d"');
  });

  it("leaves lines without text out of labels", () => {
    expect(dotLabel(["\n", 'a"', "", " ", "b\n"])).toBe('"a\\"\\nb"');
  });
});
