// In: a kernel's groups (sizes of its tiles) and a node's loops. Out: how the loops fall into the groups.
// Promises: after SIMDKernel._split_iteration_ranges and prepare_split_iteration_lengths: a loop may span the rest of one
// group and the next, or a third; undefined where it fits nowhere (CantSplit).
import { idsOf } from "../../ir/body_shape";
import { add, type Expr, floorDiv, int, internTable, isSizeFree, mul } from "../../symbolic";
import type { SizeVars } from "../../symbolic/size_vars";

export type Lengths = readonly (readonly Expr[])[];

export interface RangeSplit {
  /** new lengths per group, outermost first */
  readonly ranges: readonly (readonly Expr[])[];
  /** the node's variables, per list of loops, in terms of one variable per new length */
  index(vars: readonly Expr[]): Expr[][];
}

/** groups (z, y, x) and no reduction: the only ones over which one loop may spread three ways */
const tiledByThree = (remaining: readonly Expr[], sv: SizeVars): boolean =>
  remaining.length === 4 && sv.knownEquals(remaining[3] as Expr, 1);

export function splitIterationRanges(groups: readonly Expr[], lengths: Lengths, sv: SizeVars): RangeSplit | undefined {
  if (lengths.every(l => l.length === 0)) return { ranges: groups.map(() => []), index: () => lengths.map(() => []) };
  const remaining = groups.map(g => sv.simplify(g));
  const ranges: Expr[][] = groups.map(() => []);
  let count = 0;
  const take = (i: number, e: Expr): number | undefined => {
    const size = sv.simplify(e);
    const room = remaining[i] as Expr;
    if (!sv.knownMultipleOf(room, size)) return undefined;
    remaining[i] = floorDiv(room, size);
    (ranges[i] as Expr[]).push(size);
    return count++;
  };
  type Getter = (vars: readonly Expr[]) => Expr;
  // (v0*s1 + v1)*s2 + v2: the sizes are those after the first
  const combined =
    (sizes: readonly Expr[], ids: readonly number[]): Getter =>
    vars =>
      sizes.reduce<Expr>(
        (e, s, i) => add(mul(e, s), vars[ids[i + 1] as number] as Expr),
        vars[ids[0] as number] as Expr,
      );
  const getters: Getter[][] = [];
  let group = 0;
  for (const list of lengths) {
    const out: Getter[] = [];
    for (const size of list) {
      if (sv.knownEquals(size, 1)) {
        out.push(() => int(0));
        continue;
      }
      while (group < remaining.length && sv.knownEquals(remaining[group] as Expr, 1)) group++;
      if (group >= remaining.length) return undefined;
      const room = remaining[group] as Expr;
      let parts: readonly Expr[] = [size];
      const two = group + 1 < remaining.length ? mul(room, remaining[group + 1] as Expr) : null;
      if (two !== null && group + 2 < remaining.length && tiledByThree(remaining, sv) && sv.knownGt(size, two)) {
        if (!sv.knownMultipleOf(size, two)) return undefined;
        parts = [room, remaining[group + 1] as Expr, floorDiv(size, two)];
      } else if (two !== null && (sv.knownGt(size, room) || sv.knownGt(floorDiv(size, room), 1))) {
        if (!sv.knownMultipleOf(size, room)) return undefined;
        parts = [room, floorDiv(size, room)];
      }
      const ids: number[] = [];
      for (const [i, part] of parts.entries()) {
        const id = take(group + i, part);
        if (id === undefined) return undefined;
        ids.push(id);
      }
      out.push(combined(parts.slice(1), ids));
    }
    getters.push(out);
  }
  if (!remaining.every(r => sv.knownEquals(r, 1))) return undefined;
  return { ranges, index: vars => getters.map(list => list.map(g => g(vars))) };
}

/** A pointwise node in a reduction kernel gets the reduction's size as its own if it walks the reduced results only. */
export function prepareLengths(groups: readonly Expr[], lengths: Lengths, rnumel: Expr, sv: SizeVars): Lengths {
  const [iteration = [], reduction = []] = lengths;
  if (reduction.length > 0 || sv.knownEquals(rnumel, 1)) return lengths;
  const product = (es: readonly Expr[]): Expr => es.reduce<Expr>((a, b) => mul(a, b), int(1));
  return sv.knownEquals(product(groups), mul(product(iteration), rnumel)) ? [iteration, [rnumel]] : lengths;
}

/** Whether a node's loops fall into a kernel's groups (SIMDKernel.is_compatible). */
export function isCompatible(groups: readonly Expr[], lengths: Lengths, sv: SizeVars, rnumel: Expr = int(1)): boolean {
  const compatible = (): boolean =>
    splitIterationRanges(groups, prepareLengths(groups, lengths, rnumel, sv), sv) !== undefined;
  // symbolic sizes may be narrowed later
  if (!isSizeFree(rnumel) || !groups.every(isSizeFree) || !lengths.every(l => l.every(isSizeFree))) return compatible();
  let key = `${rnumel.id};${idsOf(groups)}`;
  for (const list of lengths) key += `;${idsOf(list)}`;
  const memo = internTable().memo<string, boolean>("compatible_loops");
  let known = memo.get(key);
  if (known === undefined) {
    known = compatible();
    memo.set(key, known);
  }
  return known;
}
