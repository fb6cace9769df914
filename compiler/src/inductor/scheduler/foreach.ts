// Foreach kernels: the members of a torch._foreach_ call, launched as one. In: foreach nodes and others. Out: which member
// a node fuses with, and the fused foreach. Promises: after ForeachKernelSchedulerNode.can_fuse, fuse, create_foreach_nodes.
import { makeGroup } from "./groups";
import { type Reason, reason } from "./refusal";
import { isForeach, isNop, isReduction, membersOf, operationNames, type SchedulerState } from "./state";
import type { AnyNode, GroupNode, SchedulerNode } from "./types";

/** Members of each foreach list become one node, placed after all others; the caller sorts anew. */
export function createForeachNodes(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  const byName = new Map(nodes.map(n => [n.name, n] as const));
  const gone = new Set<string>();
  const groups: GroupNode[] = [];
  for (const names of s.graph.foreachLists) {
    const members = names.flatMap(n => {
      const node = byName.get(n);
      return node && !isNop(node) ? [node] : [];
    });
    if (members.length === 0) continue;
    for (const m of members) gone.add(m.name);
    groups.push(makeGroup(s, "ForeachKernelSchedulerNode", members));
  }
  return [...nodes.filter(n => !gone.has(n.name)), ...groups];
}

/** `canFuse` is the scheduler's own check, for the members. */
export function foreachRefusal(
  s: SchedulerState,
  a: AnyNode,
  b: AnyNode,
  canFuse: (a: AnyNode, b: AnyNode) => boolean,
): Reason | "silent" | null {
  if (isForeach(a) && isForeach(b)) {
    if (a.snodes.length !== b.snodes.length) return reason("foreach_length", "foreach do not have same length");
    if (a.snodes.some((m, i) => b.snodes.some((n, k) => i !== k && readsOf(m, n)))) return CROSSED;
    return a.snodes.every((m, i) => canFuse(m, b.snodes[i] as AnyNode)) ? null : "silent";
  }
  if (isForeach(b)) {
    if (isReduction(a))
      return reason(
        "foreach_dependency",
        "candidate producer is a reduction, foreach ops cannot be fused with reductions currently",
      );
    const member = consumerFor(b, a);
    if (!member) return reason("foreach_dependency", "candidate producer is not dep of any foreach consumer");
    if (b.snodes.some(m => m !== member && readsOf(a, m))) return CROSSED;
    return canFuse(a, member) ? null : "silent";
  }
  if (isForeach(a)) {
    if (isReduction(b))
      return reason(
        "foreach_dependency",
        "candidate consumer is a reduction, foreach ops cannot be fused with reductions currently",
      );
    const member = producerFor(s, a, b);
    if (!member) return reason("foreach_dependency", "candidate consumer has no dep in any foreach producer");
    return canFuse(member, b) ? null : "silent";
  }
  return null;
}

/** members run side by side: none may read what another one writes */
const CROSSED = reason("foreach_dependency", "candidate producer is read by another foreach consumer too");

/** whether `reader` reads what `writer` writes */
function readsOf(writer: AnyNode, reader: AnyNode): boolean {
  const names = new Set(writer.outputs.map(o => o.name));
  for (const d of reader.readWrites.reads) if (names.has(d.name)) return true;
  return false;
}

/** the member that reads what `producer` writes */
function consumerFor(group: GroupNode, producer: AnyNode): AnyNode | null {
  const reader = new Map<string, AnyNode>();
  for (const m of group.snodes) for (const d of m.readWrites.reads) reader.set(d.name, m);
  for (const o of producer.outputs) {
    const m = reader.get(o.name);
    if (m) return m;
  }
  return null;
}

/** the one member whose buffers `consumer` reads; null if there are several */
function producerFor(s: SchedulerState, group: GroupNode, consumer: AnyNode): AnyNode | null {
  const byOp = new Map<string, AnyNode>();
  for (const m of group.snodes) for (const o of operationNames(m)) byOp.set(o, m);
  const found = new Set<AnyNode>();
  for (const d of consumer.readWrites.reads) {
    const op = s.buffers.get(d.name)?.definingOp.name;
    const m = op === undefined ? undefined : byOp.get(op);
    if (m) found.add(m);
  }
  const [only, ...more] = found;
  return more.length === 0 ? (only ?? null) : null;
}

export function fuseForeach(s: SchedulerState, a: AnyNode, b: AnyNode): GroupNode {
  const pair = (x: AnyNode, y: AnyNode): AnyNode =>
    makeGroup(s, "FusedSchedulerNode", [...membersOf(x), ...membersOf(y)] as SchedulerNode[]);
  let members: readonly AnyNode[];
  if (isForeach(a) && isForeach(b)) members = a.snodes.map((m, i) => pair(m, b.snodes[i] as AnyNode));
  else if (isForeach(a)) {
    const at = producerFor(s, a, b);
    members = a.snodes.map(m => (m === at ? pair(m, b) : m));
  } else {
    const group = b as GroupNode;
    const at = consumerFor(group, a);
    members = group.snodes.map(m => (m === at ? pair(a, m) : m));
  }
  return makeGroup(s, "ForeachKernelSchedulerNode", members);
}
