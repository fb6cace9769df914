// Keys of a dictionary that the code asks for before it reads them. In: what stands in the holes and the failure. Out: states in
// which the dictionary has not got the key under whose question the failing line stands, so that the code goes past it.
import { type Failure, type State, withChoice } from "../types";

/** lines of the stack, innermost first, that are looked at */
const DEEPEST = 4;
/** lines above a line that are looked through for what it stands under */
const FARTHEST = 60;
const ASKED = /["'](\w+)["']\s+in\s+([A-Za-z_]\w*)(?:\.keys\(\))?/g;

interface Asked {
  readonly key: string;
  readonly name: string;
}

/** `if "target" in batch:` with the line below: the key and the dictionary's name */
function askedAround(lines: readonly string[], line: number): Asked[] {
  const depth = (text: string): number => text.length - text.trimStart().length;
  const out: Asked[] = [];
  let inner = depth(lines[line - 1] ?? "");
  for (let i = line - 2; i >= Math.max(0, line - FARTHEST) && inner > 0; i--) {
    const text = lines[i] ?? "";
    if (text.trim() === "" || depth(text) >= inner) continue;
    inner = depth(text);
    if (/^\s*(el)?if\b/.test(text))
      for (const m of text.matchAll(ASKED)) out.push({ key: m[1] as string, name: m[2] as string });
    if (/^\s*(async )?def\b/.test(text)) break;
  }
  return out;
}

export function withoutAskedKeys(state: State, f: Failure): State[] {
  for (const { file, line } of f.places.slice(0, DEEPEST)) {
    const lines = (file as { readonly lines?: readonly string[] }).lines ?? [];
    for (const { key, name } of askedAround(lines, line)) {
      const made = [...state].flatMap(([hole, c]) => {
        if (c.kind !== "dict" || c.entries.length < 2 || !c.entries.some(([k]) => k === key)) return [];
        const less = { ...c, entries: c.entries.filter(([k]) => k !== key) };
        return [{ named: hole === name, state: withChoice(state, hole, less) }];
      });
      if (made.length > 0) return made.sort((a, b) => Number(b.named) - Number(a.named)).map(m => m.state);
    }
  }
  return [];
}
