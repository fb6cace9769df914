import { describe, expect, it } from "vitest";
import type { FxGraph } from "../fx/graph";
import { printReadable } from "../fx/print";
import { type PrintedGraph, parseConfig, parseLog } from "../fx/testing/parse_printed";
import { logNames, readLog } from "../fx/testing/truth";
import { verifyGraph } from "../fx/verify";
import { aotCompile } from "./compile";
import { frameOf } from "./testing/replay";

const behaviours = new Map<string, unknown>([["symbolic_name_gaps", true]]);

function print(graph: FxGraph, like: PrintedGraph): string {
  return printReadable(graph, {
    title: like.title,
    className: like.className,
    file: like.file,
    joint: like.title.startsWith("Joint"),
  }).trimEnd();
}

describe.skipIf(logNames().length === 0)("functional graphs of recorded programs", () => {
  it.each(logNames())("are those that torch traced and partitioned: %s", name => {
    for (const printed of parseLog(readLog(name))) {
      if (printed.forward === undefined) continue;
      const result = aotCompile(frameOf(printed), { behaviours, keepTraced: true });
      expect(result.diagnostics).toEqual([]);
      if (result.kind === "inference") {
        expect(verifyGraph(result.compiled.graph, { requireValues: true, requireOrigins: false })).toEqual([]);
        const graph = result.attempts[0]?.graph ?? result.graph;
        expect(graph && print(graph, printed.forward)).toBe(printed.forward.text);
      } else if (result.kind === "train") {
        for (const g of [result.joint, result.forward.graph, result.backward.graph])
          expect(g && verifyGraph(g, { requireValues: true })).toEqual([]);
        expect(result.joint && print(result.joint, printed.joint as PrintedGraph)).toBe(printed.joint?.text);
        expect(print(result.forward.graph, printed.forward)).toBe(printed.forward.text);
        expect(print(result.backward.graph, printed.backward as PrintedGraph)).toBe(printed.backward?.text);
        expect(result.backward.donated).toEqual(parseConfig(printed.config).donated);
      } else expect.unreachable();
    }
  });
});
