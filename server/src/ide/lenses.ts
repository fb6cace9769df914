// Lenses above each compiled function or module: what it becomes, Benchmark, Output code, Kernel map. Placing them is
// cheap; their titles are made when a lens comes into view.
import type { ReportRoot } from "@fuselens/compiler";
import { IN_EVAL, IN_TRAINING } from "@fuselens/compiler/vocabulary";
import { formatBandwidth, formatBytes, formatTime } from "../render/units";
import { type BetterSchedules, betterTitle } from "./better";
import { compilationsOf, launched } from "./lookup";
import type { Measurements } from "./measurements";
import type { EditorProgram } from "./model";
import { allSavedBytes } from "./saved";

export const LENS_COMMANDS = [
  "fuselens.showKernels",
  "fuselens.benchmark",
  "fuselens.showOutputCode",
  "fuselens.showSchedulerGraph",
  "fuselens.switchMode",
] as const;
export type LensCommand = (typeof LENS_COMMANDS)[number];

export interface LensPlace {
  readonly line: number;
  readonly command: LensCommand;
  readonly root: string;
}

/** One set a line: a function that is compiled twice (for two shapes, say) has the sums of both. */
export function lensPlaces(program: EditorProgram): LensPlace[] {
  return program.roots.flatMap(root => {
    if (!root.compilations.length) return [];
    const commands = LENS_COMMANDS.filter(c => c !== "fuselens.switchMode" || otherMode(root) !== null);
    return commands.map(command => ({ line: root.span.line, command, root: root.name }));
  });
}

export function lensTitle(
  program: EditorProgram,
  rootName: string,
  command: LensCommand,
  measured: Measurements,
  better?: BetterSchedules,
): string | null {
  const root = program.roots.find(r => r.name === rootName);
  if (!root) return null;
  switch (command) {
    case "fuselens.showKernels":
      return kernelsTitle(program, root, better);
    case "fuselens.benchmark":
      return benchmarkTitle(program, root, measured);
    case "fuselens.showOutputCode":
      return "Output code";
    case "fuselens.showSchedulerGraph":
      return "Graph";
    case "fuselens.switchMode":
      return otherMode(root);
    default: {
      const never: never = command;
      return never;
    }
  }
}

/** what a module that its file never calls can be shown in instead; null for what the file says itself */
function otherMode(root: ReportRoot): string | null {
  if (root.assumed.includes(IN_EVAL)) return "Show training";
  return root.assumed.includes(IN_TRAINING) ? "Show inference" : null;
}

function kernelsTitle(program: EditorProgram, root: ReportRoot, better: BetterSchedules | undefined): string {
  const compilations = compilationsOf(program, root);
  const kernels = compilations.reduce((n, c) => n + launched(c.graph.kernels).length, 0);
  const bytes = compilations.reduce((n, c) => n + c.graph.bytes, 0);
  const us = compilations.reduce((t, c) => t + launched(c.graph.kernels).reduce((n, k) => n + k.estimate_us, 0), 0);
  const saved = root.compilations.reduce((n, i) => n + allSavedBytes(program, i), 0);
  const graphs = compilations.length > 1 ? ` in ${compilations.length} graphs` : "";
  const keeps = saved > 0 ? `, ${formatBytes(saved)} saved for backward` : "";
  const assumed = root.assumed.length ? ` (${assumedText(root.assumed)})` : "";
  const possible = betterTitle(better, root.compilations, { kernels, bytes, estimateUs: us });
  const beside = possible === null ? "" : ` (${possible})`;
  return `${kernels} kernel${kernels === 1 ? "" : "s"}${graphs}, ${formatBytes(bytes)}, est. ${formatTime(us)}${beside}${keeps}${assumed}`;
}

/** in short what a guess rests on; hover and diagnostic say all of it */
function assumedText(assumed: readonly string[]): string {
  const short = assumed
    .filter(a => a !== "analysed as if compiled")
    .map(a => (a === IN_EVAL ? "eval" : a === IN_TRAINING ? "train" : a.replace(/\bfloat(16|32|64)\b/g, "f$1")));
  return short.length ? `assumed: ${short.join(", ")}` : "assumed to be compiled";
}

function benchmarkTitle(program: EditorProgram, root: ReportRoot, measured: Measurements): string {
  const compilations = compilationsOf(program, root);
  const times = compilations.flatMap(c => measured.get(c.codeKey) ?? []);
  const [first] = times;
  if (!first || times.length !== compilations.length) return "Benchmark";
  const bytes = compilations.reduce((n, c) => n + c.graph.bytes, 0);
  const total = times.reduce((t, m) => t + m.medianUs, 0);
  const parts = [formatTime(total), formatBandwidth((bytes / total) * 1e6)];
  if (first.shareOfCopy !== null && times.length === 1)
    parts[1] += ` (${Math.round(100 * first.shareOfCopy)}% of copy)`;
  if (first.speedupOverCompile !== null && times.length === 1)
    parts.push(`${first.speedupOverCompile.toFixed(1)}x torch.compile`);
  const errors = times.flatMap(t => t.maxError ?? []);
  if (errors.length) parts.push(`max err ${Math.max(...errors).toExponential(0)}`);
  return `${parts.join(", ")} (${first.where})`;
}
