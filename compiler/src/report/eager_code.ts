// The pre-grad graph as a Python function of eager PyTorch: what generated kernels are compared with. In: a captured
// frame's graph. Out: a module's text with `forward(inputs...)`, inputs in the order of the compiled graph's (floats that
// it took as constants are constants here too); no line of the source stands in it, so it is the same wherever its function
// stands.
import { type FxGraph, FxNode } from "../fx/graph";
import { printReadable } from "../fx/print";
import { floatRepr } from "../fx/py_repr";
import { functionsLeak, hasFunctions, WITH_GRADIENT, withRegions } from "./eager_regions";

/** null where the graph holds what eager code could not name: an opaque operator, values that leave an autograd.Function */
export function eagerCode(graph: FxGraph): string | null {
  if (graph.nodes.some(n => n.meta.opaque !== undefined) || functionsLeak(graph)) return null;
  const lines = printReadable(graph, { title: "", className: "GraphModule", comments: false, flat: true }).split("\n");
  const start = lines.findIndex(l => /^\s*def forward\(self/.test(l));
  const constants = floatConstants(graph);
  const signature = graph
    .placeholders()
    .filter(n => !constants.has(n))
    .map(n => n.target)
    .join(", ");
  const body = lines.slice(start + 1).map(l => (l.startsWith("        ") ? l.slice(4) : l));
  const text = withRegions(graph, body);
  const header = [
    "import torch",
    "from math import inf, nan",
    "from torch import device",
    "",
    "prims = torch.ops.prims",
    ...(hasFunctions(graph) ? WITH_GRADIENT : []),
    "",
    "",
    `def forward(${signature}):`,
    ...[...constants].map(([n, v]) => `    ${n.target} = torch.tensor(${floatRepr(v)}, dtype=torch.float64)`),
  ];
  return `${[...header, ...text].join("\n").trimEnd()}\n`;
}

/** inputs that are read as numbers whose value an operator fixed */
function floatConstants(graph: FxGraph): ReadonlyMap<FxNode, number> {
  const found = new Map<FxNode, number>();
  for (const n of graph.nodes) {
    const [source] = n.args;
    const val = n.meta.val ?? null;
    if (n.op !== "call_method" || n.target !== "item" || !(source instanceof FxNode) || source.op !== "placeholder")
      continue;
    if (val !== null && typeof val === "object" && "symFloat" in val && val.symFloat.kind === "float")
      found.set(source, val.symFloat.value);
  }
  return found;
}
