// The GPU that kernels are made for. In: a name or measured properties. Out: what decisions depend on (DESIGN
// invariant 7: an option, never read from the machine). Numbers: CUDA device properties and vendors' data sheets.

export interface TargetProperties {
  readonly name: string;
  /** streaming multiprocessors */
  readonly multiProcessorCount: number;
  readonly maxThreadsPerMultiProcessor: number;
  readonly maxThreadsPerBlock: number;
  readonly warpSize: number;
  readonly registersPerMultiProcessor: number;
  /** bytes of shared memory that one block may use (opt-in) */
  readonly sharedMemoryPerBlock: number;
  readonly l2Bytes: number;
  /** compute capability, [9, 0] */
  readonly computeCapability: readonly [number, number];
  /** bytes per second of device memory, by the data sheet */
  readonly memoryBandwidth: number;
  /** dense peaks, FLOP/s: 16-bit inputs on tensor cores, and fp32 without TF32 */
  readonly peak16: number;
  readonly peak32: number;
  /** as a user knows it */
  readonly title: string;
}

const hopper = {
  maxThreadsPerMultiProcessor: 2048,
  maxThreadsPerBlock: 1024,
  warpSize: 32,
  registersPerMultiProcessor: 65536,
  sharedMemoryPerBlock: 232448,
  l2Bytes: 52428800,
  computeCapability: [9, 0] as const,
  peak16: 989e12,
  peak32: 67e12,
};

export const TARGETS: Readonly<Record<string, TargetProperties>> = {
  h100: { name: "h100", title: "NVIDIA H100 SXM", multiProcessorCount: 132, ...hopper, memoryBandwidth: 3.35e12 },
  h200: {
    name: "h200",
    title: "NVIDIA H200",
    multiProcessorCount: 132,
    ...hopper,
    l2Bytes: 62914560,
    memoryBandwidth: 4.8e12,
  },
  a100: {
    name: "a100",
    multiProcessorCount: 108,
    ...hopper,
    sharedMemoryPerBlock: 166912,
    l2Bytes: 41943040,
    computeCapability: [8, 0],
    memoryBandwidth: 2.04e12,
    peak16: 312e12,
    peak32: 19.5e12,
    title: "NVIDIA A100 80GB",
  },
  l4: {
    name: "l4",
    multiProcessorCount: 58,
    ...hopper,
    maxThreadsPerMultiProcessor: 1536,
    sharedMemoryPerBlock: 101376,
    l2Bytes: 50331648,
    computeCapability: [8, 9],
    memoryBandwidth: 3.0e11,
    peak16: 121e12,
    peak32: 30e12,
    title: "NVIDIA L4",
  },
  rtx4090: {
    name: "rtx4090",
    multiProcessorCount: 128,
    ...hopper,
    maxThreadsPerMultiProcessor: 1536,
    sharedMemoryPerBlock: 101376,
    l2Bytes: 75497472,
    computeCapability: [8, 9],
    memoryBandwidth: 1.008e12,
    peak16: 165e12,
    peak32: 82e12,
    title: "NVIDIA GeForce RTX 4090",
  },
  b200: {
    name: "b200",
    title: "NVIDIA B200",
    multiProcessorCount: 148,
    ...hopper,
    l2Bytes: 132120576,
    computeCapability: [10, 0],
    memoryBandwidth: 8.0e12,
    peak16: 2250e12,
    peak32: 80e12,
  },
};

export const DEFAULT_TARGET: TargetProperties = TARGETS.h100 as TargetProperties;

/** The default for a name that isn't in TARGETS: whoever takes names from outside checks them there first. */
export function targetByName(name: string): TargetProperties {
  return (Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined) ?? DEFAULT_TARGET;
}

export function targetNames(): string[] {
  return Object.keys(TARGETS);
}
