// Rules and how they run. In: a table of rules. Out: how many applied. Promises: as PatternMatcherPass does it, nodes
// are visited from the last to the first, each with the rules for its operator in table order until one applies.
import type { FxNode } from "../fx/graph";
import type { Rewriter } from "./edit";

export interface Rule {
  readonly name: string;
  /** operators at which it is tried */
  readonly targets: readonly string[];
  /** rewrites at `node` and says whether it did */
  readonly apply: (rw: Rewriter, node: FxNode) => boolean;
}

export function applyRules(rw: Rewriter, rules: readonly Rule[]): number {
  const byTarget = new Map<string, Rule[]>();
  for (const rule of rules) {
    for (const t of rule.targets) {
      const list = byTarget.get(t);
      if (list) list.push(rule);
      else byTarget.set(t, [rule]);
    }
  }
  let count = 0;
  const candidates = rw.graph.nodes.filter(n => n.op === "call_function" && byTarget.has(n.target)).reverse();
  for (const node of candidates) {
    for (const rule of byTarget.get(node.target) ?? []) {
      // an earlier rule may have dropped the node or made another operator of it
      if (!rw.graph.has(node)) break;
      if (rule.targets.includes(node.target) && rule.apply(rw, node)) count++;
    }
  }
  return count;
}
