// Inputs that any implementation can make again. u(i, k) is a 32-bit hash of a flat index and a tensor's number as a
// float64 in [0, 1); a Fill turns it into values. Shapes do not matter: element i is counted row-major.

const MIX_A = 2654435761;
const MIX_B = 2246822519;
const MIX_K = 40503;
/** makes a uniform number on [-0.5, 0.5) have unit variance: sqrt(12) */
const UNIT_VARIANCE = 3.4641016151377544;

/** uniform in [0, 1), the same for the same (i, k) everywhere */
export function uniform(i: number, k: number): number {
  let h = (Math.imul((i + 1) >>> 0, MIX_A) + Math.imul(k >>> 0, MIX_K)) >>> 0;
  h ^= h >>> 16;
  h = Math.imul(h, MIX_B) >>> 0;
  h ^= h >>> 13;
  return (h >>> 0) / 4294967296;
}

export type FillSpec =
  | { readonly how: "rand" | "randn" | "weight_matrix" | "weight_vector" | "other_parameter"; readonly k: number }
  | { readonly how: "randint"; readonly k: number; readonly low: number; readonly high: number }
  | { readonly how: "full"; readonly value: number | boolean }
  | { readonly how: "data"; readonly values: readonly (number | boolean)[] };

/** value = offset + scale2 * (scale1 * (u - shift)), the product rounded down first if `floor` */
type FillNumbers = readonly [shift: number, scale1: number, scale2: number, offset: number, floor: number];

/**
 * The numbers of a fill that follows the hash; null for data. `rowLength` is numel / shape[0], which scales a parameter
 * of two or more dims.
 */
export function fillNumbers(fill: FillSpec, rowLength: number): FillNumbers | null {
  switch (fill.how) {
    case "rand":
      return [0, 1, 1, 0, 0];
    case "randn":
      return [0.5, UNIT_VARIANCE, 1, 0, 0];
    case "weight_matrix":
      return [0.5, UNIT_VARIANCE, 1 / Math.sqrt(rowLength), 0, 0];
    case "weight_vector":
      return [0.5, 0.1, 1, 1, 0];
    case "other_parameter":
      return [0.5, 0.1, 1, 0, 0];
    case "randint":
      return [0, fill.high - fill.low, 1, fill.low, 1];
    case "full":
      return [0, 0, 1, Number(fill.value), 0];
    case "data":
      return null;
    default: {
      const never: never = fill;
      throw new Error(`no such fill: ${JSON.stringify(never)}`);
    }
  }
}

/** The value of row-major element i. */
export function fillValue(fill: FillSpec, i: number, rowLength: number): number {
  if (fill.how === "data") return Number(fill.values[i] ?? 0);
  if (fill.how === "full") return Number(fill.value);
  const [shift, scale1, scale2, offset, floor] = fillNumbers(fill, rowLength) ?? [0, 0, 0, 0, 0];
  const x = scale1 * (uniform(i, fill.k) - shift);
  return offset + scale2 * (floor ? Math.floor(x) : x);
}
