// Edits that change nothing but places: comments, blank lines, spaces between tokens. In: a file as it was and as it is,
// both parsed. Out: where its lines and columns are now; null where the edit may mean something.
import type { Stmt } from "../python/ast";
import { codeOf, columnIn, endColumnIn, sameInk } from "../python/text_lines";
import type { Span } from "./sites";

export interface ParsedText {
  readonly text: string;
  readonly body: readonly Stmt[];
  /** a text with syntax problems is never taken for the same as another */
  readonly problems: number;
}

/** where a file's lines and spans are now */
export interface FileMove {
  /** undefined: no code stood on the line */
  line(line: number): number | undefined;
  span(span: Span): Span | undefined;
}

/** the lines of a text that hold code, by number */
interface CodeLines {
  readonly numbers: readonly number[];
  readonly all: readonly string[];
}

export function neutralEdit(old: ParsedText, now: ParsedText): FileMove | null {
  if (old.problems > 0 || now.problems > 0) return null;
  const [a, b] = [codeLines(old.text), codeLines(now.text)];
  if (a.numbers.length !== b.numbers.length) return null;
  const at = (lines: CodeLines, i: number): string => lines.all[(lines.numbers[i] ?? 0) - 1] ?? "";
  for (let i = 0; i < a.numbers.length; i++) {
    const [x, y] = [at(a, i), at(b, i)];
    if (x !== y && !sameInk(codeOf(x), codeOf(y))) return null;
  }
  if (!sameMarks(a, b) || !sameStatements(old, now)) return null;
  const lines = new Map(a.numbers.map((line, i) => [line, b.numbers[i] ?? 0]));
  return {
    line: line => lines.get(line),
    span: span => {
      const [line, endLine] = [lines.get(span.line), lines.get(span.endLine)];
      if (line === undefined || endLine === undefined) return undefined;
      // a whole line, not an expression on it
      if (span.column === 0 && span.endColumn === 0) return { ...span, line, endLine };
      return {
        ...span,
        line,
        column: columnIn(a.all[span.line - 1] ?? "", b.all[line - 1] ?? "", span.column),
        endLine,
        endColumn: endColumnIn(a.all[span.endLine - 1] ?? "", b.all[endLine - 1] ?? "", span.endColumn),
      };
    },
  };
}

function codeLines(text: string): CodeLines {
  const all = text.split(/\r?\n/);
  return { all, numbers: all.flatMap((l, i) => (codeOf(l) === "" ? [] : [i + 1])) };
}

/** comments that give inputs to a function stand as they did to the code around them */
function sameMarks(a: CodeLines, b: CodeLines): boolean {
  return JSON.stringify(marks(a)) === JSON.stringify(marks(b));
}

function marks({ all, numbers }: CodeLines): (string | number)[][] {
  const out: (string | number)[][] = [];
  let before = -1;
  all.forEach((l, i) => {
    if (numbers[before + 1] === i + 1) before++;
    const at = l.search(/#\s*fuselens\s*:/);
    if (at < 0) return;
    const [previous, next] = [numbers[before] ?? 0, numbers[before + 1] ?? 0];
    out.push([l.slice(at).trim(), before, i + 1 - previous, next === 0 ? 0 : next - i - 1]);
  });
  return out;
}

/** the same trees but for their spans; a statement with the same text on both sides is not looked into */
function sameStatements(old: ParsedText, now: ParsedText): boolean {
  if (old.body.length !== now.body.length) return false;
  return old.body.every((s, i) => {
    const t = now.body[i];
    if (!t) return false;
    if (s === t) return true;
    const same =
      s.span.column === t.span.column &&
      s.span.end - s.span.start === t.span.end - t.span.start &&
      old.text.slice(s.span.start, s.span.end) === now.text.slice(t.span.start, t.span.end);
    return same || sameTree(s, t);
  });
}

function sameTree(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && a.length === b.length && a.every((x, i) => x === b[i]);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (isSpan(a) && isSpan(b)) return true;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  if (keys.length !== others.length) return false;
  return keys.every(k => {
    const [x, y] = [(a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k]];
    return (isSpan(x) && isSpan(y)) || sameTree(x, y);
  });
}

function isSpan(x: unknown): boolean {
  return typeof x === "object" && x !== null && "endColumn" in x && "start" in x && !("kind" in x);
}
