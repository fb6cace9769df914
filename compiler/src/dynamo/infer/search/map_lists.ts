// Lists of feature maps, as the necks and heads of detectors and segmenters take them. In: a state's tensors and its failure.
// Out: states in which all maps of a list have changed together, or there are more of them.
import { reshaped } from "../choices/inputs";
import { type Choice, type Failure, type State, withChoice } from "../types";
import { type Leaf, withLeaf } from "./leaves";

/** height and width of the first map of a pyramid */
const WIDEST_MAP = 64;

/** Sequences of a list become maps where a convolution reads one. */
export function asMaps(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  return listsRead(leaves, f)
    .filter(list => list.every(l => l.c.dims.length === 3))
    .map(list => changed(state, list, dims => reshaped(dims, 4)));
}

/** Maps of one size become a pyramid, each half as large as the one before it, where sizes do not fit. */
export function pyramids(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  return listsRead(leaves, f)
    .filter(list => list.every(l => l.c.dims.length === 4))
    .filter(list => new Set(list.map(l => l.c.dims.slice(2).join())).size === 1)
    .map(list =>
      changed(state, list, (dims, i) => {
        const size = Math.max(1, WIDEST_MAP >> i);
        return [...dims.slice(0, 2), size, size];
      }),
    );
}

/** items that a list gets more at once: a run that fails on the second last has come no farther */
const MORE = [1, 2, 3] as const;

/** Lists that are indexed beyond their end, or unpacked into more than they have, get more items like their last. */
export function longer(state: State, f: Failure): State[] {
  const [, wanted, had] =
    /^not enough values to unpack \(expected (\d+), got (\d+)\)/.exec(f.message)?.map(Number) ?? [];
  // a tensor's sizes are no list's items
  if (wanted !== undefined && f.lines.slice(0, 3).some(words => words.has("shape") || words.has("size"))) return [];
  if (wanted === undefined && !/^(list|tuple) index out of range/.test(f.message)) return [];
  const named = (name: string): boolean => f.lines.some(words => words.has(name));
  return [...state].flatMap(([name, c]) => {
    const last = c.kind === "seq" ? c.items[c.items.length - 1] : undefined;
    if (c.kind !== "seq" || last === undefined) return [];
    // what is unpacked may have been joined with other things before
    if (wanted === undefined && !named(name)) return [];
    const missing = wanted === undefined ? MORE : [wanted - (had ?? 0)];
    return missing.map(n => withChoice(state, name, { ...c, items: [...c.items, ...new Array<Choice>(n).fill(last)] }));
  });
}

const TAKEN_APART = /^(?:too many|not enough) values to unpack \(expected (\d)[,)]/;
const COUNTED = /^assert\s*\(?\s*len\(\w+\)\s*==\s*(\d)\b/;

/** Items of a list that the code takes apart are several tensors each: maps beside a class token. */
export function itemsTakenApart(state: State, f: Failure): State[] {
  const parts = (f.type === "AssertionError" ? COUNTED.exec(f.line) : TAKEN_APART.exec(f.message))?.[1];
  if (parts === undefined) return [];
  return [...state].flatMap(([name, c]) => {
    const single = c.kind === "tensor" && f.touched.includes(name) && /(list|s)$/.test(name);
    const own = single ? [c, c] : c.kind === "seq" ? c.items : [];
    if (own.length === 0 || !own.every(i => i.kind === "tensor")) return [];
    const items = own.map(
      (i): Choice => ({ kind: "seq", items: new Array<Choice>(Number(parts)).fill(i), tuple: true }),
    );
    return [withChoice(state, name, { kind: "seq", items, tuple: c.kind === "seq" && c.tuple })];
  });
}

/** the lists of tensors of which the failing operator read one */
function listsRead(leaves: readonly Leaf[], f: Failure): (readonly Leaf[])[] {
  const lists = new Map<string, Leaf[]>();
  for (const l of leaves) {
    const list = /^(.*)\/\d+$/.exec(l.path)?.[1];
    if (list !== undefined) lists.set(list, [...(lists.get(list) ?? []), l]);
  }
  return [...lists.values()].filter(list => list.length > 1 && list.some(l => f.touched.includes(l.path)));
}

const changed = (
  state: State,
  list: readonly Leaf[],
  dims: (now: readonly number[], i: number) => readonly number[],
): State => list.reduce((s, l, i) => withLeaf(s, l.path, { ...l.c, dims: dims(l.c.dims, i) }), state);
