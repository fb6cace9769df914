// Questions an editor asks of a Program, answered in plain data: which entries stand at a position, which kernels hold
// a line, which graphs belong to a root. No LSP here.
import type { Compilation, Program, ReportKernel, ReportRoot, SourceEntry } from "@fuselens/compiler";

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

/** Entries whose expression covers the position, innermost (shortest span) first; else those that start on its line. */
export function entriesAt(program: Program, file: string, at: Position): SourceEntry[] {
  const own = program.source.filter(e => e.file === file);
  const covering = own.filter(e => covers(e.span, at));
  if (covering.length) {
    const size = (e: SourceEntry) => (e.span.endLine - e.span.line) * 10_000 + e.span.endColumn - e.span.column;
    const least = Math.min(...covering.map(size));
    return covering.filter(e => size(e) === least);
  }
  return own.filter(e => e.span.line === at.line);
}

function covers(span: SourceEntry["span"], at: Position): boolean {
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
  return refs;
}

export function kernelOf(program: Program, ref: KernelRef): ReportKernel | undefined {
  return program.compilations[ref.compilation]?.graph.kernels[ref.kernel];
}

export function compilationsOf(program: Program, root: ReportRoot): Compilation[] {
  return root.compilations.flatMap(i => program.compilations[i] ?? []);
}

/** kernels that are launched: allocations and tuple unpackings are not */
export function launched(kernels: readonly ReportKernel[]): ReportKernel[] {
  return kernels.filter(k => k.type !== "NopKernelSchedulerNode");
}
