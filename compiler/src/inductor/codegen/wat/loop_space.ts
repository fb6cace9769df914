// The loops that all members of a kernel share. In: each member's loop sizes. Out: one list of dims, outermost first,
// into which every member's loops divide, and for each member its variables in terms of those dims.
// Where sizes do not divide into each other the space is one flat dim and members take it apart by // and %.
import { add, type Expr, floorDiv, int, modularIndexing, mul, type SymExpr, sym } from "../../symbolic/expr";

export interface LoopDim {
  readonly variable: SymExpr;
  readonly size: number;
}

export interface LoopSpace {
  /** iteration dims, then reduction dims */
  readonly x: readonly LoopDim[];
  readonly r: readonly LoopDim[];
}

/** A member's loop sizes over the whole space: product = numel * rnumel; a member outside the reduction ends at numel. */
export interface MemberSizes {
  readonly sizes: readonly number[];
  readonly outside: boolean;
}

export function loopSpace(numel: number, rnumel: number, members: readonly MemberSizes[]): LoopSpace {
  const boundaries = new Set<number>([1, rnumel, numel * rnumel]);
  for (const m of members) {
    let product = m.outside ? rnumel : 1;
    for (const size of [...m.sizes].reverse()) {
      product *= size;
      boundaries.add(product);
    }
  }
  const sorted = [...boundaries].sort((a, b) => a - b);
  const divides = sorted.every((b, i) => i === 0 || (b !== 0 && b % (sorted[i - 1] ?? 1) === 0));
  const chain = divides ? sorted : [...new Set([1, rnumel, numel * rnumel])].sort((a, b) => a - b);
  const x: LoopDim[] = [];
  const r: LoopDim[] = [];
  for (let i = chain.length - 1; i > 0; i--) {
    const upper = chain[i] ?? 1;
    const lower = chain[i - 1] ?? 1;
    const part = lower >= rnumel ? x : r;
    part.push({
      variable: sym(`${part === x ? "x" : "r"}${part.length}`, { kind: "loop" }),
      size: lower === 0 ? 0 : upper / lower,
    });
  }
  return { x, r };
}

/** The values of a member's loop variables over `dims`, whose sizes multiply to the product of `sizes`. */
export function memberVariables(sizes: readonly number[], dims: readonly LoopDim[]): Expr[] {
  const out: Expr[] = [];
  let d = dims.length - 1;
  const fits = (): boolean => {
    let at = dims.length - 1;
    for (const size of [...sizes].reverse()) {
      let left = size;
      while (left > 1) {
        const dim = dims[at--];
        if (!dim || left % dim.size !== 0) return false;
        left /= dim.size;
      }
    }
    return true;
  };
  if (!fits()) return fromFlat(sizes, flatIndex(dims));
  for (const size of [...sizes].reverse()) {
    const terms: Expr[] = [];
    let scale = 1;
    while (scale < size) {
      const dim = dims[d--];
      if (!dim) break;
      terms.push(mul(scale, dim.variable));
      scale *= dim.size;
    }
    out.unshift(terms.length ? add(...terms) : int(0));
  }
  return out;
}

export function flatIndex(dims: readonly LoopDim[]): Expr {
  let scale = 1;
  const terms: Expr[] = [];
  for (const dim of [...dims].reverse()) {
    terms.push(mul(scale, dim.variable));
    scale *= dim.size;
  }
  return terms.length ? add(...terms) : int(0);
}

function fromFlat(sizes: readonly number[], flat: Expr): Expr[] {
  let divisor = 1;
  const out: Expr[] = [];
  for (const [i, size] of [...sizes.entries()].reverse()) {
    out.unshift(i === 0 ? floorDiv(flat, divisor) : modularIndexing(flat, divisor, size));
    divisor *= size;
  }
  return out;
}
