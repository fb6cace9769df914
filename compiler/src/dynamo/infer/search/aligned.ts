// Tensors that meet at the wrong dimensions. In: a state's tensors and a failure that names two sizes and a dimension. Out: states
// in which what meets the batch's vectors is one vector for each item, batches are as long as lists that go with them, or of one.
import { SIZES } from "../choices/names";
import { type Choice, type Failure, type State, withChoice } from "../types";
import { sizesApart } from "./failure";
import { type Leaf, withLeaf } from "./leaves";

/** A batch that lies against another dimension of a sequence: the sequence is a vector for each item of the batch. */
export function vectorsAlike(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [a = 0, b = 0, at = 0] = sizesApart(f) ?? [];
  const read = leaves.filter(l => f.touched.includes(l.path));
  const short = read.filter(l => l.c.dims.length < 3);
  const batch = short.map(l => l.c.dims[0]).find(n => n === a || n === b);
  if (at === 0 || batch === undefined) return [];
  return read
    .filter(l => l.c.dims.length === at + 2 && l.c.dims[0] === batch && l.c.dims[at] === a + b - batch)
    .map(l => withLeaf(state, l.path, { ...l.c, dims: [batch, l.c.dims[at + 1] ?? 1] }));
}

/** the shape of a tensor of which nothing is known */
const UNKNOWN = [SIZES.batch, SIZES.length, SIZES.width].join();

/** What is scaled by a number for each of three channels is an image, and so is what else nothing is known of. */
export function imagesScaled(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [a = 0, b = 0, at = 0] = sizesApart(f) ?? [];
  const unknown = leaves.filter(l => l.c.dtype === "float32" && l.c.dims.join() === UNKNOWN);
  if (at !== 1 || a !== SIZES.batch || b !== 3 || !unknown.some(l => f.touched.includes(l.path))) return [];
  const dims = [SIZES.batch, 3, SIZES.image, SIZES.image];
  return [unknown.reduce((s, { path, c }) => withLeaf(s, path, { ...c, dims }), state)];
}

/** Items of the batch and of sequences were laid out in one dimension, and meet what has both: code for a batch of one. */
export function batchOfOne(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [a = 0, b = 0] = sizesApart(f) ?? [];
  const [less, more] = [Math.min(a, b), Math.max(a, b)];
  const batch = more / less;
  const read = leaves.filter(l => f.touched.includes(l.path) && l.c.dims.length > 1 && l.c.dims[0] === batch);
  if (read.length === 0 || batch < 2 || !read.some(l => l.c.dims.includes(less, 1))) return [];
  const alone = leaves.filter(l => l.c.dims[0] === batch && l.c.dims.length > 1);
  return [alone.reduce((s, l) => withLeaf(s, l.path, { ...l.c, dims: [1, ...l.c.dims.slice(1)] }), state)];
}

const MOST_ITEMS = 8;

/** What was stacked of the items of lists meets another number of them: lists of as many. */
export function listsAsLong(state: State, f: Failure): State[] {
  const [a = 0, b = 0, at = 0] = sizesApart(f) ?? [];
  if (at === 0) return [];
  return [[a, b] as const, [b, a] as const].flatMap(([n, wanted]) => {
    const lists = [...state].filter(([, c]) => c.kind === "seq" && c.items.length === n);
    if (n < 2 || wanted < 1 || wanted > MOST_ITEMS || lists.length === 0) return [];
    return [
      lists.reduce<State>((s, [name, c]) => {
        if (c.kind !== "seq") return s;
        const items = Array.from({ length: wanted }, (_, i) => c.items[Math.min(i, n - 1)] as Choice);
        return withChoice(s, name, { ...c, items });
      }, state),
    ];
  });
}

const TARGET =
  /target size \(torch\.Size\(\[([\d, ]*)\]\)\) that is different to the input size \(torch\.Size\(\[([\d, ]*)\]\)\)/;

/** A loss that wants its target in the shape of what was computed: either gets that of the other. */
export function asTarget(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [, target, input] = TARGET.exec(f.message) ?? [];
  if (target === undefined || input === undefined) return [];
  const shaped = (text: string): number[] => text.split(",").map(Number);
  const moved = (from: string, to: string): State[] =>
    leaves
      .filter(l => f.touched.includes(l.path) && l.c.dims.join() === shaped(from).join())
      .map(l => withLeaf(state, l.path, { ...l.c, dims: shaped(to) }));
  return [...moved(target, input), ...moved(input, target)];
}

/** The items of a list were joined to a batch: other tensors have as many items as the list. */
export function batchOfList(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [a = 0, b = 0, at] = sizesApart(f) ?? [];
  if (at !== 0) return [];
  return [...state].flatMap(([name, c]) => {
    const n = c.kind === "seq" ? c.items.length : 0;
    if (n !== a && n !== b) return [];
    const others = leaves.filter(l => !l.path.startsWith(`${name}/`) && l.c.dims[0] === a + b - n);
    if (others.length === 0) return [];
    return [others.reduce((s, l) => withLeaf(s, l.path, { ...l.c, dims: [n, ...l.c.dims.slice(1)] }), state)];
  });
}
