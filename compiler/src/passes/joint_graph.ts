// Passes over the joint graph, and over inference graphs, before anything else of Inductor (joint_graph_passes).
// In: a functional ATen graph. Out: the same graph, simplified. Promises: the order of torch's passes.
import type { ShapeGuards } from "../aten/dim_math";
import type { FxGraph } from "../fx/graph";
import { attentionRules } from "./attention/fuse";
import { foldUniformConstants } from "./constant_fold";
import { Rewriter } from "./edit";
import { EARLY_RULES, FIRST_RULES, SECOND_RULES } from "./joint_rules";
import { removeNoopOps } from "./noop_ops";
import { fuseSeeds, RANDOM_RULES } from "./random";
import { applyRules } from "./rules";
import { stableTopologicalSort } from "./sort";

/** two batched products and an exponential: anything less holds no attention */
function mayHoldAttention(graph: FxGraph): boolean {
  const count = (target: string): number => graph.nodes.filter(n => n.target === target).length;
  return count("aten.bmm.default") >= 2 && count("aten.exp.default") >= 1;
}

export function jointGraphPasses(graph: FxGraph, guards: ShapeGuards, config: (name: string) => unknown): void {
  const rw = new Rewriter(graph, guards, config);
  removeNoopOps(rw);
  if (config("joint_graph_constant_folding") !== false) foldUniformConstants(rw);
  let count = 0;
  if (config("pattern_matcher") !== false) {
    count += applyRules(rw, EARLY_RULES);
    count += applyRules(rw, [...FIRST_RULES, ...(mayHoldAttention(graph) ? attentionRules(guards) : [])]);
    count += applyRules(rw, SECOND_RULES);
  }
  if (config("fallback_random") !== true) {
    count += applyRules(rw, RANDOM_RULES);
    fuseSeeds(rw);
  }
  if (count > 0) stableTopologicalSort(graph);
}
