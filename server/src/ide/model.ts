// What the editor keeps of a compiled file: reports, roots, source entries. Plans, CPU kernels and texts of output code
// stay in the compile thread until they are asked for, since copying them would cost more than the answer.
import { createHash } from "node:crypto";
import type { Diagnostic, Program, ReportGraph, ReportRoot, SourceEntry } from "@fuselens/compiler";
import { type KernelRefusal, keptApart } from "@fuselens/compiler/vocabulary";
import { extentOf } from "./extent";

export type Span = Diagnostic["span"];

/** a size symbol: what it is called, which input's dimension it stands for, the value that the example has */
export interface SizeSymbol {
  readonly name: string;
  readonly value: number;
  /** "arg0_1.size(0)"; the input itself where it is a number */
  readonly source: string;
}

export interface EditorGraph extends Omit<ReportGraph, "aten" | "refusals"> {
  /** a report's list of ATen nodes is what `source` says already */
  readonly aten: number;
  /** those that cost bytes, most bytes first, the worst few of each kernel */
  readonly refusals: readonly KernelRefusal[];
}

export interface EditorCompilation {
  readonly graph: EditorGraph;
  /** stands for the standalone output code, which what was measured belongs to; null until something was measured */
  readonly codeKey: string | null;
  /** why it can't be run */
  readonly blockers: readonly string[];
  readonly opaque: readonly { readonly kernel: string; readonly reason: string; readonly at: readonly number[] }[];
  readonly symbols: readonly SizeSymbol[];
  /** shape of the launched whole: buffers that live at once */
  readonly peakBytes: number;
}

export interface EditorProgram {
  readonly file: string;
  readonly preset: string;
  readonly target: string;
  readonly compilations: readonly EditorCompilation[];
  readonly roots: readonly ReportRoot[];
  readonly diagnostics: readonly Diagnostic[];
  readonly graphBreaks: readonly { readonly line: number; readonly reason: string }[];
  readonly source: readonly SourceEntry[];
  readonly estimates: readonly string[];
}

/**
 * Of the refusals, those between kernels of the finished schedule that cost something: most cost nothing. `keyed`: output
 * code is written out to see what was measured, which takes longer than all else here.
 */
export function editorProgram(program: Program, text = "", keyed = false): EditorProgram {
  const { report } = program;
  return {
    file: report.file,
    preset: report.preset,
    target: report.target,
    compilations: program.compilations.map(c => ({
      graph: { ...c.graph, aten: c.graph.aten.length, refusals: keptApart(c.graph) },
      codeKey: keyed ? codeKey(c.outputCode.standalone) : null,
      blockers: c.plan.blockers,
      opaque: c.plan.steps.flatMap(s =>
        s.kind === "extern" && s.opaque !== undefined
          ? [{ kernel: s.kernel, reason: s.opaque, at: s.origin.at.length ? s.origin.at : s.origin.lines }]
          : [],
      ),
      symbols: c.plan.symbols.map(s => ({ name: s.name, value: s.value, source: symbolSource(c.plan, s) })),
      peakBytes: c.graph.peak_bytes,
    })),
    roots: rootsOf(program, text),
    diagnostics: program.diagnostics,
    graphBreaks: report.graph_breaks,
    source: program.source,
    estimates: program.estimates,
  };
}

/** Roots with the lines that they reach over. Graphs that belong to none are found by the name of their function. */
function rootsOf(program: Program, text: string): ReportRoot[] {
  const lines = text.split("\n");
  const owned = new Set(program.roots.flatMap(r => r.compilations));
  const loose = new Map<string, number[]>();
  program.compilations.forEach((c, i) => {
    const name = /^torch_dynamo_resume_in_(.+)_at_\d+$/.exec(c.graph.name)?.[1] ?? c.graph.name;
    if (!owned.has(i)) loose.set(name, [...(loose.get(name) ?? []), i]);
  });
  const found: ReportRoot[] = [];
  const unplaced: number[] = [];
  for (const [name, compilations] of loose) {
    const at = lines.findIndex(l => l.trimStart().startsWith(`def ${name}(`)) + 1;
    if (at > 0) found.push({ name, span: extentOf(lines, at), compilations, assumed: [], inputs: [] });
    else unplaced.push(...compilations);
  }
  // a module of torch's own (nn.Sequential) has no code in the file: its place is where it is compiled
  const call = lines.findIndex(l => /^(?!\s*[@#]).*\bcompile\s*\(/.test(l)) + 1;
  if (unplaced.length && call > 0) {
    const name = /^\s*(\w+)\s*=/.exec(lines[call - 1] ?? "")?.[1] ?? "compiled";
    found.push({ name, span: extentOf(lines, call), compilations: unplaced, assumed: [], inputs: [] });
  }
  const own = program.roots.map(r => (r.span.endLine > r.span.line ? r : { ...r, span: extentOf(lines, r.span.line) }));
  return [...own, ...found];
}

/** the tensor whose size a symbol is, as people know it; else the input that carries it */
function symbolSource(plan: Program["compilations"][number]["plan"], s: (typeof plan.symbols)[number]): string {
  for (const input of plan.inputs) {
    if (!("size" in input)) continue;
    const dim = input.size.findIndex(x => typeof x === "object" && x.text === s.name);
    if (dim >= 0) return `${input.name}.size(${dim})`;
  }
  const input = plan.inputs[s.input]?.name ?? `input ${s.input}`;
  return s.dim === null ? input : `${input}.size(${s.dim})`;
}

export function codeKey(standalone: string): string {
  return createHash("sha1").update(standalone).digest("base64");
}
