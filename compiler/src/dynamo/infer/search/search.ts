// Best-first search over states. In: a first state, a trial and repairs of failures. Out: the first state that works, or the
// failure that got farthest. Deterministic; ends after a number of trials.
import { type Failure, type State, stateKey } from "../types";
import { endless, onTwoDevices, wantsGrad } from "./failure";

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
  /** the trial whose failure it mends */
  readonly mends: number;
}

/** every so many trials one goes aside */
const ASIDE = 3;

/** `aside`: now and then what mends another failure than the farthest is tried, since a wrong turn may lead farther for a while */
export function search<R>(
  first: State,
  trial: Trial<R>,
  repairs: (s: State, f: Failure) => readonly State[],
  limit: number,
  aside = false,
): Found<R> {
  const start: Waiting = { state: first, progress: 0, order: 0, mends: 0 };
  const waiting: Waiting[] = [start];
  const seen = new Map([[stateKey(first), start]]);
  let best: { readonly failure: Failure; readonly state: State } | null = null;
  let order = 1;
  let trials = 0;
  let stuck = 0;
  while (waiting.length > 0 && trials < limit) {
    const w = next(waiting, aside && trials % ASIDE === ASIDE - 1);
    waiting.splice(waiting.indexOf(w), 1);
    trials++;
    const outcome = trial(w.state);
    if ("ok" in outcome) return { kind: "found", state: w.state, result: outcome.ok, trials };
    const { failed } = outcome;
    // what runs without end with likely values does so with others; none of them is on another device or turns grad on
    if (endless(failed) || onTwoDevices(failed) || wantsGrad(failed.message) !== undefined)
      return { kind: "failed", failure: failed, state: w.state, trials };
    if (best === null || failed.progress > best.failure.progress) {
      best = { failure: failed, state: w.state };
      stuck = 0;
    } else if (failed.operators === best.failure.operators && kindOf(failed) === kindOf(best.failure)) stuck++;
    // what no operator's inputs bring about, other inputs don't mend
    if (stuck >= STUCK && best.failure.touched.length === 0) break;
    for (const state of repairs(w.state, failed)) {
      const key = stateKey(state);
      const made: Waiting = { state, progress: failed.progress, order: order++, mends: trials };
      const before = seen.get(key);
      const at = before ? waiting.indexOf(before) : -1;
      // what a farther failure asks for as well is as urgent as what it alone asks for
      if (before && (at < 0 || before.progress >= made.progress)) continue;
      seen.set(key, made);
      if (at < 0) waiting.push(made);
      else waiting[at] = made;
    }
  }
  return { kind: "failed", failure: best?.failure ?? null, state: best?.state ?? null, trials };
}

/** a failure's place and words without its numbers */
const kindOf = (f: Failure): string => `${f.at}: ${f.type}: ${f.message.replace(/\d+/g, "n")}`;

/** the one that mends the run that got farthest, the oldest of those; `aside`: of those that mend another run, if any do */
function next(waiting: readonly Waiting[], aside: boolean): Waiting {
  const best = farthest(waiting);
  const others = aside ? waiting.filter(w => w.mends !== best.mends) : [];
  return others.length > 0 ? farthest(others) : best;
}

const farthest = (waiting: readonly Waiting[]): Waiting =>
  waiting.reduce((b, w) => (w.progress > b.progress || (w.progress === b.progress && w.order < b.order) ? w : b));
