// V8's flags by what a process does. First answers come sooner where the optimizing compiler, which runs beside the program
// on what may be the same core, is asked for less, and where the heap is let grow. Afterwards code is optimised as V8 would
// by itself, heaps are collected at 2.2 times what was left the last time (`idle_collection.ts` sees to it that this is
// little), and young generations keep their size: the server's own thread would let its one grow to 32 MB over thousands of
// edits. In either case little is inlined: there are thousands of functions, none of which takes two percent of the time, and
// most of what a compile costs before its code is optimised is optimising it.
import { setFlagsFromString } from "node:v8";

/** bytecode of a function with all that is inlined into it (V8: 920) */
const INLINED = "--max-inlined-bytecode-size-cumulative=100";
/** bytes of a function's bytecode that run before V8 thinks about it again (Node 20's V8: 67,584); 0: V8's own growth */
const FLAGS = {
  first: [INLINED, "--interrupt-budget=500000", "--heap-growing-percent=0", "--semi-space-growth-factor=2"],
  lasting: [INLINED, "--interrupt-budget=67584", "--heap-growing-percent=120", "--semi-space-growth-factor=1"],
};

/** For all threads of the process. */
export function tuneFor(what: keyof typeof FLAGS): void {
  for (const flag of FLAGS[what]) setFlagsFromString(flag);
}

/** A function that keeps code, run as the code was read: flags are part of what V8 tells cached code by. */
export function asAtStart(keep: () => void): () => void {
  return () => {
    tuneFor("first");
    keep();
    tuneFor("lasting");
  };
}
