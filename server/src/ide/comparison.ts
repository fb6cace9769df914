// Two compiles of one root under different configurations, side by side. In: both programs. Out: counts and bytes, a
// Markdown table, and two texts that a diff view can set against each other.
import type { ReportKernel } from "@fuselens/compiler";
import { formatBytes, formatTime, lineWords } from "../render/units";
import { launched, titleOf } from "./lookup";
import { escapeMarkdown, inlineCode } from "./markdown";
import type { EditorCompilation, EditorProgram } from "./model";

export interface Side {
  readonly title: string;
  readonly kernels: number;
  readonly bytes: number;
  readonly peakBytes: number;
  readonly estimateUs: number;
  readonly graphs: number;
  /** kernels line by line, in a form that a diff reads well */
  readonly text: string;
}

export interface Comparison {
  readonly left: Side;
  readonly right: Side;
  readonly markdown: string;
  readonly summary: string;
}

export interface SideInput {
  readonly title: string;
  readonly program: EditorProgram;
  readonly root: string | undefined;
}

export function compare(left: SideInput, right: SideInput): Comparison {
  const [a, b] = [sideOf(left), sideOf(right)];
  const summary = `${a.kernels} → ${b.kernels} kernels, ${formatBytes(a.bytes)} → ${formatBytes(b.bytes)}, est. ${formatTime(a.estimateUs)} → ${formatTime(b.estimateUs)}`;
  const row = (name: string, x: string, y: string, change: string) => `| ${name} | ${x} | ${y} | ${change} |`;
  const markdown = [
    `# ${escapeMarkdown(left.root ?? left.program.file.replace(/^.*[\\/]/, ""))}: ${escapeMarkdown(a.title)} against ${escapeMarkdown(b.title)}`,
    "",
    row("", escapeMarkdown(a.title), escapeMarkdown(b.title), "change"),
    "|---|---|---|---|",
    row("graphs", String(a.graphs), String(b.graphs), signed(b.graphs - a.graphs, String)),
    row("kernels", String(a.kernels), String(b.kernels), signed(b.kernels - a.kernels, String)),
    row("bytes moved", formatBytes(a.bytes), formatBytes(b.bytes), signed(b.bytes - a.bytes, formatBytes)),
    row(
      "peak memory",
      formatBytes(a.peakBytes),
      formatBytes(b.peakBytes),
      signed(b.peakBytes - a.peakBytes, formatBytes),
    ),
    row(
      "estimated time",
      formatTime(a.estimateUs),
      formatTime(b.estimateUs),
      signed(b.estimateUs - a.estimateUs, formatTime),
    ),
    "",
    "## Kernels that differ",
    "",
    ...differing(left, right),
  ].join("\n");
  return { left: a, right: b, markdown: `${markdown}\n`, summary };
}

function compilations(s: SideInput): EditorCompilation[] {
  const root = s.program.roots.find(r => r.name === s.root);
  const indices = root ? root.compilations : s.program.compilations.map((_, i) => i);
  return indices.flatMap(i => s.program.compilations[i] ?? []);
}

function sideOf(s: SideInput): Side {
  const all = compilations(s);
  const kernels = all.flatMap(c => launched(c.graph.kernels));
  const sum = (f: (c: EditorCompilation) => number): number => all.reduce((n, c) => n + f(c), 0);
  return {
    title: s.title,
    graphs: all.length,
    kernels: kernels.length,
    bytes: sum(c => c.graph.bytes),
    peakBytes: Math.max(0, ...all.map(c => c.peakBytes)),
    estimateUs: kernels.reduce((n, k) => n + k.estimate_us, 0),
    text: all.map(graphText).join("\n"),
  };
}

function graphText(c: EditorCompilation): string {
  const { graph } = c;
  const out = [`${graph.name} (${graph.kind}): ${formatBytes(graph.bytes)}, peak ${formatBytes(graph.peak_bytes)}`];
  for (const k of launched(graph.kernels)) {
    out.push(`  ${titleOf(k)}`);
    out.push(`    ${lineWords(k.at)}; ${k.origins.join(", ")}`);
    out.push(`    reads ${k.reads.join(", ") || "-"}; writes ${k.writes.join(", ") || "-"}`);
    out.push(`    ${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}`);
  }
  return `${out.join("\n")}\n`;
}

/** kernels as multisets of what they compute: names and numbers shift, origins do not */
function differing(left: SideInput, right: SideInput): string[] {
  const key = (k: ReportKernel): string => `${k.type} ${k.origins.join(" ")}`;
  const count = (s: SideInput): Map<string, { readonly kernel: ReportKernel; n: number }> => {
    const found = new Map<string, { readonly kernel: ReportKernel; n: number }>();
    for (const k of compilations(s).flatMap(c => launched(c.graph.kernels))) {
      const known = found.get(key(k));
      if (known) known.n++;
      else found.set(key(k), { kernel: k, n: 1 });
    }
    return found;
  };
  const [a, b] = [count(left), count(right)];
  const only = (mine: typeof a, other: typeof a): ReportKernel[] =>
    [...mine].flatMap(([k, v]) => Array<ReportKernel>(Math.max(0, v.n - (other.get(k)?.n ?? 0))).fill(v.kernel));
  const line = (mark: string, k: ReportKernel): string =>
    `- ${mark} ${inlineCode(titleOf(k))}, ${lineWords(k.at)}, ${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}`;
  const out = [...only(a, b).map(k => line("only left:", k)), ...only(b, a).map(k => line("only right:", k))];
  return out.length ? out : ["None."];
}

function signed(change: number, format: (n: number) => string): string {
  if (change === 0) return "none";
  return `${change > 0 ? "+" : "−"}${format(Math.abs(change))}`;
}
