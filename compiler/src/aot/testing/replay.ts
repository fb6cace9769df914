// Test helper: a captured frame made from a recorded log, so that the stages after capture run without it.
// In: a frame of parse_printed.ts. Out: a CapturedFrame. Shapes, names and stacks are the log's; which inputs need
// gradients and which are parameters comes from its aot_config line.
import type { CapturedFrame, InputInfo } from "../../dynamo/types";
import { copyGraph } from "../../fx/copy";
import { isFakeTensor } from "../../fx/print";
import { type PrintedFrame, parseConfig } from "../../fx/testing/parse_printed";
import { freeSymbols } from "../../inductor/symbolic/expr";
import { ShapeEnv } from "../../inductor/symbolic/shape_env";

/** example sizes for symbols, by order of appearance */
const HINTS = [1024, 2048, 512, 768, 96];

export function frameOf(printed: PrintedFrame, hints: ReadonlyMap<string, number> = new Map()): CapturedFrame {
  const { graph } = copyGraph(printed.pre.graph);
  const info = parseConfig(printed.config);
  const shapeEnv = new ShapeEnv();
  let next = 0;
  for (const n of graph.placeholders()) {
    const v = n.meta.val ?? null;
    for (const e of isFakeTensor(v) ? v.shape : v !== null && typeof v === "object" && "kind" in v ? [v] : []) {
      for (const s of freeSymbols(e)) {
        if (shapeEnv.hints.has(s)) continue;
        shapeEnv.hints.set(s, hints.get(s.name) ?? HINTS[next++ % HINTS.length] ?? 64);
        shapeEnv.sources.set(s, [s.name]);
        shapeEnv.constrainRange(s, 2, Number.POSITIVE_INFINITY);
      }
    }
  }
  const inputs = graph.placeholders().map((node, i): InputInfo => {
    const v = node.meta.val ?? null;
    if (isFakeTensor(v)) node.meta.val = { ...v, requiresGrad: info.requiresGrad[i] === true };
    return {
      node,
      source: node.target,
      kind: isFakeTensor(v) ? "tensor" : "symint",
      parameter: /_parameters_/.test(node.target),
      buffer: /_buffers_/.test(node.target),
      value: null,
    };
  });
  return {
    id: 0,
    name: "f",
    file: printed.pre.graph.nodes.find(n => n.meta.stack.length > 0)?.meta.stack[0]?.file ?? "",
    graph,
    inputs,
    shapeEnv,
    gradEnabled: printed.joint !== undefined,
    fullgraph: false,
    config: new Map(),
    logs: new Set(),
    deterministic: false,
    assumed: [],
    stack: [],
  };
}
