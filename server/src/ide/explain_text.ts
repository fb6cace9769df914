// The explain report for a terminal: per graph its kernels in launch order, then what keeps them apart at a cost.
import type { ExplainReport, ReportGraph } from "@fuselens/compiler";
import { type BetterSchedule, type KernelRefusal, keptApart } from "@fuselens/compiler/vocabulary";
import { terminalLine } from "../render/output";
import { formatBytes, formatTime, lineWords } from "../render/units";
import { choiceLegend, choiceText } from "./choice";
import { accessText, detailOf } from "./hover";
import { layoutTexts, layoutTitle, toldLayouts } from "./layouts";
import { isLaunched, launched, titleOf } from "./lookup";

const REFUSALS_SHOWN = 8;
const LAYOUTS_SHOWN = 8;

export interface ExplainExtras {
  /** per graph, what preset fuselens would save; empty where that was not asked */
  readonly better?: readonly (BetterSchedule | null)[];
  /** per graph, the number of its first kernel; kernels are counted over all graphs where it is left out */
  readonly firstNumbers?: readonly number[];
}

export function explainText(report: ExplainReport, { better = [], firstNumbers }: ExplainExtras = {}): string {
  const out: string[] = [`${report.file}  (preset ${report.preset}, target ${report.target})`];
  let next = 1;
  report.graphs.forEach((g, i) => {
    const first = firstNumbers?.[i] ?? next;
    next = first + launched(g.kernels).length;
    out.push("", ...graphText(g, first), ...betterText(better[i] ?? null));
  });
  for (const b of report.graph_breaks) out.push("", `line ${b.line}: graph break: ${b.reason}`);
  if (!report.graphs.length)
    out.push(
      "",
      report.diagnostics.some(d => d.severity === "error")
        ? "nothing here is compiled: see the errors"
        : "nothing here is compiled: no call of torch.compile, no module, no function of tensors was found",
    );
  return `${out.map(terminalLine).join("\n")}\n`;
}

function graphText(g: ReportGraph, first: number): string[] {
  const count = launched(g.kernels).length;
  const out = [
    `${g.name} (${g.kind}): ${count} kernel${count === 1 ? "" : "s"}, ${formatBytes(g.bytes)} moved, peak ${formatBytes(g.peak_bytes)}`,
  ];
  // what a graph rests on, all of its kernels do
  const assumed = new Set(g.kernels.flatMap(k => k.assumed));
  if (assumed.size) out.push(`  assumed: ${[...assumed].join("; ")}`);
  const numbers = numbersOf(g, first);
  g.kernels.forEach((k, i) => {
    if (!isLaunched(k)) return;
    const ops = `${k.origins.length} op${k.origins.length === 1 ? "" : "s"}`;
    out.push(`  ${numbers[i]}. ${titleOf(k)}`);
    out.push(`     ${linesOf(k.lines, k.at)}, ${ops}, ${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}`);
  });
  if (g.choice) {
    const chosen = { choice: g.choice, kernels: g.kernels };
    out.push(`  matrix products: ${choiceText(chosen)}`, ...choiceLegend(chosen).map(l => `     ${l}`));
  }
  const layouts = toldLayouts(g.layouts ?? []).slice(0, LAYOUTS_SHOWN);
  if (layouts.length) {
    out.push("  layouts:");
    const texts = layoutTexts(layouts);
    for (const [i, l] of layouts.entries()) {
      const by = l.written_by === null ? "" : `, by kernel ${numbers[l.written_by]}`;
      out.push(`     ${lineWords(l.at)}: ${layoutTitle(l.code).toLowerCase()}: ${texts[i]}${by} [${l.code}]`);
    }
  }
  const costly = told(keptApart(g));
  if (costly.length) {
    out.push("  not fused:");
    for (const r of costly) {
      const [a, b] = r.kernels.map(k => numbers[k] ?? "-");
      out.push(
        `     kernel ${a} with ${b} (${linesOf(r.lines[0], r.at[0])} | ${linesOf(r.lines[1], r.at[1])}): ${plainDetail(r)} [${r.code}], ${formatBytes(r.bytesLost)} lost`,
      );
      if (r.buffer !== null) out.push(`        ${accessText(r, "a", r.buffer)}, ${accessText(r, "b", "it")}`);
    }
  }
  return out;
}

/** Inductor's phrase; where it denies a buffer that both nodes do use, also what it means */
function plainDetail(r: KernelRefusal): string {
  const sharedAllTheSame = r.code === "no_shared_data" && r.buffer !== null;
  return sharedAllTheSame ? `${detailOf(r)} (the same buffer, indexed in another way)` : detailOf(r);
}

/** where a stack trace has no line, the one that is known all the same */
function linesOf(lines: readonly number[], at: readonly number[]): string {
  return lineWords(lines.length ? lines : at);
}

/** numbers of a graph's kernels by index; nodes that are not launched have that of the next one */
function numbersOf(g: ReportGraph, first: number): number[] {
  let next = first;
  return g.kernels.map(k => (isLaunched(k) ? next++ : next));
}

function betterText(b: BetterSchedule | null): string[] {
  if (!b) return [];
  return ["  preset fuselens does better:", ...b.places.map(p => `     ${lineWords(p.at)}: ${p.text}`)];
}

/** of several between the same lines for the same reason, one */
function told(refusals: readonly KernelRefusal[]): KernelRefusal[] {
  const seen = new Set<string>();
  return refusals
    .filter(r => {
      const key = `${r.lines[0]} ${r.lines[1]} ${r.code}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, REFUSALS_SHOWN);
}
