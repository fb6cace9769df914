// Other constructor arguments for a module whose forward ran no operator. In: what stands in the holes. Out: states, those that
// change what a wrapper wraps first.

import { ABSENT, bool, type Choice, type Hole, number, type State, withChoice } from "../types";
import { isEmptySequence } from "./holes";

const IDENTITY = /^torch\.nn\.Identity$/;
const SCALE: Choice = { kind: "scale" };

const changesNothing = (c: Choice): boolean =>
  c.kind === "module" ||
  c.kind === "identity" ||
  ((c.kind === "named" || c.kind === "instance") && IDENTITY.test(c.path));

/**
 * Where a wrapper runs nothing since what it wraps changes nothing: something inside that computes. Where a list holds one
 * width: three. Where factors of one and flags leave an input as it is: factors of two, then lists that are empty by default
 * filled, flags the other way around.
 */
export function computing(holes: readonly Hole[], state: State): State[] {
  const made = new Map(state);
  for (const h of holes) {
    const c = state.get(h.name) ?? ABSENT;
    if (changesNothing(c)) made.set(h.name, SCALE);
    else if (c.kind === "seq" && c.items.length > 0 && c.items.every(changesNothing))
      made.set(h.name, { ...c, items: c.items.map(() => SCALE) });
  }
  const own = holes.filter(h => !h.written && (state.get(h.name) ?? ABSENT).kind === "absent");
  const factors = own.filter(h => h.fallback === 1).map(h => withChoice(state, h.name, number(2)));
  const flags = own.flatMap(h =>
    typeof h.fallback === "boolean" ? [withChoice(state, h.name, bool(!h.fallback))] : [],
  );
  const lists = own.filter(isEmptySequence).flatMap(h => {
    const some = h.choices.find(c => c.kind === "seq" && c.items.length > 0);
    return some ? [withChoice(state, h.name, some)] : [];
  });
  // widths of layers, of which one alone makes none
  const widths = holes.flatMap(h => {
    const c = state.get(h.name) ?? ABSENT;
    const alone = c.kind === "seq" && c.items.length === 1 && c.items[0]?.kind === "number" ? c.items[0] : undefined;
    return alone && c.kind === "seq" ? [withChoice(state, h.name, { ...c, items: [alone, alone, alone] })] : [];
  });
  return [made, ...widths, ...factors, ...lists, ...flags];
}
