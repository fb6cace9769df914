// The loops that all members of a kernel share. In: each member's loop sizes. Out: one list of dims, outermost first,
// into which every member's loops divide, and for each member its variables in terms of those dims.
// Where sizes do not divide into each other the space is one flat dim and members take it apart by // and %.
import {
  divideExact,
  type Expr,
  floorDiv,
  int,
  intValue,
  modularIndexing,
  mul,
  type SymExpr,
  sum,
  sym,
} from "../../symbolic/expr";
import type { SizeVars } from "../../symbolic/size_vars";

export interface LoopDim {
  readonly variable: SymExpr;
  readonly size: Expr;
}

export interface LoopSpace {
  /** iteration dims, then reduction dims */
  readonly x: readonly LoopDim[];
  readonly r: readonly LoopDim[];
  readonly numel: Expr;
  readonly rnumel: Expr;
}

/** A member's loop sizes over the whole space: product = numel * rnumel; a member outside the reduction ends at numel. */
export interface MemberSizes {
  readonly sizes: readonly Expr[];
  readonly outside: boolean;
}

/** `prefix` starts the names of the dims' variables, so that the spaces of one function do not share any */
export function loopSpace(
  numel0: Expr,
  rnumel0: Expr,
  members: readonly MemberSizes[],
  sv: SizeVars,
  prefix = "",
): LoopSpace {
  const numel = sv.simplify(numel0);
  const rnumel = sv.simplify(rnumel0);
  const one = int(1);
  const total = sv.simplify(mul(numel, rnumel));
  const boundaries = new Set<Expr>([one, rnumel, total]);
  for (const m of members) {
    let product = m.outside ? rnumel : one;
    for (const size of [...m.sizes].reverse()) {
      product = sv.simplify(mul(product, size));
      boundaries.add(product);
    }
  }
  const chain = divisorChain([...boundaries], sv) ?? divisorChain([...new Set([one, rnumel, total])], sv);
  const x: LoopDim[] = [];
  const r: LoopDim[] = [];
  const place = (part: LoopDim[], name: string, size: Expr): void => {
    if (intValue(size) !== 1) part.push({ variable: sym(`${prefix}${name}${part.length}`, { kind: "loop" }), size });
  };
  if (!chain) {
    place(x, "x", numel);
    place(r, "r", rnumel);
    return { x, r, numel, rnumel };
  }
  const border = chain.findIndex(c => c.boundary === rnumel);
  for (const [i, { quotient }] of [...chain.entries()].slice(1).reverse()) {
    if (i <= border) place(r, "r", quotient);
    else place(x, "x", quotient);
  }
  return { x, r, numel, rnumel };
}

/** the boundaries in ascending order, each with its quotient by the one before; null if one does not divide the next */
function divisorChain(boundaries: readonly Expr[], sv: SizeVars): { boundary: Expr; quotient: Expr }[] | null {
  const sorted = [...boundaries].sort((a, b) => sv.optimizationHint(a) - sv.optimizationHint(b));
  const out: { boundary: Expr; quotient: Expr }[] = [];
  for (const [i, b] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before === undefined) {
      out.push({ boundary: b, quotient: int(1) });
      continue;
    }
    const quotient = quotientOf(b, before, sv);
    if (quotient === null) return null;
    out.push({ boundary: b, quotient });
  }
  return out;
}

function quotientOf(a: Expr, b: Expr, sv: SizeVars): Expr | null {
  const x = intValue(a);
  const y = intValue(b);
  if (x !== undefined && y !== undefined) return y !== 0 && x % y === 0 ? int(x / y) : null;
  const q = divideExact(a, b);
  return q !== undefined && sv.simplify(mul(q, b)) === a ? q : null;
}

/** The values of a member's loop variables over `dims`, whose sizes multiply to the product of `sizes`. */
export function memberVariables(sizes: readonly Expr[], dims: readonly LoopDim[], sv: SizeVars): Expr[] {
  const out: Expr[] = [];
  let d = dims.length;
  let inner: Expr = int(1); // product of the dims taken so far
  let done: Expr = int(1); // product of the sizes placed so far
  for (const size of [...sizes].reverse()) {
    const target = sv.simplify(mul(done, size));
    const terms: Expr[] = [];
    let scale: Expr = int(1);
    while (inner !== target) {
      const dim = dims[--d];
      if (!dim) return fromFlat(sizes, flatIndex(dims));
      terms.push(mul(scale, dim.variable));
      scale = mul(scale, dim.size);
      inner = sv.simplify(mul(inner, dim.size));
    }
    done = target;
    out.unshift(sum(terms));
  }
  return out;
}

export function flatIndex(dims: readonly LoopDim[]): Expr {
  let scale: Expr = int(1);
  const terms: Expr[] = [];
  for (const dim of [...dims].reverse()) {
    terms.push(mul(scale, dim.variable));
    scale = mul(scale, dim.size);
  }
  return sum(terms);
}

function fromFlat(sizes: readonly Expr[], flat: Expr): Expr[] {
  let divisor: Expr = int(1);
  const out: Expr[] = [];
  for (const [i, size] of [...sizes.entries()].reverse()) {
    out.unshift(i === 0 ? floorDiv(flat, divisor) : modularIndexing(flat, divisor, size));
    divisor = mul(divisor, size);
  }
  return out;
}
