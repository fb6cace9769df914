// Arguments for a forward method (or a function of tensors) that nobody calls. In: the callable, its parameters, what is
// written about them. Out: arguments with which it runs to its end; or the failure that got farthest.
import type { Kwargs, Value } from "../objects/values";
import { alternativeChoices } from "./choices/alternatives";
import { distinct } from "./choices/choices";
import { reshaped, tensorChoices } from "./choices/inputs";
import { construct, roundRobin } from "./construct";
import type { InferContext } from "./context";
import { guarded } from "./guarded";
import { callArguments, makeValue } from "./make";
import { blamed, failureOf, NO_OPERATORS } from "./search/failure";
import { choiceLeaves, holeOf, type Leaf, tensorLeaves, withLeaf } from "./search/leaves";
import { messageRepairs } from "./search/message_repairs";
import { SizeProbe } from "./search/probe";
import { type Found, search } from "./search/search";
import { type Resize, resizes } from "./search/solve";
import {
  ABSENT,
  type Choice,
  type Failure,
  type Hole,
  type State,
  type TensorChoice,
  tensor,
  withChoice,
} from "./types";

const TRIALS = 70;
const STEPS = 4_000_000;

/** runs the callable compiled, as a trial: everything is undone afterwards; the number of frames */
export type RunCompiled = (args: readonly Value[], kwargs: Kwargs) => number;

export interface InputSearch {
  readonly holes: readonly Hole[];
  readonly first: State;
  readonly run: RunCompiled;
  /** how many states are tried; by default as many as a root may */
  readonly trials?: number;
}

export function inferInputs(ctx: InferContext, s: InputSearch): Found<ReadonlyMap<string, Value>> {
  return search(
    s.first,
    state => trial(ctx, s, state),
    (state, f) => repairs(ctx, s, state, f),
    s.trials ?? TRIALS,
  );
}

export function valuesOf(ctx: InferContext, holes: readonly Hole[], s: State): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const h of holes) {
    const c = s.get(h.name) ?? ABSENT;
    const v = makeValue(ctx, h, c, cls => {
      const built = construct(ctx, cls, h.globals);
      return built.kind === "built" ? built.value : undefined;
    });
    if (v !== undefined) values.set(h.name, v);
    else if (c.kind !== "absent") ctx.vm.raise("TypeError", `nothing can stand for ${h.name}`);
  }
  return values;
}

function trial(
  ctx: InferContext,
  s: InputSearch,
  state: State,
): { ok: ReadonlyMap<string, Value> } | { failed: Failure } {
  const { vm, torch } = ctx;
  const before = vm.steps;
  let probe = new SizeProbe(new Map());
  let frames = 0;
  const outcome = guarded(ctx, STEPS, () => {
    const values = valuesOf(ctx, s.holes, state);
    const tensors = new Map([...values].flatMap(([k, v]) => tensorLeaves(k, v)));
    for (const list of tensors.values())
      for (const t of list) t.marks = new Map(t.meta.shape.map((_, i) => [i, "dynamic"] as const));
    probe = new SizeProbe(tensors);
    const { args, kwargs } = callArguments(s.holes, values);
    torch.probe = probe;
    try {
      frames = s.run(args, kwargs);
    } finally {
      torch.probe = null;
    }
    if (frames === 0) vm.raise("RuntimeError", NO_OPERATORS);
    return values;
  });
  if ("ok" in outcome) return { ok: outcome.ok };
  return {
    failed: failureOf(outcome.error, outcome.message, {
      steps: vm.steps - before,
      operators: probe.operators,
      decisions: probe.decisions,
      touched: probe.touchedNames,
    }),
  };
}

/** tensors for parameters that an operator wants as tensors: shaped like the first one, then by their names */
function wantedTensors(holes: readonly Hole[], state: State, f: Failure): State[] {
  if (!/must be Tensor, not (NoneType|int|float|bool|str)\b/.test(f.message)) return [];
  const like = [...state.values()].find((c): c is TensorChoice => c.kind === "tensor");
  return blamed(holes, f).flatMap(name => {
    const h = holes.find(x => x.name === name);
    if (!h || (state.get(name) ?? ABSENT).kind === "tensor") return [];
    return distinct([...(like ? [like] : []), ...tensorChoices(h).slice(0, 3)]).map(c => withChoice(state, name, c));
  });
}

