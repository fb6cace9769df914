// Combo kernels: nodes that do not depend on each other launched as one kernel (`combo_kernels`). In: nodes after fusion.
// Out: nodes with combos in place of what they combine. Promises: after create_combo_kernel_nodes,
// _default_group_nodes_for_combo_kernels: by topological level and device, in chunks.
import { readNumber } from "../../presets";
import { worthCombining } from "./combo_cost";
import { makeGroup } from "./groups";
import { topologicalSort } from "./nodes";
import {
  behaves,
  flag,
  isMixOrder,
  isReduction,
  isTemplate,
  type SchedulerState,
  setting,
  usedBufferNames,
} from "./state";
import { deviceText } from "./texts";
import type { AnyNode } from "./types";

export function createComboKernels(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  const kept = new Set(nodes);
  for (const group of comboGroups(s, nodes)) {
    const candidates = group.filter(n => combinable(s, n));
    const lists = behaves(s, "combo_by_cost") ? worthCombining(s, candidates) : [candidates];
    for (const members of lists) {
      if (members.length < 2) continue;
      for (const n of members) kept.delete(n);
      kept.add(makeGroup(s, "ForeachKernelSchedulerNode", members, { combo: true }));
    }
  }
  return topologicalSort([...kept].sort((a, b) => a.minOrder - b.minOrder));
}

function combinable(s: SchedulerState, n: AnyNode): boolean {
  if ((n.type !== "SchedulerNode" && n.type !== "FusedSchedulerNode") || isTemplate(n)) return false;
  return !(flag(s, "combo_kernels_pointwise_only") && isReduction(n));
}

function comboGroups(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[][] {
  const chunk = setting(s, "combo_kernel_max_num_nodes", readNumber(s.behaviours, "combo_chunk") ?? 8);
  const mixed = new Set(nodes.filter(isMixOrder).flatMap(n => n.outputs.map(o => o.name)));
  const groups: AnyNode[][] = [];
  for (const level of levels(s, nodes)) {
    const byDevice = new Map<string, AnyNode[]>();
    for (const n of level) {
      if (n.device.type !== "cuda" || [...usedBufferNames(n)].some(b => mixed.has(b))) continue;
      const key = deviceText(n.device);
      const list = byDevice.get(key);
      if (list) list.push(n);
      else byDevice.set(key, [n]);
    }
    for (const list of byDevice.values()) {
      for (let i = 0; i < list.length; i += chunk) groups.push(list.slice(i, i + chunk));
    }
  }
  return groups;
}

/** Nodes all of whose producers are in earlier levels, level by level. */
function levels(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[][] {
  const waits = new Map<AnyNode, number>();
  const users = new Map<AnyNode, AnyNode[]>();
  for (const n of nodes) {
    const producers = new Set(
      n.unmetDependencies.flatMap(d => s.fusedNode.get(s.buffers.get(d.name)?.definingOp.name ?? "") ?? []),
    );
    producers.delete(n);
    waits.set(n, producers.size);
    for (const p of producers) users.set(p, [...(users.get(p) ?? []), n]);
  }
  const result: AnyNode[][] = [];
  let ready = nodes.filter(n => waits.get(n) === 0);
  while (ready.length) {
    result.push(ready);
    for (const n of ready) {
      waits.delete(n);
      for (const u of users.get(n) ?? []) waits.set(u, (waits.get(u) ?? 1) - 1);
    }
    ready = [...waits].flatMap(([n, left]) => (left === 0 ? [n] : []));
  }
  return result;
}
