// In: nodes after fusion. Out: the bytes that each moves, as Inductor counts them (Scheduler.count_bytes).
// Promises: sizes, not strides; symbols by their example values; nop and tuple-unpacking nodes count 0.
import { itemsize } from "../ir/dtypes";
import { mul } from "../symbolic";
import { interleaving } from "./interleave";
import { behaves, bufferDtype, bufferNumel, isGroup, isNop, layoutOf, membersOf, type SchedulerState } from "./state";
import type { AnyNode, SchedulerNode } from "./types";

export function countBytes(s: SchedulerState, nodes: readonly AnyNode[]): ReadonlyMap<string, number> {
  return new Map(nodes.map(n => [n.name, nodeBytes(s, n)] as const));
}

const FUSED: ReadonlySet<string> = new Set([
  "FusedSchedulerNode",
  "FusedMixOrderReductions",
  "FusedNestedReductions",
  "FusedTransposeReduction",
]);

function nodeBytes(s: SchedulerState, n: AnyNode): number {
  if (isNop(n) || (!isGroup(n) && n.operation.kind === "extern" && n.operation.irClass === "MultiOutput")) return 0;
  if (isGroup(n) && n.combo && behaves(s, "combo_bytes_by_part"))
    return n.snodes.reduce((t, m) => t + nodeBytes(s, m), 0) - (interleaving(s, n.snodes)?.savedBytes ?? 0);
  const single = !isGroup(n) && n.operation.kind === "computed";
  const limit = single ? (s.sizevars.hint(mul(n.group[0], n.group[1])) ?? 0) : Number.POSITIVE_INFINITY;
  const inside = FUSED.has(n.type) ? internalBuffers(n) : new Set<string>();
  const uses = new Map<string, number>();
  // Inductor counts what is only awaited (weak dependencies) as it counts what is read
  for (const d of [...n.readWrites.reads, ...n.readWrites.writes]) uses.set(d.name, (uses.get(d.name) ?? 0) + 1);
  let bytes = 0;
  for (const [name, count] of uses) {
    if (!inside.has(name)) bytes += bufferBytes(s, name, count * limit);
  }
  return bytes;
}

/** buffers that the node writes and nobody outside it uses */
function internalBuffers(n: AnyNode): ReadonlySet<string> {
  const members = new Set<SchedulerNode>(membersOf(n));
  return new Set(n.outputs.filter(o => o.users.every(u => u.node !== null && members.has(u.node))).map(o => o.name));
}

/**
 * At most `elements` of a buffer; one of several outputs counts what is unpacked from it, a call that wrote in place what
 * it wrote into.
 */
function bufferBytes(s: SchedulerState, name: string, elements: number): number {
  const dtype = bufferDtype(s.graph, name);
  if (dtype !== null) return Math.min(s.sizevars.hint(bufferNumel(s.graph, name)) ?? 0, elements) * itemsize(dtype);
  const buffer = s.buffers.get(name);
  if (layoutOf(s.graph, name)?.kind === "none")
    return (buffer?.mutations ?? []).reduce((t, m) => t + bufferBytes(s, m, elements), 0);
  let bytes = 0;
  for (const u of buffer?.users ?? []) {
    if (u.node?.operation.kind !== "extern" || u.node.operation.irClass !== "MultiOutput") continue;
    for (const o of u.node.outputs) bytes += bufferBytes(s, o.name, Number.POSITIVE_INFINITY);
  }
  return bytes;
}
