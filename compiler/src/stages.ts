// When a compile goes from one stage to the next. In: a listener, in scope. Out: its calls, stage by stage. Promises: the
// compiler itself reads no clock; without a listener nothing happens. `npm run bench -- compile` listens.

export type Stage = "capture" | "aot" | "passes" | "lowering" | "schedule" | "plan" | "report";

let listener: ((stage: Stage) => void) | undefined;

/** says that `stage` begins; what was before it has ended */
export function stageBegins(stage: Stage): void {
  listener?.(stage);
}

/** Runs `fn` and tells `listen` of each stage that begins. Synchronous only. */
export function withStages<T>(listen: (stage: Stage) => void, fn: () => T): T {
  const outer = listener;
  listener = listen;
  try {
    return fn();
  } finally {
    listener = outer;
  }
}
