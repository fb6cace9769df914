// Dictionaries inside of dictionaries that forward is handed: `sample["target"]["labels"]`, `model(**sample["inputs"])`. In: the
// holes, what stands in them and the failure. Out: states in which what was a tensor holds more under keys of its own.
import { heldTensors } from "../choices/inputs";
import type { Choice, Failure, Hole, State } from "../types";
import { missingKey } from "./failure";
import { choiceLeaves, holeOf, withLeaf } from "./leaves";

const TEXT_KEY = /\[\s*["'](\w+)["']\s*\]/g;

/** the keys that a line reads, in order */
const keysIn = (line: string): string[] => [...line.matchAll(TEXT_KEY)].map(m => m[1] as string);

export function nestedKeys(holes: readonly Hole[], state: State, f: Failure): State[] {
  const unpacked = /^'Tensor' object has no attribute '(keys|items)'/.test(f.message);
  const indexed = f.type === "TypeError" && /^only integers, slices/.test(f.message);
  const key = missingKey(f);
  if (key !== undefined) return withNestedKey(holes, state, f, key);
  if (!unpacked && !indexed) return [];
  const last = keysIn(f.ownLine).pop();
  return f.touched.flatMap(path => {
    const h = holes.find(x => x.name === holeOf(path));
    const leaf = [...state].flatMap(([k, c]) => choiceLeaves(k, c)).find(l => l.path === path);
    if (!h || !leaf || !path.includes("/")) return [];
    if (unpacked) return [withLeaf(state, path, { kind: "dict", entries: [["input", leaf.c]] })];
    const made = last === undefined ? undefined : heldTensors(h, last)[0];
    return [withLeaf(state, path, { kind: "dict", entries: last !== undefined && made ? [[last, made]] : [] })];
  });
}

/** "labels" of `sample["target"]["labels"]`, where the dictionary under "target" has not got it */
function withNestedKey(holes: readonly Hole[], state: State, f: Failure, key: string): State[] {
  const read = keysIn(f.ownLine);
  const out: State[] = [];
  const visit = (h: Hole, path: string, c: Choice): void => {
    if (c.kind !== "dict") return;
    for (const [name, inner] of c.entries) visit(h, `${path}/${name}`, inner);
    const made = path.includes("/") && !c.entries.some(([k]) => k === key) ? heldTensors(h, key)[0] : undefined;
    const own = path.split("/").pop() ?? "";
    if (made && (read.length < 2 || read.includes(own)))
      out.push(withLeaf(state, path, { ...c, entries: [...c.entries, [key, made]] }));
  };
  for (const h of holes) {
    const c = state.get(h.name);
    // a key that stands alone is the outer dictionary's
    if (c && (read.length > 1 || (c.kind === "dict" && c.entries.some(([k]) => k === key)))) visit(h, h.name, c);
  }
  return out;
}
