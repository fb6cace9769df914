// The server's answer to fuselens.kernelMap, as this extension reads it.
export interface MappedKernel {
  readonly number: number;
  readonly name: string;
  readonly graph: string;
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly bytes: number;
  readonly estimateUs: number;
  readonly measuredUs: number | null;
  readonly codeLines: readonly [number, number] | null;
}

export interface KernelMap {
  readonly kernels: readonly MappedKernel[];
  readonly code: string;
  readonly codeToSource: readonly (readonly number[])[];
  readonly sourceToKernels: Readonly<Record<number, readonly number[]>>;
}
