// One run of a root as if it were compiled. In: what is called, with which arguments. Out: its frames, marked with what was
// assumed; or the failure, and then nothing of the run is left.
import type { Kwargs, Value } from "../objects/values";
import type { CompileOptions } from "../torch/objects";
import { guarded } from "./guarded";
import type { Program } from "./program";
import { failureOf, NO_OPERATORS, whyOf } from "./search/failure";
import type { Failure } from "./types";

/** steps of one attempt: what takes more is taken to run without end */
const STEPS = 4_000_000;
/** of one whose inputs a search found with fewer: it ends */
const PATIENT_STEPS = 12_000_000;

export interface Attempt {
  readonly target: Value;
  readonly options: CompileOptions;
  readonly grad: boolean;
  /** made inside the attempt, so that it is undone with it */
  readonly inputs: () => { readonly args: readonly Value[]; readonly kwargs: Kwargs };
}

export interface Found {
  readonly frames: readonly number[];
  readonly assumed: readonly string[];
}

export interface Refused {
  readonly why: string;
  readonly failure: Failure | null;
  /** that of the likeliest inputs, where others were searched */
  readonly first?: Failure | null;
}

export const isFound = (x: Found | Refused): x is Found => "frames" in x;

export const refused = (failure: Failure | null, otherwise: string): Refused => ({
  why: failure ? whyOf(failure) : otherwise,
  failure,
});

/** Runs a root once; of a run that is refused no frame, message or break stays. */
export function attempt(p: Program, a: Attempt): Found | Refused {
  const { vm, runner, api, torch } = p;
  const frames: number[] = [];
  const mark = p.diagnostics.length;
  const breaks = runner.said();
  const steps = vm.steps;
  const outcome = asRoot(p, a.grad, () =>
    guarded(
      p,
      p.patient ? PATIENT_STEPS : STEPS,
      () => {
        const { args, kwargs } = a.inputs();
        const eager = torch.eagerOperators;
        runner.callCompiled(api.callable(a.target), args, kwargs, { options: a.options, frames });
        // one whose operators all run outside of graphs (an nn.LSTM alone) has none to compile
        if (frames.length === 0 && torch.eagerOperators === eager) vm.raise("RuntimeError", NO_OPERATORS);
      },
      "all",
    ),
  );
  if ("ok" in outcome) return { frames, assumed: a.options.assumed };
  p.unsay(mark);
  runner.forget(frames, breaks);
  const progress = { steps: vm.steps - steps, operators: 0, decisions: [], touched: [] };
  return refused(failureOf(outcome.error, outcome.message, progress), "");
}

/** with the grad mode of a root, and none of the logs that the program asked for */
export function asRoot<T>(p: Program, grad: boolean, run: () => T): T {
  const { torch } = p;
  const { logs, gradEnabled } = torch;
  torch.logs = new Set();
  torch.gradEnabled = grad;
  try {
    return run();
  } finally {
    torch.logs = logs;
    torch.gradEnabled = gradEnabled;
  }
}
