// The size of images that a constructor was told. In: its parameters and what stands in them. Out: height and width, or nothing.
import { PyList, PyTuple } from "../objects/values";
import { ABSENT, type Choice, type Hole, type State } from "./types";

export type ImageSize = readonly [height: number, width: number];

const SIDES = /^(?:(?:in|input|img|image|im|frame|feat|feature)_?)?(h|height|w|width)$/i;
const WHOLE =
  /^(img|image|im)_?(size|res|resolution|dim)$|^(input_resolution|resolution|crop_size|load_size|fine_size)$/i;
/** channels, height and width, or the channels last */
const SHAPE = /^(in|input|img|image|im|obs|observation)_?shape$/i;
const MOST_CHANNELS = 4;
/** a lesser number is a count of patches or the like */
const LEAST = 8;

export function imageSizeOf(holes: readonly Hole[], state: State): ImageSize | undefined {
  const sides: { h?: number; w?: number } = {};
  let whole: ImageSize | undefined;
  for (const hole of holes) {
    const given = sizeIn(hole, state.get(hole.name) ?? ABSENT);
    if (!given) continue;
    const side = SIDES.exec(hole.name)?.[1]?.toLowerCase().charAt(0);
    if (side === "h" || side === "w") sides[side] ??= given[0];
    else if (WHOLE.test(hole.name) || SHAPE.test(hole.name)) whole ??= given;
  }
  if (sides.h !== undefined && sides.w !== undefined) return [sides.h, sides.w];
  return whole;
}

/** a number, or a pair of them, as given or by default */
function sizeIn(hole: Hole, c: Choice): ImageSize | undefined {
  const { fallback } = hole;
  const byDefault = fallback instanceof PyTuple || fallback instanceof PyList ? fallback.items : [fallback, fallback];
  const given = c.kind === "seq" ? c.items.map(numberIn) : [numberIn(c), numberIn(c)];
  const all = c.kind === "absent" ? byDefault : given;
  const [h, w, ...more] = SHAPE.test(hole.name) ? withoutChannels(all) : all;
  const ok = more.length === 0 && typeof h === "number" && typeof w === "number" && h >= LEAST && w >= LEAST;
  return ok ? [h, w] : undefined;
}

function withoutChannels<T>(shape: readonly T[]): readonly T[] {
  const few = (n: T | undefined): boolean => typeof n === "number" && n <= MOST_CHANNELS;
  if (shape.length !== 3) return shape;
  return few(shape[0]) ? shape.slice(1) : few(shape[2]) ? shape.slice(0, 2) : shape;
}

const numberIn = (c: Choice): number | undefined => (c.kind === "number" && !c.float ? c.value : undefined);
