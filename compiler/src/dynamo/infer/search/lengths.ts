// Sequences that are longer than what the module keeps for them: a mask, positions. In: the tensors of a state and a failure that
// tells two sizes which do not fit. Out: states in which all inputs of the one length have a shorter one together.
import type { Failure, State } from "../types";
import { type Leaf, resized, withLeaf } from "./leaves";

const UNLIKE =
  /size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|[Ee]xpanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)/;

export function shorterTogether(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const sizes = (UNLIKE.exec(f.message) ?? []).slice(1).flatMap(s => (s === undefined ? [] : [Number(s)]));
  const [kept = 0, needed = 0] = [...sizes].sort((a, b) => a - b);
  if (kept < 2 || kept === needed) return [];
  const lengths = new Set(
    leaves.filter(l => f.touched.includes(l.path)).flatMap(l => l.c.dims.slice(l.c.dims.length > 1 ? 1 : 0)),
  );
  return [...lengths].flatMap(length => {
    // several steps of the sequence may come of one
    const times = needed / length;
    const fits = Number.isInteger(times) && kept % times === 0 && kept / times < length;
    if (!fits) return [];
    const long = leaves.filter(l => l.c.dims.includes(length));
    if (long.length < 2) return [];
    const made = long.reduce((s, l) => {
      const at = l.c.dims.flatMap((d, i) => (d === length && (i > 0 || l.c.dims.length === 1) ? [i] : []));
      return at.length === 0 ? s : withLeaf(s, l.path, resized(l.c, at, kept / times));
    }, state);
    return [made];
  });
}
