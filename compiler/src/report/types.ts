// What leaves the compiler: plain data in an editor's words. `explain --json` is exactly ExplainReport (stable,
// documented in docs/report.md); Compilation adds what the editor and the worker need.

import type { Diagnostic } from "../dynamo/types";
import type { ExecutablePlan, WatKernel } from "../inductor/plan/types";
import type { LogRecord } from "./log";
import type { ValueProgram } from "./value_program";

/** dtype is null for a value that is no single tensor */
export interface ReportTensor {
  readonly name: string;
  readonly shape: readonly string[];
  readonly stride: readonly string[];
  readonly dtype: string | null; // "torch.float32"
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
  /** the buffer that both index so, and whether each reads or writes it; null where they share none */
  readonly buffer: string | null;
  readonly aAccess: "reads" | "writes" | null;
  readonly bAccess: "reads" | "writes" | null;
  readonly bytesLost: number;
  /** lines of a, lines of b */
  readonly lines: readonly [readonly number[], readonly number[]];
  /** the innermost ones */
  readonly at: readonly [readonly number[], readonly number[]];
}

/** how an operand of a matrix product or convolution lies, and how it might have */
export interface ReportLayout {
  /** docs/reasons.md says what each means */
  readonly code: string;
  /** the product or convolution, an operation's name */
  readonly op: string;
  /** the buffer or input that is read */
  readonly operand: string;
  readonly shape: readonly string[];
  readonly stride: readonly string[];
  /** the other layout */
  readonly other_shape: readonly string[];
  readonly other_stride: readonly string[];
  /** bytes moved for this layout; negative: bytes that need not be moved because of it */
  readonly bytes: number;
  /** index into `kernels` of the one that writes the layout; null: none does */
  readonly written_by: number | null;
  /** what the product takes with the layout taken and with the other, copies included; null: a rule decides */
  readonly estimate_us: { readonly taken: number; readonly other: number } | null;
  /** the whole graph at its best with each, as a worker measured it */
  readonly measured_us: { readonly taken: number; readonly other: number } | null;
  readonly lines: readonly number[];
  readonly at: readonly number[];
}

export interface ReportGraph {
  readonly name: string;
  readonly kind: "inference" | "forward" | "backward";
  readonly bytes: number;
  readonly peak_bytes: number;
  /** of a forward graph: bytes of the values kept for the backward, by the line that made them, lines ascending */
  readonly saved_bytes: readonly { readonly line: number; readonly bytes: number }[];
  readonly inputs: readonly (ReportTensor & { readonly saved: boolean })[];
  readonly aten: readonly (ReportTensor & {
    readonly target: string;
    readonly lines: readonly number[];
    readonly at: readonly number[];
  })[];
  readonly kernels: readonly ReportKernel[];
  readonly refusals: readonly ReportRefusal[];
  /** only where there are any: operands of products that are padded, or might be; convolutions that run channels-last */
  readonly layouts?: readonly ReportLayout[];
  /** only where matrix products or attention may be computed by templates (max_autotune) */
  readonly choice?: ReportChoice;
}

/** how a graph's matrix products and attention are computed */
export interface ReportChoice {
  /** equal for equal products, whatever their names */
  readonly key: string;
  /** those that may be asked for in all products at once */
  readonly ways: readonly string[];
  /** the ways of each product; equal products are one */
  readonly products: readonly (readonly string[])[];
  /** the operations that are each product, by name, as kernels list them in `nodes` */
  readonly operations: readonly (readonly string[])[];
  /** of each product what the cost model says of some ways: microseconds, without what follows the product */
  readonly estimates: readonly Readonly<Record<string, number>>[];
  /** a way ("library", or the form of the template), or several with a comma between them, one for each product; "template" where the cost model took one */
  readonly chosen: string;
  /** median microseconds of the graph by way, as a worker measured them; null: the cost model's choice */
  readonly measured: Readonly<Record<string, number>> | null;
  /** what measured it */
  readonly where: string | null;
}

