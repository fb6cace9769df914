// Hover text in an editor's words. The first line answers (kernel, ops, lines, bytes, time); then what the expression is
// (type, operators, what the backward keeps of it), then the reasons that keep its kernel apart, most bytes first.
import type { ReportKernel, ReportRefusal, SourceEntry } from "@fuselens/compiler";
import { REASONS } from "@fuselens/compiler/vocabulary";
import { formatBandwidth, formatBytes, formatTime, lineWords } from "../render/units";
import { type BetterSchedules, betterLines } from "./better";
import { type ChosenGraph, choiceText } from "./choice";
import { layoutLines } from "./layouts";
import { entriesAt, type KernelRef, kernelOf, kernelsOf, numberOf, type Position, refusalsOf, titleOf } from "./lookup";
import { escapeMarkdown, inlineCode } from "./markdown";
import type { Measurement } from "./measurements";
import type { EditorProgram, SizeSymbol, Span } from "./model";
import { savedBytes, savedOnLine } from "./saved";

const KERNELS_SHOWN = 3;
const TYPES_SHOWN = 6;
const REASONS_SHOWN = 4;

export interface HoverText {
  readonly markdown: string;
  readonly span: Span;
  readonly kernels: readonly KernelRef[];
}

export type MeasuredKernel = (ref: KernelRef, kernelName: string) => Measurement | undefined;

/** Null where nothing of a compiled graph stands at the position. */
export function hoverAt(
  program: EditorProgram,
  file: string,
  at: Position,
  measured: MeasuredKernel,
  better?: BetterSchedules,
): HoverText | null {
  const entries = entriesAt(program, file, at);
  const first = entries[0];
  if (!first) return null;
  const kernels = kernelsOf(entries);
  const out = [...kernelLines(program, kernels, measured), ...typeLines(program, entries)];
  out.push(...choiceLines(program, kernels));
  out.push(...layoutLines(program, kernels));
  out.push(...savedLines(savedBytes(program, entries) ?? 0, savedOnLine(program, entries, first.span.line)));
  out.push(...betterLines(better, kernels));
  out.push(...reasonLines(refusalsOf(program, kernels)));
  const assumed = new Set(kernels.flatMap(ref => kernelOf(program, ref)?.assumed ?? []));
  if (assumed.size) out.push(`*Assumed: ${[...assumed].map(escapeMarkdown).join("; ")}*`);
  return { markdown: out.join("\n\n"), span: first.span, kernels };
}

/** what the backward keeps of the expression, and of its whole line where that is more */
function savedLines(expression: number, line: number): string[] {
  if (expression === 0 && line === 0) return [];
  const own = expression > 0 ? [`Kept for the backward pass: **${formatBytes(expression)}**`] : [];
  const whole =
    line > expression && formatBytes(line) !== formatBytes(expression)
      ? [`${own.length ? "" : "Kept for the backward pass: "}**${formatBytes(line)}** by the whole line`]
      : [];
  return [[...own, ...whole].join(", ")];
}

const PRODUCT = /^triton_tem_|^extern_kernels\.|scaled_dot_product/;

/** how the matrix products of the kernels' graphs are computed: an estimate, or what was measured and by how much it won */
function choiceLines(program: EditorProgram, kernels: readonly KernelRef[]): string[] {
  const graphs = new Set(
    kernels
      .filter(k => PRODUCT.test(kernelOf(program, k)?.name ?? ""))
      .map(k => program.compilations[k.compilation]?.graph),
  );
  return [...graphs].flatMap(g => (g?.choice ? [choiceLine({ choice: g.choice, kernels: g.kernels })] : []));
}

function choiceLine(g: ChosenGraph): string {
  const more = `; Benchmark measures ${g.choice.ways.length} ways`;
  return `**Matrix products**: ${choiceText(g, inlineCode, escapeMarkdown, more)}`;
}

export function kernelLines(program: EditorProgram, kernels: readonly KernelRef[], measured: MeasuredKernel): string[] {
  if (!kernels.length) return ["*no kernel: folded into its users, or never computed*"];
  const lines = kernels.slice(0, KERNELS_SHOWN).flatMap(ref => {
    const kernel = kernelOf(program, ref);
    const graph = program.compilations[ref.compilation]?.graph;
    if (!kernel || !graph) return [];
    const where = graph.kind === "inference" ? "" : ` (${graph.kind})`;
    return [kernelLine(kernel, numberOf(program, ref), where, measured(ref, kernel.name))];
  });
  const rest = kernels.slice(KERNELS_SHOWN).flatMap(ref => kernelOf(program, ref) ?? []);
  if (rest.length) {
    const bytes = rest.reduce((n, k) => n + k.bytes, 0);
    const us = rest.reduce((n, k) => n + k.estimate_us, 0);
    lines.push(
      `… and ${rest.length} more kernel${rest.length === 1 ? "" : "s"}, ${formatBytes(bytes)}, est. ${formatTime(us)}`,
    );
  }
  return lines;
}

function kernelLine(k: ReportKernel, number: number, where: string, m: Measurement | undefined): string {
  const ops = `${k.origins.length} op${k.origins.length === 1 ? "" : "s"}`;
  const time = m
    ? `${formatTime(m.medianUs)} measured (${escapeMarkdown(m.where)}), ${formatBandwidth(m.bytesPerSecond)}`
    : `est. ${formatTime(k.estimate_us)}`;
  const name = k.name === "" ? titleOf(k) : inlineCode(k.name);
  return `**Kernel ${number}**${where} ${name}: ${ops}, ${lineWords(k.at)}, ${formatBytes(k.bytes)}, ${time}`;
}

