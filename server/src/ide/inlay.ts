// Inlay hints: shapes where values are named, kernel numbers at line ends. In: a program, the text, a range of lines.
import type { SourceEntry } from "@fuselens/compiler";
import { formatBytes, formatTime } from "../render/units";
import { kept } from "./cache";
import { entriesByLine, isLaunched, kernelOf, kernelsOf, numberOf, sizeOf, titleOf } from "./lookup";
import type { EditorProgram } from "./model";
import { parseTensor, shortType } from "./tensor_text";

export interface InlaySettings {
  readonly shapes: boolean;
  readonly kernels: boolean;
}

export interface Inlay {
  readonly kind: "shape" | "kernel";
  /** 1-based */
  readonly line: number;
  /** 0-based, UTF-16 */
  readonly column: number;
  readonly label: string;
  /** plain text, of our own words and kernel names */
  readonly tooltip: string;
}

/** how many kernel numbers a line end lists before it only counts them */
const NUMBERS_SHOWN = 3;

export function inlaysFor(
  program: EditorProgram,
  file: string,
  lines: readonly string[],
  range: { readonly first: number; readonly last: number },
  settings: InlaySettings,
): Inlay[] {
  const index = entriesByLine(program, file);
  const out: Inlay[] = [];
  for (let line = range.first; line <= range.last; line++) {
    const entries = index.get(line);
    const text = lines[line - 1];
    if (!entries || text === undefined) continue;
    // An expression of several lines has its hints where it ends.
    const ending = entries.filter(e => e.span.endLine === line);
    if (!ending.length) continue;
    if (settings.shapes) out.push(...shapeHint(program, ending, lines));
    if (settings.kernels) out.push(...kernelHint(program, ending, line, text));
  }
  return out;
}

/** the type of the line's outermost expression: after the name that it is assigned to, else after the expression */
function shapeHint(program: EditorProgram, entries: readonly SourceEntry[], lines: readonly string[]): Inlay[] {
  const most = Math.max(...entries.map(e => sizeOf(e.span)));
  const outermost = entries.filter(e => sizeOf(e.span) === most);
  // graphs of a backward pass stand on the same expression with types of gradients: the first graph is the forward's
  const graph = Math.min(...outermost.map(e => e.compilation));
  // an operator may become several nodes, of which the last is its value; callers tell one call from another
  const byCallers = new Map<string, SourceEntry[]>();
  for (const e of outermost)
    if (e.compilation === graph && e.type !== null)
      kept(byCallers, e.callers.join(" "), () => [] as SourceEntry[]).push(e);
  const training = program.compilations[graph]?.graph.kind === "forward";
  const values = [...byCallers.values()].flatMap(nodes => valuesOfCalls(training ? withoutMasks(nodes) : nodes));
  const types = new Set(values.map(e => e.type));
  const [last] = values;
  const parsed = last?.type ? parseTensor(last.type) : null;
  if (!last || !parsed || types.size > 1) return [];
  const { span } = last;
  const before = lines[span.line - 1]?.slice(0, span.column) ?? "";
  const name = /^(\s*)([A-Za-z_]\w*)\s*=\s*\(?\s*$/.exec(before);
  const label = shortType(parsed);
  const tooltip = `${last.target}: ${last.type}`;
  // of a statement whose value nobody takes (opt.step()), no shape is of interest
  const after = lines[span.endLine - 1]?.slice(span.endColumn) ?? "";
  if (/^\s*$/.test(before) && /^\s*(#.*)?$/.test(after)) return [];
  if (name) {
    const column = (name[1]?.length ?? 0) + (name[2]?.length ?? 0);
    return [{ kind: "shape", line: span.line, column, label: `: ${label}`, tooltip }];
  }
  return [{ kind: "shape", line: span.endLine, column: span.endColumn, label: ` → ${label}`, tooltip }];
}

/** what a forward graph computes for its backward alone, and puts on the same expression: masks behind the value */
function withoutMasks(nodes: readonly SourceEntry[]): readonly SourceEntry[] {
  const last = nodes.findLastIndex(e => !e.type?.startsWith("b8"));
  return last < 0 ? nodes : nodes.slice(0, last + 1);
}

/**
 * The values of one expression, in order of its nodes: the last node's. Where the sequence of operators repeats, as that of
 * a layer that is called in a loop does, each repetition is a call of its own.
 */
function valuesOfCalls(nodes: readonly SourceEntry[]): SourceEntry[] {
  const n = nodes.length;
  const repeats = (period: number): boolean =>
    n % period === 0 && nodes.every((e, i) => i < period || e.target === nodes[i - period]?.target);
  let period = 1;
  while (period < n && !repeats(period)) period++;
  return nodes.filter((_, i) => (i + 1) % period === 0);
}

function kernelHint(program: EditorProgram, entries: readonly SourceEntry[], line: number, text: string): Inlay[] {
  const refs = kernelsOf(entries).filter(ref => {
    const k = kernelOf(program, ref);
    return k !== undefined && isLaunched(k);
  });
  if (!refs.length) return [];
  const label =
    refs.length > NUMBERS_SHOWN ? `${refs.length} kernels` : refs.map(r => `K${numberOf(program, r)}`).join(" ");
  const tooltip = refs
    .slice(0, 8)
    .flatMap(ref => {
      const k = kernelOf(program, ref);
      return k
        ? [
            `kernel ${numberOf(program, ref)}: ${titleOf(k)}, ${formatBytes(k.bytes)}, est. ${formatTime(k.estimate_us)}`,
          ]
        : [];
    })
    .join("\n");
  return [{ kind: "kernel", line, column: text.replace(/\s+$/, "").length, label: `  ◆ ${label}`, tooltip }];
}
