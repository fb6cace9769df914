import { describe, expect, it } from "vitest";
import { aotCompile } from "../aot/compile";
import { frameOf } from "../aot/testing/replay";
import type { GraphInfo } from "../aot/types";
import { isFakeTensor, printReadable } from "../fx/print";
import { type PrintedGraph, parseLog } from "../fx/testing/parse_printed";
import { logNames, readLog } from "../fx/testing/truth";
import { verifyGraph } from "../fx/verify";
import type { Expr } from "../inductor/symbolic/expr";
import { postGrad } from "./post_grad";

const behaviours = new Map<string, unknown>([["symbolic_name_gaps", true]]);

/** strides with which the recorded graph took its inputs */
function stridesOf(g: PrintedGraph): Map<string, readonly Expr[]> {
  return new Map(
    g.graph.placeholders().flatMap(n => (isFakeTensor(n.meta.val) ? [[n.name, n.meta.val.stride] as const] : [])),
  );
}

describe.skipIf(logNames().length === 0)("post-grad graphs of recorded programs", () => {
  it.each(logNames())("are those that Inductor lowered: %s", name => {
    for (const printed of parseLog(readLog(name))) {
      const frame = frameOf(printed);
      const result = aotCompile(frame, { behaviours });
      const infos: GraphInfo[] =
        result.kind === "inference"
          ? [result.compiled]
          : result.kind === "train"
            ? [result.forward, result.backward]
            : [];
      for (const [i, info] of infos.entries()) {
        const want = printed.post[i];
        if (want === undefined) continue;
        const { graph } = info;
        postGrad(graph, {
          info,
          shapeEnv: frame.shapeEnv,
          config: frame.config,
          behaviours,
          inputStrides: stridesOf(want),
        });
        expect(verifyGraph(graph, { requireValues: false })).toEqual([]);
        expect(printReadable(graph, { title: want.title, className: want.className, file: want.file }).trimEnd()).toBe(
          want.text,
        );
      }
    }
  });
});
