// Inputs that torch's and Python's own error messages ask for. In: the tensors of a state and its failure. Out: states to try.
import { isFloatDType } from "../../../aten/ops/helpers/dtypes";
import type { DType } from "../../../aten/types";
import { isPairName, keptEnds, PAIR, reshaped } from "../choices/inputs";
import { inputKind } from "../choices/names";
import { type Failure, type State, type TensorChoice, tensor } from "../types";
import { sizesApart } from "./failure";
import { holeOf, type Leaf, resized, withLeaf } from "./leaves";
import { asMaps, pyramids } from "./map_lists";

const UNLIKE =
  /size of tensor a|must match|[Ee]xpected size|[Ss]izes of tensors|not broadcastable|shape mismatch|same (size|shape)|[Ss]hapes? .*(mismatch|differ|not)|cannot be multiplied|[Ee]xpand/;

/** inputs that meet may be of one shape: those that the failing operator read, shaped like others */
export function alike(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const met = leaves.filter(l => f.touched.includes(l.path)).slice(0, 4);
  // one is viewed in the sizes of the other
  const viewed = met.length > 1 && /shape '.*' is invalid/.test(f.message);
  if (!viewed && !UNLIKE.test(f.message)) return [];
  const shaped = met.flatMap(to => {
    const others = (met.length > 1 ? met : leaves).filter(from => from.c.dims.join() !== to.c.dims.join());
    return others.slice(0, 3).map(from => withLeaf(state, to.path, { ...to.c, dims: from.c.dims }));
  });
  return [...pyramids(state, leaves, f), ...shaped, ...flattened(state, met)];
}

const WANTED_EQUAL =
  /\b(same|different|equal|match|mismatch)\w*\b.*\b(sizes?|shapes?|dim\w*)\b|\b(sizes?|shapes?|dim\w*)\b.*\b(same|different|equal|match|mismatch)\w*\b/i;

/** the program's own words ask for tensors of one shape: all get that of one of them */
export function oneShape(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const own =
    /^(Assertion|Value)Error$/.test(f.type) && f.operators === 0 && WANTED_EQUAL.test(`${f.line} ${f.message}`);
  if (!own || leaves.length < 2) return [];
  return leaves
    .slice(0, 3)
    .map(to => leaves.reduce((s, { path, c }) => withLeaf(s, path, { ...c, dims: to.c.dims }), state));
}

/** sequences that met are single vectors together */
function flattened(state: State, met: readonly Leaf[]): State[] {
  const sequences = met.filter(l => l.c.dims.length === 3);
  if (sequences.length < 2) return [];
  const vector = (dims: readonly number[]): number[] => [dims[0] ?? 1, dims[2] ?? 1];
  return [sequences.reduce((s, l) => withLeaf(s, l.path, { ...l.c, dims: vector(l.c.dims) }), state)];
}

/** masks are shaped like what they are multiplied with, but for the channels, which share one: [B, 1, T] or [B, T, 1] */
export function masksAlike(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const at = /at non-singleton dimension (\d+)/.exec(f.message)?.[1];
  const met = leaves.filter(l => f.touched.includes(l.path));
  const isMask = ({ path }: Leaf): boolean => inputKind(holeOf(path)) === "mask";
  const masked = met
    .filter(l => !isMask(l) && l.c.dims.length > 2)
    .sort((a, b) => b.c.dims.length - a.c.dims.length)[0];
  if (at === undefined || !masked) return [];
  const { dims } = masked.c;
  const shared = (kept: (i: number) => boolean): number[] => dims.map((d, i) => (kept(i) ? d : 1));
  const last = dims.length - 1;
  // beyond what it is multiplied with: a dimension is added on the way
  if (Number(at) >= dims.length)
    return met
      .filter(l => isMask(l) && l.c.dims.length > 2 && l.c.dims.includes(1, 1))
      .map(({ path, c }) => withLeaf(state, path, { ...c, dims: c.dims.filter((d, i) => i === 0 || d !== 1) }));
  return met
    .filter(isMask)
    .flatMap(({ path, c }) =>
      [shared(i => i === 0 || i === last), shared(i => i !== Number(at)), shared(i => i < last)].map(made =>
        withLeaf(state, path, { ...c, dims: made }),
      ),
    );
}

