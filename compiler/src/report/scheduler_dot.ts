// DOT text of a scheduler graph. Promises: every text of the user's is escaped for DOT; equal graphs give equal text.
import type { SchedulerGraph } from "./types";

/**
 * DOT of the graph as it stands after round `round` (an index into `rounds`); undefined: as it is launched. `titles` name
 * the groups of `final` in the latter.
 */
export function schedulerDot(graph: SchedulerGraph, round?: number, titles: readonly string[] = []): string {
  const groups = round === undefined ? graph.final : (graph.rounds[round]?.groups ?? graph.final);
  const out = [
    `digraph ${dotString(`${graph.name} (${graph.kind})`)} {`,
    "  rankdir=TB;",
    '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Helvetica,Arial,sans-serif", fontsize=10, margin="0.32,0.08"];',
    '  edge [fontname="Helvetica,Arial,sans-serif", fontsize=8];',
  ];
  const named = round === undefined ? titles : [];
  const titleOf = (i: number, members: readonly number[]): string => named[i] ?? `${members.length} ops`;
  groups.forEach((members, i) => {
    const indent = members.length > 1 ? "    " : "  ";
    if (members.length > 1) {
      out.push(`  subgraph cluster_${i} {`, `    label=${dotString(titleOf(i, members))};`, `    id="group_${i}";`);
      out.push(
        '    style="rounded,filled";',
        `    fillcolor="${GROUP_FILL}";`,
        '    fontname="Helvetica,Arial,sans-serif"; fontsize=10;',
      );
    }
    for (const m of members) {
      const op = graph.ops[m];
      if (!op) continue;
      const lines = op.at.length ? `line${op.at.length === 1 ? "" : "s"} ${op.at.join(", ")}` : "";
      const title = members.length === 1 ? named[i] : undefined;
      const label = dotLabel([
        title ?? "",
        op.name,
        op.origins.slice(0, 4).join(", "),
        [op.what, op.sizes].filter(Boolean).join(" "),
        lines,
      ]);
      out.push(`${indent}n${m} [id="op_${m}", label=${label}, tooltip=${dotString(op.origins.join(", "))}];`);
    }
    if (members.length > 1) out.push("  }");
  });
  for (const e of graph.edges)
    out.push(`  n${e.from} -> n${e.to} [label=${dotString(e.buffer)}${e.order ? ", style=dashed" : ""}];`);
  out.push("}");
  return `${out.join("\n")}\n`;
}

const GROUP_FILL = "#e8eef7";

/** what no XML may hold, and so no drawing as SVG: control characters, halves of surrogate pairs, noncharacters */
const NOT_XML = /[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+/gu;

/** The one escaping function for DOT: a quoted string of one line that its content can't end. */
export function dotString(text: string): string {
  return `"${escaped(text)}"`;
}

/** Lines of a label. Those without text are left out: Graphviz 16 writes past its memory where a label begins with one. */
export function dotLabel(lines: readonly string[]): string {
  return `"${lines
    .map(l => escaped(l).trim())
    .filter(Boolean)
    .join("\\n")}"`;
}

function escaped(text: string): string {
  return text.replace(NOT_XML, " ").replace(/["\\]/g, "\\$&");
}
