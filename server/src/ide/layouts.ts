// How operands of products and convolutions lie, in an editor's words. In: a report's layouts. Out: lines for a terminal and
// for hover. Promises: most bytes first; what moves nothing and was weighed against nothing is left out.
import type { ReportGraph, ReportLayout } from "@fuselens/compiler";
import { LAYOUT_REASONS } from "@fuselens/compiler/vocabulary";
import { formatBytes, formatTime } from "../render/units";
import { type KernelRef, kernelOf } from "./lookup";
import { escapeMarkdown, inlineCode } from "./markdown";
import type { EditorProgram } from "./model";

const SHOWN = 4;

type Layouts = NonNullable<ReportGraph["layouts"]>;

/** those that cost or save something, or were weighed; equal ones of equal lines once */
export function toldLayouts(layouts: Layouts): ReportLayout[] {
  const seen = new Set<string>();
  return layouts
    .filter(l => l.bytes !== 0 || l.estimate_us !== null)
    .filter(l => {
      const key = `${l.code} ${l.at} ${l.shape} ${l.stride} ${l.bytes}`;
      return !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes));
}

const reasonOf = (code: string) =>
  Object.hasOwn(LAYOUT_REASONS, code) ? LAYOUT_REASONS[code as keyof typeof LAYOUT_REASONS] : null;

export const layoutTitle = (code: string): string => reasonOf(code)?.title ?? code;
export const layoutMeaning = (code: string): string | null => reasonOf(code)?.meaning ?? null;

/** One text for each; the times are the product's, whichever operand it is, so each product's are said once. */
export function layoutTexts(layouts: readonly ReportLayout[]): string[] {
  const said = new Set<string>();
  return layouts.map(l => {
    const time = timeText(l);
    const key = `${l.op} ${time}`;
    const text = layoutText(l, said.has(key) ? null : time);
    said.add(key);
    return text;
  });
}

/** "arg1_1 [4093, 4095] in strides [4096, 1], not [4095, 1]: 67.1 MB moved for it, est. 129 us against 203 us without padding" */
function layoutText(l: ReportLayout, time: string | null): string {
  const cost =
    l.bytes > 0
      ? `${formatBytes(l.bytes)} moved for it`
      : l.bytes < 0
        ? `${formatBytes(-l.bytes)} not moved`
        : l.written_by === null
          ? null
          : "written so where it is computed, no pass of its own";
  const parts = [cost, time].filter(p => p !== null);
  const sameShape = l.shape.join() === l.other_shape.join();
  const other = `${sameShape ? "" : `[${l.other_shape.join(", ")}] in `}[${l.other_stride.join(", ")}]`;
  const where = `${l.operand} [${l.shape.join(", ")}] in strides [${l.stride.join(", ")}], not ${other}`;
  return parts.length ? `${where}: ${parts.join(", ")}` : where;
}

function timeText(l: ReportLayout): string | null {
  const times = l.measured_us ?? l.estimate_us;
  if (!times) return null;
  const other = reasonOf(l.code)?.other;
  const text = `${formatTime(times.taken)} against ${formatTime(times.other)}${other ? ` ${other}` : ""}`;
  return l.measured_us ? `measured ${text}` : `est. ${text}`;
}

/** of the products and convolutions that the kernels compute, and of what the kernels write for others */
export function layoutLines(program: EditorProgram, kernels: readonly KernelRef[]): string[] {
  const found = new Set<ReportLayout>();
  for (const ref of kernels) {
    const nodes = new Set(kernelOf(program, ref)?.nodes ?? []);
    for (const l of program.compilations[ref.compilation]?.graph.layouts ?? [])
      if (nodes.has(l.op) || l.written_by === ref.kernel) found.add(l);
  }
  const told = toldLayouts([...found]);
  if (told.length === 0) return [];
  const more = told.length - SHOWN;
  const shown = told.slice(0, SHOWN);
  const texts = layoutTexts(shown);
  const lines = shown.map(
    (l, i) => `- **${layoutTitle(l.code)}** ${escapeMarkdown(texts[i] ?? "")} (${inlineCode(l.code)})`,
  );
  return ["**Layouts**", lines.join("\n") + (more > 0 ? `\n\n… ${more} more` : "")];
}
