// What leaves the compiler: plain data in an editor's words. `explain --json` is exactly ExplainReport (stable,
// documented in docs/report.md); Compilation adds what the editor and the worker need.
import type { Diagnostic } from "../dynamo/types";
import type { ExecutablePlan, WatKernel } from "../inductor/plan/types";

export interface ReportTensor {
  readonly name: string;
  readonly shape: readonly string[];
  readonly stride: readonly string[];
  readonly dtype: string; // "torch.float32"
}

export interface ReportKernel {
  readonly name: string;
  readonly type: string;
  readonly nodes: readonly string[];
  readonly origins: readonly string[];
  readonly lines: readonly number[];
  readonly at: readonly number[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly bytes: number;
  readonly estimate_us: number;
  readonly assumed: readonly string[];
}

export interface ReportRefusal {
  readonly code: string;
  readonly a: string;
  readonly b: string;
  readonly detail: string;
  readonly aIndex: string;
  readonly bIndex: string;
  readonly bytesLost: number;
  /** lines of a, lines of b */
  readonly lines: readonly [readonly number[], readonly number[]];
}

export interface ReportGraph {
  readonly name: string;
  readonly kind: "inference" | "forward" | "backward";
  readonly bytes: number;
  readonly peak_bytes: number;
  readonly inputs: readonly (ReportTensor & { readonly saved: boolean })[];
  readonly aten: readonly (ReportTensor & { readonly target: string; readonly lines: readonly number[]; readonly at: readonly number[] })[];
  readonly kernels: readonly ReportKernel[];
  readonly refusals: readonly ReportRefusal[];
}

export interface ExplainReport {
  readonly file: string;
  readonly preset: string;
  readonly target: string;
  readonly graphs: readonly ReportGraph[];
  readonly graph_breaks: readonly { readonly line: number; readonly reason: string }[];
  readonly diagnostics: readonly { readonly line: number; readonly severity: string; readonly code: string; readonly message: string }[];
}

/** one compiled graph with everything that is shown or run */
export interface Compilation {
  readonly graph: ReportGraph;
  readonly plan: ExecutablePlan;
  /** one per launch step, in order */
  readonly wat: readonly WatKernel[];
  /** texts by TORCH_LOGS artifact name, made on demand */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly outputCode: { readonly inductor: string; readonly standalone: string; readonly lines: readonly (readonly number[])[] };
}

export interface ReportRoot {
  readonly name: string;
  readonly span: Diagnostic["span"];
  /** indices into Program.compilations */
  readonly compilations: readonly number[];
  readonly assumed: readonly string[];
}
