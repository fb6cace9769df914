// What benchmarks have measured, by document and graph content, as lens and hover show it.

export interface Measurement {
  readonly medianUs: number;
  readonly p20Us: number;
  readonly p80Us: number;
  readonly count: number;
  readonly bytesPerSecond: number;
  /** "cpu, wasm" or the GPU's name */
  readonly where: string;
  /** largest error against the reference, null where none was computed */
  readonly maxError: number | null;
  readonly shareOfCopy: number | null;
  readonly speedupOverCompile: number | null;
}

export interface GraphMeasurement extends Measurement {
  readonly kernels: ReadonlyMap<string, Measurement>;
}

/** Kept by the text of the graph's output code, so a number vanishes as soon as the code it was measured for changes. */
export class Measurements {
  private readonly byCode = new Map<string, GraphMeasurement>();

  set(code: string, m: GraphMeasurement): void {
    this.byCode.set(code, m);
  }
  get(code: string): GraphMeasurement | undefined {
    return this.byCode.get(code);
  }
}
