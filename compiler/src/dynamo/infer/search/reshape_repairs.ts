// Inputs that a view does not fit. In: the tensors of a state and a failure that tells a shape and how many elements there were.
// Out: states in which one size, the same of all that met, makes them fit.
import type { Failure, State } from "../types";
import { type Leaf, resized, withLeaf } from "./leaves";

const VIEW = /shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)/;
/** larger sizes cost more than they tell */
const LARGEST = 20_000;

/** dimensions that were exchanged lie as a view needs them where the batch is one of them and of one */
const EXCHANGED = /^view size is not compatible with input tensor's size and stride/;

export function viewed(state: State, leaves: readonly Leaf[], f: Failure): State[] {
  if (EXCHANGED.test(f.message)) {
    const batch = leaves.find(l => f.touched.includes(l.path) && l.c.dims.length > 1)?.c.dims[0] ?? 1;
    const alike = leaves.filter(l => l.c.dims[0] === batch);
    return batch > 1 ? [alike.reduce((s, l) => withLeaf(s, l.path, resized(l.c, [0], 1)), state)] : [];
  }
  const m = VIEW.exec(f.message);
  if (!m) return [];
  const shape = (m[1] ?? "").split(",").map(Number);
  const got = Number(m[2]);
  const wanted = shape.filter(d => d > 0).reduce((a, b) => a * b, 1);
  const open = shape.some(d => d < 0);
  const read = leaves.filter(l => f.touched.includes(l.path));
  return read.flatMap(l =>
    l.c.dims.flatMap((d, i) => {
      // what a view leaves the batch out of is a batch of one
      if (i === 0) return got === wanted * d ? [withLeaf(state, l.path, resized(l.c, [0], 1))] : [];
      const size = fitting(got / d, wanted, open);
      if (size === undefined || size === d || size > LARGEST) return [];
      const fromEnd = l.c.dims.length - i;
      const alike = read.filter(o => o.c.dims[o.c.dims.length - fromEnd] === d && o.c.dims.length > fromEnd);
      const all = alike.reduce((s, o) => withLeaf(s, o.path, resized(o.c, [o.c.dims.length - fromEnd], size)), state);
      return alike.length > 1 ? [all, withLeaf(state, l.path, resized(l.c, [i], size))] : [all];
    }),
  );
}

/** the size that `rest` others have to be multiplied with to be `wanted` elements, or a multiple of them where one size is open */
function fitting(rest: number, wanted: number, open: boolean): number | undefined {
  if (!Number.isInteger(rest)) return undefined;
  if (open) return wanted / greatestDivisor(wanted, rest);
  return wanted % rest === 0 ? wanted / rest : undefined;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
