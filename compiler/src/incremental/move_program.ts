// A whole program's report on lines that have moved. In: the program, which file each of its parts is about, the move.
// Out: the program as if it had been run there; null where one of its texts speaks of a line that has moved.
import type { Placed } from "../report/program";
import type { Program } from "../report/types";
import { type Move, moveReport, type Span } from "./move";

export function moveProgram(placed: Placed, path: string, move: Move): Placed | null {
  const { program, files, breakFiles } = placed;
  const fileOf = (file: string): string => (file === "" ? path : file);
  if ([...textsOf(program)].some(t => speaksOfMoved(t, line => move.line(path, line)))) return null;
  const { compilations, source, diagnostics } = moveReport(
    { compilations: program.compilations, files, source: program.source, diagnostics: program.diagnostics },
    { line: (file, line) => move.line(fileOf(file), line), span: (file, span) => move.span(fileOf(file), span) },
  );
  const { report } = program;
  return {
    files,
    breakFiles,
    program: {
      ...program,
      compilations,
      source,
      diagnostics,
      // no eager operator is compiled in a session that remembers
      get values() {
        return { ...program.values, graphs: compilations.map(({ plan, wat }) => ({ plan, wat })) };
      },
      roots: program.roots.map(r => ({ ...r, span: plain(move.span(path, r.span)) })),
      report: {
        ...report,
        graphs: compilations.map(c => c.graph),
        graph_breaks: report.graph_breaks.map((b, i) => ({ ...b, line: move.line(breakFiles[i] ?? path, b.line) })),
        diagnostics: report.diagnostics.map((d, i) => ({ ...d, line: diagnostics[i]?.span.line ?? d.line })),
      },
    },
  };
}

function plain({ line, column, endLine, endColumn }: Span): Span {
  return { line, column, endLine, endColumn };
}

/** texts that the compiler words itself, where it may name a line */
function* textsOf(p: Program): Iterable<string> {
  for (const d of p.diagnostics) yield d.message;
  for (const b of p.report.graph_breaks) yield b.reason;
  for (const r of p.roots) {
    yield r.name;
    yield* r.assumed;
  }
  for (const c of p.compilations) {
    yield c.graph.name;
    yield* c.graph.kernels[0]?.assumed ?? [];
  }
}

/** "at line 12", "as line 7 calls it", "torch_dynamo_resume_in_f_at_9" */
function speaksOfMoved(text: string, now: (line: number) => number): boolean {
  for (const m of text.matchAll(/\blines? (\d+)|_at_(\d+)\b/g)) {
    const line = Number(m[1] ?? m[2]);
    if (now(line) !== line) return true;
  }
  return false;
}
