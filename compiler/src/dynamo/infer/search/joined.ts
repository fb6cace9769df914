// Inputs that are joined before a layer: their channels have a sum that the layer asks for. In: a state's tensors and its
// failure. Out: states in which the sum is kept, or reached.
import { isFloatDType } from "../../../aten/ops/helpers/dtypes";
import type { Failure, State } from "../types";
import { sizesApart } from "./failure";
import { type Leaf, resized, withLeaf } from "./leaves";

/**
 * The state of a recurrent cell meets what was made of it and another input together: it gets the size that it meets, and
 * the other one what is then missing.
 */
export function sumKept(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const [a, b, at] = sizesApart(f) ?? [];
  if (a === undefined || b === undefined || at === undefined || at === 0) return [];
  const read = leaves.filter(l => f.touched.includes(l.path) && at < l.c.dims.length);
  return read.flatMap(l => {
    const own = l.c.dims[at];
    if (own !== a && own !== b) return [];
    const wanted = own === a ? b : a;
    return read.flatMap(other => {
      const rest = (other.c.dims[at] ?? 0) + own - wanted;
      if (other === l || rest < 1 || other.c.dims.length !== l.c.dims.length) return [];
      const changed = withLeaf(state, l.path, resized(l.c, [at], wanted));
      return [withLeaf(changed, other.path, resized(other.c, [at], rest))];
    });
  });
}

/**
 * What is joined along a dimension that is not its last has no dimension behind it: sequences are single vectors. Tokens get
 * their width when they are embedded.
 */
export function joinedLast(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  const at = Number(/must match except in dimension (\d+)/.exec(f.message)?.[1]);
  const read = leaves.filter(l => f.touched.includes(l.path));
  const rankOf = (l: Leaf): number => (isFloatDType(l.c.dtype) ? at + 1 : at);
  if (!(at > 0) || read.length < 2 || !read.some(l => l.c.dims.length > rankOf(l))) return [];
  const cut = (l: Leaf): readonly number[] => {
    const { dims } = l.c;
    if (dims.length <= rankOf(l)) return dims;
    return isFloatDType(l.c.dtype) ? [...dims.slice(0, at), ...dims.slice(-1)] : dims.slice(0, at);
  };
  return [read.reduce((s, l) => withLeaf(s, l.path, { ...l.c, dims: cut(l) }), state)];
}
