// Arguments for a forward method (or a function of tensors) that nobody calls. In: the callable, its parameters, what is
// written about them. Out: arguments with which it runs to its end; or the failure that got farthest.
import type { DType } from "../../aten/types";
import { type Kwargs, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { PyTensor } from "../torch/objects";
import { alternativeChoices } from "./alternatives";
import { alternatives, constructorChoices, distinct, ofType } from "./choices";
import { construct, guarded, roundRobin } from "./construct";
import type { InferContext } from "./context";
import { blamed, failureOf } from "./failure";
import type { Draft } from "./holes";
import { callArguments, makeValue } from "./make";
import * as names from "./names";
import { SizeProbe } from "./probe";
import { type Found, search } from "./search";
import { resizes } from "./solve";
import { ABSENT, type Choice, type Failure, type Hole, NONE, number, type State, tensor, withChoice } from "./types";

const TRIALS = 70;
const STEPS = 6_000_000;

/** runs the callable compiled, as a trial: everything is undone afterwards */
export type RunCompiled = (args: readonly Value[], kwargs: Kwargs) => { readonly frames: number };

export interface InputSearch {
  readonly holes: readonly Hole[];
  readonly first: State;
  readonly known: State | undefined;
  readonly run: RunCompiled;
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
    else out.push(...ofType(ctx, h, t));
  }
  if (types.length === 0 || out.length === 0) {
    if (h.usage.keys.size > 0) out.push(tensorDict(h, tensors));
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
  /^(h|w|height|width|n|k|size|num_\w+|n_\w+|start_pos|offset|seq_len|max_len\w*|length|scale|alpha|beta|eps|temperature|step|level|dim|stride|num|iters|D|H|W|T|B|N)$/.test(
    h.name,
  ) && !h.usage.attributes.has("shape");

/** a tensor by name, use and rank: the kinds that names tell, then other ranks */
function tensorChoices(h: Draft): Choice[] {
  const kind = names.inputKind(h.name);
  const { usage } = h;
  const rank = usage.rank;
  const dims = usage.dimNames?.map((n, i) => names.sizeFor(n) ?? [2, 64, 128, 64, 64][i] ?? 8);
  const make = (dtype: DType, r: number): Choice => tensor(dtype, dims && dims.length === r ? dims : defaultDims(r));
  switch (kind) {
    case "tokens":
    case "label":
      if (kind === "label") return [tensor("int64", [2]), tensor("int64", [2, 64]), ...floats(h, rank ?? 2, make)];
      return [make("int64", rank ?? 2), tensor("int64", [2, 64]), tensor("int64", [2]), ...floats(h, rank ?? 3, make)];
    case "time":
      return [tensor("float32", [2]), tensor("int64", [2]), tensor("int64", [2, 64]), ...floats(h, rank ?? 3, make)];
    case "lengths":
      return [tensor("int64", [2]), tensor("int64", [2, 64])];
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

export function defaultDims(rank: number): number[] {
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
    TRIALS,
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

function tensorsIn(v: Value): PyTensor[] {
  if (v instanceof PyTensor) return [v];
  if (v instanceof PyList || v instanceof PyTuple) return v.items.flatMap(tensorsIn);
  if (v instanceof PyInstance && v.attrs) return v.attrs.values().filter(x => x instanceof PyTensor);
  return [];
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
    const tensors = new Map([...values].map(([k, v]) => [k, tensorsIn(v)] as const));
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
    if (frames === 0) vm.raise("NothingCaptured", "it runs no tensor operators");
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

function repairs(ctx: InferContext, s: InputSearch, state: State, f: Failure): State[] {
  const { holes } = s;
  const out: State[] = [];
  const dims = (name: string): readonly number[] => tensorDims(state.get(name));
  // sizes that the last questions ask for
  const solved = resizes(f, dims).slice(0, 12);
  const byMessage = messageRepairs(holes, state, f);
  const sized = solved.map(r => withChoice(state, r.hole, resizeAll(state.get(r.hole) ?? ABSENT, r.dims, r.size)));
  const rankError =
    /unpack|Expected \dD|expected \dD|dims\. Received|Dimension out of range|[Tt]oo many indices|permute|rank|dimension specified/.test(
      f.message,
    );
  if (rankError) out.push(...byMessage, ...sized);
  else out.push(...sized, ...byMessage);
  // other kinds and ranks of the holes that the failing operator read, then of those that the running lines name
  const named = blamed(holes, f);
  const suspects = [...new Set([...f.touched, ...named])];
  if (suspects.length === 0)
    suspects.push(...holes.filter(h => (state.get(h.name) ?? ABSENT).kind !== "absent").map(h => h.name));
  const perHole = suspects.slice(0, 5).map(name => {
    const h = holes.find(x => x.name === name);
    if (!h) return [];
    const now = state.get(name) ?? ABSENT;
    if (
      now.kind === "absent" &&
      !/NoneType|None|must be|required|specify|provide|Assertion|either/.test(`${f.type} ${f.message}`)
    )
      return [];
    return others(ctx, h, now, f).map(c => withChoice(state, name, c));
  });
  out.push(...roundRobin(perHole).slice(0, 24));
  return out;
}

function others(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  const list = alternativeChoices(ctx, h, now, f);
  if (now.kind !== "tensor") return list.slice(0, 12);
  // keep what is known of its dims while its rank or type changes
  const kept = list.map(c => (c.kind === "tensor" && c.dims.length === now.dims.length ? { ...c, dims: now.dims } : c));
  return distinct(kept).slice(0, 12);
}

function tensorDims(c: Choice | undefined): readonly number[] {
  if (c?.kind === "tensor") return c.dims;
  if (c?.kind === "seq") return tensorDims(c.items[0]);
  return [];
}

function resizeAll(c: Choice, dims: readonly number[], size: number): Choice {
  if (c.kind === "tensor") return { ...c, dims: c.dims.map((d, i) => (dims.includes(i) ? size : d)) };
  if (c.kind === "seq") return { ...c, items: c.items.map(i => resizeAll(i, dims, size)) };
  return c;
}

/** changes that torch's and Python's own words ask for */
function messageRepairs(holes: readonly Hole[], state: State, f: Failure): State[] {
  const out: State[] = [];
  const tensors = holes.flatMap(h => {
    const c = state.get(h.name);
    return c?.kind === "tensor" ? [{ h, c }] : [];
  });
  const read = f.touched.length > 0 ? tensors.filter(t => f.touched.includes(t.h.name)) : tensors;
  const setRank = (list: typeof tensors, rank: number): void => {
    for (const { h, c } of list) {
      if (c.dims.length === rank) continue;
      out.push(withChoice(state, h.name, tensor(c.dtype, reshaped(c.dims, rank))));
    }
  };
  const setType = (list: typeof tensors, from: (d: DType) => boolean, to: DType): void => {
    for (const { h, c } of list)
      if (from(c.dtype))
        out.push(
          withChoice(state, h.name, {
            ...c,
            dtype: to,
            dims: to === "int64" && c.dims.length > 2 ? c.dims.slice(0, 2) : c.dims,
          }),
        );
    if (to === "int64")
      for (const { h, c } of list)
        if (from(c.dtype) && c.dims.length > 2) out.push(withChoice(state, h.name, { ...c, dtype: to }));
  };
  const { message } = f;
  const isFloat = (d: DType): boolean => /float/.test(d);
  if (
    /indices must be|scalar types:? Long|dtype.*[Ll]ong|Expected tensor for argument #1 'indices'|tensors used as indices|expected .*int64|int64 expected|index.*integer|indices.*(int|long)|one_hot/i.test(
      message,
    )
  )
    setType(read, isFloat, "int64");
  if (
    /not implemented for '(Long|Bool|Int)'|expected m1 and m2 to have the same dtype|same dtype|should be the same|must match except|Expected .* (Float|floating)|floating point|Input type|can only be/i.test(
      message,
    )
  )
    setType(read, d => !isFloat(d), "float32");
  if (/[Bb]oolean|bool tensor|\(bool\)|torch\.bool/.test(message)) setType(read, d => d !== "bool", "bool");
  let m = /not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)/.exec(message);
  if (m) setRank(narrow(tensors, Number(m[2])), Number(m[1]));
  m = /too many values to unpack \(expected (\d+)/.exec(message);
  if (m)
    setRank(
      tensors.filter(t => t.c.dims.length > Number(m?.[1])),
      Number(m[1]),
    );
  m = /[Ee]xpected (\d)D(?: \([^)]*\))?(?: or (\d)D)?/.exec(message);
  if (m) setRank(read, Number(m[2] ?? m[1]));
  m = /expected (\d+) dims\. Received (\d+)-dim/.exec(message);
  if (m) setRank(narrow(tensors, Number(m[2])), Number(m[1]));
  m =
    /permute\(sparse_coo\)|number of dimensions in the tensor input does not match.*input\.dim\(\) = (\d+).*len\(dims\) = (\d+)/.exec(
      message,
    );
  if (m?.[2]) setRank(narrow(read, Number(m[1])), Number(m[2]));
  if (/Dimension out of range|index out of range|[Tt]oo many indices/.test(message))
    for (const t of read) setRank([t], t.c.dims.length + 1);
  return out;
}

const narrow = <T extends { readonly c: { readonly dims: readonly number[] } }>(
  list: readonly T[],
  rank: number,
): T[] => {
  const exact = list.filter(t => t.c.dims.length === rank);
  return exact.length > 0 ? exact : [...list];
};

/** the dims of another rank, the batch kept */
function reshaped(dims: readonly number[], rank: number): number[] {
  const made = defaultDims(rank);
  const batch = dims[0];
  if (batch !== undefined && made.length > 0 && dims.length > 0) made[0] = batch;
  return made;
}
