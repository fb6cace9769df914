// Other inputs after a failed run. In: the holes, the state that failed, its failure. Out: states to try, most plausible first.

import { PyFloat } from "../../objects/values";
import { alternativeChoices } from "../choices/alternatives";
import { mayBeNone } from "../choices/holes";
import { heldTensors, keptEnds, ofOneImage, reshaped, squareGrids, tensorChoices, tensorDict } from "../choices/inputs";
import { roundRobin } from "../construct";
import type { InferContext } from "../context";
import {
  ABSENT,
  bool,
  type Choice,
  distinct,
  type Failure,
  type Hole,
  NONE,
  number,
  type Resize,
  type State,
  type TensorChoice,
  tensor,
  withChoice,
} from "../types";
import { assertedLarger, assertedLength } from "./agree";
import { asTarget, batchOfList, batchOfOne, imagesScaled, listsAsLong, vectorsAlike } from "./aligned";
import { withoutAskedKeys } from "./asked_keys";
import { blamed, missingKey, NO_OPERATORS } from "./failure";
import { asImages, gridLengths, otherImages, squaresAlike } from "./image_sizes";
import { joinedLast, sumKept } from "./joined";
import { choiceLeaves, holeOf, inAllAlike, inAllItems, type Leaf, resized, withLeaf } from "./leaves";
import { shorterTogether } from "./lengths";
import { itemsTakenApart, longer } from "./map_lists";
import { alike, enlarged, fed, masksAlike, messageRepairs, oneShape, shapeTold, typedAlike } from "./message_repairs";
import { nestedKeys } from "./nested_keys";
import { recurrentRepairs } from "./recurrent_repairs";
import { viewed } from "./reshape_repairs";
import { pairedResizes, resizes, trials } from "./solve";
import { counted, unpacked } from "./unpacked";

/** what a failure asks an input to hold: an attribute of a tensor or of a record, a key of a dictionary */
function held(holes: readonly Hole[], state: State, f: Failure): State[] {
  const attribute = /^'(?:Tensor|Inputs)' object has no attribute '(\w+)'/.exec(f.message)?.[1];
  const key = missingKey(f);
  const indexed = /^only integers, slices|string indices/.test(f.message);
  const name = attribute ?? key;
  if (name === undefined && !indexed) return [];
  const touched = f.touched.map(holeOf);
  const suspects = new Set([...blamed(holes, f), ...touched, ...holes.map(h => h.name)]);
  const out: State[] = [];
  for (const suspect of [...suspects].slice(0, 4)) {
    const h = holes.find(x => x.name === suspect);
    const now = state.get(suspect);
    if (!h || !now) continue;
    const one = (n: string): Choice | undefined => heldTensors(h, n)[0];
    const made = name === undefined ? undefined : one(name);
    if (attribute !== undefined && made) {
      if (now.kind === "record")
        out.push(withChoice(state, suspect, { ...now, entries: [...now.entries, [attribute, made]] }));
      else if (now.kind === "tensor" && (h.usage.attributes.has(attribute) || touched.includes(suspect)))
        out.push(withChoice(state, suspect, { kind: "record", entries: [[attribute, made]] }));
    }
    const more = key !== undefined && made ? withKey(now, key, made) : undefined;
    if (more) out.push(withChoice(state, suspect, more));
    // what is gone through by its keys may as well have none
    if (attribute !== undefined && MAPPING.test(attribute) && now.kind === "tensor")
      out.push(withChoice(state, suspect, tensorDict(h, tensorChoices(h))));
    if (indexed && now.kind === "tensor") out.push(withChoice(state, suspect, { kind: "dict", entries: [] }));
  }
  return out;
}

/** a dictionary, or each of a list of them, with one more key; undefined: there is none that lacks it */
function withKey(now: Choice, key: string, made: Choice): Choice | undefined {
  if (now.kind === "dict")
    return now.entries.some(([k]) => k === key) ? undefined : { ...now, entries: [...now.entries, [key, made]] };
  if (now.kind !== "seq") return undefined;
  const items = now.items.map(i => {
    const more = withKey(i, key, made);
    return more && ofOneImage(more);
  });
  return items.length > 0 && items.every(i => i !== undefined) ? { ...now, items } : undefined;
}

