// The pre-grad graph as a Python function of eager PyTorch: what generated kernels are compared with. In: a captured
// frame's graph. Out: a module's text with `forward(inputs...)`, inputs in the order of the compiled graph's;
// no line of the source stands in it, so it is the same wherever its function stands.
import type { FxGraph } from "../fx/graph";
import { printReadable } from "../fx/print";

/** null where the graph holds an opaque operator, which eager code could not name */
export function eagerCode(graph: FxGraph): string | null {
  if (graph.nodes.some(n => n.meta.opaque !== undefined)) return null;
  const lines = printReadable(graph, { title: "", className: "GraphModule", comments: false }).split("\n");
  const start = lines.findIndex(l => /^\s*def forward\(self/.test(l));
  const signature = graph
    .placeholders()
    .map(n => n.target)
    .join(", ");
  const body = lines.slice(start + 1).map(l => (l.startsWith("        ") ? l.slice(4) : l));
  const header = [
    "import torch",
    "from math import inf, nan",
    "from torch import device",
    "",
    "",
    `def forward(${signature}):`,
  ];
  return `${[...header, ...body].join("\n").trimEnd()}\n`;
}