const TOLD_SHAPES = /\[([\d, ]+)\]/g;

/** the program's own words name the shape that an input has and the one that it should have */
export function shapeTold(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  if (!/^(Assertion|Value)Error$/.test(f.type)) return [];
  const shapes = [...f.message.matchAll(TOLD_SHAPES)].map(m => (m[1] ?? "").split(",").map(Number));
  const [a, b] = shapes;
  if (shapes.length !== 2 || !a || !b || a.join() === b.join()) return [];
  return [
    [a, b],
    [b, a],
  ].flatMap(([from, to]) =>
    leaves.filter(l => l.c.dims.join() === from?.join()).map(l => withLeaf(state, l.path, { ...l.c, dims: to ?? [] })),
  );
}

const TOO_SMALL =
  /too small|[Kk]ernel size can't be greater|should be less than the corresponding input|non-?zero size|input size per channel|smaller than|greater than actual input/;

/** images, clips and signals that layers of strides leave nothing of: twice, four and eight times as large */
export function enlarged(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  if (!TOO_SMALL.test(f.message)) return [];
  const met = leaves.filter(l => (f.touched.length === 0 || f.touched.includes(l.path)) && l.c.dims.length >= 3);
  if (met.length === 0) return [];
  // what has the same sizes is another of the kind
  const read = leaves.filter(l => met.includes(l) || met.some(o => o.c.dims.join() === l.c.dims.join()));
  return [2, 4, 8].map(times =>
    read.reduce(
      (s, l) => withLeaf(s, l.path, { ...l.c, dims: l.c.dims.map((d, i) => (i < 2 ? d : d * times)) }),
      state,
    ),
  );
}

/** inputs that a linear layer takes as they are: as wide as it is, of its type, and a vector for each item of the batch */
export function fed(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [, got, wanted] = /shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)/.exec(f.message)?.map(Number) ?? [];
  if (got === undefined || wanted === undefined || wanted < 2) return [];
  const rowsOf = ({ c }: Leaf): TensorChoice[] => {
    const isFloat = isFloatDType(c.dtype);
    const row = [...(c.dims.length === 1 ? c.dims : c.dims.slice(0, -1)), wanted];
    // what was taken for tokens is a vector for each of them
    const rows = isFloat || c.dims.length !== 2 ? [row] : [[...c.dims, wanted], row];
    return rows.map(dims => tensor(isFloat ? c.dtype : "float32", dims));
  };
  const read = leaves.filter(l => f.touched.includes(l.path) && l.c.dims[l.c.dims.length - 1] === got);
  // those that were joined on their way to it have the width together
  const alike = new Set(read.map(l => l.c.dims.join())).size === 1;
  const together =
    alike && read.length > 1 ? [read.reduce((s, l) => withLeaf(s, l.path, rowsOf(l)[0] ?? l.c), state)] : [];
  return [...together, ...read.flatMap(l => rowsOf(l).map(c => withLeaf(state, l.path, c)))];
}

/** inputs of the type that the module's parameters have, where it is not the usual one: all of them, since they meet */
export function typedAlike(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const half = halfWanted(f.message);
  const floats = leaves.filter(l => l.c.dtype === "float32");
  if (half === undefined || floats.length === 0) return [];
  const typed = (list: readonly Leaf[]): State =>
    list.reduce((s, { path, c }) => withLeaf(s, path, { ...c, dtype: half }), state);
  const read = floats.filter(l => f.touched.includes(l.path));
  return [...(read.length > 0 && read.length < floats.length ? [typed(read)] : []), typed(floats)];
}

