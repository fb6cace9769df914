// What every graph promises between two stages. In: a graph. Out: the broken promises, none for a good graph.
// Promises checked: names are unique; placeholders come first and the output last; a node stands after its inputs;
// use lists agree with arguments; no node of another graph is used; ATen calls know their value.

import type { FxGraph, FxNode } from "./graph";
import { stackTrace } from "./types";

export interface VerifyOptions {
  /** every call must carry meta.val (true for graphs after AOTAutograd) */
  readonly requireValues?: boolean;
  /** every call with a stack must name where it came from */
  readonly requireOrigins?: boolean;
}

export function verifyGraph(graph: FxGraph, options: VerifyOptions = {}): string[] {
  const broken: string[] = [];
  const seen = new Set<FxNode>();
  const names = new Set<string>();
  let calls = 0;
  for (const [i, node] of graph.nodes.entries()) {
    if (names.has(node.name)) broken.push(`two nodes are named ${node.name}`);
    names.add(node.name);
    if (node.graph !== graph) broken.push(`${node.name} belongs to another graph`);
    if (node.op === "placeholder" && calls > 0) broken.push(`placeholder ${node.name} stands after a call`);
    if (node.op !== "placeholder") calls++;
    if (node.op === "output" && i !== graph.nodes.length - 1) broken.push("the output is not the last node");
    for (const input of node.inputs) {
      if (!seen.has(input)) broken.push(`${node.name} uses ${input.name} before it is defined`);
      if (!input.users.has(node)) broken.push(`${input.name} does not list its user ${node.name}`);
    }
    if (options.requireValues && node.op === "call_function" && node.meta.val === undefined) {
      broken.push(`${node.name} (${node.target}) has no value`);
    }
    if (
      options.requireOrigins &&
      node.op === "call_function" &&
      stackTrace(node.meta.stack).length > 0 &&
      node.meta.fromNode.length === 0
    ) {
      broken.push(`${node.name} has a stack but no source node`);
    }
    seen.add(node);
  }
  for (const node of graph.nodes) {
    for (const user of node.users) {
      if (!seen.has(user) || !user.inputs.includes(node))
        broken.push(`${node.name} lists ${user.name}, which does not use it`);
    }
  }
  if (graph.nodes[graph.nodes.length - 1]?.op !== "output") broken.push("the graph has no output");
  return broken;
}