const MAPPING = /^(items|keys|values|get)$/;

const WANTED =
  /(must be Tensor, not|combination of arguments - got) \(?(NoneType|int|float|bool|str|list|tuple|dict)\b/;

/** tensors for parameters that an operator wants as tensors: shaped like the first one, then by their names */
function wantedTensors(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!WANTED.test(f.message)) return [];
  const like = [...state.values()].find((c): c is TensorChoice => c.kind === "tensor");
  const named = blamed(holes, f);
  // a list that is handed on under another name
  const lists = holes.filter(h => /^(seq|dict)$/.test(state.get(h.name)?.kind ?? "")).map(h => h.name);
  return (named.length > 0 ? named : lists).flatMap(name => {
    const h = holes.find(x => x.name === name);
    const now = state.get(name) ?? ABSENT;
    if (!h || now.kind === "tensor") return [];
    const inside = choiceLeaves(name, now).map(l => l.c);
    return distinct([...inside.slice(0, 1), ...(like ? [like] : []), ...tensorChoices(h).slice(0, 3)]).map(c =>
      withChoice(state, name, c),
    );
  });
}

/** numbers for tensors that were taken for sizes, alone or one for each item of the batch */
function wantedNumbers(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/found element of type Tensor at pos/.test(f.message)) return [];
  return f.touched.map(holeOf).flatMap(name => {
    const h = holes.find(x => x.name === name);
    const now = state.get(name);
    if (!h || now?.kind !== "tensor") return [];
    const one = h.choices.find(c => c.kind === "number") ?? number(8);
    const each: Choice = { kind: "seq", items: new Array<Choice>(now.dims[0] ?? 1).fill(number(2)), tuple: false };
    return [one, each].map(c => withChoice(state, name, c));
  });
}

/** inputs that are None by default, where a None was met: all that the code never asks whether they are, then all of them */
function filledIn(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/NoneType/.test(f.message)) return [];
  const absent = holes.filter(h => h.fallback === null && (state.get(h.name) ?? ABSENT).kind === "absent");
  const needed = absent.filter(h => !h.usage.optional && !h.usage.condition);
  const given = (list: readonly Hole[]): State =>
    list.reduce((s, h) => withChoice(s, h.name, h.choices[0] ?? NONE), state);
  return [needed, absent].filter((list, i) => list.length > (i === 0 ? 0 : needed.length)).map(given);
}

const MOST_SPELLED_OUT = 6;

/** what does nothing with its defaults (a factor of 1, no mask) may do something with other values of them */
function spelledOut(holes: readonly Hole[], state: State): State[] {
  const other = (h: Hole): Choice | undefined => {
    const v = h.fallback;
    if (typeof v === "boolean") return bool(!v);
    if (typeof v === "number") return number(v === 0 ? 1 : v * 2);
    if (v instanceof PyFloat) return number(v.value === 0 ? 0.5 : v.value * 2, true);
    if (typeof v === "string") return h.choices.find(c => c.kind === "str" && c.value !== v);
    return v === null ? h.choices.find(c => c.kind !== "none") : undefined;
  };
  return holes
    .filter(h => !h.required && (state.get(h.name) ?? ABSENT).kind === "absent")
    .flatMap(h => {
      const c = other(h);
      return c === undefined ? [] : [withChoice(state, h.name, c)];
    })
    .slice(0, MOST_SPELLED_OUT);
}

/** what `*args` was given where the function that gets them has names for it, and those were given too */
function restLeft(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/got multiple values for (keyword )?argument/.test(f.message)) return [];
  return holes
    .filter(h => h.rest && (state.get(h.name) ?? ABSENT).kind !== "absent")
    .map(h => withChoice(state, h.name, ABSENT));
}

