// Frames without inputs whose value the graph fixes. In: a frame and names of float inputs. Out: the frame captured anew,
// the floats as constants (torch's TensorifyScalarRestartAnalysis). Promises: the given frame stays as it is.
import { PyFloat } from "../aten/types";
import type { CapturedFrame } from "../dynamo/types";
import { copyGraph } from "../fx/copy";
import { FxNode } from "../fx/graph";

export function specializeInputs(
  frame: CapturedFrame,
  names: readonly string[],
  hint: (node: FxNode) => number,
): CapturedFrame {
  const { graph, nodes } = copyGraph(frame.graph);
  for (const node of [...graph.nodes]) {
    const source = node.args[0];
    if (
      node.op !== "call_method" ||
      node.target !== "item" ||
      !(source instanceof FxNode) ||
      !names.includes(source.name)
    )
      continue;
    node.replaceAllUsesWith(new PyFloat(hint(node)));
    graph.erase(node);
  }
  const inputs = frame.inputs.flatMap(input => {
    const node = nodes.get(input.node);
    if (node === undefined) return [];
    if (!names.includes(node.name) || node.users.size > 0) return [{ ...input, node }];
    graph.erase(node);
    return [];
  });
  return { ...frame, graph, inputs };
}
