// What benchmarks have measured, by graph content, as lens, hover and panel show it.

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

/** one benchmark as the panel's history lists it; plain data */
export interface HistoryEntry {
  readonly id: number;
  /** milliseconds since the epoch */
  readonly when: number;
  readonly file: string;
  readonly root: string;
  readonly graph: string;
  readonly kind: string;
  readonly kernels: number;
  readonly bytes: number;
  readonly where: string;
  readonly medianUs: number;
  readonly p20Us: number;
  readonly p80Us: number;
  readonly count: number;
  readonly bytesPerSecond: number;
  readonly shareOfCopy: number | null;
  readonly maxError: number | null;
  readonly eagerUs: number | null;
  readonly compileUs: number | null;
  readonly cachedSeconds: number | null;
}

const HISTORY_KEPT = 200;

/** Kept by the key of the graph's output code, so a number vanishes as soon as the code it was measured for changes. */
export class Measurements {
  private readonly byCode = new Map<string, GraphMeasurement>();
  private entries: HistoryEntry[] = [];
  private nextId = 1;

  set(codeKey: string, m: GraphMeasurement): void {
    this.byCode.set(codeKey, m);
  }
  get(codeKey: string | null): GraphMeasurement | undefined {
    return codeKey === null ? undefined : this.byCode.get(codeKey);
  }

  record(entry: Omit<HistoryEntry, "id">): void {
    this.entries = [...this.entries, { ...entry, id: this.nextId++ }].slice(-HISTORY_KEPT);
  }
  /** newest last */
  history(): readonly HistoryEntry[] {
    return this.entries;
  }
  clearHistory(): void {
    this.entries = [];
  }
}
