// The interpreter's frames as the stack traces of nodes and graph breaks show them.
import type { StackFrame } from "../../fx/types";
import type { Frame } from "../interp/frame";

/** outermost first, library frames left out */
export function shownFrames(frames: readonly Frame[]): StackFrame[] {
  return frames.flatMap(f => stackFrame(f) ?? []);
}

/** undefined for library code, whose frames no stack trace shows */
export function stackFrame(f: Frame): StackFrame | undefined {
  const file = f.code.file;
  if (file.library === "nn_modules" || file.library === "hidden") return undefined;
  const at = f.code.instructions[Math.max(0, f.pc - 1)]?.at;
  if (!at) return undefined;
  const { span, anchor } = at;
  const physical = file.lines[span.line - 1] ?? "";
  const code = physical.trim();
  return {
    file: file.name,
    func: f.shownName,
    line: span.line,
    code,
    indent: physical.length - physical.trimStart().length,
    span: { line: span.line, column: span.column, endLine: span.endLine, endColumn: span.endColumn },
    ...(anchor ? { anchor } : {}),
  };
}
