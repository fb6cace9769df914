// A small plan made by hand: out = in + 1 over n floats, its CPU kernel written out. `body` may replace the kernel's work.
import type { ExecutablePlan, PlanTensor, WatKernel } from "@fuselens/compiler/plan";
import type { Job } from "@fuselens/gpu-worker/protocol";

const origin = { lines: [1], at: [1], nodes: ["add"] };

export function addOne(n: number): { plan: ExecutablePlan; wat: WatKernel } {
  const tensor = (name: string): PlanTensor => ({
    name,
    size: [n],
    stride: [1],
    offset: 0,
    dtype: "float32",
    device: "cuda:0",
  });
  const text = `(module (import "env" "memory" (memory 1 65536 shared))
(func (export "run") (param $in i32) (param $out i32) (param $begin i32) (param $end i32) (local $i i32)
  (local.set $i (local.get $begin))
  (block $done (loop $next
    (br_if $done (i32.ge_u (local.get $i) (local.get $end)))
    (f32.store (i32.add (local.get $out) (i32.shl (local.get $i) (i32.const 2)))
      (f32.add (f32.const 1) (f32.load (i32.add (local.get $in) (i32.shl (local.get $i) (i32.const 2))))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br $next)))))`;
  return { plan: planOf(tensor("arg0_1"), tensor("buf0")), wat: kernelOf(text, ["arg0_1", "buf0"], n) };
}

/** a kernel that never ends */
export function endless(): { plan: ExecutablePlan; wat: WatKernel } {
  const tensor = (name: string): PlanTensor => ({
    name,
    size: [4],
    stride: [1],
    offset: 0,
    dtype: "float32",
    device: "cuda:0",
  });
  const text = `(module (import "env" "memory" (memory 1 65536 shared))
(func (export "run") (param i32 i32 i32 i32) (loop $again (br $again))))`;
  return { plan: planOf(tensor("arg0_1"), tensor("buf0")), wat: kernelOf(text, ["arg0_1", "buf0"], 4) };
}

function planOf(input: PlanTensor, output: PlanTensor): ExecutablePlan {
  const kernel = {
    name: "triton_poi_fused_add_0",
    type: "SchedulerNode",
    heuristic: "pointwise",
    args: [],
    triton: "",
    tritonLines: [],
    origin,
    bytes: 8 * Number(input.size[0]),
    flops: 0,
    estimateUs: 1,
  } as const;
  return {
    name: "f",
    aotId: "0_inference",
    kind: "inference",
    symbols: [],
    inputs: [input],
    constants: [],
    kernels: [kernel as unknown as ExecutablePlan["kernels"][number]],
    steps: [
      { kind: "allocate", tensor: output, from: { kind: "new" } },
      { kind: "launch", kernel: 0, args: [], origin, ops: ["op0"], comment: "" },
    ],
    outputs: [{ kind: "buffer", name: output.name }],
    mutatedInputs: [],
    blockers: [],
    peakBytes: 0,
  } as unknown as ExecutablePlan;
}

function kernelOf(text: string, buffers: readonly string[], parallelSize: number): WatKernel {
  return {
    name: "triton_poi_fused_add_0",
    text,
    buffers,
    parallelSize,
    grain: 1024,
    scratchBytes: 0,
    lines: [],
    zeroed: [],
  };
}

export function benchmarkJob({ plan, wat }: { plan: ExecutablePlan; wat: WatKernel }): Job {
  return {
    kind: "benchmark",
    graph: { plan, wat: [wat], standalone: "" },
    seconds: 0.05,
    minRuns: 5,
    perKernel: true,
    against: [],
  };
}

export function valuesJob({ plan, wat }: { plan: ExecutablePlan; wat: WatKernel }): Job {
  const n = Number((plan.inputs[0] as PlanTensor).size[0]);
  return {
    kind: "values",
    graphs: [{ plan, wat: [wat], standalone: "" }],
    steps: [
      { kind: "create", tensor: { id: 1, size: [n], stride: [1], dtype: "float32" }, fill: { how: "full", value: 2 } },
      { kind: "call", graph: 0, inputs: [{ id: 1 }], outputs: [2] },
      { kind: "row", id: 2, slot: "out" },
    ],
  };
}
