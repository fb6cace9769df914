// Fusion of a producer with its consumer. In: node1, node2 with node1 among node2's ancestors. Out: why they do not fit,
// or the fused node. Promises: after Scheduler.can_fuse_vertical, fusable_read_and_write, fusable_weak_dep.

import { freeSymbols } from "../symbolic";
import { isIndirect, type MemoryDep, normalize, type WeakDep } from "./dependencies";
import { type Reason, reason } from "./refusal";
import { behaves, bufferNames, flag, isForeach, operationNames, type SchedulerState } from "./state";
import type { AnyNode, Dep } from "./types";

export const isProducerOf = (a: AnyNode, b: AnyNode): boolean => operationNames(a).some(op => b.ancestors.has(op));

/** `relaxed` says which reads of a producer's buffer a special kind of fusion matches by rules of its own. */
export function verticalRefusal(
  s: SchedulerState,
  a: AnyNode,
  b: AnyNode,
  relaxed?: (read: Dep, write: MemoryDep) => boolean,
): Reason | null {
  const remaining = new Map<string, Dep[]>();
  for (const d of b.unmetDependencies) {
    if (d.kind === "weak" && fusableWeakDep(s, d, a, b)) continue;
    const name = s.mutationRenames.get(d.name) ?? d.name;
    const list = remaining.get(name);
    if (list) list.push(d);
    else remaining.set(name, [d]);
  }
  for (const write of a.readWrites.writes) {
    if (write.kind !== "memory") continue;
    const list = remaining.get(s.mutationRenames.get(write.name) ?? write.name);
    if (!list) continue;
    // Inductor removes from the list it walks, so the entry after a removed one waits for the next write.
    for (let i = 0; i < list.length; i++) {
      const read = list[i] as Dep;
      if (fusableReadAndWrite(s, read, write) || relaxed?.(read, write)) list.splice(list.indexOf(read), 1);
    }
  }
  const produced = bufferNames(a);
  for (const list of remaining.values())
    for (const d of list)
      if (produced.has(d.name)) return reason("memory_deps_did_not_match", "memory deps did not match");
  const ops = operationNames(a);
  for (const list of remaining.values()) {
    for (const d of list) {
      const op = s.buffers.get(d.name)?.definingOp.name;
      const group = op === undefined ? undefined : s.fusedNode.get(op);
      if (group && ops.some(o => group.ancestors.has(o))) {
        return reason("intermediate_nodes", "intermediate nodes between node1 & node2");
      }
    }
  }
  return null;
}

/** Whether a consumer's read is at the element that the producer has just written. */
function fusableReadAndWrite(s: SchedulerState, read: Dep, write: MemoryDep): boolean {
  const name = s.mutationRenames.get(read.name) ?? read.name;
  if (read.kind === "star") {
    const written = s.mutationRenames.get(write.name) ?? write.name;
    return read.mode !== null && read.mode === write.mode && name === written;
  }
  // the write keeps its own name: what someone has overwritten since is not what this one wrote
  if (read.kind !== "memory" || name !== write.name || isIndirect(read) || isIndirect(write)) return false;
  // atomic additions and TMA stores need a synchronisation before anyone reads
  if (write.mode !== null) return false;
  if (behaves(s, "compares_deps_before_normalizing") && sameWalk(read, write)) return true;
  let r = read;
  let w = write;
  if (flag(s, "loop_ordering_after_fusion") && read.vars.length !== write.vars.length) {
    r = normalize(read, s.sizevars);
    w = normalize(write, s.sizevars);
  }
  if (sameWalk(r, w)) return true;
  return behaves(s, "compares_merged_loops") && sameWalk(normalize(read, s.sizevars), normalize(write, s.sizevars));
}

/** same index, and the written loops are the reader's first ones: a broadcast over further loops is fine */
function sameWalk(read: MemoryDep, write: MemoryDep): boolean {
  return (
    read.index === write.index &&
    read.sizes.length >= write.sizes.length &&
    write.sizes.every((x, i) => x === read.sizes[i])
  );
}

/**
 * A weak dependency (read before someone overwrites) does not keep two nodes apart if the mutation happens in place: the
 * same element is read, then written.
 */
export function fusableWeakDep(s: SchedulerState, d: WeakDep, a: AnyNode, b: AnyNode): boolean {
  if (!bufferNames(a).has(d.name)) return false;
  const [write, ...more] = b.readWrites.writes.filter(w => w.name === d.mutatingBuffer);
  if (more.length || write?.kind !== "memory" || isIndirect(write)) return false;
  const free = freeSymbols(write.index);
  if (!write.vars.every(v => free.has(v))) return false;
  const real = s.mutationRealName.get(d.mutatingBuffer);
  let readers = 0;
  for (const node of isForeach(a) ? a.snodes : [a]) {
    const reads = node.readWrites.reads.filter(r => r.name === real);
    if (reads.length === 0) continue;
    readers++;
    const inPlace = reads.every(
      r =>
        r.kind === "memory" &&
        !isIndirect(r) &&
        r.index === write.index &&
        r.sizes.length === write.sizes.length &&
        r.sizes.every((x, i) => x === write.sizes[i]),
    );
    if (!inPlace) return false;
  }
  return readers <= 1;
}
