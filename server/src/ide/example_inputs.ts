// Example inputs as a comment in the source: where it stands, what it says. In: a root and its text. Out: edits as text at
// lines.
import type { ReportRoot } from "@fuselens/compiler";

export interface ActionEdit {
  /** 1-based; text goes in front of `column` (0-based, UTF-16) and replaces what `endColumn` closes */
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
  readonly text: string;
}

export interface Definition {
  readonly name: string;
  readonly parameters: string[];
  readonly line: number;
}

/** the function that a root's inputs are those of: itself, or the forward of a module */
export function definitionOf(
  lines: readonly string[],
  span: { readonly line: number; readonly endLine: number },
): Definition | null {
  let start = span.line;
  while (/^\s*(@|#|$)/.test(lines[start - 1] ?? "") && start < lines.length) start++;
  if (!/^\s*class\b/.test(lines[start - 1] ?? "")) return parametersOf(lines, span.line);
  for (const method of ["forward", "__call__"])
    for (let at = start; at <= Math.min(lines.length, span.endLine); at++)
      if (new RegExp(`^\\s+(?:async\\s+)?def\\s+${method}\\s*\\(`).test(lines[at - 1] ?? ""))
        return parametersOf(lines, at);
  return null;
}

/** Parameter names of `def NAME(...)` at a line, without self, defaults and annotations; null where none stands there. */
export function parametersOf(lines: readonly string[], line: number): Definition | null {
  for (let at = line; at <= Math.min(lines.length, line + 20); at++) {
    const head = /^\s*(?:async\s+)?def\s+(\w+)\s*\(/.exec(lines[at - 1] ?? "");
    if (!head) continue;
    const text = lines
      .slice(at - 1, at + 30)
      .join("\n")
      .slice(head[0].length);
    const parameters: string[] = [];
    let depth = 0;
    let word = "";
    for (const c of text) {
      if (c === ")" && depth === 0) break;
      if ("([{".includes(c)) depth++;
      else if (")]}".includes(c)) depth--;
      if (c === "," && depth === 0) {
        parameters.push(word);
        word = "";
      } else word += c;
    }
    parameters.push(word);
    const names = parameters
      .map(p => /^\s*(\*{0,2}\w+)/.exec(p)?.[1] ?? "")
      .filter(n => /^\w+$/.test(n) && n !== "self");
    return { name: head[1] ?? "", parameters: names, line: at };
  }
  return null;
}

export interface ExampleComment {
  readonly edit: ActionEdit;
  readonly text: string;
  readonly replaces: boolean;
}

/** The comment for given inputs ("x=f32[8, 128]@cuda"), or for the ones that the analysis took. */
export function exampleComment(root: ReportRoot, lines: readonly string[], given?: string): ExampleComment | null {
  const definition = definitionOf(lines, root.span);
  if (!definition) return null;
  const text = `# fuselens: ${given ?? knownInputs(root, definition.parameters)}`;
  // above the decorators, where it reads as a comment on the function
  let first = definition.line;
  while (first > 1 && /^\s*@/.test(lines[first - 2] ?? "")) first--;
  const indent = /^\s*/.exec(lines[first - 1] ?? "")?.[0] ?? "";
  const above = lines[first - 2] ?? "";
  if (/^\s*#\s*fuselens:/.test(above)) {
    const column = above.length - above.trimStart().length;
    return { edit: { line: first - 1, column, endColumn: above.length, text }, text, replaces: true };
  }
  return { edit: { line: first, column: 0, endColumn: 0, text: `${indent}${text}\n` }, text, replaces: false };
}

const SHORT: Readonly<Record<string, string>> = {
  "torch.float32": "f32",
  "torch.float64": "f64",
  "torch.float16": "f16",
  "torch.bfloat16": "bf16",
  "torch.int64": "i64",
  "torch.int32": "i32",
  "torch.bool": "b8",
};

/** "x=f32[8, 128]@cuda, y=..." as the analysis took them; a parameter that it knows no tensor of gets a form to fill in */
export function knownInputs(root: ReportRoot, parameters: readonly string[]): string {
  const known = new Map(root.inputs.map(t => [t.name, t] as const));
  // what is no tensor (a flag, None) needs no example
  const shown = known.size ? parameters.filter(p => known.has(p)) : parameters;
  return shown
    .map(name => {
      const t = known.get(name);
      return t ? `${name}=${SHORT[t.dtype] ?? "f32"}[${t.shape.join(", ")}]@${t.device}` : `${name}=f32[8, 128]@cuda`;
    })
    .join(", ");
}
