// Questions an editor asks of a program, answered in plain data: which entries stand at a position, which kernels hold
// a line, which graphs belong to a root. No LSP here. An index by line is made once per program.
import type { KernelRefusal, ReportKernel, ReportRoot, SourceEntry } from "@fuselens/compiler";
import { kept } from "./cache";
import type { EditorCompilation, EditorProgram, Span } from "./model";

export interface Position {
  /** 1-based */
  readonly line: number;
  /** 0-based, UTF-16 */
  readonly column: number;
}

export interface KernelRef {
  readonly compilation: number;
  readonly kernel: number;
}

/** entries of one file by every line that their span touches */
type LineIndex = ReadonlyMap<number, readonly SourceEntry[]>;
const indices = new WeakMap<EditorProgram, Map<string, LineIndex>>();

export function entriesByLine(program: EditorProgram, file: string): LineIndex {
  const byFile = kept(indices, program, () => new Map<string, LineIndex>());
  return kept(byFile, file, () => {
    const index = new Map<number, SourceEntry[]>();
    for (const e of program.source) {
      if (e.file !== file) continue;
      for (let line = e.span.line; line <= e.span.endLine; line++) kept(index, line, () => [] as SourceEntry[]).push(e);
    }
    return index;
  });
}

/** Entries whose expression covers the position, innermost (shortest span) first; else those that start on its line. */
export function entriesAt(program: EditorProgram, file: string, at: Position): SourceEntry[] {
  const touching = entriesByLine(program, file).get(at.line) ?? [];
  const covering = touching.filter(e => covers(e.span, at));
  if (covering.length) {
    const least = Math.min(...covering.map(e => sizeOf(e.span)));
    return covering.filter(e => sizeOf(e.span) === least);
  }
  return touching.filter(e => e.span.line === at.line);
}

export function sizeOf(span: Span): number {
  return (span.endLine - span.line) * 10_000 + span.endColumn - span.column;
}

export function covers(span: Span, at: Position): boolean {
  const afterStart = at.line > span.line || (at.line === span.line && at.column >= span.column);
  const beforeEnd = at.line < span.endLine || (at.line === span.endLine && at.column <= span.endColumn);
  return afterStart && beforeEnd;
}

export function kernelsOf(entries: readonly SourceEntry[]): KernelRef[] {
  const seen = new Set<string>();
  const refs: KernelRef[] = [];
  for (const e of entries) {
    for (const kernel of e.kernels) {
      const key = `${e.compilation}:${kernel}`;
      if (!seen.has(key)) refs.push({ compilation: e.compilation, kernel });
      seen.add(key);
    }
  }
  return refs.sort((x, y) => x.compilation - y.compilation || x.kernel - y.kernel);
}

export function kernelOf(program: EditorProgram, ref: KernelRef): ReportKernel | undefined {
  return program.compilations[ref.compilation]?.graph.kernels[ref.kernel];
}

export function compilationsOf(program: EditorProgram, root: ReportRoot): EditorCompilation[] {
  return root.compilations.flatMap(i => program.compilations[i] ?? []);
}

/** the innermost root whose text holds the line; else the one that its compilation belongs to */
export function rootAt(program: EditorProgram, line: number): ReportRoot | undefined {
  const holding = program.roots.filter(r => r.span.line <= line && line <= r.span.endLine);
  return holding.sort((x, y) => sizeOf(x.span) - sizeOf(y.span))[0];
}

export function rootOf(program: EditorProgram, compilation: number): ReportRoot | undefined {
  return program.roots.find(r => r.compilations.includes(compilation));
}

export function isLaunched(k: ReportKernel): boolean {
  return k.type !== "NopKernelSchedulerNode";
}

/** what to call a kernel that has no name: memory that is only allocated, or the last step of a two-pass reduction */
export function titleOf(k: ReportKernel): string {
  return k.name || (isLaunched(k) ? "sum of partial results" : "allocation");
}

/** kernels that are launched: allocations and tuple unpackings are not */
export function launched(kernels: readonly ReportKernel[]): ReportKernel[] {
  return kernels.filter(isLaunched);
}

const firstNumbers = new WeakMap<EditorProgram, number[]>();

/** A kernel's number, from 1 over all graphs of the file in launch order: the same one in hover, hint, gutter and map. */
export function numberOf(program: EditorProgram, ref: KernelRef): number {
  const first = kept(firstNumbers, program, () => {
    let next = 1;
    return program.compilations.map(c => {
      const number = next;
      next += launched(c.graph.kernels).length;
      return number;
    });
  });
  const kernels = program.compilations[ref.compilation]?.graph.kernels ?? [];
  return (first[ref.compilation] ?? 1) + launched(kernels.slice(0, ref.kernel)).length;
}

const byKernel = new WeakMap<EditorCompilation, Map<number, KernelRefusal[]>>();

/** Refusals that one of the kernels takes part in, most bytes first. */
export function refusalsOf(program: EditorProgram, kernels: readonly KernelRef[]): KernelRefusal[] {
  const found = new Set<KernelRefusal>();
  for (const ref of kernels) {
    const compilation = program.compilations[ref.compilation];
    if (!compilation) continue;
    const index = kept(byKernel, compilation, () => {
      const made = new Map<number, KernelRefusal[]>();
      for (const r of compilation.graph.refusals)
        for (const k of r.kernels) kept(made, k, () => [] as KernelRefusal[]).push(r);
      return made;
    });
    for (const r of index.get(ref.kernel) ?? []) found.add(r);
  }
  return [...found].sort((x, y) => y.bytesLost - x.bytesLost);
}
