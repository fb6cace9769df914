// Best-first search over states. In: a first state, a trial and repairs of failures. Out: the first state that works, or the
// failure that got farthest. Deterministic; ends after a number of trials.
import { type Failure, type State, stateKey } from "../types";
import { endless } from "./failure";

/** how often the farthest failure may come back before the search is given up */
const STUCK = 9;

export type Trial<R> = (s: State) => { readonly ok: R } | { readonly failed: Failure };

export type Found<R> =
  | { readonly kind: "found"; readonly state: State; readonly result: R; readonly trials: number }
  | {
      readonly kind: "failed";
      readonly failure: Failure | null;
      readonly state: State | null;
      readonly trials: number;
    };

interface Waiting {
  readonly state: State;
  /** of the state that it mends */
  readonly progress: number;
  readonly order: number;
}

export function search<R>(
  first: State,
  trial: Trial<R>,
  repairs: (s: State, f: Failure) => readonly State[],
  limit: number,
): Found<R> {
  const waiting: Waiting[] = [{ state: first, progress: 0, order: 0 }];
  const seen = new Set([stateKey(first)]);
  let best: { readonly failure: Failure; readonly state: State } | null = null;
  let order = 1;
  let trials = 0;
  let stuck = 0;
  while (waiting.length > 0 && trials < limit) {
    const at = next(waiting);
    const [w] = waiting.splice(at, 1);
    if (!w) break;
    trials++;
    const outcome = trial(w.state);
    if ("ok" in outcome) return { kind: "found", state: w.state, result: outcome.ok, trials };
    const { failed } = outcome;
    // what runs without end with likely values does so with others
    if (endless(failed)) return { kind: "failed", failure: failed, state: w.state, trials };
    if (best === null || failed.progress > best.failure.progress) {
      best = { failure: failed, state: w.state };
      stuck = 0;
    } else if (failed.operators === best.failure.operators && failed.message === best.failure.message) stuck++;
    // what no operator's inputs bring about, other inputs don't mend
    if (stuck >= STUCK && best.failure.touched.length === 0) break;
    for (const state of repairs(w.state, failed)) {
      const key = stateKey(state);
      if (seen.has(key)) continue;
      seen.add(key);
      waiting.push({ state, progress: failed.progress, order: order++ });
    }
  }
  return { kind: "failed", failure: best?.failure ?? null, state: best?.state ?? null, trials };
}

/** the one that mends the run that got farthest; the oldest of those */
function next(waiting: readonly Waiting[]): number {
  let at = 0;
  waiting.forEach((w, i) => {
    const b = waiting[at] as Waiting;
    if (w.progress > b.progress || (w.progress === b.progress && w.order < b.order)) at = i;
  });
  return at;
}
