// Test only. In: the text of a recorded log. Out: its graphs: dumps before and after fusion, and the fusion lines
// between them. Promises: lines keep their text; the prefix "[LEVEL]:" is taken off.
import type { LoweredGraph } from "../../ir/types";
import { parseDump } from "./parse_dump";

export interface RecordedGraph {
  readonly before: string;
  readonly after: string;
  /** messages of the fusion artifact without the candidates' own lines */
  readonly fusion: readonly string[];
  readonly foreachLists: readonly (readonly string[])[];
  readonly graphText: string;
}

const PREFIX = /^\[(?:DEBUG|INFO|WARNING)\]:/;

export function splitLog(log: string): RecordedGraph[] {
  const records: string[] = [];
  for (const line of log.split("\n")) {
    if (PREFIX.test(line)) records.push(line.replace(PREFIX, ""));
    else if (records.length) records[records.length - 1] += `\n${line}`;
  }
  const graphs: RecordedGraph[] = [];
  let graphText = "";
  let current: { before: string; fusion: string[]; foreach: Map<string, readonly string[]>; text: string } | null =
    null;
  for (const r of records) {
    if (r.startsWith("TRACED GRAPH")) graphText = r;
    else if (r.startsWith("BEFORE FUSION\n"))
      current = { before: r.slice("BEFORE FUSION\n".length), fusion: [], foreach: new Map(), text: graphText };
    else if (r.startsWith("AFTER FUSION\n") && current) {
      graphs.push({
        before: current.before,
        after: r.slice("AFTER FUSION\n".length),
        fusion: current.fusion,
        foreachLists: [...current.foreach.values()],
        graphText: current.text,
      });
      current = null;
    } else if (current) {
      const m = /^ {2}ForeachKernelSchedulerNode\(nodes=(\w+)\)/.exec(r);
      if (m?.[1] && !current.fusion.some(l => l.startsWith("completed"))) current.foreach.set(m[1], m[1].split("_"));
      if (!r.startsWith("  ")) current.fusion.push(r.trimEnd());
    }
  }
  return graphs;
}

export function loweredGraphOf(g: RecordedGraph, hints: ReadonlyMap<string, number> = new Map()): LoweredGraph {
  return parseDump(g.before, { graphText: g.graphText, foreachLists: g.foreachLists, hints });
}
