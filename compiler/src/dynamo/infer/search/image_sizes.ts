// Images of a usual size that a network does not take: it halves them more often than they can be halved, or keeps maps of
// fixed sizes. In: a state's tensors and its failure. Out: states with images of other sizes that networks are made for.
import { SIZES } from "../choices/names";
import type { Failure, State } from "../types";
import { sizesApart } from "./failure";
import { type Leaf, resized, withLeaf } from "./leaves";

const OTHERS = [256, 64, 128, 224, 32, 512, 384] as const;
/** sizes that nothing but a guess stands behind */
const GUESSED: readonly (number | undefined)[] = [SIZES.image, SIZES.map];
const MOST_CHANNELS = 4;
const MISFIT =
  /size of tensor a .* at non-singleton dimension (?!1$)\d|[Ss]izes of tensors must match|shape '.*' is invalid|[Ee]xpected size/;

/** All images of a usual size get another one together. */
export function otherImages(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  // maps that are kept by their sizes
  const keyed = f.type === "KeyError" && f.operators > 0 && /^\d+$/.test(f.message);
  if (!keyed && !MISFIT.test(f.message)) return [];
  const images = leaves.filter(l => sides(l.c.dims));
  if (!images.some(l => f.touched.includes(l.path))) return [];
  const [first] = images;
  const now = first?.c.dims[sides(first.c.dims)?.[0] ?? 0];
  return OTHERS.filter(size => size !== now).map(size =>
    images.reduce((s, { path, c }) => withLeaf(s, path, resized(c, sides(c.dims) ?? [], size)), state),
  );
}

/** the shape of a tensor of which nothing is known */
const UNKNOWN = [SIZES.batch, SIZES.length, SIZES.width].join();

/** What nothing is known of, where it meets something else's sizes beside an image, is an image too: all such tensors together. */
export function asImages(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const image = leaves.find(l => isImage(l.c.dims))?.c;
  const unknown = leaves.filter(l => l.c.dtype === "float32" && l.c.dims.join() === UNKNOWN);
  if (!image || !MISFIT.test(f.message) || !unknown.some(l => f.touched.includes(l.path))) return [];
  return [unknown.reduce((s, { path, c }) => withLeaf(s, path, { ...c, dims: image.dims }), state)];
}

/** lengths that are those of square grids */
const GRIDS = [256, 196, 49] as const;

/** Sequences of a guessed length, which the code may take for the cells of a square grid, together. */
export function gridLengths(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const asked = (f.type === "AssertionError" && f.message === "") || /shape '.*' is invalid/.test(f.message);
  const sequences = leaves.filter(l => l.c.dims.length > 1 && l.c.dims.includes(SIZES.length));
  if (!asked || sequences.length === 0) return [];
  return GRIDS.map(n =>
    sequences.reduce(
      (s, { path, c }) => withLeaf(s, path, { ...c, dims: c.dims.map(d => (d === SIZES.length ? n : d)) }),
      state,
    ),
  );
}

const APART =
  /subscript \w+ has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)|Expected size (\d+) but got size (\d+) for tensor|size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (?!1$)\d/;

/** Square maps of two sizes that meet: all of the one size get the other. */
export function squaresAlike(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const sizes = APART.exec(f.message)
    ?.slice(1)
    .filter(n => n !== undefined)
    .map(Number);
  // positions of a sequence lie behind the batch
  const [a = 0, b = 0, at] = sizesApart(f) ?? [];
  const cells = sizes ?? (at === 1 ? [a, b] : undefined);
  return [...(cells ? cellsAlike(state, leaves, cells) : []), ...(sizes ? sidesAlike(state, leaves, sizes) : [])];
}

/** what a patch is wide at most, and tokens that stand beside the cells */
const PATCHES = [1, 2, 4, 8, 14, 16, 32] as const;
const MOST_BESIDE = 256;

/**
 * Square maps, wherever height and width stand, whose cells (one for each patch) and some tokens beside them are as many as the
 * one size: as many cells as the other size leaves beside the same tokens.
 */
function cellsAlike(state: State, leaves: readonly Leaf[], sizes: readonly number[]): State[] {
  return [sizes, [...sizes].reverse()].flatMap(([from = 0, to = 0]) =>
    PATCHES.flatMap(patch => {
      const maps = leaves.flatMap(l => {
        const at = l.c.dims.findIndex((d, i) => i > 0 && d > 3 && l.c.dims[i + 1] === d && d % patch === 0);
        const cells = ((l.c.dims[at] ?? 0) / patch) ** 2;
        const beside = from - cells;
        const side = patch * Math.sqrt(to - beside);
        const few = beside >= 0 && beside <= Math.min(cells, MOST_BESIDE);
        const fits = at > 0 && few && Number.isInteger(side) && side > 3;
        return fits ? [{ ...l, at, side }] : [];
      });
      const moved = (s: State, { path, c, at, side }: (typeof maps)[number]): State =>
        withLeaf(s, path, resized(c, [at, at + 1], side));
      return maps.length === 0 ? [] : [maps.reduce(moved, state)];
    }),
  );
}

function sidesAlike(state: State, leaves: readonly Leaf[], sizes: readonly number[]): State[] {
  return [sizes, [...sizes].reverse()].flatMap(([from, to]) => {
    const squares = leaves.filter(l => l.c.dims.length > 3 && l.c.dims.slice(-2).every(n => n === from));
    if (squares.length === 0 || to === undefined || to < 2) return [];
    const made = (list: readonly Leaf[]): State =>
      list.reduce((s, { path, c }) => withLeaf(s, path, resized(c, [c.dims.length - 2, c.dims.length - 1], to)), state);
    // an image whose map has become smaller meets others that have that size at once
    const behind = squares.slice(1);
    return [made(squares), ...(behind.length > 0 && behind.length + 1 === leaves.length ? [made(behind)] : [])];
  });
}

/** [..., 3, 224, 224], or of the size that maps get */
function isImage(dims: readonly number[]): boolean {
  const [channels = 0, height, width] = dims.slice(-3);
  return dims.length > 3 && channels <= MOST_CHANNELS && height === width && GUESSED.includes(width);
}

/** the dimensions that are height and width of an image, whose channels may stand last: [..., 224, 224, 3] */
function sides(dims: readonly number[]): readonly number[] | undefined {
  const rank = dims.length;
  if (isImage(dims)) return [rank - 2, rank - 1];
  const [height, width, channels = 0] = dims.slice(-3);
  const last = rank > 3 && channels <= MOST_CHANNELS && height === width && GUESSED.includes(width);
  return last ? [rank - 3, rank - 2] : undefined;
}
