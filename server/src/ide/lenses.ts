// Lenses above each compiled function or module: what it becomes, Benchmark, Output code.
import type { Program, ReportRoot } from "@fuselens/compiler";
import { formatBandwidth, formatBytes, formatTime } from "../render/units";
import { compilationsOf, launched } from "./lookup";
import type { Measurements } from "./measurements";

export interface Lens {
  readonly line: number;
  readonly title: string;
  readonly command: "fuselens.showKernels" | "fuselens.benchmark" | "fuselens.showOutputCode";
  readonly root: string;
}

export function lensesFor(program: Program, measured: Measurements): Lens[] {
  return program.roots.flatMap(root => rootLenses(program, root, measured));
}

function rootLenses(program: Program, root: ReportRoot, measured: Measurements): Lens[] {
  const compilations = compilationsOf(program, root);
  const line = root.span.line;
  if (!compilations.length) return [];
  const kernels = compilations.reduce((n, c) => n + launched(c.graph.kernels).length, 0);
  const bytes = compilations.reduce((n, c) => n + c.graph.bytes, 0);
  const graphs = compilations.length > 1 ? ` in ${compilations.length} graphs` : "";
  const assumed = root.assumed.length ? ` (assumed: ${root.assumed.join("; ")})` : "";
  const times = compilations.flatMap(c => measured.get(c.outputCode.standalone) ?? []);
  let benchmark = "Benchmark";
  if (times.length === compilations.length) {
    const total = times.reduce((t, m) => t + m.medianUs, 0);
    const parts = [formatTime(total), formatBandwidth((bytes / total) * 1e6)];
    const [m] = times;
    if (m?.shareOfCopy != null && times.length === 1) parts[1] += ` (${Math.round(100 * m.shareOfCopy)}% of copy)`;
    if (m?.speedupOverCompile != null && times.length === 1)
      parts.push(`${m.speedupOverCompile.toFixed(1)}x torch.compile`);
    const errors = times.flatMap(t => t.maxError ?? []);
    if (errors.length) parts.push(`max err ${Math.max(...errors).toExponential(0)}`);
    benchmark = `${parts.join(", ")} (${m?.where ?? ""})`;
  }
  return [
    {
      line,
      title: `${kernels} kernel${kernels === 1 ? "" : "s"}${graphs}, ${formatBytes(bytes)}${assumed}`,
      command: "fuselens.showKernels",
      root: root.name,
    },
    { line, title: benchmark, command: "fuselens.benchmark", root: root.name },
    { line, title: "Output code", command: "fuselens.showOutputCode", root: root.name },
  ];
}
