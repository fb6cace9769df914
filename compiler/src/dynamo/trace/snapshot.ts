// What a frame was when a segment began: to go back to, and to read inputs off their sources again.
import { Frame } from "../interp/frame";
import type { Value } from "../objects/values";

export interface FrameSnapshot {
  readonly pc: number;
  readonly stack: readonly Value[];
  readonly locals: readonly (Value | undefined)[];
  readonly handling: number;
  readonly storeOrder: readonly number[];
}

export function takeSnapshot(f: Frame): FrameSnapshot {
  return {
    pc: f.pc,
    stack: [...f.stack],
    locals: [...f.locals],
    handling: f.handling.length,
    storeOrder: [...f.storeOrder],
  };
}

export function restore(f: Frame, s: FrameSnapshot): void {
  f.pc = s.pc;
  f.stack = [...s.stack];
  s.locals.forEach((v, i) => {
    f.locals[i] = v;
  });
  f.handling.length = s.handling;
  f.storeOrder = [...s.storeOrder];
}

/** the frame as it was when the segment began, for reading inputs off their sources again */
export function entryFrame(f: Frame, s: FrameSnapshot): Frame {
  const e = new Frame(f.code, f.globals, f.func, f.cells);
  e.pc = s.pc;
  e.stack = [...s.stack];
  s.locals.forEach((v, i) => {
    e.locals[i] = v;
  });
  return e;
}

/** parameters in order, then locals by first store */
export function storeSequence(f: Frame): number[] {
  const params = f.locals.map((_, i) => i).filter(i => !f.storeOrder.includes(i));
  return [...params, ...f.storeOrder];
}
