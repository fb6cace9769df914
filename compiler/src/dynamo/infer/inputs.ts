// Arguments for a forward method (or a function of tensors) that nobody calls. In: the callable, its parameters, what is
// written about them. Out: arguments with which it runs to its end; or the failure that got farthest.
import type { Code } from "../code/instructions";
import type { Kwargs, Value } from "../objects/values";
import { mayBeNone } from "./choices/holes";
import { avoidingIn } from "./conditions";
import { construct } from "./construct";
import type { InferContext } from "./context";
import { guarded } from "./guarded";
import { callArguments, makeValue } from "./make";
import { endless, failureOf, NO_OPERATORS, needsAnotherWay } from "./search/failure";
import { tensorLeaves } from "./search/leaves";
import { SizeProbe } from "./search/probe";
import { repairs } from "./search/repairs";
import { type Found, search } from "./search/search";
import { ABSENT, type Failure, type Hole, NONE, type State, withChoice } from "./types";

const TRIALS = 70;
/** and once more with None wherever it may stand */
const TRIALS_WITH_LESS = 20;
const STEPS = 4_000_000;
const PATIENT_STEPS = 12_000_000;

/** runs the callable compiled, as a trial: everything is undone afterwards; whether it ran operators */
export type RunCompiled = (args: readonly Value[], kwargs: Kwargs) => boolean;

export interface InputSearch {
  readonly holes: readonly Hole[];
  readonly first: State;
  readonly run: RunCompiled;
  /** of the function that runs */
  readonly code?: Code;
  /** how many states are tried; by default as many as a root may */
  readonly trials?: number;
}

export function inferInputs(ctx: InferContext, s: InputSearch): Found<null> {
  const from = (first: State, trials: number): Found<null> =>
    search(
      first,
      state => trial(ctx, s, state),
      (state, f) => [
        ...(s.code && needsAnotherWay(f) ? avoidingIn(s.code, s.holes, state, f) : []),
        ...repairs(ctx, s.holes, state, f),
        ...(s.code ? avoidingIn(s.code, s.holes, state, f) : []),
      ],
      trials,
      true,
    );
  const found = from(s.first, s.trials ?? TRIALS);
  if (found.kind === "found" || (found.failure && endless(found.failure))) return found;
  // what may be None is None, first but for one of them
  const spare = s.holes.filter(h => mayBeNone(h) && !h.written);
  for (const kept of spare.length > 1 ? [1, 0] : spare.length > 0 ? [0] : []) {
    const bare = spare.slice(kept).reduce<State>((state, h) => withChoice(state, h.name, NONE), s.first);
    const less = from(bare, TRIALS_WITH_LESS);
    if (less.kind === "found") return less;
  }
  return found;
}

export function valuesOf(ctx: InferContext, holes: readonly Hole[], s: State): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const h of holes) {
    const c = s.get(h.name) ?? ABSENT;
    const v = makeValue(ctx, h, c, (cls, by) => {
      const built = construct(ctx, cls, h.globals, by);
      return built.kind === "built" ? built.value : undefined;
    });
    if (v !== undefined) values.set(h.name, v);
    else if (c.kind !== "absent") ctx.vm.raise("TypeError", `nothing can stand for ${h.name}`);
  }
  return values;
}

function trial(ctx: InferContext, s: InputSearch, state: State): { ok: null } | { failed: Failure } {
  const { vm, torch } = ctx;
  const before = vm.steps;
  let probe = new SizeProbe(new Map());
  let ran = false;
  const run = (): null => {
    const values = valuesOf(ctx, s.holes, state);
    const tensors = new Map([...values].flatMap(([k, v]) => tensorLeaves(k, v)));
    for (const list of tensors.values())
      for (const t of list) t.marks = new Map(t.meta.shape.map((_, i) => [i, "dynamic"] as const));
    probe = new SizeProbe(tensors);
    const { args, kwargs } = callArguments(s.holes, values);
    torch.probe = probe;
    try {
      ran = s.run(args, kwargs);
    } finally {
      torch.probe = null;
    }
    if (!ran) vm.raise("RuntimeError", NO_OPERATORS);
    return null;
  };
  const outcome = guarded(ctx, ctx.patient ? PATIENT_STEPS : STEPS, run, "nothing");
  if ("ok" in outcome) return outcome;
  return {
    failed: failureOf(outcome.error, outcome.message, {
      steps: vm.steps - before,
      operators: probe.operators,
      decisions: probe.decisions,
      touched: probe.touchedNames,
    }),
  };
}
