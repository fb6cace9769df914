// The maximum of a row and the sum of its exponentials in one pass, four elements at a time. Numbers are counted from a
// base of each lane, which is a maximum of before: sums are scaled only where a number lies far above it, so hardly ever
// after a row's first turn. Where a later loop of the row asks for the exponentials again they are kept in scratch.

import type { VectorAccumulator } from "./accumulators";
import type { FunctionBuilder } from "./function_builder";
import { expBelow } from "./helpers/vector_functions";
import { convertVector } from "./vector_convert";
import { constant4, lane, type VecValue } from "./vector_types";
import type { WatValue } from "./wat_types";

/** by how much a maximum may grow before a sum is scaled anew: e^20 times all elements that there are is no inf yet */
const HEADROOM = 20;

const ZEROS = "(v128.const i32x4 0 0 0 0)";
const LOWEST = "(v128.const f32x4 -inf -inf -inf -inf)";

/**
 * A NaN shows in the sum alone, which is what all that is made of the two is divided by or takes the logarithm of.
 * `row`: address text of the scratch row that each exponential is kept in, at its element's place; null: they are not kept.
 */
export function onlineSoftmax(f: FunctionBuilder, row: string | null): VectorAccumulator {
  const max = f.local("v128", "max");
  const base = f.local("v128", "base");
  const limit = f.local("v128", "limit");
  const sum = f.local("v128", "sum");
  const get = (n: string): string => `(local.get ${n})`;
  /** in a local that is never shared: what it is made of changes from turn to turn */
  const fresh = (code: string, hint: string): string => {
    const at = f.local("v128", hint);
    f.set(at, code);
    return get(at);
  };
  const exp = (x: string): string => f.vectorFunction("exp", fresh(x, "x"));
  let turn: string[] = [];
  let first: string | null = null;
  return {
    shared: true,
    start: () => {
      f.set(max, LOWEST);
      f.set(base, ZEROS);
      f.set(limit, LOWEST);
      f.set(sum, ZEROS);
    },
    step: ([v], position) => {
      if (!v) return;
      first ??= position;
      turn.push(convertVector(v, "float32", f).codes[0] as string);
    },
    end: () => {
      const xs = turn;
      const here = row === null ? null : f.keep(`(i32.add ${row} (i32.shl ${first} (i32.const 2)))`, "i32", "kept");
      turn = [];
      first = null;
      f.set(max, `(f32x4.pmax ${get(max)} ${tree("f32x4.pmax", xs)})`);
      f.branch(`(v128.any_true (f32x4.gt ${get(max)} ${get(limit)}))`, () => {
        // a lane that saw only -inf is shifted by nothing
        const shift = fresh(`(v128.bitselect ${ZEROS} ${get(max)} (f32x4.eq ${get(max)} ${LOWEST}))`, "shift");
        // never above 1: before the first turn there is no base, nor anything to scale
        const scale = exp(`(f32x4.pmin ${ZEROS} (f32x4.sub ${get(base)} ${shift}))`);
        f.set(sum, `(f32x4.mul ${get(sum)} ${scale})`);
        if (row !== null && here !== null) {
          const p = f.local("i32", "p");
          const at = get(p);
          f.loop(p, row, here, () => f.lines.add(`(v128.store ${at} (f32x4.mul (v128.load ${at}) ${scale}))`), 16);
        }
        f.set(base, shift);
        f.set(limit, `(f32x4.add ${get(max)} ${constant4("f32x4", new Array(4).fill(HEADROOM))})`);
      });
      const powers = expBelow(
        f,
        xs.map(x => fresh(`(f32x4.sub ${x} ${get(base)})`, "x")),
      );
      f.set(sum, `(f32x4.add ${get(sum)} ${tree("f32x4.add", powers)})`);
      if (here !== null)
        powers.forEach((p, i) => {
          f.lines.add(`(v128.store ${i ? `offset=${16 * i} ` : ""}${here} ${p})`);
        });
    },
    flush: to => {
      const vector = (code: string): VecValue => ({ shape: "f32x4", dtype: "float32", codes: [code] });
      const lanes = (code: string): string[] => [0, 1, 2, 3].map(k => lane(vector(code), k).code);
      const most = f.keep(tree("f32.max", lanes(get(max))), "f32", "most");
      const none = `(f32x4.eq ${get(max)} ${LOWEST})`;
      const part = `(f32x4.mul ${get(sum)} ${exp(`(f32x4.sub ${get(base)} (f32x4.splat ${most}))`)})`;
      const parts = f.keep(`(v128.andnot ${part} ${none})`, "v128", "parts");
      const value = (code: string): WatValue => ({ code, type: "f32", dtype: "float32" });
      to.merge([value(most), value(f.keep(tree("f32.add", lanes(parts)), "f32", "total"))]);
    },
    factor: maximum => exp(`(f32x4.sub ${get(base)} (f32x4.splat ${maximum}))`),
  };
}

/** all of them joined by pairs, pairs of pairs, ...; the last one alone if their number is odd */
function tree(op: string, xs: readonly string[]): string {
  if (xs.length === 1) return xs[0] as string;
  const pairs: string[] = [];
  for (let i = 0; i < xs.length; i += 2) {
    const [a = "", b] = xs.slice(i);
    pairs.push(b === undefined ? a : `(${op} ${a} ${b})`);
  }
  return tree(op, pairs);
}
