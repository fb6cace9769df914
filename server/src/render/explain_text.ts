// The explain report for a terminal: per graph its kernels in launch order, then the refusals that cost most.
import type { BetterSchedule, ExplainReport, ReportGraph } from "@fuselens/compiler";
import { formatBytes, formatLines, formatTime } from "./units";

const REFUSALS_SHOWN = 8;

/** `better`: per graph, what preset fuselens would save; empty where that was not asked */
export function explainText(report: ExplainReport, better: readonly (BetterSchedule | null)[] = []): string {
  const out: string[] = [`${report.file}  (preset ${report.preset}, target ${report.target})`];
  report.graphs.forEach((g, i) => {
    out.push("", ...graphText(g), ...betterText(better[i] ?? null));
  });
  for (const b of report.graph_breaks) out.push("", `line ${b.line}: graph break: ${b.reason}`);
  if (!report.graphs.length) out.push("", "no compiled function or module was found");
  return `${out.join("\n")}\n`;
}

function graphText(g: ReportGraph): string[] {
  const launched = g.kernels.filter(k => k.type !== "NopKernelSchedulerNode" && k.name !== "");
  const out = [
    `${g.name} (${g.kind}): ${launched.length} kernel${launched.length === 1 ? "" : "s"}, ${formatBytes(g.bytes)} moved, peak ${formatBytes(g.peak_bytes)}`,
  ];
  launched.forEach((k, i) => {
    out.push(`  ${i + 1}. ${k.name}`);
    const ops = `${k.origins.length} op${k.origins.length === 1 ? "" : "s"}`;
    out.push(
      `     lines ${formatLines(k.lines) || "-"}, ${ops}, ${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}${k.assumed.length ? `, assumed: ${k.assumed.join("; ")}` : ""}`,
    );
  });
  const costly = worstRefusals(g);
  if (costly.length) {
    out.push("  not fused:");
    for (const r of costly) {
      out.push(
        `     ${r.a} with ${r.b} (lines ${formatLines(r.lines[0])} | ${formatLines(r.lines[1])}): ${r.detail} [${r.code}], ${formatBytes(r.bytesLost)} lost`,
      );
      if (r.aIndex || r.bIndex) out.push(`        ${r.a} reads at ${r.aIndex || "-"}, ${r.b} at ${r.bIndex || "-"}`);
    }
  }
  return out;
}

function betterText(b: BetterSchedule | null): string[] {
  if (!b) return [];
  return ["  preset fuselens does better:", ...b.places.map(p => `     lines ${formatLines(p.at)}: ${p.text}`)];
}

/** refusals that cost traffic, most bytes first; of several between the same lines for the same reason, one */
export function worstRefusals(g: ReportGraph, count = REFUSALS_SHOWN): ReportGraph["refusals"] {
  const seen = new Set<string>();
  return [...g.refusals]
    .filter(r => r.bytesLost > 0)
    .sort((x, y) => y.bytesLost - x.bytesLost)
    .filter(r => {
      const key = `${r.lines[0]} ${r.lines[1]} ${r.code}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, count);
}
