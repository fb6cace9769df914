// How a product's template may be written and launched. In: a product, its dtype, the target. Out: forms with their
// launch configurations, best guess first. Promises: every form given fits the target's shared memory; never empty.
import { itemsize } from "../ir/dtypes";
import type { TargetProperties } from "../ir/target";
import type { BufferView } from "../ir/types";
import type { TritonConfig } from "../plan/types";
import { type Expr, intValue, mul } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import type { Gemm } from "./gemm";

/**
 * pointers: a program per tile, operands through pointers. persistent: as many programs as multiprocessors, each walking
 * tiles that tensor descriptors fetch. flattened: that, the walk and the loop over the depth made one, so that the next
 * tile's copies begin before one ends.
 */
export type GemmForm = "pointers" | "persistent" | "flattened";
const GEMM_FORMS: readonly GemmForm[] = ["flattened", "persistent", "pointers"];

/** a form, and whether its results go out through tensor descriptors as well */
type WholeWay = GemmForm | "flattened_stores" | "persistent_stores";
const WAYS: readonly WholeWay[] = ["flattened", "flattened_stores", "persistent", "persistent_stores", "pointers"];
/** the sum in so many pieces (split-K) */
type SplitWay = `split_${number}`;
/** one of those; those that load through pointers may compute operands on the way in */
export type GemmWay = WholeWay | SplitWay | `${"pointers" | SplitWay}_prologue`;
const SPLIT = /^split_([1-9]\d*)$/;
const PROLOGUE = "_prologue";

/** all ways, as they are told to users */
export const WAY_NAMES: readonly string[] = [...WAYS, "split_N", `pointers${PROLOGUE}`, `split_N${PROLOGUE}`];

export const splitWay = (pieces: number): SplitWay => `split_${pieces}`;
export const withPrologue = (w: "pointers" | SplitWay): GemmWay => `${w}${PROLOGUE}`;
export const isGemmWay = (x: unknown): x is GemmWay => {
  if (typeof x !== "string") return false;
  const bare = x.replace(PROLOGUE, "");
  return SPLIT.test(bare) || bare === "pointers" || (bare === x && (WAYS as readonly string[]).includes(x));
};

/** whether the way computes an operand where it would be loaded */
export const computesOperands = (w: GemmWay): boolean => w.endsWith(PROLOGUE);
export const formOf = (w: GemmWay): GemmForm =>
  piecesOf(w) !== null || computesOperands(w) ? "pointers" : (w.replace("_stores", "") as GemmForm);
export const storesTiles = (w: GemmWay): boolean => w.endsWith("_stores");
/** pieces of the sum; null: it is whole */
export function piecesOf(w: GemmWay): number | null {
  const pieces = SPLIT.exec(w.replace(PROLOGUE, ""))?.[1];
  return pieces === undefined ? null : Number(pieces);
}

/** the ways that these forms give */
export const waysWith = (forms: readonly GemmForm[]): readonly GemmWay[] => WAYS.filter(w => forms.includes(formOf(w)));

/** whether the form fetches tiles through descriptors, and walks them */
export const isPersistent = (f: GemmForm): boolean => f !== "pointers";

/** bytes that a tensor descriptor's rows are aligned to */
const DESCRIPTOR_ALIGNMENT = 16;

/** which way a matrix lies: its last dimension is dense, its first is, or neither */
export function denseDimension(v: BufferView): "last" | "first" | null {
  const [first, last] = v.stride.slice(-2);
  if (last !== undefined && intValue(last) === 1) return "last";
  return first !== undefined && intValue(first) === 1 ? "first" : null;
}

/** whether the copy engine can fetch tiles of it */
export function hasDescriptor(v: BufferView, sv: SizeVars): boolean {
  const dense = denseDimension(v);
  if (dense === null) return false;
  const bytes = itemsize(v.dtype);
  const steps = v.stride.filter((_, i) => i !== v.stride.length - (dense === "last" ? 1 : 2));
  const aligned = (e: Expr): boolean => sv.knownMultipleOf(mul(e, bytes), DESCRIPTOR_ALIGNMENT);
  return steps.every(s => intValue(s) !== 0 && aligned(s)) && aligned(v.offset);
}

/** forms that this product has on this GPU */
export function formsOf(products: readonly Gemm[], target: TargetProperties, sv: SizeVars): readonly GemmForm[] {
  const [first] = products;
  if (!first) return [];
  const fetchable = [first.a, ...products.map(p => p.b)].every(v => hasDescriptor(v, sv));
  const [major] = target.computeCapability;
  return major < 9 || !fetchable ? ["pointers"] : GEMM_FORMS;
}

interface Tile {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly warps: number;
  readonly stages: number;
}

