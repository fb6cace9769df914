import { describe, expect, it } from "vitest";
import type { ExecutablePlan, PlanKernel, PlanStep, PlanTensor } from "./types";
import { verifyPlan } from "./verify";

const origin = { lines: [], at: [], nodes: [] };
const tensor = (name: string): PlanTensor => ({
  name,
  size: [4],
  stride: [1],
  offset: 0,
  dtype: "float32",
  device: "cuda:0",
});
const kernel: PlanKernel = {
  name: "k",
  type: "SchedulerNode",
  heuristic: "pointwise",
  args: [
    { name: "in_ptr0", role: "in", dtype: "float32" },
    { name: "out_ptr0", role: "out", dtype: "float32" },
  ],
  triton: "@triton.jit\ndef k(in_ptr0, out_ptr0):\n    tl.store(out_ptr0, tl.load(in_ptr0))",
  tritonLines: [origin, origin, origin],
  provenance: [],
  meta: {
    sizeHints: { x: 4 },
    signature: { in_ptr0: "*fp32", out_ptr0: "*fp32" },
    constants: {},
    divisible: [],
    inductorMeta: [],
    configs: [{ kwargs: {}, numWarps: 1, numStages: 1 }],
    minElemPerThread: 0,
    grid: { type: "Grid1D", data: {} },
  },
  origin,
  bytes: 0,
  flops: 0,
  estimateUs: 0,
};

const fresh = (name: string): PlanStep => ({ kind: "allocate", tensor: tensor(name), from: { kind: "new" } });
const free = (name: string): PlanStep => ({ kind: "free", name });
const launch = (...names: string[]): PlanStep => ({
  kind: "launch",
  kernel: 0,
  args: names.map(name => ({ kind: "buffer", name })),
  origin,
  ops: [],
  comment: "",
});

const plan = (steps: readonly PlanStep[], kernels: readonly PlanKernel[] = [kernel]): ExecutablePlan => ({
  name: "f",
  aotId: "0_inference",
  kind: "inference",
  symbols: [],
  inputs: [tensor("arg0_1")],
  constants: [],
  kernels,
  steps,
  outputs: [{ kind: "buffer", name: "buf0" }],
  mutatedInputs: [],
  scheduleEntries: [],
  blockers: [],
  peakBytes: 0,
});

describe("verifyPlan", () => {
  it("finds nothing wrong with a sound plan", () => {
    expect(verifyPlan(plan([fresh("buf0"), launch("arg0_1", "buf0"), free("arg0_1")]))).toEqual([]);
  });

  it("sees a buffer used before it has memory, and after its end", () => {
    const problems = verifyPlan(
      plan([launch("arg0_1", "buf0"), fresh("buf0"), free("arg0_1"), launch("arg0_1", "buf0")]),
    );
    expect(problems).toEqual([
      "step 0 (launch) uses buf0 before it has memory",
      "step 3 (launch) uses arg0_1 after its end",
    ]);
  });

  it("sees a buffer freed twice, or never allocated", () => {
    const problems = verifyPlan(plan([fresh("buf0"), free("arg0_1"), free("arg0_1"), free("buf7")]));
    expect(problems).toEqual([
      "step 2 (free) ends arg0_1, which has ended before",
      "step 3 (free) ends buf7, which never began",
    ]);
  });

  it("sees an output that has no memory in the end", () => {
    expect(verifyPlan(plan([fresh("buf0"), free("buf0")]))).toEqual(["the output uses buf0 after its end"]);
  });

  it("sees a launch of a kernel that isn't there, or with other arguments than it takes", () => {
    const few = verifyPlan(plan([fresh("buf0"), launch("buf0")]));
    expect(few).toEqual(["step 1 (launch) passes 1 arguments to k, which takes 2"]);
    const none = verifyPlan(plan([fresh("buf0"), launch("arg0_1", "buf0")], []));
    expect(none).toEqual(["step 1 (launch) launches kernel 0 of 0"]);
  });

  it("sees a kernel's text use what it has no parameter for", () => {
    const text = kernel.triton.replace("tl.load(in_ptr0)", "tl.load(in_ptr1)");
    const problems = verifyPlan(plan([fresh("buf0"), launch("arg0_1", "buf0")], [{ ...kernel, triton: text }]));
    expect(problems).toEqual(["kernel 0 (k) uses in_ptr1, which is no parameter"]);
  });

  it("sees lines without origins and kernels without a configuration", () => {
    const bare = { ...kernel, tritonLines: [origin], meta: { ...kernel.meta, configs: [] } };
    expect(verifyPlan(plan([fresh("buf0"), launch("arg0_1", "buf0")], [bare]))).toEqual([
      "kernel 0 (k) has lines without origins",
      "kernel 0 (k) has no configuration",
    ]);
  });
});
