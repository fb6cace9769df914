// In: nodes that become one kernel. Out: the node that stands for them. Promises: what a group reads, writes, waits for
// and descends from is derived from its members (init_group_node, refresh_group_node_dependencies).
import { mergeReadWrites } from "./dependencies";
import { unionOf } from "./op_set";
import { isReduction, isTemplate, membersOf, type SchedulerState } from "./state";
import type { AnyNode, GroupNode, GroupType } from "./types";

export interface GroupOptions {
  readonly halves?: readonly [AnyNode, AnyNode];
  readonly combo?: boolean;
}

/** A group of `snodes` in their order; its extent is that of a template, else of the first reduction, else of the first member. */
export function makeGroup(
  s: SchedulerState,
  type: GroupType,
  snodes: readonly AnyNode[],
  options: GroupOptions = {},
): GroupNode {
  const [first] = snodes;
  if (!first) throw new Error("a group needs members");
  const lead = snodes.find(isTemplate) ?? snodes.find(isReduction) ?? first;
  const group: GroupNode = {
    type,
    name: snodes.map(n => n.name).join("_"),
    snodes,
    device: first.device,
    outputs: snodes.flatMap(n => n.outputs),
    group: lead.group,
    ancestors: unionOf(snodes.map(n => n.ancestors)),
    minOrder: Math.min(...snodes.map(n => n.minOrder)),
    maxOrder: Math.max(...snodes.map(n => n.maxOrder)),
    minInputDistance: Math.min(...snodes.map(n => n.minInputDistance)),
    maxInputDistance: Math.max(...snodes.map(n => n.maxInputDistance)),
    readWrites: { reads: [], writes: [], indexExprs: [], rangeVars: [] },
    unmetDependencies: [],
    lastUsage: new Set(),
    ...options,
  };
  refreshGroup(group);
  for (const m of membersOf(group)) s.fusedNode.set(m.name, group);
  return group;
}

/** Reads, writes and unmet dependencies from the members. */
export function refreshGroup(group: GroupNode): void {
  const rw = mergeReadWrites(group.snodes.map(n => n.readWrites));
  const own = new Set(group.outputs.map(o => o.name));
  const writes = new Set(rw.writes);
  group.readWrites = rw;
  group.unmetDependencies = [...new Set(group.snodes.flatMap(n => n.unmetDependencies))].filter(
    d => !own.has(d.name) && !writes.has(d),
  );
}
