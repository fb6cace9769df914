// Collects a thread's garbage when nobody waits for it. V8 collects when memory is asked for, which is in the middle of a
// compile, and would walk all that the compile still holds; once it has answered almost nothing is left to walk.
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** ms without a request after which most likely nothing is typed for a moment */
const IDLE_MS = 400;
/** bytes that a thread may have asked for since without it being worth a collection */
const LITTLE = 24_000_000;

export interface IdleCollection {
  /** a request was answered; the one before is no longer waited after */
  answered(): void;
}

/** `used`: bytes of the thread's heap now; `collect` makes them fewer. */
export function idleCollection(
  used: () => number = () => getHeapStatistics().used_heap_size,
  collect: () => void = collectAll,
  idleMs = IDLE_MS,
): IdleCollection {
  let left = 0;
  let timer: NodeJS.Timeout | undefined;
  const idle = (): void => {
    if (used() - left < LITTLE) return;
    collect();
    left = used();
  };
  return {
    answered(): void {
      clearTimeout(timer);
      timer = setTimeout(idle, idleMs).unref();
    },
  };
}

/** V8's collector, which is a function of contexts that are made while the flag is set; made when it is first needed */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  if (typeof gc !== "function") throw new Error("V8 gives no collector");
  gc();
}
