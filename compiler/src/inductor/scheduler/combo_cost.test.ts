import { describe, expect, it } from "vitest";
import { defaultBehaviours, defaultConfig, type PresetName } from "../../presets";
import { targetByName } from "../ir/target";
import { schedule } from "./schedule";
import { buildGraph, type LoopsSpec } from "./testing/build_graph";
import type { Schedule } from "./types";
import { verifySchedule } from "./verify";

function run(sizes: readonly number[], ops: readonly LoopsSpec[], preset: PresetName = "fuselens"): Schedule {
  const inputs = Object.fromEntries(sizes.map((n, i) => [`arg${i}_1`, [n]]));
  const r = schedule(buildGraph({ inputs, ops, outputs: ops.map((_, i) => `buf${i}`) }), {
    config: defaultConfig(preset),
    behaviours: defaultBehaviours(preset),
    target: targetByName("h200"),
    wantDumps: false,
  });
  expect(verifySchedule(r)).toEqual([]);
  return r;
}

const pointwise = (i: number, n: number): LoopsSpec => ({ sizes: [n], loads: [[`arg${i}_1`, "p0"]], store: "p0" });
const sum = (i: number, n: number): LoopsSpec => ({
  sizes: [],
  shape: [],
  reduce: [n],
  loads: [[`arg${i}_1`, "p0"]],
  store: "0",
});

describe("combining independent kernels by cost", () => {
  it("launches small ones of one kind together, at no more bytes", () => {
    const sizes = [4096, 100, 65536];
    const r = run(
      sizes,
      sizes.map((n, i) => pointwise(i, n)),
    );
    expect(r.nodes.map(n => n.type)).toEqual(["ForeachKernelSchedulerNode"]);
    expect(r.totalBytes).toBe(8 * (4096 + 100 + 65536));
  });
  it("keeps sums and pointwise kernels apart", () => {
    const r = run([4096, 100], [pointwise(0, 4096), sum(1, 100)]);
    expect(r.nodes).toHaveLength(2);
  });
  it("leaves a kernel alone that would lose more than a launch", () => {
    const sizes = [2 ** 28, 4096, 100];
    const r = run(
      sizes,
      sizes.map((n, i) => pointwise(i, n)),
    );
    expect(r.nodes.map(n => n.type).sort()).toEqual(["ForeachKernelSchedulerNode", "SchedulerNode"]);
  });
  it("combines nothing by default", () => {
    expect(run([4096, 100], [pointwise(0, 4096), pointwise(1, 100)], "torch-2.11").nodes).toHaveLength(2);
  });
});

describe("comparing merged loops", () => {
  it("fuses a producer of two loops with a first stage over other two", () => {
    const [rows, columns] = [4096, 4096];
    const inputs = { arg0_1: [rows, columns] };
    const ops: LoopsSpec[] = [
      { sizes: [rows, columns], loads: [["arg0_1", `${columns}*p0 + p1`]], store: `${columns}*p0 + p1` },
      { sizes: [512], reduce: [32768], loads: [["buf0", "32768*p0 + p1"]], store: "p0" },
    ];
    const count = (preset: PresetName): number =>
      schedule(buildGraph({ inputs, ops, outputs: ["buf0", "buf1"] }), {
        config: defaultConfig(preset),
        behaviours: defaultBehaviours(preset),
        target: targetByName("h200"),
        wantDumps: false,
      }).nodes.length;
    expect(count("torch-2.11")).toBe(2);
    expect(count("fuselens")).toBe(1);
  });
});
