// An input that a line takes apart into named ones, or counts. In: the holes, the state that failed, its failure. Out: states
// in which it is a tuple of tensors, each judged by the name that it gets there, or a list of as many as are wanted.
import { heldTensors, ofGraph } from "../choices/inputs";
import { isEdgeList } from "../choices/names";
import type { Choice, Failure, Hole, State } from "../types";
import { withChoice } from "../types";
import { blamed } from "./failure";
import { holeOf } from "./leaves";

/** `nodes, edges = data`, `nodes, edges = data[2:]` */
const PARTS =
  /^\(?\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*,?\s*\)?\s*=\s*([A-Za-z_]\w*)\s*(?:\[(\d+):(?:\d+)?\])?\s*(?:#.*)?$/;

const COUNTED = /^assert\s*\(?\s*len\((\w+)\)\s*==\s*(\d+)?/;
const FEW = [2, 1, 3, 4] as const;

/** a tensor whose rows an assertion counts before anything was computed: a list of as many, which the message may say */
export function counted(holes: readonly Hole[], state: State, f: Failure): State[] {
  const m = f.type === "AssertionError" && f.operators === 0 ? COUNTED.exec(f.line) : null;
  if (!m) return [];
  const said = [m[2], /\b(\d)\b/.exec(f.message)?.[1]].find(n => n !== undefined);
  const named = holes.filter(h => h.name === m[1]);
  const suspects = named.length > 0 ? named : holes.filter(h => f.touched.some(t => holeOf(t) === h.name));
  return suspects.slice(0, 2).flatMap(h => {
    const now = state.get(h.name);
    if (now?.kind !== "tensor") return [];
    const counts = said === undefined ? FEW : [Number(said)];
    return counts.map(n =>
      withChoice(state, h.name, { kind: "seq", items: new Array<Choice>(n).fill(now), tuple: false }),
    );
  });
}

/** a tensor that is taken apart into more or fewer parts than it has rows: before anything was computed, or under its own name */
export function unpacked(holes: readonly Hole[], state: State, f: Failure): State[] {
  const [, targets = "", source, skipped = "0"] = /values to unpack/.test(f.message) ? (PARTS.exec(f.line) ?? []) : [];
  if (source === undefined) return [];
  // what stands before a slice is read nowhere here
  const names = [...new Array<string>(Number(skipped)).fill("_"), ...targets.split(",").map(n => n.trim())];
  const own = holes.filter(h => h.name === source);
  const handedOn = f.operators === 0 ? [...new Set([...f.touched.map(holeOf), ...blamed(holes, f)])] : [];
  const suspects = own.length > 0 ? own : holes.filter(h => handedOn.includes(h.name));
  return suspects.slice(0, 2).flatMap(h => {
    if (state.get(h.name)?.kind !== "tensor") return [];
    const items = names.flatMap((n): Choice[] => {
      const held = heldTensors(h, n);
      const first = (names.some(isEdgeList) ? ofGraph(n, held) : held)[0];
      return first ? [first] : [];
    });
    return items.length === names.length ? [withChoice(state, h.name, { kind: "seq", items, tuple: true })] : [];
  });
}
