// Example inputs that a project keeps outside its sources, put in front of the compiler as the comment that says the
// same. In: a file's text. Out: the text with a comment at the end of the function's line; no line or column moves.
import type { ExampleInputs } from "./messages";

export function withExamples(text: string, path: string, examples: readonly ExampleInputs[]): string {
  const own = examples.filter(e => e.path === path);
  if (!own.length) return text;
  const lines = text.split("\n");
  for (const e of own) {
    const at = definitionOf(lines, e.root);
    // a comment in the source is nearer to the code and wins
    if (at < 0 || hasComment(lines, at) || /[\r\n]/.test(e.inputs)) continue;
    const line = lines[at] ?? "";
    const end = line.endsWith("\r") ? "\r" : "";
    lines[at] = `${line.slice(0, line.length - end.length)}  # fuselens: ${e.inputs}${end}`;
  }
  return lines.join("\n");
}

/** the line of `def NAME` or `class NAME`, of NAME's `forward` where it is "Model.forward" */
function definitionOf(lines: readonly string[], root: string): number {
  const [owner, method] = root.includes(".") ? root.split(".") : [undefined, root];
  const start = owner === undefined ? 0 : lines.findIndex(l => new RegExp(`^\\s*class\\s+${word(owner)}\\b`).test(l));
  if (start < 0) return -1;
  const pattern = new RegExp(`^\\s*(?:async\\s+)?(?:def|class)\\s+${word(method ?? root)}\\b`);
  return lines.findIndex((l, i) => i >= start && pattern.test(l));
}

function word(name: string): string {
  return name.replace(/\W/g, "");
}

function hasComment(lines: readonly string[], at: number): boolean {
  if (/#\s*fuselens:/.test(lines[at] ?? "")) return true;
  for (let i = at - 1; i >= 0 && /^\s*(@|#)/.test(lines[i] ?? ""); i--)
    if (/^\s*#\s*fuselens:/.test(lines[i] ?? "")) return true;
  return false;
}
