import { describe, expect, it } from "vitest";
import { defaultBehaviours, defaultConfig, type PresetName } from "../../presets";
import { targetByName } from "../ir/target";
import { schedule } from "./schedule";
import { buildGraph, type GraphSpec } from "./testing/build_graph";
import type { Schedule } from "./types";
import { verifySchedule } from "./verify";

function run(
  spec: GraphSpec,
  config: readonly (readonly [string, unknown])[] = [],
  preset: PresetName = "torch-2.11",
): Schedule {
  const r = schedule(buildGraph(spec), {
    config: defaultConfig(preset, config),
    behaviours: defaultBehaviours(preset),
    target: targetByName("h100"),
    wantDumps: false,
  });
  expect(verifySchedule(r)).toEqual([]);
  return r;
}

const names = (r: Schedule): string[] => r.nodes.map(n => n.name);
const codes = (r: Schedule): string[] => r.refusals.map(x => x.code);
const row = "1024*p0 + p1";

describe("scheduling", () => {
  it("puts a producer and its consumer into one kernel", () => {
    const r = run({
      inputs: { arg0_1: [512, 1024] },
      ops: [
        { sizes: [512, 1024], loads: [["arg0_1", row]], store: row },
        { sizes: [512], reduce: [1024], loads: [["buf0", row]], store: "p0" },
      ],
      outputs: ["buf0", "buf1"],
    });
    expect(names(r)).toEqual(["op0_op1"]);
    expect(r.totalBytes).toBe(4 * (2 * 512 * 1024 + 512));
  });

  it("does not count a buffer that lives and dies inside its kernel", () => {
    const r = run({
      inputs: { arg0_1: [512, 1024] },
      ops: [
        { sizes: [512, 1024], loads: [["arg0_1", row]], store: row },
        { sizes: [512], reduce: [1024], loads: [["buf0", row]], store: "p0" },
      ],
      outputs: ["buf1"],
    });
    expect(r.totalBytes).toBe(4 * (512 * 1024 + 512));
  });

  it("says what a refused pair moves twice, and how each side walks it", () => {
    const r = run(
      {
        inputs: { arg0_1: [512, 1024] },
        ops: [
          { sizes: [1024], reduce: [512], loads: [["arg0_1", "p0 + 1024*p1"]], store: "p0", hint: "OUTER" },
          { sizes: [512], reduce: [1024], type: "max", loads: [["arg0_1", row]], store: "p0" },
        ],
        outputs: ["buf0", "buf1"],
      },
      [["triton.mix_order_reduction", false]],
    );
    const [first] = r.refusals;
    expect(first).toMatchObject({
      code: "no_shared_data",
      buffer: "arg0_1",
      aIndex: "d0 + 1024*d1",
      bIndex: "1024*d0 + d1",
      aAccess: "reads",
      bAccess: "reads",
      bytesLost: 4 * 512 * 1024,
    });
  });

  it("counts the write too where a refused consumer is the only user", () => {
    const r = run({
      inputs: { arg0_1: [512, 1024] },
      ops: [
        { sizes: [512], reduce: [1024], loads: [["arg0_1", row]], store: "p0" },
        { sizes: [512], loads: [["buf0", "511 - p0"]], store: "p0" },
      ],
      outputs: ["buf1"],
    });
    expect(r.refusals[0]).toMatchObject({
      code: "no_shared_data",
      buffer: "buf0",
      aAccess: "writes",
      bAccess: "reads",
      bytesLost: 4 * 2 * 512,
    });
  });

  it("reorders a transposed copy for a row sum only in the last round", () => {
    const spec: GraphSpec = {
      inputs: { arg0_1: [512, 1024] },
      ops: [
        { sizes: [512], reduce: [1024], loads: [["arg0_1", row]], store: "p0" },
        { sizes: [1024, 512], loads: [["arg0_1", "p0 + 1024*p1"]], store: "512*p0 + p1" },
      ],
      outputs: ["buf0", "buf1"],
    };
    const r = run(spec);
    expect(names(r)).toEqual(["op0_op1"]);
    const complete = r.events.findIndex(e => e.kind === "complete");
    expect(r.events.findIndex(e => e.kind === "fusing")).toBeGreaterThan(complete);
    expect(names(run(spec, [["loop_ordering_after_fusion", false]]))).toHaveLength(2);
  });

  it("reads a tall matrix once for sums along rows and along columns", () => {
    const spec: GraphSpec = {
      inputs: { arg0_1: [32768, 1024] },
      ops: [
        { sizes: [1024], reduce: [32768], loads: [["arg0_1", "p0 + 1024*p1"]], store: "p0", hint: "OUTER" },
        { sizes: [32768], reduce: [1024], loads: [["arg0_1", row]], store: "p0" },
      ],
      outputs: ["buf0", "buf1"],
    };
    const r = run(spec);
    expect(r.nodes.map(n => [n.name, n.type])).toEqual([["op1_op0", "FusedMixOrderReductions"]]);
    const off = run(spec, [["triton.mix_order_reduction", false]]);
    expect(names(off)).toEqual(["op0", "op1"]);
    expect(codes(off)).toContain("no_shared_data");
  });

  it("nests a reduction of groups inside the row's reduction under the nightly only", () => {
    const spec: GraphSpec = {
      inputs: { arg0_1: [128, 8192] },
      ops: [
        { sizes: [128], reduce: [8192], loads: [["arg0_1", "8192*p0 + p1"]], store: "p0" },
        {
          sizes: [128, 512],
          reduce: [16],
          type: "max",
          loads: [
            ["arg0_1", "8192*p0 + 16*p1 + p2"],
            ["buf0", "p0"],
          ],
          store: "512*p0 + p1",
        },
      ],
      outputs: ["buf1"],
    };
    expect(run(spec, [], "nightly-2026-11").nodes[0]?.type).toBe("FusedNestedReductions");
    expect(codes(run(spec))).toContain("numel_rnumel_mismatch_reduce");
  });

  it("launches independent kernels together where combo kernels are on", () => {
    const spec: GraphSpec = {
      inputs: { arg0_1: [1024, 64], arg1_1: [1024, 512] },
      ops: [
        { sizes: [1024], reduce: [64], loads: [["arg0_1", "64*p0 + p1"]], store: "p0" },
        { sizes: [1024], reduce: [512], loads: [["arg1_1", "512*p0 + p1"]], store: "p0" },
      ],
      outputs: ["buf0", "buf1"],
    };
    expect(names(run(spec))).toEqual(["op0", "op1"]);
    expect(run(spec, [["combo_kernels", true]]).nodes[0]).toMatchObject({
      name: "op0_op1",
      type: "ForeachKernelSchedulerNode",
      combo: true,
    });
  });

  it("drops what nobody reads", () => {
    const r = run({
      inputs: { arg0_1: [512, 1024] },
      ops: [
        { sizes: [512, 1024], loads: [["arg0_1", row]], store: row },
        { sizes: [512, 1024], loads: [["arg0_1", row]], store: row },
      ],
      outputs: ["buf1"],
    });
    expect(names(r)).toEqual(["op1"]);
    expect([...r.removedOps]).toEqual(["op0"]);
  });

  it("undoes a reordering that led to no fusion where the preset says so", () => {
    // op1 reads both inputs; reordering op0 for arg0_1 cannot make their sizes fit a reduction along columns of another width
    const spec: GraphSpec = {
      inputs: { arg0_1: [64, 128, 32] },
      ops: [
        { sizes: [32, 128, 64], loads: [["arg0_1", "p0 + 32*p1 + 4096*p2"]], store: "8192*p0 + 64*p1 + p2" },
        { sizes: [64, 32], reduce: [128], loads: [["arg0_1", "4096*p0 + p1 + 32*p2"]], store: "32*p0 + p1" },
      ],
      outputs: ["buf0", "buf1"],
    };
    const walk = (r: Schedule): string[] =>
      r.nodes.flatMap(n =>
        "body" in n && n.name === "op0"
          ? [...(n.body?.iterSizes ?? [])].map(e => String((e as { value?: number }).value))
          : [],
      );
    expect(walk(run(spec, [], "nightly-2026-11"))).toEqual(["32", "128", "64"]);
    expect(walk(run(spec))).not.toEqual(["32", "128", "64"]);
  });
});
