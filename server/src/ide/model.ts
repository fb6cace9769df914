// What the editor keeps of a compiled file: reports, roots, source entries. Plans, CPU kernels and texts of output code
// stay in the compile thread until they are asked for, since copying them would cost more than the answer.
import { createHash } from "node:crypto";
import type { Diagnostic, Program, ReportGraph, ReportRefusal, ReportRoot, SourceEntry } from "@fuselens/compiler";
import { extentOf } from "./extent";

export type Span = Diagnostic["span"];

/** a size symbol: what it is called, which input's dimension it stands for, the value that the example has */
export interface SizeSymbol {
  readonly name: string;
  readonly value: number;
  /** "arg0_1.size(0)"; the input itself where it is a number */
  readonly source: string;
}

/** a refusal between two kernels of the finished schedule */
export interface EditorRefusal extends ReportRefusal {
  /** indices into ReportGraph.kernels */
  readonly kernels: readonly [number, number];
}

export interface EditorGraph extends Omit<ReportGraph, "aten" | "refusals"> {
  /** a report's list of ATen nodes is what `source` says already */
  readonly aten: number;
  /** those that cost bytes, most bytes first, the worst few of each kernel */
  readonly refusals: readonly EditorRefusal[];
}

export interface EditorCompilation {
  readonly graph: EditorGraph;
  /** stands for the standalone output code: what was measured belongs to it */
  readonly codeKey: string;
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

/** Refusals that cost nothing are of no use to a reader, and most refusals cost nothing. */
export function editorProgram(program: Program, text = ""): EditorProgram {
  const { report } = program;
  return {
    file: report.file,
    preset: report.preset,
    target: report.target,
    compilations: program.compilations.map(c => ({
      graph: { ...c.graph, aten: c.graph.aten.length, refusals: worstRefusals(c.graph) },
      codeKey: codeKey(c.outputCode.standalone),
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
    if (at > 0) found.push({ name, span: extentOf(lines, at), compilations, assumed: [] });
    else unplaced.push(...compilations);
  }
  // a module of torch's own (nn.Sequential) has no code in the file: its place is where it is compiled
  const call = lines.findIndex(l => /^(?!\s*[@#]).*\bcompile\s*\(/.test(l)) + 1;
  if (unplaced.length && call > 0) {
    const name = /^\s*(\w+)\s*=/.exec(lines[call - 1] ?? "")?.[1] ?? "compiled";
    found.push({ name, span: extentOf(lines, call), compilations: unplaced, assumed: [] });
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

/** a hover shows four; a page of reasons a few more */
const KEPT_PER_KERNEL = 8;

/**
 * The last word on each pair of kernels counts, since a pair is refused again in every round; a pair that met in one
 * kernel after all is no loss.
 */
function worstRefusals(graph: ReportGraph): EditorRefusal[] {
  const kernelOf = new Map<string, number>();
  graph.kernels.forEach((k, i) => {
    for (const op of k.nodes) kernelOf.set(op, i);
  });
  const pairs = new Map<string, EditorRefusal>();
  for (const r of graph.refusals) {
    if (r.bytesLost <= 0) continue;
    const [a, b] = [kernelOf.get(firstMember(r.a)), kernelOf.get(firstMember(r.b))];
    if (a === undefined || b === undefined || a === b) continue;
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const known = pairs.get(key);
    if (!known || r.bytesLost >= known.bytesLost) pairs.set(key, { ...r, kernels: [a, b] });
  }
  const taken = new Map<number, number>();
  return [...pairs.values()]
    .sort((x, y) => y.bytesLost - x.bytesLost)
    .filter(r => {
      const counts = r.kernels.map(k => taken.get(k) ?? 0);
      if (counts.every(n => n >= KEPT_PER_KERNEL)) return false;
      r.kernels.forEach((k, i) => {
        taken.set(k, (counts[i] ?? 0) + 1);
      });
      return true;
    });
}

/** "op0_op3" → "op0" */
function firstMember(node: string): string {
  const end = node.indexOf("_");
  return end < 0 ? node : node.slice(0, end);
}
