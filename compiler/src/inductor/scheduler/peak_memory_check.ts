// In: two nodes. Out: whether one kernel for both would keep more memory alive than the fusion saves.
// Promises: after can_fusion_increase_peak_memory: storage that two inputs could have shared is weighed against traffic.
import { readNumber } from "../../presets";
import { intValue } from "../symbolic";
import { type SchedulerState, storageSize } from "./state";
import type { AnyNode, ReadWrites } from "./types";

/** elements of lost reuse that one byte of saved traffic outweighs (a literal of Inductor's) */
const OVERHEAD_PER_BYTE = 32;

export function fusionIncreasesPeakMemory(
  s: SchedulerState,
  a: AnyNode,
  b: AnyNode,
  savedBytes: () => number,
): boolean {
  const mine = reuseKeys(s, a);
  const theirs = mine.size === 0 ? mine : reuseKeys(s, b);
  let overhead = 0;
  for (const [key, elements] of mine) {
    if (!theirs.has(key)) continue;
    if (elements === null) return false;
    overhead += elements;
  }
  const tolerance = readNumber(s.behaviours, "peak_memory_tolerance") ?? 0;
  return overhead > tolerance && overhead > OVERHEAD_PER_BYTE * savedBytes();
}

type ReuseKeys = ReadonlyMap<string, number | null>;

/** a node's reads are replaced and never changed, and who uses a buffer is settled before pairs are tried */
const known = new WeakMap<ReadWrites, ReuseKeys>();

/** Inputs that nobody else uses, by what their memory could be reused for; null elements: a symbolic size. */
function reuseKeys(s: SchedulerState, n: AnyNode): ReuseKeys {
  const before = known.get(n.readWrites);
  if (before) return before;
  const keys = new Map<string, number | null>();
  known.set(n.readWrites, keys);
  for (const d of n.readWrites.reads) {
    const b = s.buffers.get(d.name);
    if (b?.users.length !== 1) continue;
    const l = b.buffer.layout;
    if (!("size" in l)) continue;
    const size = s.sizevars.simplify(storageSize(l));
    keys.set(`${l.device.type}:${l.device.index}|${l.dtype}|${size.id}`, intValue(size) ?? null);
  }
  return keys;
}
