// The interpreter's frames as the stack traces of nodes and graph breaks show them.
import type { StackFrame } from "../../fx/types";
import type { Code, Instruction, Position } from "../code/instructions";
import type { Frame } from "../interp/frame";

/** outermost first, library frames left out */
export function shownFrames(frames: readonly Frame[]): StackFrame[] {
  const shown: StackFrame[] = [];
  for (const f of frames) {
    const frame = stackFrame(f);
    if (frame) shown.push(frame);
  }
  return shown;
}

/** a place in code looks the same whoever calls it */
const known = new WeakMap<Instruction, StackFrame>();

/** undefined for library code, whose frames no stack trace shows */
export function stackFrame(f: Frame): StackFrame | undefined {
  const { code } = f;
  if (code.file.library === "nn_modules" || code.file.library === "hidden") return undefined;
  const instruction = code.instructions[Math.max(0, f.pc - 1)];
  if (!instruction) return undefined;
  if (f.resumedAs !== null) return frameAt(code, instruction.at, f.resumedAs);
  let frame = known.get(instruction);
  if (frame === undefined) {
    frame = frameAt(code, instruction.at, code.name);
    known.set(instruction, frame);
  }
  return frame;
}

function frameAt({ file }: Code, { span, anchor }: Position, func: string): StackFrame {
  const physical = file.lines[span.line - 1] ?? "";
  const code = physical.trim();
  return {
    file: file.name,
    func,
    line: span.line,
    code,
    indent: physical.length - physical.trimStart().length,
    span: { line: span.line, column: span.column, endLine: span.endLine, endColumn: span.endColumn },
    ...(anchor ? { anchor } : {}),
  };
}
