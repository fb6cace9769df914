// What a file has to be told: the compiler's own diagnostics, graph breaks with a hint, fusions missed that cost more
// than a threshold, operators that stay opaque, results that rest on a guess. Plain data; the LSP layer gives it ranges.
import type { Diagnostic, ReportRefusal } from "@fuselens/compiler";
import { formatBytes } from "../render/units";
import { graphBreakHint } from "./graph_breaks";
import { adviceFor, betweenText, groupReasons, reasonTitle } from "./hover";
import type { EditorGraph, EditorProgram, Span } from "./model";

export interface Problem {
  readonly span: Span;
  readonly severity: Diagnostic["severity"];
  readonly code: string;
  readonly message: string;
  readonly related: readonly { readonly span: Span; readonly message: string }[];
}

export interface ProblemSettings {
  /** a missed fusion that costs less is not listed; null: none is */
  readonly missedFusionBytes: number | null;
  readonly graphBreaks: boolean;
  readonly assumed: boolean;
}

const MISSED_SHOWN = 50;

export function problemsFor(
  program: EditorProgram,
  file: string,
  lines: readonly string[],
  settings: ProblemSettings,
): Problem[] {
  const own = program.diagnostics.filter(d => d.file === file || d.file === "");
  const said = new Set(own.map(d => `${d.span.line} ${d.message}`));
  const out: Problem[] = own.map(d => ({
    ...withHint(d),
    span: d.span,
    severity: d.severity,
    code: d.code,
    related: [],
  }));
  if (settings.graphBreaks) {
    for (const b of program.graphBreaks) {
      if ([...said].some(s => s.startsWith(`${b.line} `) && s.includes(b.reason))) continue;
      const problem = {
        span: lineSpan(lines, b.line),
        severity: "warning" as const,
        code: "graph-break",
        message: `Graph break: ${b.reason}`,
        related: [],
      };
      out.push({ ...problem, ...withHint(problem) });
    }
  }
  out.push(...missedFusions(program, lines, settings.missedFusionBytes));
  out.push(...opaqueOperators(program, lines));
  out.push(...recompiles(program, lines));
  if (settings.assumed) out.push(...assumptions(program, lines));
  return out;
}

function withHint(d: { readonly code: string; readonly message: string }): { readonly message: string } {
  const hint = /graph.?break/i.test(d.code) ? graphBreakHint(d.message) : null;
  return { message: hint === null ? d.message : `${d.message}\n${hint}` };
}

function missedFusions(program: EditorProgram, lines: readonly string[], threshold: number | null): Problem[] {
  if (threshold === null) return [];
  const groups = groupReasons(program.compilations.flatMap(c => c.graph.refusals)).filter(
    g => g.bytesLost >= threshold,
  );
  return groups.slice(0, MISSED_SHOWN).flatMap((g): Problem[] => {
    const [a, b] = [sideLines(g.refusal, 0), sideLines(g.refusal, 1)];
    // where the one side has a line of its own, that is where the two part
    const at = b.find(l => !a.includes(l)) ?? b[b.length - 1] ?? a[0];
    const other = a.find(l => !b.includes(l)) ?? a[0];
    if (at === undefined) return [];
    const advice = adviceFor(g.refusal.code);
    const times = g.count > 1 ? ` (${g.count} times)` : "";
    return [
      {
        span: lineSpan(lines, at),
        severity: "hint",
        code: g.refusal.code,
        message:
          `Not fused: ${betweenText(g.refusal)}${times}, ${formatBytes(g.bytesLost)} that one pass would not move. ` +
          `${reasonTitle(g.refusal.code)}${g.refusal.detail === g.refusal.code ? "" : `: ${g.refusal.detail}`}${advice === null ? "" : `\n${advice}`}`,
        related:
          other === undefined || other === at
            ? []
            : [
                {
                  span: lineSpan(lines, other),
                  message: `the other side${g.refusal.aIndex ? `, indexed by ${g.refusal.aIndex}` : ""}`,
                },
              ],
      },
    ];
  });
}

