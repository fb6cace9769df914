// Properties of the GPU that decisions and estimates rest on. A target is an option: `run` and `emit` default to the
// H100 of the walkthrough; the editor follows the worker.

export interface TargetProperties {
  /** name of the option, "h100" */
  readonly name: string;
  readonly title: string;
  readonly multiProcessorCount: number;
  /** compute capability, 90 for sm_90 */
  readonly cc: number;
  readonly major: number;
  readonly regsPerMultiprocessor: number;
  readonly maxThreadsPerMultiProcessor: number;
  readonly maxThreadsPerBlock: number;
  readonly warpSize: number;
  /** achievable copy bandwidth, read plus written bytes per second */
  readonly copyBandwidth: number;
  /** L2 size in bytes */
  readonly l2Bytes: number;
  /** dense tensor-core peak for 16-bit inputs and TF32-less fp32 peak, FLOP/s */
  readonly peak16: number;
  readonly peak32: number;
}

const common = { maxThreadsPerBlock: 1024, warpSize: 32, regsPerMultiprocessor: 65536 } as const;

/** Published figures; the copy bandwidth is about 0.88 of the memory's own, as measured on an H200 (4.25 of 4.8 TB/s). */
export const targets: readonly TargetProperties[] = [
  { name: "h100", title: "NVIDIA H100 SXM", multiProcessorCount: 132, cc: 90, major: 9, maxThreadsPerMultiProcessor: 2048, copyBandwidth: 2.95e12, l2Bytes: 50e6, peak16: 989e12, peak32: 67e12, ...common },
  { name: "h200", title: "NVIDIA H200", multiProcessorCount: 132, cc: 90, major: 9, maxThreadsPerMultiProcessor: 2048, copyBandwidth: 4.25e12, l2Bytes: 50e6, peak16: 989e12, peak32: 67e12, ...common },
  { name: "a100", title: "NVIDIA A100 80GB", multiProcessorCount: 108, cc: 80, major: 8, maxThreadsPerMultiProcessor: 2048, copyBandwidth: 1.75e12, l2Bytes: 40e6, peak16: 312e12, peak32: 19.5e12, ...common },
  { name: "b200", title: "NVIDIA B200", multiProcessorCount: 148, cc: 100, major: 10, maxThreadsPerMultiProcessor: 2048, copyBandwidth: 7.0e12, l2Bytes: 126e6, peak16: 2250e12, peak32: 80e12, ...common },
  { name: "l4", title: "NVIDIA L4", multiProcessorCount: 58, cc: 89, major: 8, maxThreadsPerMultiProcessor: 1536, copyBandwidth: 0.26e12, l2Bytes: 48e6, peak16: 121e12, peak32: 30e12, ...common },
  { name: "rtx4090", title: "NVIDIA GeForce RTX 4090", multiProcessorCount: 128, cc: 89, major: 8, maxThreadsPerMultiProcessor: 1536, copyBandwidth: 0.92e12, l2Bytes: 72e6, peak16: 165e12, peak32: 82e12, ...common },
];

/** The target of that name; H100 where there is none (callers check names first, see targetNames). */
export function targetByName(name: string): TargetProperties {
  const found = targets.find(t => t.name === name) ?? targets[0];
  if (!found) throw new Error("the target table is empty");
  return found;
}

export function targetNames(): string[] {
  return targets.map(t => t.name);
}