function repairs(ctx: InferContext, s: InputSearch, state: State, f: Failure): State[] {
  const holes = s.holes.filter(h => !h.written);
  const out: State[] = wantedTensors(holes, state, f);
  const all = [...state].flatMap(([name, c]) => choiceLeaves(name, c));
  const leaves = all.filter(l => l.c.fixed === undefined);
  const dims = (path: string): readonly number[] => all.find(l => l.path === path)?.c.dims ?? [];
  // sizes that the last questions ask for
  const sized = resizes(f, dims)
    .slice(0, 12)
    .flatMap(r => {
      const leaf = all.find(l => l.path === r.hole);
      if (!leaf || r.dims.some(d => leaf.c.fixed?.includes(d))) return [];
      const alone = withLeaf(state, r.hole, resized(leaf.c, r.dims, r.size));
      return [alone, ...together(alone, leaf, leaves, r)];
    });
  const byMessage = messageRepairs(leaves, state, f);
  // words that say more than a question about a size does
  const told =
    /to have \d+ channels|unpack|Expected \dD|expected \dD|dims\. Received|Dimension out of range|[Tt]oo many indices|permute|rank|dimension specified/.test(
      f.message,
    );
  if (told) out.push(...byMessage, ...sized);
  else out.push(...sized, ...byMessage);
  if (MISMATCH.test(f.message)) out.push(...alike(leaves, state, f));
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
    if (now.kind === "absent" && !ABSENCE.test(`${f.type} ${f.message}`)) return [];
    return others(ctx, h, now, f).map(c => withChoice(state, name, c));
  });
  out.push(...roundRobin(perHole).slice(0, 24));
  return out;
}

const resized = (c: TensorChoice, dims: readonly number[], size: number): TensorChoice => ({
  ...c,
  dims: c.dims.map((d, i) => (dims.includes(i) ? size : d)),
});

/** inputs that meet somewhere have a width together: those that had the old size at the same place from the end get the new one */
function together(alone: State, changed: Leaf, leaves: readonly Leaf[], r: Resize): State[] {
  const fromEnd = r.dims.map(d => changed.c.dims.length - d);
  if (r.dims.includes(0)) return [];
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

function otherTensors(now: TensorChoice): Choice[] {
  const ranks = [now.dims.length - 1, now.dims.length + 1, 2, 3, 4, 1].filter(r => r > 0 && r !== now.dims.length);
  return [
    ...[...new Set(ranks)].map(r => tensor(now.dtype, reshaped(now.dims, r))),
    tensor(now.dtype === "int64" ? "float32" : "int64", now.dims),
  ];
}

const MISMATCH = /must match|Expected size for|cannot be multiplied/;

/** inputs that meet may be of one shape: those that the failing operator read, shaped like others */
function alike(leaves: readonly Leaf[], state: State, f: Failure): State[] {
  const read = leaves.filter(l => f.touched.includes(l.path));
  return read.flatMap(l => {
    const others = leaves.filter(o => o !== l && String(o.c.dims) !== String(l.c.dims));
    return others.slice(0, 3).map(o => withLeaf(state, l.path, { ...l.c, dims: o.c.dims }));
  });
}

/** errors that a missing argument may bring */
const ABSENCE = /NoneType|None|must be|required|specify|provide|Assertion|either/;

function others(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  const list = alternativeChoices(ctx, h, now, f);
  if (now.kind !== "tensor") return list.slice(0, 12);
  // keep what is known of its dims while its rank or type changes
  const kept = list.map(c => (c.kind === "tensor" && c.dims.length === now.dims.length ? { ...c, dims: now.dims } : c));
  return distinct(kept).slice(0, 12);
}
