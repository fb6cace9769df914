// Whether running code is prepared for an error. In: the machine. Out: yes, where it is inside a try whose handlers do not
// just give up.
import type { Interp } from "./api";

export const isPrepared = (vm: Pick<Interp, "frames">): boolean =>
  vm.frames.some(f => {
    const handler = f.code.kind === "class" ? undefined : f.code.handlers[f.pc - 1];
    return handler && !handler.givesUp;
  });
