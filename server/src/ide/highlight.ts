// All expressions that one kernel computes, given one of them.
import { entriesAt, type KernelRef, kernelsOf, type Position, sizeOf } from "./lookup";
import type { EditorProgram, Span } from "./model";

/** Spans of every expression in the file that shares a kernel with the one at the position; inner ones are left out. */
export function kernelSpans(program: EditorProgram, file: string, at: Position): Span[] {
  return spansOf(program, file, kernelsOf(entriesAt(program, file, at)));
}

export function spansOf(program: EditorProgram, file: string, kernels: readonly KernelRef[]): Span[] {
  const wanted = new Set(kernels.map(r => `${r.compilation}:${r.kernel}`));
  const spans = new Map<string, Span>();
  for (const e of program.source) {
    if (e.file !== file || !e.kernels.some(k => wanted.has(`${e.compilation}:${k}`))) continue;
    spans.set(`${e.span.line}:${e.span.column}:${e.span.endLine}:${e.span.endColumn}`, e.span);
  }
  return outermost([...spans.values()]);
}

/** spans that no other one holds, in source order */
function outermost(spans: readonly Span[]): Span[] {
  const bySize = [...spans].sort((x, y) => sizeOf(y) - sizeOf(x));
  const kept: Span[] = [];
  for (const s of bySize) if (!kept.some(k => holds(k, s))) kept.push(s);
  return kept.sort((x, y) => x.line - y.line || x.column - y.column);
}

function holds(outer: Span, inner: Span): boolean {
  const starts = outer.line < inner.line || (outer.line === inner.line && outer.column <= inner.column);
  const ends = outer.endLine > inner.endLine || (outer.endLine === inner.endLine && outer.endColumn >= inner.endColumn);
  return starts && ends;
}