function typeLines(program: EditorProgram, entries: readonly SourceEntry[]): string[] {
  const types = new Map<string, number>();
  for (const e of entries) {
    const text = `${inlineCode(e.target)}${e.type ? ` → ${inlineCode(e.type)}` : ""}`;
    types.set(text, (types.get(text) ?? 0) + 1);
  }
  const shown = [...types].slice(0, TYPES_SHOWN).map(([text, n]) => (n > 1 ? `${text} (${n} times)` : text));
  const more = types.size - TYPES_SHOWN;
  const out = [shown.join("  \n") + (more > 0 ? `  \n… ${more} more` : "")];
  const symbols = symbolsIn(program, entries);
  if (symbols.length) {
    const words = symbols.map(s => `${inlineCode(s.name)} = ${inlineCode(s.source)}, ${s.value} in the example`);
    out.push(words.join("  \n"));
  }
  return out;
}

/** the size symbols that the entries' types name */
function symbolsIn(program: EditorProgram, entries: readonly SourceEntry[]): SizeSymbol[] {
  const found = new Map<string, SizeSymbol>();
  for (const e of entries) {
    const words = new Set(e.type?.match(/\b[a-z]\w*\b/g) ?? []);
    for (const s of program.compilations[e.compilation]?.symbols ?? []) if (words.has(s.name)) found.set(s.name, s);
  }
  return [...found.values()];
}

function reasonLines(reasons: readonly ReportRefusal[]): string[] {
  const groups = groupReasons(reasons);
  if (!groups.length) return [];
  const lost = groups.reduce((n, g) => n + g.bytesLost, 0);
  const more = groups.length - REASONS_SHOWN;
  const shown = groups.slice(0, REASONS_SHOWN);
  return [
    `**Not fused** (${formatBytes(lost)} that one pass would not move)`,
    shown.map((g, i) => reasonLine(g, !shown.slice(0, i).some(s => s.refusal.code === g.refusal.code))).join("\n"),
    ...(more > 0 ? [`… ${more} more reason${more === 1 ? "" : "s"}`] : []),
  ];
}

export interface ReasonGroup {
  readonly refusal: ReportRefusal;
  readonly count: number;
  readonly bytesLost: number;
}

/** Refusals with the same reason between the same lines count as one, as those of equal layers of a model do. */
export function groupReasons(reasons: readonly ReportRefusal[]): ReasonGroup[] {
  const groups = new Map<string, { refusal: ReportRefusal; count: number; bytesLost: number }>();
  for (const r of reasons) {
    const key = `${r.code} ${r.at[0].join(",")} ${r.at[1].join(",")} ${r.aIndex} ${r.bIndex}`;
    const group = groups.get(key);
    if (group) {
      group.count++;
      group.bytesLost += r.bytesLost;
    } else groups.set(key, { refusal: r, count: 1, bytesLost: r.bytesLost });
  }
  return [...groups.values()].sort((x, y) => y.bytesLost - x.bytesLost);
}

/** the way out is said once for each kind of reason */
function reasonLine(g: ReasonGroup, withAdvice: boolean): string {
  const r = g.refusal;
  const where = `${betweenText(r)}${g.count > 1 ? `, ${g.count} times` : ""}`;
  const indices = r.aIndex || r.bIndex ? `: ${inlineCode(r.aIndex || "-")} against ${inlineCode(r.bIndex || "-")}` : "";
  const advice = withAdvice ? adviceFor(r.code) : null;
  const wayOut = advice === null ? "" : `  \n  *${advice}*`;
  return `- **${formatBytes(g.bytesLost)}** ${where}: ${escapeMarkdown(detailOf(r))}${indices} (${inlineCode(r.code)})${wayOut}`;
}

/** "line 6 with line 7", "lines 6, 8 with line 9", "within line 6" */
export function betweenText(r: ReportRefusal): string {
  const [a, b] = [linesText(r, 0), linesText(r, 1)];
  return a === b ? `within ${a}` : `${a} with ${b}`;
}

/** "line 6", "lines 6-8, 12" */
export function linesText(r: ReportRefusal, side: 0 | 1): string {
  return lineWords(r.at[side].length ? r.at[side] : r.lines[side]);
}

/** our own words, so they need no escaping */
export function adviceFor(code: string): string | null {
  return Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS].advice : null;
}

/** what was said of this pair; where that is but the name of a setting, what the name means */
export function detailOf(r: ReportRefusal): string {
  return r.detail === r.code ? reasonTitle(r.code).toLowerCase() : r.detail;
}

/** "op0 writes buf0 at d0": what one side of a refused pair does with the buffer that both use */
export function accessText(
  r: ReportRefusal,
  side: "a" | "b",
  buffer: string,
  quote: (text: string) => string = text => text,
): string {
  const [node, access, index] = side === "a" ? [r.a, r.aAccess, r.aIndex] : [r.b, r.bAccess, r.bIndex];
  return `${quote(node)} ${access ?? "uses"} ${buffer}${index ? ` at ${quote(index)}` : ""}`;
}

export function reasonTitle(code: string): string {
  return Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS].title : code;
}