/** States that answer the failure, most plausible first. Sizes that the file writes as numbers stay. */
export function repairs(ctx: InferContext, given: readonly Hole[], state: State, f: Failure): State[] {
  const holes = given.filter(h => !h.written);
  const all = leavesOf(state);
  const leaves = all.filter(l => l.c.fixed === undefined);
  const out: State[] = [
    ...(f.message === NO_OPERATORS ? spelledOut(holes, state) : []),
    ...restLeft(holes, state, f),
    ...nestedKeys(holes, state, f),
    ...held(holes, state, f),
    ...(/^(AttributeError|KeyError|TypeError)$/.test(f.type) ? withoutAskedKeys(state, f) : []),
    ...unpacked(holes, state, f),
    ...counted(holes, state, f),
    ...longer(state, f),
    ...itemsTakenApart(state, f),
    ...filledIn(holes, state, f),
    ...assertedLarger(holes, state, f),
    ...assertedLength(holes, state, f),
    ...wantedTensors(holes, state, f),
    ...wantedNumbers(holes, state, f),
    ...enlarged(state, leaves, f),
    ...fed(state, leaves, f),
    ...typedAlike(state, leaves, f),
    ...masksAlike(state, leaves, f),
    ...vectorsAlike(state, leaves, f),
    ...batchOfList(state, leaves, f),
    ...listsAsLong(state, f),
    ...imagesScaled(state, leaves, f),
    ...shapeTold(state, leaves, f),
    ...asTarget(state, leaves, f),
    ...batchOfOne(state, leaves, f),
    ...oneShape(state, leaves, f),
    ...recurrentRepairs(state, leaves, f),
    ...asImages(state, leaves, f),
    ...squaresAlike(state, leaves, f),
    ...otherImages(state, leaves, f),
    ...sumKept(state, leaves, f),
    ...viewed(state, leaves, f),
    ...joinedLast(state, leaves, f),
    ...alike(state, leaves, f),
  ];
  const dims = (path: string): readonly number[] => all.find(l => l.path === path)?.c.dims ?? [];
  // sizes that the last questions ask for
  const left = trials();
  const sized = resizes(f, dims, left)
    .slice(0, 12)
    .flatMap(r => {
      const leaf = all.find(l => l.path === r.hole);
      if (!leaf || r.dims.some(d => leaf.c.fixed?.includes(d))) return [];
      const alone = withLeaf(state, r.hole, resized(leaf.c, r.dims, r.size));
      // those that met on the way to there before all that are alike
      const met = leaves.filter(l => f.touched.includes(l.path));
      return [alone, ...together(alone, leaf, met, r), ...together(alone, leaf, leaves, r)];
    });
  for (const pair of pairedResizes(f, dims, left)) {
    const both = pair.reduce<State | undefined>((st, { hole, dims: at, size }) => {
      const leaf = st && leavesOf(st).find(l => l.path === hole);
      if (!st || !leaf || at.some(d => leaf.c.fixed?.includes(d))) return undefined;
      return withLeaf(st, hole, resized(leaf.c, at, size));
    }, state);
    if (both) sized.push(both);
  }
  const touched = leaves.filter(l => f.touched.includes(l.path));
  const byMessage = messageRepairs(leaves, state, f).flatMap(made => [...inAllAlike(made, touched), made]);
  // words that say more than a question about a size does
  const told =
    /to have \d+ channels|unpack|number of dim|dimension \d+\W+got|(list|tuple) index out|[Ee]xpected \dD|\d[ -]dim|dims\. Received|Dimension out of range|[Tt]oo many indices|permute|rank|dimension specified|scalar types|Expected dtype|used as indices|boolean masks|sizes provided/.test(
      f.message,
    );
  if (told) out.push(...byMessage, ...sized);
  else out.push(...sized, ...byMessage);
  out.push(...gridLengths(state, leaves, f));
  out.push(...shorterTogether(state, leaves, f));
  // other ranks and types of the inner tensors that the failing operator read
  const inner = leaves.filter(l => f.touched.includes(l.path) && l.path.includes("/")).slice(0, 4);
  out.push(...roundRobin(inner.map(l => otherTensors(l.c).map(c => withLeaf(state, l.path, c)))).slice(0, 16));
  // other kinds and ranks of the holes that the failing operator read, then of those that the running lines name
  const suspects = [...new Set([...f.touched.map(holeOf), ...blamed(holes, f)])];
  if (suspects.length === 0)
    suspects.push(...holes.filter(h => (state.get(h.name) ?? ABSENT).kind !== "absent").map(h => h.name));
  const perHole = suspects.slice(0, 5).map(name => {
    const h = holes.find(x => x.name === name);
    if (!h) return [];
    const now = state.get(name) ?? ABSENT;
    // the program's own words name what it was not given
    const missed = h.fallback === null && f.lines[0]?.has(name);
    if (now.kind === "absent" && !missed && !ABSENCE.test(`${f.type} ${f.message}`)) return [];
    const list = others(ctx, h, now, f);
    return (mayBeNone(h) && now.kind !== "none" ? distinct([NONE, ...list]) : list).map(c =>
      withChoice(state, name, c),
    );
  });
  out.push(...roundRobin(perHole).slice(0, 24));
  return out.flatMap(made => [...inAllItems(state, made), made]);
}

