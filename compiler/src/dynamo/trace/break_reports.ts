// Graph breaks as events, each said once. In: the frame, the instruction and what could not be traced. Out: the event, with
// the stack of the innermost frame at fault.

import type { StackFrame } from "../../fx/types";
import type { Instruction } from "../code/instructions";
import type { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import type { Torch } from "../torch/context";
import type { Unsupported } from "../torch/sink";
import { breakBlock, reasonFor } from "./break_text";
import { stackFrame } from "./stack_frames";

export class BreakReports {
  said = new Set<string>();

  constructor(
    private readonly torch: Torch,
    private readonly vm: Machine,
  ) {}

  traceback(frame: Frame): StackFrame[] {
    return shown([...this.vm.frames, ...(this.vm.frames.includes(frame) ? [] : [frame])]);
  }

  /** frames are still on the machine's stack when the fault arrives only for the root; inner ones are kept here */
  private faultStack = new WeakMap<Unsupported, StackFrame[]>();

  noteFault(frame: Frame, e: Unsupported): void {
    if (this.faultStack.has(e)) return;
    const below = this.vm.frames.indexOf(frame);
    const outer = below < 0 ? [...this.vm.frames, frame] : this.vm.frames.slice(0, below + 1);
    const inner = (this.vm.faultFrames ?? []).filter(f => f !== frame && !outer.includes(f));
    this.faultStack.set(e, shown([...outer, ...inner]));
  }

  report(frame: Frame, at: Instruction, e: Unsupported, skipped: boolean, another: string | null): void {
    const stack = this.faultStack.get(e) ?? this.traceback(frame);
    const last = stack[stack.length - 1];
    const place = { file: last?.file ?? frame.code.file.name, line: last?.line ?? at.at.span.line };
    const key = `${place.file}:${place.line}:${e.gb.type}:${e.gb.context.replace(/0x[0-9a-f]+/g, "")}`;
    if (this.said.has(key)) return;
    this.said.add(key);
    const reason = reasonFor(skipped ? null : at.op, e, skipped, another);
    this.torch.emit({
      kind: "graph_break",
      break: { line: place.line, file: place.file, reason: e.gb.type, text: breakBlock(place, reason, stack) },
      logs: new Set(this.torch.logs),
    });
  }
}

/** resumed frames under the name of the function that they resume */
function shown(frames: readonly Frame[]): StackFrame[] {
  return frames
    .map(f => {
      const s = stackFrame(f);
      return s && f.resumedAs ? { ...s, func: f.code.name } : s;
    })
    .filter(s => s !== undefined);
}
