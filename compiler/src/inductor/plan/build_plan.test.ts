import { describe, expect, it } from "vitest";
import { type ConfigValue, defaultBehaviours, defaultConfig, type PresetName } from "../../presets";
import { inductorCode } from "../codegen/wrapper/inductor";
import { standaloneCode } from "../codegen/wrapper/standalone";
import { targetByName } from "../ir/target";
import { schedule } from "../scheduler/schedule";
import { buildGraph, type GraphSpec } from "../scheduler/testing/build_graph";
import { buildPlan } from "./build_plan";
import type { ExecutablePlan } from "./types";
import { verifyPlan } from "./verify";

interface Made {
  readonly plan: ExecutablePlan;
  readonly inductor: string;
  readonly standalone: string;
}

function make(
  spec: GraphSpec,
  config: readonly (readonly [string, ConfigValue])[] = [],
  preset: PresetName = "torch-2.11",
): Made {
  const options = {
    config: defaultConfig(preset, config),
    behaviours: defaultBehaviours(preset),
    target: targetByName("h100"),
  };
  const scheduled = schedule(buildGraph(spec), { ...options, wantDumps: false });
  const plan = buildPlan(scheduled, {
    ...options,
    name: "f",
    aotId: 0,
    originOf: () => ({ lines: [], at: [], nodes: [] }),
  });
  expect(verifyPlan(plan)).toEqual([]);
  const text = (lines: readonly { readonly text: string }[]): string => lines.map(l => l.text).join("\n");
  return { plan, inductor: text(inductorCode(plan, options)), standalone: text(standaloneCode(plan, options)) };
}

/** steps in short: what is allocated from what, launched, freed */
function steps(plan: ExecutablePlan): string[] {
  return plan.steps.flatMap(s => {
    switch (s.kind) {
      case "allocate":
        return [
          s.from.kind === "new"
            ? `new ${s.tensor.name}`
            : s.from.kind === "alias"
              ? `${s.tensor.name} in ${s.from.base}`
              : `${s.tensor.name} ${s.from.inplace ? "over" : "reuses"} ${s.from.buffer}`,
        ];
      case "launch":
        return [`launch ${s.kernel}`];
      case "free":
        return [`free ${s.name}`];
      default:
        return [];
    }
  });
}

const row = "1024*p0 + p1";
const column = "p0 + 512*p1";
const size = [512, 1024];

/** two chains that cannot fuse: each transposes what the other's kernel wrote */
const chain = (length: number): GraphSpec => ({
  inputs: { arg0_1: [512, 512] },
  ops: Array.from({ length }, (_, i) => ({
    sizes: [512, 512],
    loads: [[i === 0 ? "arg0_1" : `buf${i - 1}`, column]] as const,
    store: "512*p0 + p1",
  })),
  outputs: [`buf${length - 1}`],
});
const apart = [
  ["loop_ordering_after_fusion", false],
  ["loop_index_inversion_in_fusion", false],
] as const;

