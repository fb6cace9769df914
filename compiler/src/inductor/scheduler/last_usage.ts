// In: nodes in launch order. Out: on each node, the buffers that no later node needs (Scheduler.compute_last_usage).
import type { SchedulerState } from "./state";
import type { AnyNode } from "./types";

export function computeLastUsage(s: SchedulerState, nodes: readonly AnyNode[]): void {
  const later = new Set(s.graph.outputs.flatMap(o => (o && "buffer" in o ? [o.buffer] : [])));
  for (const n of [...nodes].reverse()) {
    const used = usedOrAliased(s, n);
    n.lastUsage = new Set([...used].filter(name => !later.has(name)));
    for (const name of used) later.add(name);
  }
}

/** Buffers that must be alive while the node runs; a weak dependency counts only if it is on a true alias. */
function usedOrAliased(s: SchedulerState, n: AnyNode): ReadonlySet<string> {
  const names = new Set<string>();
  for (const d of [...n.readWrites.reads, ...n.readWrites.writes]) {
    if (d.kind === "weak" && d.isFake) continue;
    names.add(s.mutationRealName.get(d.name) ?? d.name);
  }
  const queue = [...names];
  while (queue.length) {
    for (const alias of s.buffers.get(queue.pop() ?? "")?.aliases ?? []) {
      const real = s.mutationRealName.get(alias) ?? alias;
      if (names.has(real)) continue;
      names.add(real);
      queue.push(real);
    }
  }
  return names;
}
