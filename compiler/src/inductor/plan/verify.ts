// What a plan promises, checked. In: an ExecutablePlan. Out: every broken promise in words; empty for a sound plan.
// Every buffer is given memory before it is used, freed at most once and not used after; launches name existing kernels
// and pass as many arguments as these take; a kernel's text uses its own parameters only.
import { buffersOf } from "./sizes";
import type { ExecutablePlan, PlanArg, PlanStep } from "./types";

export function verifyPlan(plan: ExecutablePlan): string[] {
  const problems: string[] = [];
  const alive = new Set<string>();
  const ever = new Set<string>();
  const born = (name: string, step: string): void => {
    if (alive.has(name) && !rebound.has(name)) problems.push(`${step} gives ${name} memory although it has some`);
    alive.add(name);
    ever.add(name);
  };
  // a mix-order result may be allocated beforehand and bound anew
  const rebound = new Set(plan.steps.flatMap(s => (s.kind === "finish_partials" ? [s.output.name] : [])));
  const dies = (name: string, step: string): void => {
    if (!alive.delete(name))
      problems.push(`${step} ends ${name}, which ${ever.has(name) ? "has ended before" : "never began"}`);
  };
  const use = (name: string, step: string): void => {
    if (!alive.has(name))
      problems.push(`${step} uses ${name} ${ever.has(name) ? "after its end" : "before it has memory"}`);
  };
  const uses = (a: PlanArg, step: string): void => {
    for (const name of buffersOf([a])) use(name, step);
  };
  for (const i of plan.inputs) {
    alive.add(i.name);
    ever.add(i.name);
  }
  for (const c of plan.constants) alive.add(c.name);
  const kept = new Set(buffersOf(plan.outputs));
  for (const [n, s] of plan.steps.entries()) verifyStep(plan, s, `step ${n} (${s.kind})`);
  for (const o of plan.outputs) uses(o, "the output");
  for (const [i, k] of plan.kernels.entries()) {
    if (k.triton.split("\n").length !== k.tritonLines.length)
      problems.push(`kernel ${i} (${k.name}) has lines without origins`);
    for (const name of undefinedNames(k.triton))
      problems.push(`kernel ${i} (${k.name}) uses ${name}, which is no parameter`);
    if (k.meta.configs.length === 0) problems.push(`kernel ${i} (${k.name}) has no configuration`);
  }
  return problems;

  function verifyStep(p: ExecutablePlan, s: PlanStep, step: string): void {
    switch (s.kind) {
      case "assert":
        use(s.name, step);
        return;
      case "allocate":
        if (s.from.kind === "reuse") {
          use(s.from.buffer, step);
          if (!kept.has(s.from.buffer)) dies(s.from.buffer, step);
        } else if (s.from.kind === "alias") use(s.from.base, step);
        born(s.tensor.name, step);
        return;
      case "free":
        dies(s.name, step);
        return;
      case "launch": {
        const kernel = p.kernels[s.kernel];
        if (!kernel) problems.push(`${step} launches kernel ${s.kernel} of ${p.kernels.length}`);
        else if (kernel.args.length !== s.args.length)
          problems.push(
            `${step} passes ${s.args.length} arguments to ${kernel.name}, which takes ${kernel.args.length}`,
          );
        for (const a of s.args) uses(a, step);
        return;
      }
      case "extern":
        for (const a of [...s.args, ...s.kwargs.map(([, v]) => v)]) uses(a, step);
        if (s.call === "out") use(s.output, step);
        else if (s.results.length > 0) born(s.output, step);
        return;
      case "getitem":
        use(s.of, step);
        born(s.output.name, step);
        return;
      case "finish_partials":
        use(s.workspace, step);
        born(s.output.name, step);
        return;
      default: {
        const never: never = s;
        return never;
      }
    }
  }
}

/** pointers and sizes that a function of a kernel's text uses without having them as parameters */
function undefinedNames(text: string): Set<string> {
  const missing = new Set<string>();
  let params = new Set<string>();
  for (const line of text.split("\n")) {
    const names = (line.match(/\b(in_out_ptr|in_ptr|out_ptr|ws_ptr|ks|seed)\d+\b/g) ?? []) as string[];
    if (line.startsWith("def ")) params = new Set(names);
    else for (const n of names) if (!params.has(n)) missing.add(n);
  }
  return missing;
}