export interface ExplainReport {
  readonly file: string;
  readonly preset: string;
  readonly target: string;
  readonly graphs: readonly ReportGraph[];
  readonly graph_breaks: readonly { readonly line: number; readonly reason: string }[];
  readonly diagnostics: readonly {
    readonly line: number;
    readonly severity: string;
    readonly code: string;
    readonly message: string;
  }[];
}

/** One graph node as the editor sees it: an expression of the source, its tensor, the kernel that computes it. */
export interface SourceEntry {
  readonly file: string;
  readonly span: Diagnostic["span"];
  /** index into Program.compilations */
  readonly compilation: number;
  readonly node: string;
  readonly target: string;
  /** "f32[8, 128][128, 1]cuda:0"; null for a tuple */
  readonly type: string | null;
  /** index into ReportGraph.kernels, several where an inlined value is computed again; empty: folded away */
  readonly kernels: readonly number[];
  /** lines of the call sites, outermost first */
  readonly callers: readonly number[];
}

/** what was fused in one round, and the groups that stood after it, as indices into SchedulerGraph.ops */
export interface SchedulerGraphRound {
  readonly title: string;
  /** pairs of names as they were at that moment */
  readonly fused: readonly (readonly [string, string])[];
  readonly groups: readonly (readonly number[])[];
}

/** Operations and the buffers between them; rounds[0] is the state before fusion. */
export interface SchedulerGraph {
  readonly name: string;
  readonly kind: ReportGraph["kind"];
  readonly ops: readonly {
    readonly name: string;
    /** "Pointwise", "Reduction", "extern_kernels.mm" */
    readonly what: string;
    readonly sizes: string;
    readonly origins: readonly string[];
    readonly lines: readonly number[];
    readonly at: readonly number[];
  }[];
  /** order: a dependency that only orders, no data */
  readonly edges: readonly {
    readonly from: number;
    readonly to: number;
    readonly buffer: string;
    readonly order: boolean;
  }[];
  readonly rounds: readonly SchedulerGraphRound[];
  /** groups as launched, in order, and the type of each */
  readonly final: readonly (readonly number[])[];
  readonly types: readonly string[];
}

/** one compiled graph with everything that is shown or run */
export interface Compilation {
  readonly graph: ReportGraph;
  /** null unless the artifact scheduler_graph was asked for */
  readonly schedulerGraph: SchedulerGraph | null;
  readonly plan: ExecutablePlan;
  /** one per launch step, in order; empty where the CPU form was not asked for */
  readonly wat: readonly WatKernel[];
  readonly outputCode: OutputCode;
}

export interface OutputCode {
  /** torch._inductor's form and the one that runs on stock PyTorch + Triton, over the same kernels and call */
  readonly inductor: string;
  readonly standalone: string;
  /** the frame's graph in eager PyTorch; null for a backward graph and where an operator is opaque */
  readonly eager: string | null;
  /** per line of `standalone`: source lines (innermost frames) */
  readonly lines: readonly (readonly number[])[];
}

/** a tensor that a root is called with, at the example sizes */
export interface RootInput {
  /** the parameter's name */
  readonly name: string;
  readonly shape: readonly number[];
  /** "torch.float32" */
  readonly dtype: string;
  /** "cuda", "cuda:1", "cpu" */
  readonly device: string;
}

/** A function or module that is (or is analysed as if) compiled: where the editor puts its lenses. */
export interface ReportRoot {
  readonly name: string;
  readonly span: Diagnostic["span"];
  /** indices into Program.compilations */
  readonly compilations: readonly number[];
  readonly assumed: readonly string[];
  readonly inputs: readonly RootInput[];
}

/** what a running program printed and logged, in order */
export type ProgramEvent =
  | { readonly kind: "cell"; readonly index: number }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "log"; readonly record: LogRecord };

export interface Program {
  readonly report: ExplainReport;
  readonly compilations: readonly Compilation[];
  readonly roots: readonly ReportRoot[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly ProgramEvent[];
  readonly source: readonly SourceEntry[];
  readonly logFormat: string | null;
  /** numbers that were estimated where torch would measure, in words for stderr */
  readonly estimates: readonly string[];
  /** the program as steps that an executor can replay */
  readonly values: ValueProgram;
}