/** the type of half precision that a message says met float32 */
export const halfWanted = (message: string): DType | undefined => HALVES.find(([words]) => words.test(message))?.[1];

/** the type of half precision that a failure asks for: what its message says, what a line asserts, or what a cache is that is written */
export function halfAsked(f: Failure): "float16" | "bfloat16" | undefined {
  const said = halfWanted(f.message);
  if (said === "float16" || said === "bfloat16") return said;
  const asserted =
    f.type === "AssertionError" ? /\.dtype\b.*?\b(float16|bfloat16|half)\b/.exec(f.line)?.[1] : undefined;
  if (asserted !== undefined) return asserted === "bfloat16" ? asserted : "float16";
  return /Expected self\.dtype to be equal to src\.dtype/.test(f.message) ? "float16" : undefined;
}

const HALVES: readonly (readonly [RegExp, DType])[] = [
  [
    /float != c10::BFloat16|float and bias type \(c10::BFloat16|\(float\) and .*BFloat16|FloatTensor.*BFloat16Tensor/i,
    "bfloat16",
  ],
  [/dtype: (torch\.)?(float32\b.*dtype: (torch\.)?bfloat16|bfloat16\b.*dtype: (torch\.)?float32)/, "bfloat16"],
  [/dtypes?\b.*torch\.bfloat16|only supports? .*\b(fp16|bf16|bfloat16|half)\b/i, "bfloat16"],
  [/float != c10::Half|\(float\) and .*c10::Half|FloatTensor.*HalfTensor/i, "float16"],
];

/** changes that torch's and Python's own words ask for */
export function messageRepairs(tensors: readonly Leaf[], state: State, f: Failure): State[] {
  const out: State[] = [];
  const read = f.touched.length > 0 ? tensors.filter(t => f.touched.includes(t.path)) : tensors;
  const setRank = (list: readonly Leaf[], rank: number): void => {
    if (rank < 0) return;
    const others = list.filter(l => l.c.dims.length !== rank);
    const move = (s: State, { path, c }: Leaf, dims: readonly number[]): State =>
      withLeaf(s, path, tensor(c.dtype, dims));
    for (const l of others)
      for (const dims of [...keptEnds(l.c.dims, rank), reshaped(l.c.dims, rank)]) out.push(move(state, l, dims));
    // those that met before have a rank together
    const met = others.filter(l => f.touched.includes(l.path));
    if (met.length > 1) out.push(met.reduce((s, l) => move(s, l, reshaped(l.c.dims, rank)), state));
  };
  /** what was joined on its way to the refusal keeps one rank */
  const shiftRanks = (list: readonly Leaf[], by: number): void => {
    const moved = list.map(({ path, c }) => ({ path, c, dims: keptEnds(c.dims, c.dims.length + by)[0] }));
    if (list.length > 1 && moved.every(x => x.dims))
      out.push(moved.reduce((s, { path, c, dims = [] }) => withLeaf(s, path, tensor(c.dtype, dims)), state));
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
      if (i >= 0 && i < c.dims.length && c.dims[i] !== size) out.push(withLeaf(state, path, resized(c, [i], size)));
    }
  };
  /** whichever dimension has the one size gets the other, the last first; else the last one what is missing of it */
  const setSize = (from: number, to: number): void => {
    for (const { path, c } of read) {
      const last = c.dims.length - 1;
      const i = c.dims.lastIndexOf(from);
      const rest = (c.dims[last] ?? 0) + to - from;
      if (i >= 0) out.push(withLeaf(state, path, resized(c, [i], to)));
      else if (rest > 0 && last >= 0) out.push(withLeaf(state, path, resized(c, [last], rest)));
    }
  };
  /** tensors that are concatenated have the size together */
  const share = (at: (rank: number) => number, size: number): void => {
    const parts = read.filter(({ c }) => at(c.dims.length) >= 0);
    if (parts.length < 2 || size % parts.length !== 0) return;
    const each = size / parts.length;
    out.push(parts.reduce((s, { path, c }) => withLeaf(s, path, resized(c, [at(c.dims.length)], each)), state));
  };
  /** tensors that were joined have the wanted size together: one of them makes up what is missing */
  const makeUp = (at: (rank: number) => number, got: number, wanted: number): void => {
    for (const { path, c } of read) {
      const i = at(c.dims.length);
      const size = (c.dims[i] ?? 0) + wanted - got;
      if (size > 0 && size !== wanted) out.push(withLeaf(state, path, resized(c, [i], size)));
    }
  };
  const { message } = f;
  const asBool = /torch\.bool|dtype int32\/int64/.test(message);
  if (WANTS_INTEGERS.test(message)) setType(read, d => isFloatDType(d) || (asBool && d === "bool"), "int64");
  if (WANTS_FLOATS.test(message)) setType(read, d => !isFloatDType(d), "float32");
  if (/[Bb]oolean|bool tensor|\(bool\)|torch\.bool/.test(message)) setType(read, d => d !== "bool", "bool");
  const channels = /weight of size \[([\d, ]+)\].* to have (\d+) channels(?:, but got (\d+))?/.exec(message);
  if (channels) {
    const rank = (channels[1] ?? "").split(",").length;
    if (rank === 4) out.push(...asMaps(state, tensors, f));
    const joined = joinedChannels(
      read.filter(t => t.c.dims.length === rank),
      Number(channels[3]),
      Number(channels[2]),
    );
    if (joined) out.push(joined.reduce((st, l) => withLeaf(st, l.path, l.c), state));
    // like another one that fits
    const fitting = tensors.find(t => t.c.dims.length === rank && t.c.dims[1] === Number(channels[2]));
    for (const { path, c } of fitting ? read.filter(t => t !== fitting) : [])
      out.push(withLeaf(state, path, { ...c, dims: fitting?.c.dims ?? c.dims }));
    // code that brings the channels forward itself
    for (const { path, c } of read.filter(t => t.c.dims.length === rank && rank > 2)) {
      const [batch = 1, own, ...sizes] = c.dims;
      if (own === Number(channels[2]) && sizes.includes(Number(channels[3])))
        out.push(withLeaf(state, path, { ...c, dims: [batch, ...sizes, own] }));
    }
    for (const { path, c } of read) {
      const size = multiplied(c.dims[1] ?? 0, Number(channels[3]), Number(channels[2]));
      if (size !== undefined) out.push(withLeaf(state, path, resized(c, [1], size)));
    }
    makeUp(r => (r > 1 ? 1 : -1), Number(channels[3]), Number(channels[2]));
    setDim(r => (r === rank ? 1 : -1), Number(channels[2]));
    // a batch of them before one alone, whose channels would come first
    for (const { path, c } of read.filter(t => t.c.dims.length === rank - 1)) {
      const dims = reshaped(c.dims, rank);
      dims[1] = Number(channels[2]);
      out.push(withLeaf(state, path, tensor(c.dtype, dims)));
    }
    setDim(r => r - rank + 1, Number(channels[2]));
    setDim(r => (r > 1 ? 1 : -1), Number(channels[2]));
    share(r => (r > 1 ? 1 : -1), Number(channels[2]));
  }
  const product = /shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)/.exec(message);
  if (product) {
    makeUp(r => r - 1, Number(product[1]), Number(product[2]));
    share(r => r - 1, Number(product[2]));
    // where nothing is known of the way to there: whatever has the size that was met
    if (f.touched.length === 0)
      for (const { path, c } of read)
        for (const [i, d] of c.dims.entries())
          if (i > 0 && d === Number(product[1])) out.push(withLeaf(state, path, resized(c, [i], Number(product[2]))));
  }
  const joined =
    /subscript \w+ has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)/.exec(
      message,
    );
  for (const [wanted, got] of joined
    ? [
        [joined[1], joined[2]],
        [joined[2], joined[1]],
      ]
    : [])
    setSize(Number(got), Number(wanted));
  // what is joined with a tensor of the module's has its size
  const beside = /must match except in dimension \d+\. Expected size (\d+) but got size (\d+)/.exec(message);
  for (const [from = 0, to = 0] of beside
    ? [[beside[1], beside[2]].map(Number), [beside[2], beside[1]].map(Number)]
    : [])
    for (const { path, c } of read)
      if (c.dims.lastIndexOf(from) > 0) out.push(withLeaf(state, path, resized(c, [c.dims.lastIndexOf(from)], to)));
  // what is read of one size where another one is, of images whose channels have constants of their own
  const [a = 0, b = 0, at = 0] = sizesApart(f) ?? [];
  // a batch that does not fit is none of one size
  for (const [from = 0, to = 0] of at > 0
    ? [
        [a, b],
        [b, a],
      ]
    : [])
    for (const { path, c } of read) {
      const own = c.dims[at] ?? from;
      const size = own === from ? to : multiplied(own, from, to);
      if (size !== undefined && size !== own) out.push(withLeaf(state, path, resized(c, [at], size)));
    }
  const long = /dimension (-?\d+) must have (?:length|size) (\d+)/.exec(message)?.map(Number);
  if (long) setDim(r => ((long[1] ?? 0) < 0 ? r + (long[1] ?? 0) : (long[1] ?? 0)), long[2] ?? 1);
  const subscripts = /number of subscripts in the equation \((\d+)\) does not match/.exec(message);
  if (subscripts) setRank(read, Number(subscripts[1]));
  const normalized = /normalized_shape=\[(\d+)\].* size ?\[(?:\d+, )*(\d+)\]/.exec(message);
  if (normalized) setSize(Number(normalized[2]), Number(normalized[1]));
  out.push(...expanded(state, read, message));
  // matrices that are multiplied in batches
  const inner = /batch2 tensor to be: \[(\d+), (\d+)\] but got: \[\1, (\d+)\]/.exec(message)?.map(Number);
  if (inner) setSize(inner[2] ?? 0, inner[3] ?? 0);
  const elements = /running_mean should contain \d+ elements not (\d+)/.exec(message);
  if (elements) setDim(() => 1, Number(elements[1]));
  const factor = /shapes cannot be multiplied \(\d+x\d+ and 1x\d+\)|normalized_shape=\[1\]/.test(message);
  if (factor) setDim(r => r - 1, 1);
  // a size that is unpacked or used as one is no tensor
  if (/to unpack \(expected 2|got \(Tensor, (int|Tensor)|slice indices must/.test(message))
    for (const { path } of tensors) if (isPairName(path.split("/").pop() ?? "")) out.push(withLeaf(state, path, PAIR));
  let m = /not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)/.exec(message);
  // parts of a tensor that has been cut along another dimension than was meant
  if (f.operators > 0 && /to unpack/.test(message)) for (const t of read) setRank([t], t.c.dims.length - 1);
  if (m) {
    const [wanted, got] = [Number(m[1]), Number(m[2])];
    // another of the kind that has as many dimensions
    const like = tensors.find(t => t.c.dims.length === wanted);
    for (const t of like ? read.filter(l => l.c.dims.length === got) : [])
      out.push(withLeaf(state, t.path, tensor(like?.c.dtype ?? t.c.dtype, like?.c.dims ?? t.c.dims)));
    setRank(narrow(tensors, got), wanted);
  }
  m = /too many values to unpack \(expected (\d+)/.exec(message);
  if (m) {
    const most = Number(m[1]);
    setRank(
      tensors.filter(t => t.c.dims.length > most),
      most,
    );
  }
  // what was to become one row of a map is more where the image is no line of text
  if (m && f.operators > 0)
    for (const { path, c } of read)
      if (c.dims.length === 4 && (c.dims[2] ?? 0) > LINE[0])
        out.push(withLeaf(state, path, { ...c, dims: [...c.dims.slice(0, 2), ...LINE] }));
  // frames that lie behind each other in the channels
  m = /shape '\[-?\d+, (\d+), (\d+), (\d+)\]' is invalid/.exec(message);
  if (m) {
    const [channels, ...size] = m.slice(1).map(Number);
    for (const { path, c } of read)
      if (channels !== undefined && c.dims.length === 4 && c.dims.slice(2).join() === size.join())
        out.push(withLeaf(state, path, resized(c, [1], channels)));
  }
  // unbind, chunk and split give as many parts as the dimension is long
  m = f.operators > 0 ? /to unpack \(expected (\d+)/.exec(message) : null;
  if (m) for (const at of [-1, 1, 0]) setDim(r => (at < 0 ? r + at : at), Number(m?.[1]));
  m = /[Ee]xpected (\d)D(?: \([^)]*\))?(?: or (\d)D)?/.exec(message);
  const had = /input of size: \[([\d, ]+)\]/.exec(message)?.[1]?.split(",").length;
  if (m && had !== undefined && read.every(l => l.c.dims.length !== had)) {
    // a dimension was added on the way to there
    const by = Number(m[2] ?? m[1]) - had;
    for (const l of read) if (by < 0 && l.c.dims.length + by > 0) setRank([l], l.c.dims.length + by);
  }
  if (m) setRank(read, Number(m[2] ?? m[1]));
  m = /\b(?:have|has|be|a|expects?|expected|requires?) (?:exactly )?(\d)(?:[ -]?D\b|[ -]dim)/i.exec(message);
  if (m) setRank(read, Number(m[1]));
  // the program's own words
  m = /number of dim\w*\W+got (\d+)\W+expected (\d+)/i.exec(message);
  if (m) setRank(narrow(read, Number(m[1])), Number(m[2]));
  m = /dimension (\d+)\W+got (\d+)\W+(?:but )?expected (\d+)/i.exec(message);
  if (m) setDim(r => (Number(m?.[1]) < r ? Number(m?.[1]) : -1), Number(m[3]));
  m = /expected (\d+) dims\. Received (\d+)-dim/.exec(message);
  if (m) {
    setRank(narrow(tensors, Number(m[2])), Number(m[1]));
    shiftRanks(read, Number(m[1]) - Number(m[2]));
  }
  m = /same number of dimensions: got (\d+) and (\d+)/.exec(message);
  if (m) {
    const [a, b] = [Number(m[1]), Number(m[2])];
    // where no input has that rank, a dimension was added or taken on the way to there
    const changed = [a, b].some(rank => read.every(l => l.c.dims.length !== rank));
    for (const l of changed ? read : [])
      for (const rank of [l.c.dims.length - Math.abs(a - b), l.c.dims.length + Math.abs(a - b)])
        if (rank > 0) setRank([l], rank);
    for (const rank of [Math.max(a, b), Math.min(a, b)]) setRank(read, rank);
  }
  m = /sizes provided \((\d+)\) must be greater or equal to the number of dimensions in the tensor \((\d+)\)/.exec(
    message,
  );
  if (m) {
    const [most, had] = [Number(m[1]), Number(m[2])];
    // a dimension was added on the way to there
    for (const l of read) if (read.every(x => x.c.dims.length !== had)) setRank([l], l.c.dims.length - (had - most));
    setRank(narrow(read, had), most);
  }
  if (/Index (should have dimension 1 or 0|is supposed to be a vector)/.test(message))
    setRank(
      read.filter(l => l.c.dtype === "int64" && l.c.dims.length > 1),
      1,
    );
  m = /expects a tensor with <= (\d) dimensions, but self is (\d)D/.exec(message);
  if (m) setRank(narrow(read, Number(m[2])), Number(m[1]));
  m = /input\.dim\(\) = (\d+).*len\(dims\) = (\d+)/.exec(message);
  if (m?.[2]) setRank(narrow(read, Number(m[1])), Number(m[2]));
  // as many columns as a list of the module has items
  if (/(list|tuple) index out of range/.test(message)) {
    const columns = (n: number): State =>
      read.reduce((s, { path, c }) => withLeaf(s, path, resized(c, [c.dims.length - 1], n)), state);
    if (read.length > 1) for (const n of FEW) out.push(columns(n));
    for (const n of FEW) setDim(r => r - 1, n);
  }
  m = /index (\d+) is out of bounds for dimension (\d+) with size (\d+)/.exec(message);
  if (m) {
    const [index, dim, size] = [Number(m[1]), Number(m[2]), Number(m[3])];
    const short = read.filter(l => l.c.dims[dim] === size);
    if (short.length > 0)
      out.push(short.reduce((s, l) => withLeaf(s, l.path, resized(l.c, [dim], Math.max(index + 1, 2 * size))), state));
  }
  if (/Dimension out of range|index out of range|[Tt]oo many indices/.test(message)) {
    // those that are alike have as many dimensions
    const [first, ...more] = read;
    const ranks = new Set(read.map(t => t.c.dims.length));
    if (first && more.length > 0 && ranks.size === 1) setRank(read, first.c.dims.length + 1);
    for (const t of read) setRank([t], t.c.dims.length + 1);
  }
  return out;
}

/** what is expanded has the sizes that it is expanded to, or one where they differ */
function expanded(state: State, read: readonly Leaf[], message: string): State[] {
  const [to, from] = ["Target sizes", "Tensor sizes"].map(words =>
    new RegExp(`${words}: \\[([\\d, ]+)\\]`).exec(message)?.[1]?.split(",").map(Number),
  );
  if (!to || !from) return [];
  const ones = to.map((d, i) => (i === 0 || from[i - (to.length - from.length)] === d ? d : 1));
  return read
    .filter(l => l.c.dims.join() === from.join())
    .flatMap(l => [ones, to].map(dims => withLeaf(state, l.path, { ...l.c, dims })));
}

/** the size that becomes the wanted one where `own` became `got` by a factor on the way */
function multiplied(own: number, got: number, wanted: number): number | undefined {
  const factor = got / own;
  return Number.isInteger(factor) && factor > 1 && wanted % factor === 0 ? wanted / factor : undefined;
}

const FEW = [3, 2, 4, 1] as const;
/** height and width of a line of text, as recognizers of it take images */
const LINE = [32, 128] as const;

/** tensors whose channels were joined before a layer: as many each as make up what it takes */
function joinedChannels(parts: readonly Leaf[], got: number, wanted: number): Leaf[] | undefined {
  const sum = parts.reduce((n, l) => n + (l.c.dims[1] ?? 0), 0);
  if (parts.length < 2 || sum !== got || wanted % parts.length !== 0) return undefined;
  const each = wanted / parts.length;
  return parts.map(({ path, c }) => ({ path, c: resized(c, [1], each) }));
}

const WANTS_INTEGERS =
  /indices must be|scalar types:? Long|dtype.*[Ll]ong|[Ee]xpected dtype int32\/int64|Expected tensor for argument #1 'indices'|tensors used as indices|expected .*int64|int64 expected|index.*integer|indices.*(int|long)|one_hot/i;
const WANTS_FLOATS =
  /with a bool tensor is not supported|not implemented for '(Long|Bool|Int)'|expected m1 and m2 to have the same dtype|same dtype|should be the same|must match except|Expected .* (Float|floating)|floating point|Input type|can only be/i;

const narrow = (list: readonly Leaf[], rank: number): readonly Leaf[] => {
  const exact = list.filter(t => t.c.dims.length === rank);
  return exact.length > 0 ? exact : list;
};
