// Hover text in an editor's words. The first line answers (kernel, ops, lines, bytes, time); then the reasons, largest
// bytesLost first; then the kernel's own lines for this expression.
import type { Program, ReportKernel, ReportRefusal, SourceEntry } from "@fuselens/compiler";
import { formatBandwidth, formatBytes, formatLines, formatTime } from "../render/units";
import { entriesAt, type KernelRef, kernelOf, kernelsOf, type Position } from "./lookup";
import { escapeMarkdown, inlineCode } from "./markdown";
import type { Measurement } from "./measurements";

const REASONS_SHOWN = 4;

export interface HoverText {
  readonly markdown: string;
  readonly span: SourceEntry["span"];
  readonly kernels: readonly KernelRef[];
}

export type MeasuredKernel = (compilation: number, kernelName: string) => Measurement | undefined;

/** Null where nothing of a compiled graph stands at the position. */
export function hoverAt(program: Program, file: string, at: Position, measured: MeasuredKernel): HoverText | null {
  const entries = entriesAt(program, file, at);
  const first = entries[0];
  if (!first) return null;
  const kernels = kernelsOf(entries);
  const out: string[] = [];
  for (const ref of kernels) {
    const kernel = kernelOf(program, ref);
    if (kernel) out.push(kernelLine(kernel, numberOf(program, ref), measured(ref.compilation, kernel.name)));
  }
  if (!kernels.length) out.push("*no kernel: folded into its users, or never computed*");
  const types = [...new Set(entries.map(e => `${inlineCode(e.target)}${e.type ? ` → ${inlineCode(e.type)}` : ""}`))];
  out.push(types.slice(0, 6).join("  \n") + (types.length > 6 ? `  \n… ${types.length - 6} more` : ""));
  const reasons = reasonsFor(program, kernels);
  if (reasons.length) out.push("**Not fused**", ...reasons.slice(0, REASONS_SHOWN).map(reasonLine));
  const assumed = new Set(kernels.flatMap(ref => kernelOf(program, ref)?.assumed ?? []));
  if (assumed.size) out.push(`*Assumed: ${[...assumed].map(escapeMarkdown).join("; ")}*`);
  return { markdown: out.join("\n\n"), span: first.span, kernels };
}

/** the place of a kernel among the launched ones of its graph, from 1 */
function numberOf(program: Program, ref: KernelRef): number {
  const kernels = program.compilations[ref.compilation]?.graph.kernels ?? [];
  return kernels.slice(0, ref.kernel + 1).filter(k => k.type !== "NopKernelSchedulerNode").length;
}

function kernelLine(k: ReportKernel, number: number, m: Measurement | undefined): string {
  const ops = `${k.origins.length} op${k.origins.length === 1 ? "" : "s"}`;
  const lines = `line${k.lines.length === 1 ? "" : "s"} ${formatLines(k.lines)}`;
  const time = m
    ? `${formatTime(m.medianUs)} measured (${m.where}), ${formatBandwidth(m.bytesPerSecond)}`
    : `est. ${formatTime(k.estimate_us)}`;
  return `**Kernel ${number}** ${inlineCode(k.name)}: ${ops}, ${lines}, ${formatBytes(k.bytes)}, ${time}`;
}

function reasonsFor(program: Program, kernels: readonly KernelRef[]): ReportRefusal[] {
  const found = new Map<string, ReportRefusal>();
  for (const ref of kernels) {
    const graph = program.compilations[ref.compilation]?.graph;
    const nodes = new Set(graph?.kernels[ref.kernel]?.nodes ?? []);
    for (const r of graph?.refusals ?? []) {
      const mine = [r.a, r.b].some(n => n.split("_").some(op => nodes.has(op)));
      if (mine && r.bytesLost > 0) found.set(`${ref.compilation} ${r.a} ${r.b} ${r.code}`, r);
    }
  }
  return [...found.values()].sort((x, y) => y.bytesLost - x.bytesLost);
}

function reasonLine(r: ReportRefusal): string {
  const where = `lines ${formatLines(r.lines[0]) || "?"} with ${formatLines(r.lines[1]) || "?"}`;
  const indices = r.aIndex || r.bIndex ? `: ${inlineCode(r.aIndex || "-")} against ${inlineCode(r.bIndex || "-")}` : "";
  return `- **${formatBytes(r.bytesLost)}** ${where}: ${escapeMarkdown(r.detail)}${indices} (${inlineCode(r.code)})`;
}
