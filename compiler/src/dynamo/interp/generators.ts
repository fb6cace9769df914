// Generators: a frame that is run to its next yield, and wound back with a trace that it lived before.
import { record, recording } from "../objects/journal";
import type { Value } from "../objects/values";
import type { Interp, PyError } from "./api";
import type { Frame, PyGenerator } from "./frame";
import type { Completion } from "./host";

/** what generators need of the machine beyond Interp */
export interface FrameLoop extends Interp {
  runFrame(frame: Frame, thrown?: PyError): Completion;
}

/** runs a generator to its next yield; undefined when it has ended */
export function resume(vm: FrameLoop, g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined {
  if (g.state === "running") vm.raise("ValueError", "generator already executing");
  if (g.state === "done") {
    if (thrown) throw thrown;
    return undefined;
  }
  const frame = g.frame;
  if (recording()) {
    const saved = {
      state: g.state,
      pc: frame.pc,
      stack: [...frame.stack],
      locals: [...frame.locals],
      handling: [...frame.handling],
    };
    record(() => {
      g.state = saved.state;
      frame.pc = saved.pc;
      frame.stack = saved.stack;
      frame.handling = saved.handling;
      saved.locals.forEach((v, i) => {
        frame.locals[i] = v;
      });
    });
  }
  if (g.state === "suspended") frame.stack.push(sent);
  g.state = "running";
  try {
    const done = vm.runFrame(frame, thrown);
    if (done.kind === "yield") {
      g.state = "suspended";
      return done.value;
    }
    g.state = "done";
    g.returned = done.value;
    return undefined;
  } catch (e) {
    g.state = "done";
    throw e;
  }
}
