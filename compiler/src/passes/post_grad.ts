// Passes right before lowering (compile_fx.view_to_reshape and post_grad_passes). In: a forward, backward or inference
// graph after the joint graph's passes. Out: the same graph, as it is lowered and printed as AFTER POST GRAD.
// Promises: names stay.

import type { GraphInfo } from "../aot/types";
import { guardsOf } from "../aten/dim_math";
import type { FxGraph } from "../fx/graph";
import { isFakeTensor } from "../fx/print";
import type { FakeTensor } from "../fx/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { ShapeEnv } from "../inductor/symbolic/shape_env";
import { Rewriter } from "./edit";
import { reorderForLocality } from "./locality";
import { moveConstructors } from "./move_constructors";
import { removeNoopOps } from "./noop_ops";
import { SECOND_PASS, THIRD_PASS } from "./post_rules";
import { propagateInputStrides, propagateReplaced, valuesRead } from "./propagate";
import { reinplace } from "./reinplace";
import { applyRules } from "./rules";
import { stableTopologicalSort } from "./sort";

export interface PostGradOptions {
  readonly info: Pick<GraphInfo, "kind">;
  readonly shapeEnv: ShapeEnv;
  /** torch._inductor.config by name */
  readonly config: ReadonlyMap<string, unknown>;
  /** backward: strides that the forward really gave the saved values, by input name */
  readonly inputStrides?: ReadonlyMap<string, readonly Expr[]>;
  /** named behaviours of the preset */
  readonly behaviours?: ReadonlyMap<string, unknown>;
}

/**
 * What the graph returned, by position, before a pass changed it: strides that the caller is to see (GraphLowering's
 * original_output_strides).
 */
export type Returned = readonly (FakeTensor | null)[];

export function postGrad(graph: FxGraph, options: PostGradOptions): Returned {
  const config = (name: string): unknown => options.config.get(name) ?? options.behaviours?.get(name);
  const rw = new Rewriter(graph, guardsOf(options.shapeEnv), config);
  for (const n of graph.nodes) if (n.target === "aten.view.default") n.target = "aten.reshape.default";
  propagateInputStrides(rw, options.inputStrides ?? new Map());
  const returned = graph.returned().map(n => (n !== null && isFakeTensor(n.meta.val) ? n.meta.val : null));
  if (options.info.kind === "inference" && config("reorder_for_locality") !== false) reorderForLocality(graph);
  if (config("pattern_matcher") !== false) {
    const before = valuesRead(graph);
    removeNoopOps(rw);
    for (const n of [...graph.nodes]) if (n.target.startsWith("aten._assert_tensor_metadata")) graph.erase(n);
    applyRules(rw, SECOND_PASS);
    applyRules(rw, THIRD_PASS);
    stableTopologicalSort(graph);
    propagateReplaced(rw, before);
  } else stableTopologicalSort(graph);
  moveConstructors(rw);
  reinplace(rw);
  // literals that were folded away (at the end of decompose_auto_functionalized)
  for (const n of graph.nodes.filter(n => n.op === "get_attr" && n.users.size === 0)) graph.erase(n);
  return returned;
}
