// When V8 optimises code. Its optimizing compiler runs beside the program, on what may be the same core: first answers come
// sooner where it is asked for less, answers to edits where it is asked as V8 would by itself. In: which of the two.
import { setFlagsFromString } from "node:v8";

/** bytes of a function's bytecode that run before V8 thinks about it again; `usual`: what Node 20's V8 has */
const BUDGET = { later: 500_000, usual: 132 * 1024 };

/** For all threads of the process. */
export function optimize(when: keyof typeof BUDGET): void {
  setFlagsFromString(`--interrupt-budget=${BUDGET[when]}`);
}

/** A function that keeps code, run as the code was read: flags are part of what V8 tells cached code by. */
export function asAtStart(keep: () => void): () => void {
  return () => {
    optimize("later");
    keep();
    optimize("usual");
  };
}
