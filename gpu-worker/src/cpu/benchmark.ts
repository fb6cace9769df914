// Times a plan: runs it until the time is up, reports the median and the spread, per graph and per kernel.
import type { BenchmarkResult, DeviceInfo, Job, Timing } from "../protocol";
import { bytesByKernel } from "../protocol/kernel_bytes";
import { createTensor, exampleFill, fillTensor, tensorSpec } from "./inputs";
import type { Machine } from "./machine";
import { inputBytes, requireMemory } from "./peak";
import { type LaunchRecord, runPlan } from "./plan_run";
import type { Held } from "./tensors";

type BenchmarkJob = Extract<Job, { kind: "benchmark" }>;

const MAX_RUNS = 10_000;
const WARM_UP_RUNS = 2;

export async function runBenchmark(
  machine: Machine,
  job: BenchmarkJob,
  device: DeviceInfo,
  progress: (done: number, total: number, text: string) => void,
): Promise<BenchmarkResult> {
  const { plan } = job.graph;
  progress(0, 3, "assembling kernels");
  requireMemory(machine, plan, job.graph.wat, undefined, inputBytes(plan));
  const loaded = await machine.load(plan, job.graph.wat);
  progress(1, 3, "filling inputs");
  const inputs: (Held | number)[] = plan.inputs.map((input, k) => {
    if ("symbol" in input) return input.value;
    const held = createTensor(machine, tensorSpec(input));
    fillTensor(machine, held.view, exampleFill(input, k));
    return held;
  });
  const once = (onLaunch?: (r: LaunchRecord) => void) => {
    for (const o of runPlan(machine, loaded, inputs, onLaunch)) if (o && typeof o !== "number") machine.release(o.base);
  };
  await machine.pool.settled();
  for (let i = 0; i < WARM_UP_RUNS; i++) once();
  progress(2, 3, "measuring");
  const wholes: number[] = [];
  const byKernel = new Map<string, number[]>();
  const overheads: number[] = [];
  const end = performance.now() + job.seconds * 1000;
  while (wholes.length < MAX_RUNS && (wholes.length < job.minRuns || performance.now() < end)) {
    const perRun = new Map<string, number>();
    const start = performance.now();
    once(r => perRun.set(r.kernel, (perRun.get(r.kernel) ?? 0) + r.us));
    const us = (performance.now() - start) * 1000;
    wholes.push(us);
    let inside = 0;
    for (const [kernel, time] of perRun) {
      inside += time;
      byKernel.set(kernel, [...(byKernel.get(kernel) ?? []), time]);
    }
    overheads.push(us - inside);
  }
  const bytesOf = bytesByKernel(plan);
  const bytes = [...bytesOf.values()].reduce((n, b) => n + b, 0);
  const graph = timing(wholes, bytes);
  return {
    kind: "benchmark",
    where: device.title,
    graph,
    overheadUs: median(overheads),
    kernels: [...byKernel].map(([name, times]) => ({
      name,
      config: `${device.threads} threads`,
      ...timing(times, bytesOf.get(name) ?? 0),
    })),
    shareOfCopy: device.copyBytesPerSecond ? graph.bytesPerSecond / device.copyBytesPerSecond : null,
    maxError: null,
    against: {},
  };
}

function timing(times: readonly number[], bytes: number): Timing {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
  const medianUs = at(0.5);
  return {
    medianUs,
    p20Us: at(0.2),
    p80Us: at(0.8),
    count: sorted.length,
    bytesPerSecond: medianUs ? (bytes / medianUs) * 1e6 : 0,
  };
}

function median(xs: readonly number[]): number {
  return [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)] ?? 0;
}
