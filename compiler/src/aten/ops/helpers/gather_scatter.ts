// Advanced indexing in loop form. In: boxes of a lowering and the index tensors of x[i, :, j]. Out: sizes and index maps.
// Promises: the places of the indexed dims in the result follow PyTorch (adjacent index tensors stay in place, others
// move to the front); bool indices are never handled here.
import type { Dim, DType, LoweringBuilder, Ops } from "../../types";
import { at, broadcastShapes, range } from "./shape";

export interface IndexMap<B> {
  /** the index tensors after broadcasting, null where a dim is kept whole */
  readonly indices: readonly (B | null)[];
  readonly size: readonly Dim[];
  readonly map: <V>(ops: Ops<V>, index: readonly Dim[]) => Dim[];
}

export const isMaskDType = (d: DType): boolean => d === "bool" || d === "uint8";

/** index tensors expanded to one shape; null where a mask or another device's tensor needs ATen */
export function broadcastIndices<B>(
  b: LoweringBuilder<B>,
  indices: readonly (B | null)[],
  device: { readonly type: string; readonly index: number | null },
): (B | null)[] | null {
  const given = indices.filter((x): x is B => x !== null);
  for (const x of given) {
    if (isMaskDType(b.dtype(x))) return null;
    const d = b.device(x);
    if (d.type !== device.type || d.index !== device.index) return null;
  }
  const shape = broadcastShapes({ ...b, fail: b.error }, ...given.map(b.size));
  return indices.map(x => (x === null ? null : expandTo(b, x, shape)));
}

/** as broadcast_tensors: nothing when the sizes already agree */
export function expandTo<B>(b: LoweringBuilder<B>, x: B, shape: readonly Dim[]): B {
  const size = b.size(x);
  const same = size.length === shape.length && size.every((s, i) => s === shape[i] || b.knownEq(s, at(shape, i)));
  return same ? x : b.expand(x, shape);
}

/** Size and element map of x[indices]. */
export function indexMap<B>(
  b: LoweringBuilder<B>,
  xSize: readonly Dim[],
  indices: readonly (B | null)[],
  opts: { readonly check: boolean; readonly wrapNeg?: boolean },
): IndexMap<B> {
  const places = range(indices.length).filter(i => indices[i] !== null);
  const first = at(places, 0);
  const last = at(places, places.length - 1);
  const adjacent = places.every((p, i) => p === first + i);
  const tensorSize = b.size(indices[first] as B);
  const kept = xSize.filter((_, i) => i >= indices.length || indices[i] === null);
  const size = adjacent ? [...kept.slice(0, first), ...tensorSize, ...kept.slice(first)] : [...tensorSize, ...kept];
  const loaders = indices.map(x => (x === null ? null : b.loader(x)));
  const rank = tensorSize.length;
  const start = adjacent ? first : 0;
  const map = <V>(ops: Ops<V>, index: readonly Dim[]): Dim[] => {
    const out: Dim[] = [];
    let next = 0;
    for (let i = 0; i <= last; i++) {
      if (i === start) next += rank;
      const loader = loaders[i];
      if (loader === null || loader === undefined) {
        out.push(at(index, next));
        next++;
      } else {
        out.push(ops.indirectIndexing(loader(ops, index.slice(start, start + rank)), at(xSize, i), opts));
      }
    }
    return [...out, ...index.slice(next)];
  };
  return { indices, size, map };
}

/** whether equal inputs must give equal bits */
export const isDeterministic = <B>(b: LoweringBuilder<B>): boolean => b.config("deterministic") === true;

/** dtypes that Triton's atomic add does not have on this GPU, or may not be used for */
export function lacksAtomicAdd<B>(b: LoweringBuilder<B>, dtype: DType): boolean {
  // their order changes from run to run
  if (isDeterministic(b)) return true;
  if (dtype === "bfloat16") {
    const major = b.config("cuda.compute_capability_major");
    return typeof major === "number" && major < 9;
  }
  return dtype === "int64" || dtype === "bool";
}
