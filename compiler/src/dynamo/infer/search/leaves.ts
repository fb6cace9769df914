// Tensors inside choices and the values made of them, by where they stand: "x", "x/0", "x/image".
import { PyDict, PyInstance, PyList, PyTuple, type Value } from "../../objects/values";
import { PyTensor } from "../../torch/objects";
import { RECORD } from "../make";
import { ABSENT, type Choice, type State, type TensorChoice, withChoice } from "../types";

export interface Leaf {
  readonly path: string;
  readonly c: TensorChoice;
}

/** The tensors that a value holds, with the paths of the choices that they came from. */
export function tensorLeaves(path: string, v: Value): (readonly [string, readonly PyTensor[]])[] {
  if (v instanceof PyTensor) return [[path, [v]]];
  if (v instanceof PyList || v instanceof PyTuple) return v.items.flatMap((x, i) => tensorLeaves(`${path}/${i}`, x));
  if (v instanceof PyDict) return v.entries().flatMap(([k, x]) => tensorLeaves(`${path}/${String(k)}`, x));
  if (v instanceof PyInstance && v.cls.name === RECORD)
    return v.attrs?.entries().flatMap(([k, x]) => tensorLeaves(`${path}/${String(k)}`, x)) ?? [];
  if (v instanceof PyInstance && v.attrs) return [[path, v.attrs.values().filter(x => x instanceof PyTensor)]];
  return [];
}

/** Tensors inside a choice, with the path to each. */
export function choiceLeaves(path: string, c: Choice): Leaf[] {
  if (c.kind === "tensor") return [{ path, c }];
  if (c.kind === "seq") return c.items.flatMap((x, i) => choiceLeaves(`${path}/${i}`, x));
  return c.kind === "dict" || c.kind === "record" ? c.entries.flatMap(([k, x]) => choiceLeaves(`${path}/${k}`, x)) : [];
}

function replaceLeaf(c: Choice, rest: readonly string[], made: Choice): Choice {
  const [head, ...tail] = rest;
  if (head === undefined) return made;
  if (c.kind === "seq")
    return { ...c, items: c.items.map((x, i) => (String(i) === head ? replaceLeaf(x, tail, made) : x)) };
  if (c.kind === "dict" || c.kind === "record")
    return { ...c, entries: c.entries.map(([k, x]) => [k, k === head ? replaceLeaf(x, tail, made) : x]) };
  return c;
}

/** The state with another choice at `path`. */
export function withLeaf(state: State, path: string, made: Choice): State {
  const [hole = "", ...rest] = path.split("/");
  return withChoice(state, hole, replaceLeaf(state.get(hole) ?? ABSENT, rest, made));
}

/** The tensor with another size at these dimensions. */
export const resized = (c: TensorChoice, dims: readonly number[], size: number): TensorChoice => ({
  ...c,
  dims: c.dims.map((d, i) => (dims.includes(i) ? size : d)),
});

export const holeOf = (path: string): string => path.split("/")[0] ?? path;

/** Where one of several items that were alike has changed: the state in which all of them have. */
export function inAllItems(before: State, after: State): State[] {
  for (const [hole, c] of after) {
    const old = before.get(hole);
    if (old === c || old?.kind !== "seq" || c.kind !== "seq" || old.items.length !== c.items.length) continue;
    const [first] = old.items;
    const changed = c.items.filter((x, i) => x !== old.items[i]);
    const [made] = changed;
    if (c.items.length < 2 || changed.length !== 1 || made === undefined || !old.items.every(x => same(x, first)))
      continue;
    return [withChoice(after, hole, { ...c, items: c.items.map(() => made) })];
  }
  return [];
}

/** Where one of the tensors that met has got another rank, and others were like it: the state in which all of those have. */
export function inAllAlike(after: State, met: readonly Leaf[]): State[] {
  const made = new Map([...after].flatMap(([k, c]) => choiceLeaves(k, c)).map(l => [l.path, l.c]));
  const moved = met.filter(l => made.has(l.path) && made.get(l.path) !== l.c);
  const [one] = moved;
  const to = one && made.get(one.path);
  if (moved.length !== 1 || !one || !to || to.dims.length === one.c.dims.length) return [];
  const alike = met.filter(l => l !== one && l.c.dtype === one.c.dtype && l.c.dims.join() === one.c.dims.join());
  return alike.length === 0 ? [] : [alike.reduce((s, l) => withLeaf(s, l.path, to), after)];
}

const same = (a: Choice | undefined, b: Choice | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
