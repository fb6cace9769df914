// A reduction and one over groups of what it reduces, in one kernel. In: a FusedNestedReductions node, outer half first.
// Out: one launch. Promises: name, comments and tiling are the outer half's, as in Inductor.

import { indexDtype, reductionHint, usesPersistentReduction } from "../codegen/triton/features";
import { emitBodies, extentOf, finishKernel, givesHalves } from "../codegen/triton/generate";
import { TritonKernel } from "../codegen/triton/kernel";
import type { NestedSpec } from "../codegen/triton/kernel_spec";
import { kernelSource } from "../codegen/triton/kernel_text";
import { emitNested } from "../codegen/triton/nested";
import { isReductionNode, nodeSchedule } from "../codegen/triton/node_schedule";
import { has } from "../codegen/triton/options";
import { membersOf } from "../scheduler/state";
import type { AnyNode, GroupNode, SchedulerNode } from "../scheduler/types";
import { type Expr, intValue } from "../symbolic/expr";
import { type LaunchBuilder, originsOf } from "./launches";

export function launchNested(l: LaunchBuilder, node: GroupNode): void {
  const { b } = l;
  const [outer, grouped] = halves(node);
  const outerNodes = membersOf(outer);
  const groupedNodes = membersOf(grouped);
  const [numel, rnumel] = extentOf(outerNodes);
  const spec = nestedSpec(groupedNodes, numel, rnumel, l);
  const schedule = nodeSchedule(outerNodes, numel, rnumel, b.view.sizevars);
  if (!schedule) throw new Error(`members of ${node.name} do not fit one loop nest`);
  const features = { nodes: outerNodes, numel, rnumel };
  const { tiling, scores } = l.context.chooseTiling(outerNodes, numel, rnumel);
  const hint = reductionHint(features, scores, b.view);
  const decision = has(b.options, "persistent_by_tiling_scores") ? hint : reductionHint(features, null, b.view);
  const kernel = new TritonKernel({
    graph: b.view,
    options: b.options,
    tiling,
    isReduction: true,
    persistent: usesPersistentReduction(features, decision, b.view, b.options),
    indexDtype: indexDtype({ nodes: [...outerNodes, ...groupedNodes], numel, rnumel }, b.view),
    halves: givesHalves(b.view, [...outerNodes, ...groupedNodes]),
    nested: spec,
  });
  for (const n of [...outerNodes, ...groupedNodes])
    for (const o of n.outputs) for (const m of o.mutations) kernel.mutations.add(m);
  emitBodies(l.context, kernel, schedule);
  // the outer results are complete only after its loop
  kernel.disableReduction(() => {});
  emitNested(kernel, groupedNodes, spec);
  finishKernel(kernel);
  const minimum = spec.prefix.startsWith("r") ? "min_rblock" : "min_xblock";
  const e = { kernel, features, hint, scores, schedule };
  const source = kernelSource(e, b.options, b.schedule.graph.kind, [[minimum, String(spec.group)]]);
  const members = [...outerNodes, ...groupedNodes];
  const index = l.define(source, node, outerNodes, originsOf(outerNodes), true, members);
  for (const m of members) b.markRun(m, kernel.inplaceUpdates);
  l.launch(index, source, outerNodes, { all: members });
  l.finish([kernel]);
  b.freeBuffers();
}

function halves(node: GroupNode): readonly [AnyNode, AnyNode] {
  const [a, b] = node.halves ?? [node.snodes[0], node.snodes[1]];
  if (!a || !b) throw new Error(`${node.name} has no halves`);
  return [a, b];
}

/** along which tile the groups lie: rows are cut where the reduced rows are shorter, else columns */
function nestedSpec(grouped: readonly SchedulerNode[], numel: Expr, rnumel: Expr, l: LaunchBuilder): NestedSpec {
  const lead = grouped.find(isReductionNode);
  const group = lead ? intValue(lead.group[1]) : undefined;
  if (!lead || group === undefined) throw new Error("a nested kernel needs a grouped reduction of a static size");
  const sv = l.b.view.sizevars;
  const [iter] = lead.sizes;
  const last = iter[iter.length - 1];
  const alongX = iter.length > 1 ? last !== undefined && sv.knownEquals(last, rnumel) : !sv.knownEquals(numel, 1);
  return { prefix: alongX ? "x" : "r0_", group };
}
