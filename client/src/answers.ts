// The server's answers as this extension reads them: plain data, documented where the server makes them.

/** what most commands take */
export interface Target {
  readonly uri: string;
  readonly root?: string;
}

export interface ShownDocument {
  readonly title: string;
  readonly language: "python" | "markdown" | "plaintext" | "dot";
  readonly text: string;
  /** a document that follows its source */
  readonly uri?: string;
}

export interface MappedKernel {
  readonly number: number;
  readonly name: string;
  readonly graph: string;
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly bytes: number;
  readonly estimateUs: number;
  readonly measuredUs: number | null;
  readonly share: number;
  readonly ofBandwidth: number | null;
  readonly codeLines: readonly [number, number] | null;
}

export interface KernelLines {
  readonly kernels: readonly MappedKernel[];
  readonly sourceToKernels: Readonly<Record<number, readonly number[]>>;
  readonly bandwidth: number;
}

export interface KernelMap extends KernelLines {
  readonly code: string;
  readonly codeToSource: readonly (readonly number[])[];
}

export interface ShownGraph {
  readonly name: string;
  readonly kind: string;
  readonly rounds: readonly {
    readonly title: string;
    readonly fused: number;
    readonly groups: number;
    readonly dot: string;
  }[];
  /** source lines of operation i */
  readonly lines: readonly (readonly number[])[];
  /** the groups of the last round: a kernel's number and its operations */
  readonly launched: readonly { readonly number: number | null; readonly ops: readonly number[] }[];
}

export interface ShownGraphs {
  readonly uri: string;
  readonly title: string;
  readonly graphs: readonly ShownGraph[];
}

export interface ComparedSide {
  readonly title: string;
  readonly kernels: number;
  readonly bytes: number;
  readonly text: string;
  readonly code: string;
}

export interface ShownComparison extends ShownDocument {
  readonly summary: string;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
}

/** LSP's TextEdit, as JSON */
export interface ProtocolEdit {
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly newText: string;
}

export interface ExampleAnswer {
  readonly root: string;
  readonly parameters: readonly string[];
  readonly inputs: string;
  readonly assumed: readonly string[];
  readonly edit: { readonly changes: Readonly<Record<string, readonly ProtocolEdit[]>> } | null;
}

export interface WorkerStatus {
  readonly state: "off" | "running" | "failed";
  readonly endpoint: string | null;
  readonly devices: readonly { readonly title: string }[];
  readonly message: string;
}

export interface HistoryEntry {
  readonly id: number;
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

/** notification fuselens/analysed */
export interface Analysed {
  readonly uri: string;
  readonly version: number;
  readonly milliseconds: number;
  readonly preset: string;
  readonly target: string;
}
