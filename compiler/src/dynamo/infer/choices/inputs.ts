// What could stand in a parameter of forward, or of a function of tensors. In: its name, annotation and use. Out: choices, most
// plausible first; the tail holds anything that might be worth a trial once an error blames the parameter.
import type { DType } from "../../../aten/types";
import { PyUnknown } from "../../objects/values";
import { type InferContext, lookup } from "../context";
import { alternatives } from "../syntax";
import { bool, type Choice, type Draft, distinct, IDENTITY, NONE, named, number, tensor } from "../types";
import { constructorChoices, isOwnClass, ofType } from "./constructor";
import * as names from "./names";
import { emptyUsage, type Usage } from "./usage";

const { batch, length, width, image, map, frames, samples, bands, columns } = names.SIZES;

/** choices for a parameter of forward, tensors first unless its name or annotation says otherwise */
export function inputChoices(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = [];
  const types = alternatives(h.annotation);
  const tensors = tensorChoices(h);
  for (const t of types) {
    if (/Tensor$/.test(t) && isOwnClass(ctx, h, t)) out.push(...ofType(ctx, h, t), ...tensors);
    else if (/^(\w*Tensor|Parameter|PackedSequence)$/.test(t)) out.push(...tensors);
    else if (/^(List|Tuple|Sequence|Iterable|list|tuple)\[.*Tensor/.test(t))
      out.push(...tensorLists(h, tensors, /uple/.test(t)));
    else if (/^(Dict|Mapping|dict)\b/.test(t)) out.push(tensorDict(h, tensors));
    else if (h.usage.items && h.usage.items.keys.size > 0) out.push(...dictLists(h, h.usage.items, tensors));
    else out.push(...(/^Callable\b/.test(t) ? [IDENTITY] : []), ...ofType(ctx, h, t));
  }
  if (types.length === 0 || out.length === 0) {
    out.push(...records(ctx, h), ...ofLibrary(ctx, h, tensors));
    const parts = h.usage.parts;
    // H, W = input_size
    if (parts?.length === 2 && /(size|shape|resolution|hw)s?$/.test(h.name) && !h.usage.sliced && isPlain(h))
      out.push(PAIR);
    // B, T, D = shape
    if (parts && parts.length > 2 && /(^|_)(size|shape)$/.test(h.name) && isPlain(h))
      out.push({ kind: "seq", items: sizesOf(parts.map(p => p.name)).map(n => number(n)), tuple: true });
    if (parts && parts.length > 1 && !h.usage.sliced && h.usage.rank === undefined) {
      const items = parts.map(p => tensorChoices({ ...h, name: p.name, usage: p.usage })[0] as Choice);
      out.push({ kind: "seq", items, tuple: true });
    }
    out.push(...tupleLists(h));
    if (h.usage.keys.size > 0) out.push(tensorDict(h, tensors));
    else if (h.usage.mapping) out.push(TOKENIZED, { kind: "dict", entries: [] });
    if (h.usage.items && h.usage.items.keys.size > 0) out.push(...dictLists(h, h.usage.items, tensors));
    if (
      ((names.isBoolName(h.name) || names.isFlag(h.name)) && !isTensorLike(h.usage)) ||
      (h.usage.condition && !h.usage.attributes.has("shape") && /^(return|use|is|train|causal)/.test(h.name))
    )
      out.push(bool(false));
    if (h.usage.strings.size > 0) out.push(...constructorChoices(ctx, h).slice(0, 3));
    const iterated = h.usage.sequence && !h.usage.sliced && h.usage.rank === undefined && looksLikeList(h);
    if (h.usage.eachToLayer && !iterated) out.push(...tensorLists(h, tensors, false));
    if (iterated) out.push(...tensorLists(h, tensors, false));
    if (h.usage.bound && !isTensorLike(h.usage)) out.push(number(names.numberFor(h.name) ?? 2));
    if (h.usage.oneOf && !h.usage.sliced && h.usage.rank === undefined)
      out.push({ kind: "seq", items: tensors.slice(0, 1), tuple: false });
    if (isLongest(h)) out.push(number(length));
    else if (isPlainNumber(h)) out.push(number(names.numberFor(h.name) ?? 8));
    if (h.usage.called) out.push(IDENTITY, named("torch.nn.Identity"));
    out.push(...tensors);
  }
  out.push(...tensors, NONE, ...tensorLists(h, tensors, false), tensorDict(h, tensors), number(4), bool(false));
  out.push(...constructorChoices(ctx, h).filter(c => c.kind !== "seq"));
  return distinct(out);
}

/** nothing is read of it that only tensors have */
const isPlain = (h: Draft): boolean => !h.usage.attributes.has("shape") && !h.usage.attributes.has("size");

const looksLikeList = (h: Draft): boolean =>
  /s$|list|inputs|features|feats|pyramid/.test(h.name) &&
  !h.usage.attributes.has("shape") &&
  !h.usage.attributes.has("size");

const isPlainNumber = (h: Draft): boolean =>
  /^(h|w|height|width|n|k|size|epochs?|iteration|global_step|cur_step|num_\w+|n_\w+|start_pos|offset|seq_len|length|scale|alpha|beta|eps|temperature|step|level|dim|stride|num|iters|D|H|W|T|B|N)$/.test(
    h.name,
  ) && !h.usage.attributes.has("shape");

/** how long the longest sequence is: as long as the sequences are */
const isLongest = (h: Draft): boolean => /^max_(\w+_)?len/.test(h.name) && isPlain(h);

const isTensorLike = (u: Usage): boolean =>
  u.attributes.size > 0 || u.sliced || u.rank !== undefined || u.rankAtLeast > 0 || u.sequence;

/** a tensor by name, use and rank: the kinds that names tell, then other ranks */
export function tensorChoices(h: Draft): Choice[] {
  const { written } = h.usage;
  const said = written === undefined || (h.usage.rank ?? written.length) !== written.length ? undefined : written;
  const guessed = guessedTensors(h);
  const first = guessed[0];
  if (said === undefined || first?.kind !== "tensor") return guessed;
  const { dims: usual } = first;
  const dims = /^(image|video)$/.test(names.inputKind(h.name)) ? ordered(said, usual, sizesOf(said)) : sizesOf(said);
  return distinct([{ ...first, dtype: dtypeOf(h) ?? first.dtype, dims }, tensor("float32", dims), ...guessed]);
}

/** as types of tensors say it */
const dtypeOf = (h: Draft): DType | undefined =>
  /Long|Int/.test(h.annotation) ? "int64" : /Bool/.test(h.annotation) ? "bool" : undefined;

/** sizes by their names, or as they are written */
const sizesOf = (shape: readonly string[]): number[] =>
  shape.map((n, i) =>
    /^\d+$/.test(n)
      ? Math.max(1, Number(n))
      : isFrames(n, i, shape)
        ? frames
        : (names.sizeFor(n) ?? [batch, length, width, map, map][i] ?? 8),
  );

/** F and T right before H and W */
const isFrames = (n: string, i: number, shape: readonly string[]): boolean =>
  /^([FT]|frames|n_?frames|num_frames)$/i.test(n) &&
  shape
    .slice(i + 1, i + 3)
    .join()
    .toLowerCase() === "h,w";

function guessedTensors(h: Draft): Choice[] {
  const { usage } = h;
  const named = names.inputKind(h.name);
  // what another module gets as it is may be embedded already
  const handedOn = usage.passed.some(p => p.func.startsWith("self."));
  const kind = handedOn && (named === "categories" || named === "numbers") ? "other" : named;
  const rank = usage.rank;
  const dims = usage.dimNames && sizesOf(usage.dimNames);
  const make = (dtype: DType, r: number): Choice =>
    tensor(dtype, dims && dims.length === r ? dims : defaultDims(r, dtype));
  if (names.isSpectrogram(h.name) && dims === undefined && (rank ?? 3) === 3)
    return [
      tensor("float32", [batch, bands, length]),
      tensor("float32", [batch, length, bands]),
      ...floats(h, 3, make),
    ];
  if (names.isPointList(h.name) && dims === undefined && (rank ?? 3) === 3)
    return [tensor("float32", [batch, length, 2]), ...floats(h, rank ?? 3, make)];
  const channels = names.channelsOf(h.name);
  if (channels !== undefined && dims === undefined && (rank ?? 4) === 4)
    return [tensor("float32", [batch, channels, image, image]), ...floats(h, 4, make)];
  if (names.isCameraMatrix(h.name) && dims === undefined && (rank ?? 3) === 3)
    return [tensor("float32", [batch, 4, 4]), tensor("float32", [batch, 3, 3]), ...floats(h, rank ?? 3, make)];
  if (names.isEdgeList(h.name)) return [tensor("int64", [2, length])];
  if (names.isAdjacency(h.name) && dims === undefined)
    return ofRank(rank, [
      tensor("float32", [length, length]),
      tensor("float32", [batch, length, length]),
      ...floats(h, rank ?? 2, make),
    ]);
  if (names.isCachePosition(h.name)) return [tensor("int64", [length]), tensor("int64", [batch, length])];
  switch (kind) {
    case "tokens":
    case "label":
      if (kind === "label")
        return [tensor("int64", [batch]), tensor("int64", [batch, length]), ...floats(h, rank ?? 2, make)];
      return [
        make("int64", rank ?? 2),
        tensor("int64", [batch, length]),
        tensor("int64", [batch]),
        ...floats(h, rank ?? 3, make),
      ];
    case "time":
      return [
        tensor("float32", [batch]),
        tensor("int64", [batch]),
        tensor("int64", [batch, length]),
        ...floats(h, rank ?? 3, make),
      ];
    case "lengths":
      // as long as the sequences that they are the lengths of
      return [
        ...[length, map].map((filled): Choice => ({ kind: "tensor", dtype: "int64", dims: [batch], filled })),
        tensor("int64", [batch]),
        tensor("int64", [batch, length]),
      ];
    case "mask":
      return [
        ...(usage.subtracted ? [make("float32", rank ?? Math.max(2, usage.rankAtLeast))] : []),
        make("bool", rank ?? Math.max(2, usage.rankAtLeast)),
        tensor("bool", [batch, length]),
        tensor("bool", [batch, 1, length, length]),
        make("float32", rank ?? 2),
        tensor("bool", [length, length]),
        tensor("bool", [batch, length, length]),
      ];
    case "image":
      return ofRank(rank, [
        tensor("float32", ordered(usage.dimNames, [batch, 3, image, image])),
        ...floats(h, rank ?? 4, make),
      ]);
    case "video":
      return ofRank(rank, [
        tensor("float32", ordered(usage.dimNames, [batch, 3, frames, 112, 112])),
        ...floats(h, rank ?? 5, make),
      ]);
    case "audio":
      return ofRank(rank, [
        tensor("float32", [batch, 1, samples]),
        tensor("float32", [batch, samples]),
        ...floats(h, rank ?? 3, make),
      ]);
    case "categories":
      return ofRank(rank, [tensor("int64", [batch, columns]), tensor("int64", [batch]), ...floats(h, rank ?? 2, make)]);
    case "numbers":
      return ofRank(rank, [tensor("float32", [batch, columns]), ...floats(h, rank ?? 2, make)]);
    case "other":
      return floats(h, rank ?? Math.max(3, usage.rankAtLeast), make);
    default:
      return kind satisfies never;
  }
}

/** the sizes of images or clips (batch, channels, then frames, height and width) in the order in which the code names them */
function ordered(
  named: readonly string[] | undefined,
  usual: readonly number[],
  otherwise: readonly number[] = usual,
): number[] {
  const places: readonly RegExp[] = [
    /^_*(b|bs|bsz|batch(_size)?|n)$/,
    /^(_*(c|ch|channels?)|3)$/,
    ...(usual.length > 4 ? [FRAMES] : []),
    /^_*(h|height)$/,
    /^_*(w|width)$/,
  ];
  const order = named?.map(n => places.findIndex(re => re.test(n.toLowerCase())));
  const all = order?.length === usual.length && order.every(i => i >= 0) && new Set(order).size === usual.length;
  return all && order ? order.map(i => usual[i] as number) : [...otherwise];
}

const FRAMES = /^_*(t|f|s|l|d|frames?|n_?frames|num_frames|depth)$/;

/** those of the rank that the code names first, where it names one */
const ofRank = (rank: number | undefined, choices: readonly Choice[]): Choice[] =>
  [true, false].flatMap(first =>
    choices.filter(c => (c.kind === "tensor" && c.dims.length === (rank ?? c.dims.length)) === first),
  );

function floats(h: Draft, first: number, make: (d: DType, r: number) => Choice): Choice[] {
  const ranks = [first, 4, 3, 2, 1, 5].filter(r => h.usage.rank !== undefined || r >= h.usage.rankAtLeast);
  return [...new Set([...ranks, 4, 3, 2, 1, 5])]
    .map(r => make("float32", r))
    .concat(make("int64", 2), make("int64", 1));
}

function defaultDims(rank: number, dtype: DType): number[] {
  switch (rank) {
    case 0:
      return [];
    case 1:
      return [batch];
    case 2:
      return [batch, dtype === "int64" || dtype === "bool" ? length : width];
    case 3:
      return [batch, length, width];
    case 4:
      return [batch, 64, map, map];
    case 5:
      return [batch, 64, frames, 112, 112];
    default:
      return new Array<number>(rank).fill(4);
  }
}

/** `h`: whose items they are, judged by what is done with an item where that says a rank */
function tensorLists(h: Draft, tensors: readonly Choice[], tuple: boolean): Choice[] {
  const { items, beside } = h.usage;
  const like = items?.rank === undefined && (beside?.rank ?? 0) >= (items?.rankAtLeast ?? 0) ? beside : items;
  const ranked = like?.rank === undefined || names.inputKind(h.name) === "tokens" ? undefined : like;
  const [first] = ranked ? tensorChoices({ ...h, usage: ranked }) : tensors;
  if (!first) return [];
  return [2, 4, 1, 3].map(n => ({ kind: "seq", items: new Array<Choice>(n).fill(first), tuple }));
}

/** `for state, action in x`: lists of tuples of tensors */
function tupleLists(h: Draft): Choice[] {
  const parts = h.usage.items?.parts;
  if (!parts || h.usage.rank !== undefined) return [];
  const items = parts.map(p => tensorChoices({ ...h, name: p.name, usage: p.usage })[0] as Choice);
  const one: Choice = { kind: "seq", items, tuple: true };
  return [2, 1, 4].map(n => ({ kind: "seq", items: new Array<Choice>(n).fill(one), tuple: false }));
}

/** a list of dictionaries, one per image or the like */
function dictLists(h: Draft, items: Usage, tensors: readonly Choice[]): Choice[] {
  const one = ofOneImage(tensorDict({ ...h, usage: items }, tensors));
  return [1, 2].map(n => ({ kind: "seq", items: new Array<Choice>(n).fill(one), tuple: false }));
}

/** what is said of one image holds no batch of them */
export function ofOneImage(c: Choice): Choice {
  if (c.kind !== "dict") return c;
  const alone = (name: string, x: Choice): Choice =>
    x.kind === "tensor" && x.dims.length === 4 && names.inputKind(name) === "image"
      ? { ...x, dims: x.dims.slice(1) }
      : x;
  return { ...c, entries: c.entries.map(([k, x]) => [k, alone(k, x)] as const) };
}

/** what tokenizers give to a model: `model(**batch)` */
const TOKENIZED: Choice = {
  kind: "dict",
  entries: [
    ["input_ids", tensor("int64", [batch, length])],
    ["attention_mask", tensor("int64", [batch, length])],
  ],
};

export function tensorDict(h: Draft, tensors: readonly Choice[]): Choice {
  // what may be left out where others do
  const keys = [...h.usage.keys];
  const needed = keys.filter(k => !h.usage.noneTested.has(k));
  return {
    kind: "dict",
    entries: (needed.length > 0 ? needed : keys).map(k => [k, within(h, k)[0] ?? (tensors[0] as Choice)]),
  };
}

/** an item or attribute of an input is judged by its own name */
const within = (h: Draft, name: string): Choice[] => tensorChoices({ ...h, name, annotation: "", usage: emptyUsage() });

/** whether a name is that of height and width */
export const isPairName = (name: string): boolean => /(^|_)(size|shape|resolution|hw)$/.test(name);

/** height and width */
export const PAIR: Choice = { kind: "seq", items: [number(map), number(map)], tuple: true };

/** what an input may hold under a name: tensors, or a number where the name is a number's */
export const heldTensors = (h: Draft, name: string): Choice[] =>
  isPairName(name)
    ? [PAIR, ...within(h, name)]
    : isPlainNumber({ ...h, name })
      ? [number(names.numberFor(name) ?? 8)]
      : [...h.usage.attributes].some(names.isEdgeList)
        ? ofGraph(name, within(h, name))
        : within(h, name);

/** what nodes and edges of a graph carry is a row each */
export const ofGraph = (name: string, choices: readonly Choice[]): Choice[] =>
  names.inputKind(name) === "other" && !names.isEdgeList(name) && !names.isAdjacency(name)
    ? distinct([tensor("float32", [length, width]), ...choices])
    : [...choices];

/** the object that an input is whose attributes are no tensor's */
function records(ctx: InferContext, h: Draft): Choice[] {
  const own = noTensors(ctx, h);
  if (own.length < 2 || h.usage.called) return [];
  const entries = own.map((a): [string, Choice] => [a, heldTensors(h, a)[0] ?? NONE]);
  return [{ kind: "record", entries }];
}

/** an object of a class that its library lacks, where more is read of it than tensors have */
function ofLibrary(ctx: InferContext, h: Draft, tensors: readonly Choice[]): Choice[] {
  const cls = /^[\w.]+$/.test(h.annotation) ? lookup(ctx, h.globals, h.annotation) : undefined;
  const like = tensors.find(c => c.kind === "tensor" && c.dtype === "float32");
  const object = cls instanceof PyUnknown && like?.kind === "tensor" && noTensors(ctx, h).length > 0;
  return object ? [{ ...like, library: cls.what }] : [];
}

/** what is read of an input that tensors lack */
const noTensors = (ctx: InferContext, h: Draft): string[] =>
  [...h.usage.attributes].filter(
    a => !a.startsWith("_") && ctx.vm.getattrOrUndefined(ctx.torch.tensorClass, a) === undefined && !SHARED.test(a),
  );

/** what tensors and other things have */
const SHARED =
  /^(shape|size|dtype|device|ndim|T|mT|H|grad|data|requires_grad|is_cuda|items|keys|values|get|append|real|imag)$/;

/** the dims of another rank, the batch kept */
export function reshaped(dims: readonly number[], rank: number): number[] {
  const made = defaultDims(rank, "float32");
  const batch = dims[0];
  if (batch !== undefined && made.length > 0) made[0] = batch;
  return made;
}

/** the dims of a rank that is one more or less, with the last size at the end, and with the first ones where they are */
export function keptEnds(dims: readonly number[], rank: number): number[][] {
  const [first = 2, ...rest] = dims;
  // a sequence that all samples share
  if (rank === 1 && rest.length === 1) return [rest];
  if (rank === dims.length - 1 && dims.length > 2) return [[first, ...rest.slice(1)], dims.slice(0, -1)];
  if (rank === dims.length + 1 && dims.length > 1 && rank <= 5)
    return [
      ...squareGrids(dims).filter(d => d.length === rank),
      [first, length, ...rest],
      // a signal of one channel
      ...(rank === 3 ? [[first, 1, ...rest]] : []),
    ];
  return [];
}

/** the cells of a square grid, where a tensor of one number for each lists them one behind the other */
export function squareGrids(dims: readonly number[]): number[][] {
  const [first = 2, ...rest] = dims;
  const side = Math.sqrt(rest.pop() ?? 0);
  return Number.isInteger(side) && side > 3 && rest.every(d => d === 1) ? [[first, side, side]] : [];
}