const leavesOf = (state: State): Leaf[] => [...state].flatMap(([name, c]) => choiceLeaves(name, c));

/** inputs that meet somewhere have a width together: those that had the old size at the same place from the end get the new one */
function together(alone: State, changed: Leaf, leaves: readonly Leaf[], r: Resize): State[] {
  const fromEnd = r.dims.map(d => changed.c.dims.length - d);
  if (r.dims.includes(0)) return firstAlike(alone, changed, leaves, r);
  const alike = leaves.filter(l => {
    const at = fromEnd.map(n => l.c.dims.length - n);
    return l !== changed && at.every((i, k) => i > 0 && l.c.dims[i] === changed.c.dims[r.dims[k] ?? 0]);
  });
  if (alike.length === 0) return [];
  const move = (s: State, l: Leaf): State =>
    withLeaf(
      s,
      l.path,
      resized(
        l.c,
        fromEnd.map(n => l.c.dims.length - n),
        r.size,
      ),
    );
  return [alike.reduce(move, alone)];
}

/** code that has sequences first asks for their lengths there */
function firstAlike(alone: State, changed: Leaf, leaves: readonly Leaf[], r: Resize): State[] {
  const alike = leaves.filter(l => l !== changed && l.c.dims[0] === changed.c.dims[0]);
  if (r.dims.length > 1 || changed.c.dims.length < 3 || alike.length === 0) return [];
  return [alike.reduce((s, l) => withLeaf(s, l.path, resized(l.c, [0], r.size)), alone)];
}

function otherTensors(now: TensorChoice): Choice[] {
  const ranks = [now.dims.length - 1, now.dims.length + 1, 2, 3, 4, 1].filter(r => r > 0 && r !== now.dims.length);
  return [
    ...nearRanks(now),
    ...[...new Set(ranks)].map(r => tensor(now.dtype, reshaped(now.dims, r))),
    tensor(now.dtype === "int64" ? "float32" : "int64", now.dims),
  ];
}

/** errors that a missing argument may bring */
const ABSENCE =
  /NoneType|None|must be|required|specify|provide|Assertion|either|invalid combination|non-empty|tuple index out of range/;

function others(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  const list = alternativeChoices(ctx, h, now, f);
  if (now.kind !== "tensor") return list.slice(0, 12);
  // keep what is known of its dims while its rank or type changes
  const kept = list.map(c => (c.kind === "tensor" && c.dims.length === now.dims.length ? { ...c, dims: now.dims } : c));
  return distinct([...nearRanks(now), ...kept]).slice(0, 14);
}

/** one rank less or more, with the sizes that fitted so far */
const nearRanks = (c: TensorChoice): Choice[] =>
  [...squareGrids(c.dims), ...[c.dims.length - 1, c.dims.length + 1].flatMap(r => keptEnds(c.dims, r))].map(d =>
    tensor(c.dtype, d),
  );