function sideLines(r: ReportRefusal, side: 0 | 1): readonly number[] {
  return r.at[side].length ? r.at[side] : r.lines[side];
}

function opaqueOperators(program: EditorProgram, lines: readonly string[]): Problem[] {
  const out = new Map<string, Problem>();
  for (const c of program.compilations) {
    for (const o of c.opaque) {
      const line = o.at[o.at.length - 1];
      if (line === undefined) continue;
      out.set(`${line} ${o.kernel}`, {
        span: lineSpan(lines, line),
        severity: "information",
        code: "opaque-operator",
        message: `${o.kernel} is opaque: the graph goes on, but can't be benchmarked: ${o.reason}`,
        related: [],
      });
    }
  }
  return [...out.values()];
}

/** A graph of one root that was compiled for one shape and then for another: each further shape compiles again. */
function recompiles(program: EditorProgram, lines: readonly string[]): Problem[] {
  return program.roots.flatMap((root): Problem[] => {
    const seen = new Map<string, EditorGraph[]>();
    for (const i of root.compilations) {
      const graph = program.compilations[i]?.graph;
      if (!graph || graph.kind === "backward") continue;
      // functions of one name (every module has a forward) stand on other lines
      const first = (seen.get(graph.name) ?? []).find(g => meet(linesOf(g), linesOf(graph)));
      if (!first) {
        seen.set(graph.name, [...(seen.get(graph.name) ?? []), graph]);
        continue;
      }
      const [then, now] = [tensorInputs(first), tensorInputs(graph)];
      const counts = [then.length, now.length] as const;
      if (counts[0] !== counts[1])
        return [
          {
            span: lineSpan(lines, root.span.line),
            severity: "hint",
            code: "recompile",
            message: `${root.name} is compiled again: it took ${counts[0]} inputs and then ${counts[1]}, as where the first call makes state that later calls find.`,
            related: [],
          },
        ];
      const other = now.find((input, n) => shapeText(input) !== shapeText(then[n]));
      const before = other && then[now.indexOf(other)];
      const why = other
        ? `an input was ${before ? shapeText(before) : "not there"} and then ${shapeText(other)}`
        : "something that it depends on changed";
      return [
        {
          span: lineSpan(lines, root.span.line),
          severity: "hint",
          code: "recompile",
          message: `${root.name} is compiled again: ${why}. Mark the size dynamic (torch._dynamo.mark_dynamic, dynamic=True), or keep it fixed.`,
          related: [],
        },
      ];
    }
    return [];
  });
}

const linesOf = (g: EditorGraph): ReadonlySet<number> => new Set(g.kernels.flatMap(k => k.at));
const meet = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => [...a].some(l => b.has(l));

/** the sizes among a graph's inputs are in the shapes of its tensors */
const tensorInputs = (g: EditorGraph): EditorGraph["inputs"] => g.inputs.filter(i => i.dtype !== null);

function shapeText(input: EditorGraph["inputs"][number] | undefined): string {
  return input ? `${(input.dtype ?? "?").replace("torch.", "")}[${input.shape.join(", ")}]` : "";
}

function assumptions(program: EditorProgram, lines: readonly string[]): Problem[] {
  return program.roots.flatMap((r): Problem[] =>
    r.assumed.length && r.compilations.length
      ? [
          {
            span: lineSpan(lines, r.span.line),
            severity: "hint",
            code: "assumed",
            message: `Assumed for ${r.name}: ${r.assumed.join("; ")}. The action "Set example inputs" replaces the guess.`,
            related: [],
          },
        ]
      : [],
  );
}

/** the text of a line without its indentation and comment-free end */
function lineSpan(lines: readonly string[], line: number): Span {
  const text = lines[line - 1] ?? "";
  const column = text.length - text.trimStart().length;
  return { line, column, endLine: line, endColumn: Math.max(column, text.trimEnd().length) };
}
