// Arguments for a forward method (or a function of tensors) that nobody calls. In: the callable, its parameters, what is
// written about them. Out: arguments with which it runs to its end; or the failure that got farthest.
import type { DType } from "../../aten/types";
import { type Kwargs, PyDict, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { PyTensor } from "../torch/objects";
import { alternativeChoices } from "./choices/alternatives";
import { alternatives, constructorChoices, distinct, ofType } from "./choices/choices";
import type { Draft } from "./choices/holes";
import * as names from "./choices/names";
import type { Usage } from "./choices/usage";
import { construct, guarded, roundRobin } from "./construct";
import type { InferContext } from "./context";
import { callArguments, makeValue } from "./make";
import { blamed, failureOf, NO_OPERATORS } from "./search/failure";
import { SizeProbe } from "./search/probe";
import { type Found, search } from "./search/search";
import { type Resize, resizes } from "./search/solve";
import { ABSENT, type Choice, type Failure, type Hole, NONE, number, type State, tensor, withChoice } from "./types";

const TRIALS = 70;
const STEPS = 4_000_000;

/** runs the callable compiled, as a trial: everything is undone afterwards */
export type RunCompiled = (args: readonly Value[], kwargs: Kwargs) => { readonly frames: number };

export interface InputSearch {
  readonly holes: readonly Hole[];
  readonly first: State;
  readonly known: State | undefined;
  readonly run: RunCompiled;
  /** how many states are tried; by default as many as a root may */
  readonly trials?: number;
}

// ---- first choices

/** choices for a parameter of forward, tensors first unless its name or annotation says otherwise */
export function inputChoices(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = [];
  const types = alternatives(h.annotation);
  const tensors = tensorChoices(h);
  for (const t of types) {
    if (/^(\w*Tensor|Parameter|PackedSequence)$/.test(t)) out.push(...tensors);
    else if (/^(List|Tuple|Sequence|Iterable|list|tuple)\[.*Tensor/.test(t))
      out.push(...tensorLists(tensors, /uple/.test(t)));
    else if (/^(Dict|Mapping|dict)\b/.test(t)) out.push(tensorDict(h, tensors));
    else if (h.usage.items && h.usage.items.keys.size > 0) out.push(...dictLists(h, h.usage.items, tensors));
    else out.push(...ofType(ctx, h, t));
  }
  if (types.length === 0 || out.length === 0) {
    const parts = h.usage.parts;
    if (parts && parts.length > 1 && !h.usage.sliced && h.usage.rank === undefined) {
      const items = parts.map(p => tensorChoices({ ...h, name: p.name, usage: p.usage })[0] as Choice);
      out.push({ kind: "seq", items, tuple: true });
    }
    if (h.usage.keys.size > 0) out.push(tensorDict(h, tensors));
    if (h.usage.items && h.usage.items.keys.size > 0) out.push(...dictLists(h, h.usage.items, tensors));
    if (
      names.isBoolName(h.name) ||
      (h.usage.condition && !h.usage.attributes.has("shape") && /^(return|use|is|train|causal)/.test(h.name))
    )
      out.push({ kind: "bool", value: false });
    if (h.usage.strings.size > 0) out.push(...constructorChoices(ctx, h).slice(0, 3));
    const iterated = h.usage.sequence && !h.usage.sliced && h.usage.rank === undefined && looksLikeList(h);
    if (iterated) out.push(...tensorLists(tensors, false));
    if (isPlainNumber(h)) out.push(number(names.numberFor(h.name) ?? 8));
    if (h.usage.called) out.push({ kind: "named", path: "torch.nn.Identity" }, { kind: "identity" });
    out.push(...tensors);
  }
  out.push(...tensors, NONE, ...tensorLists(tensors, false), tensorDict(h, tensors), number(4), {
    kind: "bool",
    value: false,
  });
  out.push(...constructorChoices(ctx, h).filter(c => c.kind !== "seq"));
  return distinct(out);
}

const looksLikeList = (h: Draft): boolean =>
  /s$|list|inputs|features|feats|pyramid/.test(h.name) &&
  !h.usage.attributes.has("shape") &&
  !h.usage.attributes.has("size");

const isPlainNumber = (h: Draft): boolean =>
  /^(h|w|height|width|n|k|size|epochs?|iteration|global_step|cur_step|num_\w+|n_\w+|start_pos|offset|seq_len|max_len\w*|length|scale|alpha|beta|eps|temperature|step|level|dim|stride|num|iters|D|H|W|T|B|N)$/.test(
    h.name,
  ) && !h.usage.attributes.has("shape");

/** a tensor by name, use and rank: the kinds that names tell, then other ranks */
function tensorChoices(h: Draft): Choice[] {
  const kind = names.inputKind(h.name);
  const { usage } = h;
  const rank = usage.rank;
  const dims = usage.dimNames?.map((n, i) => names.sizeFor(n) ?? [2, 64, 128, 64, 64][i] ?? 8);
  const make = (dtype: DType, r: number): Choice => tensor(dtype, dims && dims.length === r ? dims : defaultDims(r));
  if (names.isCachePosition(h.name)) return [tensor("int64", [128]), tensor("int64", [2, 128])];
  switch (kind) {
    case "tokens":
    case "label":
      if (kind === "label") return [tensor("int64", [2]), tensor("int64", [2, 64]), ...floats(h, rank ?? 2, make)];
      return [make("int64", rank ?? 2), tensor("int64", [2, 64]), tensor("int64", [2]), ...floats(h, rank ?? 3, make)];
    case "time":
      return [tensor("float32", [2]), tensor("int64", [2]), tensor("int64", [2, 64]), ...floats(h, rank ?? 3, make)];
    case "lengths":
      // as long as the sequences that they are the lengths of
      return [
        ...[128, 64].map((filled): Choice => ({ kind: "tensor", dtype: "int64", dims: [2], filled })),
        tensor("int64", [2]),
        tensor("int64", [2, 64]),
      ];
    case "mask":
      return [
        make("bool", rank ?? Math.max(2, usage.rankAtLeast)),
        tensor("bool", [2, 64]),
        tensor("bool", [2, 1, 64, 64]),
        make("float32", rank ?? 2),
        tensor("bool", [64, 64]),
        tensor("bool", [2, 64, 64]),
      ];
    case "image":
      return [tensor("float32", [2, 3, 256, 256]), ...floats(h, rank ?? 4, make)];
    case "video":
      return [tensor("float32", [2, 3, 8, 64, 64]), ...floats(h, rank ?? 5, make)];
    case "audio":
      return [tensor("float32", [2, 1, 16384]), tensor("float32", [2, 16384]), ...floats(h, rank ?? 3, make)];
    case "other":
      return floats(h, rank ?? Math.max(3, usage.rankAtLeast), make);
    default:
      return kind satisfies never;
  }
}

function floats(h: Draft, first: number, make: (d: DType, r: number) => Choice): Choice[] {
  const ranks = [first, 4, 3, 2, 1, 5].filter(r => h.usage.rank !== undefined || r >= h.usage.rankAtLeast);
  return [...new Set([...ranks, 4, 3, 2, 1, 5])]
    .map(r => make("float32", r))
    .concat(make("int64", 2), make("int64", 1));
}

function defaultDims(rank: number): number[] {
  switch (rank) {
    case 0:
      return [];
    case 1:
      return [2];
    case 2:
      return [2, 128];
    case 3:
      return [2, 64, 128];
    case 4:
      return [2, 64, 64, 64];
    case 5:
      return [2, 3, 8, 64, 64];
    default:
      return new Array<number>(rank).fill(4);
  }
}

function tensorLists(tensors: readonly Choice[], tuple: boolean): Choice[] {
  const first = tensors.slice(0, 2);
  return [2, 4, 1, 3].flatMap(n =>
    first.slice(0, 1).map((t): Choice => ({ kind: "seq", items: new Array<Choice>(n).fill(t), tuple })),
  );
}

/** a list of dictionaries, one per image or the like */
function dictLists(h: Draft, items: Usage, tensors: readonly Choice[]): Choice[] {
  const one = tensorDict({ ...h, usage: items }, tensors);
  return [1, 2].map(n => ({ kind: "seq", items: new Array<Choice>(n).fill(one), tuple: false }));
}

function tensorDict(h: Draft, tensors: readonly Choice[]): Choice {
  const keys = [...h.usage.keys];
  return {
    kind: "dict",
    entries: keys.map(k => [
      k,
      tensorChoices({ ...h, name: k, usage: { ...h.usage, rank: undefined, rankAtLeast: 0 } })[0] ??
        (tensors[0] as Choice),
    ]),
  };
}

// ---- search

export function inferInputs(ctx: InferContext, s: InputSearch): Found<ReadonlyMap<string, Value>> {
  const starts: State[] = [];
  if (s.known && [...s.known.keys()].every(k => s.first.has(k))) starts.push(new Map([...s.first, ...s.known]));
  starts.push(s.first);
  return search(
    starts,
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

/** tensors by where they stand in a hole's value: "x", "x/0", "x/image" */
function tensorLeaves(path: string, v: Value): (readonly [string, readonly PyTensor[]])[] {
  if (v instanceof PyTensor) return [[path, [v]]];
  if (v instanceof PyList || v instanceof PyTuple) return v.items.flatMap((x, i) => tensorLeaves(`${path}/${i}`, x));
  if (v instanceof PyDict) return v.entries().flatMap(([k, x]) => tensorLeaves(`${path}/${String(k)}`, x));
  if (v instanceof PyInstance && v.attrs) return [[path, v.attrs.values().filter(x => x instanceof PyTensor)]];
  return [];
}

type TensorChoice = Extract<Choice, { readonly kind: "tensor" }>;

/** tensors of a choice by the same paths */
function choiceLeaves(path: string, c: Choice): { readonly path: string; readonly c: TensorChoice }[] {
  if (c.kind === "tensor") return [{ path, c }];
  if (c.kind === "seq") return c.items.flatMap((x, i) => choiceLeaves(`${path}/${i}`, x));
  return c.kind === "dict" ? c.entries.flatMap(([k, x]) => choiceLeaves(`${path}/${k}`, x)) : [];
}

function replaceLeaf(c: Choice, rest: readonly string[], made: Choice): Choice {
  const [head, ...tail] = rest;
  if (head === undefined) return made;
  if (c.kind === "seq")
    return { ...c, items: c.items.map((x, i) => (String(i) === head ? replaceLeaf(x, tail, made) : x)) };
  if (c.kind === "dict")
    return { ...c, entries: c.entries.map(([k, x]) => [k, k === head ? replaceLeaf(x, tail, made) : x]) };
  return c;
}

function withLeaf(state: State, path: string, made: Choice): State {
  const [hole = "", ...rest] = path.split("/");
  return withChoice(state, hole, replaceLeaf(state.get(hole) ?? ABSENT, rest, made));
}

const holeOf = (path: string): string => path.split("/")[0] ?? path;

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
      frames = s.run(args, kwargs).frames;
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
  const { holes } = s;
  const out: State[] = wantedTensors(holes, state, f);
  const leaves = [...state].flatMap(([name, c]) => choiceLeaves(name, c));
  const dims = (path: string): readonly number[] => leaves.find(l => l.path === path)?.c.dims ?? [];
  // sizes that the last questions ask for
  const sized = resizes(f, dims)
    .slice(0, 12)
    .flatMap(r => {
      const leaf = leaves.find(l => l.path === r.hole);
      if (!leaf) return [];
      const alone = withLeaf(state, r.hole, resized(leaf.c, r.dims, r.size));
      return [alone, ...together(alone, leaf, leaves, r)];
    });
  const byMessage = messageRepairs(leaves, state, f);
  const rankError =
    /unpack|Expected \dD|expected \dD|dims\. Received|Dimension out of range|[Tt]oo many indices|permute|rank|dimension specified/.test(
      f.message,
    );
  if (rankError) out.push(...byMessage, ...sized);
  else out.push(...sized, ...byMessage);
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

/** errors that a missing argument may bring */
const ABSENCE = /NoneType|None|must be|required|specify|provide|Assertion|either/;

function others(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  const list = alternativeChoices(ctx, h, now, f);
  if (now.kind !== "tensor") return list.slice(0, 12);
  // keep what is known of its dims while its rank or type changes
  const kept = list.map(c => (c.kind === "tensor" && c.dims.length === now.dims.length ? { ...c, dims: now.dims } : c));
  return distinct(kept).slice(0, 12);
}

type Leaf = ReturnType<typeof choiceLeaves>[number];

/** changes that torch's and Python's own words ask for */
function messageRepairs(tensors: readonly Leaf[], state: State, f: Failure): State[] {
  const out: State[] = [];
  const read = f.touched.length > 0 ? tensors.filter(t => f.touched.includes(t.path)) : tensors;
  const setRank = (list: readonly Leaf[], rank: number): void => {
    for (const { path, c } of list) {
      if (c.dims.length === rank) continue;
      out.push(withLeaf(state, path, tensor(c.dtype, reshaped(c.dims, rank))));
    }
  };
  const setType = (list: readonly Leaf[], from: (d: DType) => boolean, to: DType): void => {
    const changed = list.filter(l => from(l.c.dtype));
    const flat = (dims: readonly number[]): readonly number[] =>
      to === "int64" && dims.length > 2 ? dims.slice(0, 2) : dims;
    for (const { path, c } of changed) out.push(withLeaf(state, path, { ...c, dtype: to, dims: flat(c.dims) }));
    for (const { path, c } of changed)
      if (flat(c.dims) !== c.dims) out.push(withLeaf(state, path, { ...c, dtype: to }));
  };
  /** a size of 1 is no symbol, so no question about it shows in the decisions */
  const setDim = (at: (rank: number) => number, size: number): void => {
    for (const { path, c } of read) {
      const i = at(c.dims.length);
      if (i >= 0 && i < c.dims.length && c.dims[i] !== size)
        out.push(withLeaf(state, path, { ...c, dims: c.dims.map((d, k) => (k === i ? size : d)) }));
    }
  };
  /** tensors that are concatenated have the size together */
  const share = (at: (rank: number) => number, size: number): void => {
    const parts = read.filter(({ c }) => at(c.dims.length) >= 0);
    if (parts.length < 2 || size % parts.length !== 0) return;
    const each = size / parts.length;
    const resized = parts.reduce((s, { path, c }) => {
      const i = at(c.dims.length);
      return withLeaf(s, path, { ...c, dims: c.dims.map((d, k) => (k === i ? each : d)) });
    }, state);
    out.push(resized);
  };
  const { message } = f;
  const isFloat = (d: DType): boolean => /float/.test(d);
  if (WANTS_INTEGERS.test(message)) setType(read, isFloat, "int64");
  if (WANTS_FLOATS.test(message)) setType(read, d => !isFloat(d), "float32");
  if (/[Bb]oolean|bool tensor|\(bool\)|torch\.bool/.test(message)) setType(read, d => d !== "bool", "bool");
  const channels = /weight of size \[([\d, ]+)\].* to have (\d+) channels(?:, but got (\d+))?/.exec(message);
  if (channels) {
    const rank = (channels[1] ?? "").split(",").length;
    const joined = joinedChannels(
      read.filter(t => t.c.dims.length === rank),
      Number(channels[3]),
      Number(channels[2]),
    );
    if (joined) out.push(joined.reduce((st, l) => withLeaf(st, l.path, l.c), state));
    setDim(r => (r === rank ? 1 : r - rank + 1), Number(channels[2]));
    setDim(r => (r > 1 ? 1 : -1), Number(channels[2]));
    share(r => (r > 1 ? 1 : -1), Number(channels[2]));
    for (const { path, c } of read.filter(t => t.c.dims.length === rank - 1)) {
      const dims = reshaped(c.dims, rank);
      dims[1] = Number(channels[2]);
      out.push(withLeaf(state, path, tensor(c.dtype, dims)));
    }
  }
  const product = /shapes cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)/.exec(message);
  if (product) share(r => r - 1, Number(product[1]));
  const elements = /running_mean should contain \d+ elements not (\d+)/.exec(message);
  if (elements) setDim(() => 1, Number(elements[1]));
  const factor = /shapes cannot be multiplied \(\d+x\d+ and 1x\d+\)|normalized_shape=\[1\]/.test(message);
  if (factor) setDim(r => r - 1, 1);
  let m = /not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)/.exec(message);
  if (m) setRank(narrow(tensors, Number(m[2])), Number(m[1]));
  m = /too many values to unpack \(expected (\d+)/.exec(message);
  if (m) {
    const most = Number(m[1]);
    setRank(
      tensors.filter(t => t.c.dims.length > most),
      most,
    );
  }
  m = /[Ee]xpected (\d)D(?: \([^)]*\))?(?: or (\d)D)?/.exec(message);
  if (m) setRank(read, Number(m[2] ?? m[1]));
  m = /expected (\d+) dims\. Received (\d+)-dim/.exec(message);
  if (m) setRank(narrow(tensors, Number(m[2])), Number(m[1]));
  m = /same number of dimensions: got (\d+) and (\d+)/.exec(message);
  if (m) {
    const [a, b] = [Number(m[1]), Number(m[2])];
    for (const rank of [Math.max(a, b), Math.min(a, b)]) setRank(read, rank);
  }
  m = /input\.dim\(\) = (\d+).*len\(dims\) = (\d+)/.exec(message);
  if (m?.[2]) setRank(narrow(read, Number(m[1])), Number(m[2]));
  if (/Dimension out of range|index out of range|[Tt]oo many indices/.test(message))
    for (const t of read) setRank([t], t.c.dims.length + 1);
  return out;
}

/** tensors whose channels were joined before a layer: as many each as make up what it takes */
function joinedChannels(parts: readonly Leaf[], got: number, wanted: number): Leaf[] | undefined {
  const sum = parts.reduce((n, l) => n + (l.c.dims[1] ?? 0), 0);
  if (parts.length < 2 || sum !== got || wanted % parts.length !== 0) return undefined;
  const each = wanted / parts.length;
  return parts.map(l => ({ ...l, c: { ...l.c, dims: l.c.dims.map((d, i) => (i === 1 ? each : d)) } }));
}

const WANTS_INTEGERS =
  /indices must be|scalar types:? Long|dtype.*[Ll]ong|Expected tensor for argument #1 'indices'|tensors used as indices|expected .*int64|int64 expected|index.*integer|indices.*(int|long)|one_hot/i;
const WANTS_FLOATS =
  /not implemented for '(Long|Bool|Int)'|expected m1 and m2 to have the same dtype|same dtype|should be the same|must match except|Expected .* (Float|floating)|floating point|Input type|can only be/i;

const narrow = (list: readonly Leaf[], rank: number): readonly Leaf[] => {
  const exact = list.filter(t => t.c.dims.length === rank);
  return exact.length > 0 ? exact : list;
};

/** the dims of another rank, the batch kept */
function reshaped(dims: readonly number[], rank: number): number[] {
  const made = defaultDims(rank);
  const batch = dims[0];
  if (batch !== undefined && made.length > 0) made[0] = batch;
  return made;
}