describe("the plan", () => {
  it("allocates before a launch and frees after the last use", () => {
    const { plan } = make({
      inputs: { arg0_1: size },
      ops: [{ sizes: size, loads: [["arg0_1", row]], store: row }],
      outputs: ["buf0"],
    });
    expect(steps(plan)).toEqual(["new buf0", "launch 0", "free arg0_1"]);
    expect(plan.outputs).toEqual([{ kind: "buffer", name: "buf0" }]);
  });

  it("writes a result over what nothing else reads any more, at the element that is read", () => {
    const square = "512*p0 + p1";
    const spec: GraphSpec = {
      inputs: { arg0_1: [512, 512] },
      ops: [
        { sizes: [512, 512], loads: [["arg0_1", column]], store: square },
        { sizes: [512, 512], loads: [["buf0", column]], store: square },
        {
          sizes: [512, 512],
          loads: [
            ["buf0", square],
            ["buf1", column],
          ],
          store: square,
        },
      ],
      outputs: ["buf2"],
    };
    expect(steps(make(spec, apart).plan)).toContain("buf2 over buf0");
    expect(make(spec, apart).standalone).toContain("in_out_ptr0");
    const off = make(spec, [...apart, ["inplace_buffers", false]]);
    expect(off.standalone).not.toContain("in_out_ptr0");
  });

  it("gives the memory of a freed buffer to the next one of its size", () => {
    const { plan } = make(chain(3), apart);
    expect(steps(plan)).toEqual([
      "new buf0",
      "launch 0",
      "free arg0_1",
      "new buf1",
      "launch 0",
      "buf2 reuses buf0",
      "launch 0",
      "free buf1",
    ]);
    const kept = make(chain(3), [...apart, ["allow_buffer_reuse", false]]).plan;
    expect(steps(kept)).toContain("new buf2");
  });

  it("reuses memory later only where the estimate allows it, which in torch 2.11 leaves out what is returned", () => {
    const spec = { ...chain(4), outputs: ["buf1", "buf2", "buf3"] };
    const { plan } = make(spec, apart);
    expect(steps(plan)).toContain("new buf3");
    expect(plan.peakBytes).toBe(3 * 4 * 512 * 512);
  });

  it("has one kernel for equal sources, launched with other buffers", () => {
    const { plan } = make(chain(3), apart);
    expect(plan.kernels).toHaveLength(1);
    const launches = plan.steps.flatMap(s => (s.kind === "launch" ? [s.args.slice(0, 2)] : []));
    expect(new Set(launches.map(a => JSON.stringify(a))).size).toBe(3);
  });

  it("keeps no buffer that lives and dies inside a kernel", () => {
    const { plan } = make({
      inputs: { arg0_1: size },
      ops: [
        { sizes: size, loads: [["arg0_1", row]], store: row },
        { sizes: [512], reduce: [1024], loads: [["buf0", row]], store: "p0" },
      ],
      outputs: ["buf1"],
    });
    expect(steps(plan)).toEqual(["new buf1", "launch 0", "free arg0_1"]);
    expect(plan.kernels[0]?.triton).not.toContain("out_ptr0");
  });

  it("sums up the partial results of a mix-order kernel", () => {
    const { plan, inductor } = make({
      inputs: { arg0_1: [32768, 1024] },
      ops: [
        { sizes: [1024], reduce: [32768], loads: [["arg0_1", "p0 + 1024*p1"]], store: "p0", hint: "OUTER" },
        { sizes: [32768], reduce: [1024], loads: [["arg0_1", row]], store: "p0" },
      ],
      outputs: ["buf0", "buf1"],
    });
    expect(steps(plan)).toEqual(["new buf1", "new workspace_0", "launch 0", "free workspace_0", "free arg0_1"]);
    expect(plan.steps.some(s => s.kind === "finish_partials" && s.output.name === "buf0")).toBe(true);
    expect(inductor).toContain("workspace_0[0 * ");
  });

  it("cuts a tall sum and a transposed copy into tiles under the fuselens preset", () => {
    const { plan } = make(
      {
        inputs: { arg0_1: [8192, 4096] },
        ops: [
          { sizes: [4096], reduce: [8192], loads: [["arg0_1", "p0 + 4096*p1"]], store: "p0", hint: "OUTER" },
          { sizes: [4096, 8192], loads: [["arg0_1", "p0 + 4096*p1"]], store: "8192*p0 + p1" },
        ],
        outputs: ["buf0", "buf1"],
      },
      [],
      "fuselens",
    );
    const tiles = plan.kernels.find(k => k.type === "FusedTransposeReduction");
    expect(tiles?.meta.grid.type).toBe("TransposeReductionGrid");
  });
});

describe("both headers", () => {
  const { plan, inductor, standalone } = make({
    inputs: { arg0_1: size },
    ops: [
      { sizes: size, loads: [["arg0_1", row]], store: row },
      { sizes: [512], reduce: [1024], loads: [["buf0", row]], store: "p0" },
    ],
    outputs: ["buf0", "buf1"],
  });

  it("have the kernels' text as the plan has it", () => {
    for (const k of plan.kernels) {
      expect(standalone).toContain(k.triton.slice(k.triton.lastIndexOf("@triton.jit")));
      expect(inductor).toContain(k.triton.slice(k.triton.lastIndexOf("@triton.jit")));
    }
  });

  it("call the kernels by the same lines", () => {
    const call = (text: string): string => text.slice(text.indexOf("    def call("), text.indexOf("\nrunner ="));
    expect(call(inductor)).toBe(call(standalone));
    expect(call(standalone)).toContain("triton_per_fused");
  });

  it("lean on nothing but public PyTorch, Triton and the runtime module in the standalone form", () => {
    const modules = [...standalone.matchAll(/^\s*(?:import|from) (\S+)/gm)].map(m => (m[1] ?? "").split(".")[0]);
    expect([...new Set(modules)].sort()).toEqual(["fuselens_runtime", "torch", "triton"]);
    expect(standalone).not.toContain("torch._inductor");
    expect(standalone).not.toContain("torch._C");
  });
});
