import { describe, expect, it } from "vitest";
import { defaultBehaviours, defaultConfig, type PresetName } from "../../presets";
import { targetByName } from "../ir/target";
import { sym } from "../symbolic";
import { schedule } from "./schedule";
import { buildGraph, type GraphSpec, type LoopsSpec } from "./testing/build_graph";
import { matchLoops } from "./transpose_frame";
import type { Schedule } from "./types";
import { verifySchedule } from "./verify";

function run(spec: GraphSpec, preset: PresetName = "fuselens"): Schedule {
  const r = schedule(buildGraph(spec), {
    config: defaultConfig(preset),
    behaviours: defaultBehaviours(preset),
    target: targetByName("h200"),
    wantDumps: false,
  });
  expect(verifySchedule(r)).toEqual([]);
  return r;
}

const [ROWS, COLUMNS] = [8192, 4096];
const inputs = { arg0_1: [ROWS, COLUMNS] };
const types = (r: Schedule): string[] => r.nodes.map(n => n.type);
const reasons = (r: Schedule): string[] => r.refusals.map(x => x.code);

/** arg0_1.t().contiguous() */
const transposed: LoopsSpec = {
  sizes: [COLUMNS, ROWS],
  loads: [["arg0_1", `p0 + ${COLUMNS}*p1`]],
  store: `${ROWS}*p0 + p1`,
};
/** arg0_1.sum(0), its first stage: 32 pieces of 256 rows */
const columnSum: LoopsSpec = {
  sizes: [32, COLUMNS],
  reduce: [256],
  loads: [["arg0_1", `${256 * COLUMNS}*p0 + p1 + ${COLUMNS}*p2`]],
  store: `${COLUMNS}*p0 + p1`,
  hint: "OUTER",
};
/** the same in one stage */
const wholeColumnSum: LoopsSpec = {
  sizes: [COLUMNS],
  reduce: [ROWS],
  loads: [["arg0_1", `p0 + ${COLUMNS}*p1`]],
  store: "p0",
  hint: "OUTER",
};
const rowSum: LoopsSpec = {
  sizes: [ROWS],
  reduce: [COLUMNS],
  loads: [["arg0_1", `${COLUMNS}*p0 + p1`]],
  store: "p0",
};

describe("sums and transposed copies of one tensor", () => {
  it("become one pass", () => {
    const r = run({ inputs, ops: [transposed, columnSum], outputs: ["buf0", "buf1"] });
    expect(types(r)).toEqual(["FusedTransposeReduction"]);
    const [pass] = r.nodes;
    // one read, one copy, and partial sums that are small beside them
    const matrix = 4 * ROWS * COLUMNS;
    expect(r.bytes.get(pass?.name ?? "")).toBeLessThan(2.02 * matrix);
    expect(r.bytes.get(pass?.name ?? "")).toBeGreaterThan(2 * matrix);
  });

  it("leave a sum that was whole to a second stage", () => {
    const r = run({ inputs, ops: [transposed, wholeColumnSum], outputs: ["buf0", "buf1"] });
    expect(types(r)).toEqual(["FusedTransposeReduction", "SchedulerNode"]);
    expect(r.graph.operations.map(o => o.name)).toEqual(["op0", "op2", "op1"]);
  });

  it("take sums along both axes together", () => {
    const r = run({ inputs, ops: [transposed, wholeColumnSum, rowSum], outputs: ["buf0", "buf1", "buf2"] });
    expect(types(r).filter(t => t === "FusedTransposeReduction")).toHaveLength(1);
    expect(r.totalBytes).toBeLessThan(2.1 * 4 * ROWS * COLUMNS);
  });

  it("stay apart under Inductor's presets, with what that costs", () => {
    const r = run({ inputs, ops: [transposed, columnSum], outputs: ["buf0", "buf1"] }, "torch-2.11");
    expect(types(r)).toEqual(["SchedulerNode", "SchedulerNode"]);
    expect(r.refusals.some(x => x.bytesLost === 4 * ROWS * COLUMNS)).toBe(true);
  });

  it("stay apart where one needs the other's result", () => {
    const centred: LoopsSpec = {
      sizes: [COLUMNS, ROWS],
      loads: [
        ["arg0_1", `p0 + ${COLUMNS}*p1`],
        ["buf0", "p0"],
      ],
      store: `${ROWS}*p0 + p1`,
    };
    const r = run({ inputs, ops: [columnSum, centred], outputs: ["buf0", "buf1"] });
    expect(types(r)).not.toContain("FusedTransposeReduction");
    expect(reasons(r)).toContain("not_one_pass");
  });

  it("stay apart where tiles would cost more than the pass that they save", () => {
    const [rows, columns] = [64, 48];
    const r = run({
      inputs: { arg0_1: [rows, columns] },
      ops: [
        { sizes: [columns, rows], loads: [["arg0_1", `p0 + ${columns}*p1`]], store: `${rows}*p0 + p1` },
        { sizes: [columns], reduce: [rows], loads: [["arg0_1", `p0 + ${columns}*p1`]], store: "p0", hint: "OUTER" },
      ],
      outputs: ["buf0", "buf1"],
    });
    expect(types(r)).not.toContain("FusedTransposeReduction");
  });

  it("leave a sum of another slice of the buffer alone", () => {
    const wide = { arg0_1: [ROWS, 2 * COLUMNS] };
    const r = run({
      inputs: wide,
      ops: [
        {
          sizes: [COLUMNS, ROWS],
          loads: [["arg0_1", `p0 + ${2 * COLUMNS}*p1`]],
          store: `${ROWS}*p0 + p1`,
        },
        { ...wholeColumnSum, loads: [["arg0_1", `p0 + ${2 * COLUMNS}*p1 + ${COLUMNS}`]] },
      ],
      outputs: ["buf0", "buf1"],
    });
    expect(types(r)).not.toContain("FusedTransposeReduction");
  });
});

describe("matching loops", () => {
  const axes = [
    { size: 4096, step: 1 },
    { size: 8192, step: 4096 },
  ];
  const vars = [sym("a0"), sym("a1")];

  it("finds the same loops in another order", () => {
    const m = matchLoops([...axes].reverse(), axes, vars);
    expect(m?.values).toEqual([vars[1], vars[0]]);
  });
  it("cuts a loop that spans several", () => {
    const m = matchLoops(
      [
        { size: 16, step: 512 * 4096 },
        { size: 512, step: 4096 },
        { size: 4096, step: 1 },
      ],
      axes,
      vars,
    );
    expect(m?.uses.map(u => [...u])).toEqual([[1], [1], [0]]);
    expect(m?.values[2]).toBe(vars[0]);
  });
  it("refuses loops that step otherwise", () => {
    expect(
      matchLoops(
        [
          { size: 4096, step: 2 },
          { size: 8192, step: 8192 },
        ],
        axes,
        vars,
      ),
    ).toBeNull();
    expect(matchLoops([{ size: 4096, step: 1 }], axes, vars)).toBeNull();
  });
});
