// How far a function or class reaches, by indentation alone: good enough for folding ranges of lenses and symbols, and
// right for text that does not parse. In: lines, the line (from 1) of its first decorator, `def` or `class`.
import type { Diagnostic } from "@fuselens/compiler";

export function extentOf(lines: readonly string[], line: number): Diagnostic["span"] {
  let head = line;
  while (head < lines.length && /^\s*(@|#|$)/.test(lines[head - 1] ?? "")) head++;
  const indent = indentOf(lines[head - 1] ?? "");
  let end = head;
  let open = 0;
  for (let i = head; i <= lines.length; i++) {
    const text = lines[i - 1] ?? "";
    if (text.trim() === "") continue;
    // brackets that are still open hold lines at any indentation
    if (i > head && open <= 0 && indentOf(text) <= indent && !/^\s*[)\]}]/.test(text)) break;
    open += brackets(text);
    end = i;
  }
  return { line, column: indentOf(lines[line - 1] ?? ""), endLine: end, endColumn: (lines[end - 1] ?? "").length };
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

function brackets(text: string): number {
  let depth = 0;
  for (const c of text.replace(/(["']).*?\1/g, "").replace(/#.*$/, "")) {
    if ("([{".includes(c)) depth++;
    else if (")]}".includes(c)) depth--;
  }
  return depth;
}