/** BLOCK_M, BLOCK_N, BLOCK_K in bytes of a row, warps, stages */
const WALKED: readonly Tile[] = [
  { m: 128, n: 256, k: 128, warps: 8, stages: 3 },
  { m: 128, n: 256, k: 128, warps: 8, stages: 4 },
  { m: 256, n: 128, k: 128, warps: 8, stages: 3 },
  { m: 128, n: 128, k: 128, warps: 8, stages: 4 },
  { m: 128, n: 128, k: 128, warps: 4, stages: 4 },
];
const TILES: Readonly<Record<GemmForm, readonly Tile[]>> = {
  persistent: WALKED,
  flattened: WALKED,
  pointers: [
    { m: 128, n: 128, k: 128, warps: 4, stages: 3 },
    { m: 128, n: 256, k: 128, warps: 8, stages: 3 },
    { m: 128, n: 128, k: 128, warps: 8, stages: 4 },
    { m: 64, n: 128, k: 128, warps: 4, stages: 4 },
    { m: 64, n: 64, k: 128, warps: 4, stages: 4 },
    { m: 64, n: 64, k: 64, warps: 4, stages: 3 },
    { m: 32, n: 64, k: 128, warps: 4, stages: 5 },
    { m: 16, n: 64, k: 256, warps: 2, stages: 4 },
    { m: 16, n: 64, k: 256, warps: 4, stages: 5 },
    { m: 16, n: 128, k: 256, warps: 4, stages: 4 },
  ],
};
/** where an operand is computed: warps enough for that */
const COMPUTED: readonly Tile[] = [
  { m: 128, n: 128, k: 128, warps: 8, stages: 4 },
  { m: 128, n: 256, k: 128, warps: 8, stages: 3 },
  { m: 64, n: 128, k: 128, warps: 8, stages: 3 },
  { m: 64, n: 64, k: 128, warps: 8, stages: 4 },
  { m: 32, n: 64, k: 128, warps: 4, stages: 4 },
  { m: 16, n: 64, k: 256, warps: 4, stages: 4 },
  { m: 16, n: 128, k: 128, warps: 4, stages: 3 },
  { m: 16, n: 128, k: 256, warps: 8, stages: 3 },
];

const MIN_BLOCK = 16;
/** sums that a warp keeps in registers: half of what its threads have */
const WIDEST_SUMS = 128 * 32;
/** and so many at the least: a tensor core's tile of 16 x 16 */
const SUMS_PER_WARP = 256;
const cap = (x: number): number => Math.max(MIN_BLOCK, 2 ** Math.ceil(Math.log2(Math.max(1, x))));

/** `products`: accumulators per program; two share the first operand's tile. `computed`: an operand is computed on the way in */
export function gemmConfigs(
  form: GemmForm,
  products: readonly Gemm[],
  target: TargetProperties,
  sv: SizeVars,
  computed = false,
): readonly TritonConfig[] {
  const [first] = products;
  if (!first) return [];
  const bytes = itemsize(first.a.dtype);
  const [m, n, k] = [first.m, first.n, first.k].map(e => sv.sizeHint(e, 1024)) as [number, number, number];
  const out: TritonConfig[] = [];
  const seen = new Set<string>();
  for (const t of computed ? COMPUTED : TILES[form]) {
    const block = { m: Math.min(t.m, cap(m)), n: Math.min(t.n, cap(n)), k: Math.min(t.k / bytes, cap(k)) };
    const depth = bytes === 1 ? Math.max(block.k, Math.min(32, cap(k))) : block.k;
    const columns = products.length === 1 ? block.n : Math.max(MIN_BLOCK, Math.min(block.n, 128));
    const operands = (block.m + products.length * columns) * depth * bytes;
    const stages = Math.min(t.stages, Math.floor((target.sharedMemoryPerBlock - 4096) / operands));
    if (stages < 1) continue;
    // tiles so small that every multiprocessor has very many of them are never the best
    const tiles = Math.ceil(m / block.m) * Math.ceil(n / columns);
    if (out.length > 0 && block.m * columns < 128 * 128 && tiles > 16 * target.multiProcessorCount) continue;
    const sums = block.m * columns * products.length;
    const warps = Math.max(1, Math.min(8, Math.max(t.warps, sums / WIDEST_SUMS), Math.floor(sums / SUMS_PER_WARP)));
    if (sums / warps > WIDEST_SUMS) continue;
    const config: TritonConfig = {
      kwargs: { YBLOCK: block.m, XBLOCK: columns, KBLOCK: depth, GROUP: 8 },
      numWarps: warps,
      numStages: stages,
    };
    const key = JSON.stringify(config);
    if (seen.has(key)) continue;
    seen.add(key);
    out.push(config);
  }
  return out;
}
