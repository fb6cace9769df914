// What a plan needs is known before it runs, and given back after.
import type { ExecutablePlan, PlanStep, PlanTensor } from "@fuselens/compiler/plan";
import { describe, expect, it } from "vitest";
import { runBenchmark } from "./benchmark";
import { createTensor, tensorSpec } from "./inputs";
import type { Machine } from "./machine";
import { inputBytes, peakBytes } from "./peak";
import { runPlan } from "./plan_run";
import type { Held } from "./tensors";
import { testMachine } from "./testing/machine";

const MB = 2 ** 20;

/** a square float32 matrix of so many rows */
const matrix = (name: string, n: number): PlanTensor => ({
  name,
  size: [n, n],
  stride: [n, 1],
  offset: 0,
  dtype: "float32",
  device: "cuda:0",
});
const buffer = (name: string) => ({ kind: "buffer", name }) as const;

/** ((x @ x) @ x) @ x: three products, of which two are held at a time */
function products(n: number): ExecutablePlan {
  const steps: PlanStep[] = [];
  const mm = (out: string, a: string): void => {
    steps.push({ kind: "allocate", tensor: matrix(out, n), from: { kind: "new" } });
    steps.push({
      kind: "extern",
      kernel: "extern_kernels.mm",
      op: "aten.mm.default",
      call: "out",
      output: out,
      results: [matrix(out, n)],
      args: [buffer(a), buffer("x")],
      kwargs: [],
      origin: { lines: [], at: [], nodes: [] },
      ops: [],
      comment: "",
    });
  };
  mm("buf0", "x");
  mm("buf1", "buf0");
  steps.push({ kind: "free", name: "buf0" });
  mm("buf2", "buf1");
  steps.push({ kind: "free", name: "buf1" });
  return {
    name: "f",
    aotId: "0_inference",
    kind: "inference",
    symbols: [],
    inputs: [matrix("x", n)],
    constants: [],
    steps,
    outputs: [buffer("buf2")],
    kernels: [],
    blockers: [],
  } as unknown as ExecutablePlan;
}

const input = (machine: Machine, plan: ExecutablePlan): Held => {
  const held = createTensor(machine, tensorSpec(plan.inputs[0] as PlanTensor));
  new Float32Array(machine.buffer, held.view.address, 16).fill(1);
  return held;
};

describe("memory of a plan", () => {
  it("is what is held at once, not all that is ever held", () => {
    const plan = products(1024);
    expect(inputBytes(plan)).toBe(4 * MB);
    expect(peakBytes(plan, [])).toBe(8 * MB);
  });

  it("counts storage that changes hands once", () => {
    const plan = products(1024);
    const steps = plan.steps.map(s =>
      s.kind === "allocate" && s.tensor.name === "buf2"
        ? { ...s, from: { kind: "reuse", buffer: "buf1", inplace: false } as const }
        : s,
    );
    expect(peakBytes({ ...plan, steps }, [])).toBe(8 * MB);
    const fresh = plan.steps.filter(s => s.kind !== "free");
    expect(peakBytes({ ...plan, steps: fresh }, [])).toBe(12 * MB);
  });

  it("counts the memory of a call's view with what it is a view of, as long as one of them is there", () => {
    const view = (op: string): PlanStep => ({
      kind: "extern",
      kernel: op,
      op,
      call: "fallback",
      output: "buf1",
      results: [matrix("buf1", 1024)],
      args: [buffer("buf0")],
      kwargs: [],
      origin: { lines: [], at: [], nodes: [] },
      ops: [],
      comment: "",
    });
    const made = (name: string): PlanStep => ({
      kind: "allocate",
      tensor: matrix(name, 1024),
      from: { kind: "new" },
    });
    const peakOf = (op: string, between: readonly PlanStep[]): number =>
      peakBytes({ ...products(1024), steps: [made("buf0"), view(op), ...between, made("buf2")] }, []);
    for (const op of ["aten.permute.default", "aten.slice.Tensor", "aten.view_as_real.default"]) {
      expect(peakOf(op, [])).toBe(8 * MB);
      expect(peakOf(op, [{ kind: "free", name: "buf0" }])).toBe(8 * MB);
      expect(
        peakOf(
          op,
          ["buf0", "buf1"].map(name => ({ kind: "free", name })),
        ),
      ).toBe(4 * MB);
    }
    expect(peakOf("aten.neg.default", [])).toBe(12 * MB);
  });

  it("is refused before anything runs, with the numbers, where it is more than the limit", async () => {
    const machine = await testMachine(16);
    const before = machine.arena.used;
    const plan = products(2048);
    const job = { kind: "benchmark", graph: { plan, wat: [], standalone: "" }, seconds: 0, minRuns: 1, against: [] };
    let told = 0;
    const answer = runBenchmark(machine, job as never, { title: "cpu", threads: 1 } as never, () => told++);
    // 16 MB of x and two products of 16 MB
    await expect(answer).rejects.toMatchObject({
      code: "out-of-memory",
      message: /f \(inference\) needs 51 MB and 17 MB/,
    });
    expect(told).toBeLessThanOrEqual(1);
    expect(machine.arena.used).toBe(before);
    expect(machine.arena.peak).toBe(before);
  });

  it("is given back after a run but for the outputs, and after one that fails", async () => {
    const machine = await testMachine(64);
    const plan = products(256);
    const x = input(machine, plan);
    const loaded = { plan, wat: [], kernels: [] };
    // the first run also gets the threads' scratch
    for (let i = 0; i < 3; i++)
      for (const o of runPlan(machine, loaded, [x])) if (o && typeof o !== "number") machine.release(o.base);
    const after = machine.arena.used;
    for (const o of runPlan(machine, loaded, [x])) if (o && typeof o !== "number") machine.release(o.base);
    expect(machine.arena.used).toBe(after);
    const bad = {
      ...plan,
      steps: [...plan.steps.slice(0, 4), { kind: "launch", kernel: 0, args: [] } as unknown as PlanStep],
    };
    expect(() => runPlan(machine, { plan: bad, wat: [], kernels: [] }, [x])).toThrow("no kernel");
    expect(machine.arena.used).toBe(after);
    machine.release(x.base);
    expect(machine.arena.used).toBe(after - 4 * 256 * 256);
  });
});
