// Images of a usual size that a network does not take: it halves them more often than they can be halved, or keeps maps of
// fixed sizes. In: a state's tensors and its failure. Out: states with images of other sizes that networks are made for.
import { SIZES } from "../choices/names";
import type { Failure, State } from "../types";
import { type Leaf, resized, withLeaf } from "./leaves";

const OTHERS = [256, 64, 128, 224, 32, 512, 384] as const;
/** sizes that nothing but a guess stands behind */
const GUESSED: readonly (number | undefined)[] = [SIZES.image, SIZES.map];
const MOST_CHANNELS = 4;
const MISFIT =
  /size of tensor a .* at non-singleton dimension (?!1$)\d|[Ss]izes of tensors must match|shape '.*' is invalid|[Ee]xpected size/;

/** All images of a usual size get another one together. */
export function otherImages(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  if (!MISFIT.test(f.message)) return [];
  const images = leaves.filter(l => isImage(l.c.dims));
  if (!images.some(l => f.touched.includes(l.path))) return [];
  const now = images[0]?.c.dims.at(-1);
  return OTHERS.filter(size => size !== now).map(size =>
    images.reduce((s, { path, c }) => {
      const rank = c.dims.length;
      return withLeaf(s, path, resized(c, [rank - 2, rank - 1], size));
    }, state),
  );
}

/** [..., 3, 224, 224], or of the size that maps get */
function isImage(dims: readonly number[]): boolean {
  const [channels = 0, height, width] = dims.slice(-3);
  return dims.length > 3 && channels <= MOST_CHANNELS && height === width && GUESSED.includes(width);
}
