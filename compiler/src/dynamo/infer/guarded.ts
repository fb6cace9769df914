// User code run as a trial: with steps of its own, no trace of it in the program's replay, and undone when it fails.
import { walk } from "../../python/walk";
import type { Code } from "../code/instructions";
import { Interrupted, PyError } from "../interp/api";
import { Journal, setJournal } from "../objects/journal";
import type { InferContext } from "./context";
import { messageOf, wantsGrad } from "./search/failure";

export type Outcome<T> = { readonly ok: T } | { readonly error: PyError; readonly message: string };

/** runs without leaving steps in the program's replay */
export function quietly<T>(ctx: Pick<InferContext, "torch">, run: () => T): T {
  const resume = ctx.torch.pauseSteps();
  try {
    return run();
  } finally {
    resume();
  }
}

/** why a run ended that was in a loop of which nobody says how often it goes around */
export const LOOPS = "it ran too long in a while loop";

function hasWhile(code: Code): boolean {
  let found = false;
  walk(code.body ?? [], n => {
    if (n.kind === "While") found = true;
    return !found;
  });
  return found;
}

/** what stays of a run that ends well: what it did and emitted, what it did alone, nothing */
export type Kept = "all" | "done" | "nothing";

/** more steps than `steps` are a TimeoutError; of a run that fails nothing stays */
export function guarded<T>(ctx: InferContext, steps: number, run: () => T, kept: Kept = "done"): Outcome<T> {
  const { vm, torch } = ctx;
  const outer = vm.stepLimit;
  const limit = Math.min(vm.steps + steps, outer ?? Number.POSITIVE_INFINITY);
  vm.stepLimit = limit;
  const journal = new Journal();
  const outerJournal = setJournal(journal);
  const depth = vm.frames.length;
  const events = torch.events.length;
  const { trace } = torch;
  const { observer } = vm;
  let failed = true;
  try {
    const ok = quietly(ctx, run);
    failed = false;
    return { ok };
  } catch (e) {
    const repeats = e instanceof Interrupted && e.within.slice(depth).some(hasWhile);
    vm.frames.length = depth;
    // read before what the run did is undone: that takes the exception's arguments with it
    if (e instanceof PyError) {
      const message = messageOf(ctx, e);
      ctx.wantsGrad = wantsGrad(message) ?? ctx.wantsGrad;
      return { error: e, message };
    }
    if (!(e instanceof Interrupted) || limit === outer || vm.steps > vm.host.stepBudget || vm.host.shouldStop())
      throw e;
    torch.trace = trace;
    vm.observer = observer;
    return { error: vm.makeError("TimeoutError", []), message: repeats ? LOOPS : "it ran too long" };
  } finally {
    setJournal(outerJournal);
    vm.stepLimit = outer;
    if (failed || kept === "nothing") journal.rollback();
    if (failed || kept !== "all") torch.events.length = Math.min(torch.events.length, events);
  }
}
