// A frame's report with its numbers filled in. In: a report whose texts hold marks of float parameters, and what each mark
// stands for. Out: the report as if the frame had been compiled with those numbers. Promises: what holds no mark is shared.
import type { ExecutablePlan, PlanKernel, PlanStep } from "../inductor/plan/types";
import type { FrameReport } from "../report/frame_report";
import type { CodeWriter } from "../report/output_code";
import type { Compilation } from "../report/types";
import { rewritten } from "./rewritten";

export type Fill = (text: string) => string;

export function fillReport(report: FrameReport, fill: Fill): FrameReport {
  return {
    ...report,
    compilations: report.compilations.map((c, i) => fillCompilation(c, report.writers[i], fill)),
    diagnostics: report.diagnostics.map(d => ({ ...d, message: fill(d.message) })),
  };
}

function fillCompilation(c: Compilation, write: CodeWriter | undefined, fill: Fill): Compilation {
  return rewritten(
    c,
    c.graph,
    () => fillPlan(c.plan, fill),
    plan => (write ? write(plan(), fill) : c.outputCode),
  );
}

function fillPlan(plan: ExecutablePlan, fill: Fill): ExecutablePlan {
  return {
    ...plan,
    kernels: plan.kernels.map(k => fillKernel(k, fill)),
    steps: plan.steps.map(s => fillStep(s, fill)),
    blockers: plan.blockers.map(fill),
  };
}

function fillKernel(k: PlanKernel, fill: Fill): PlanKernel {
  const triton = fill(k.triton);
  const provenance = k.provenance.map(fill);
  const same = triton === k.triton && provenance.every((line, i) => line === k.provenance[i]);
  return same ? k : { ...k, triton, provenance };
}

function fillStep(s: PlanStep, fill: Fill): PlanStep {
  if (s.kind !== "extern" && s.kind !== "launch") return s;
  const comment = fill(s.comment);
  return comment === s.comment ? s : { ...s, comment };
}
