// In: the frame's ShapeEnv. Out: what Inductor asks about sizes: hints, what is statically known, guarded choices.
// Promises: `known*` never guard; `guard*` and `evaluate*` record a guard in the ShapeEnv when they rely on the example
// values. Precomputed sizes (ps0, ...) name expressions that kernels take as arguments. After SizeVarAllocator.

import { mul } from "./arith";
import { isFalse, isTrue, relation } from "./choice";
import { evaluateNumber } from "./evaluate";
import type { Facts } from "./facts";
import { type Expr, type ExprLike, int, intValue, type SymExpr, sym, toExpr } from "./nodes";
import type { Bounds, SymbolBounds, VarRanges } from "./ranges";
import { ShapeEnv } from "./shape_env";
import {
  combineModularIndexingPairs,
  offsetVar,
  type SimplifiedLoops,
  type SizeKnowledge,
  simplifyLoops,
  simplifyWithRanges,
  strideHints,
  strideOrder,
  strideVars,
} from "./simplify";
import { freeSymbols, substitute } from "./traverse";

const NO_RANGES: VarRanges = new Map();

export class SizeVars implements SizeKnowledge {
  /** ps symbol -> the expression it stands for. */
  readonly invPrecomputedReplacements = new Map<SymExpr, Expr>();
  readonly #precomputed = new Map<Expr, SymExpr>();
  readonly #simplified = new Map<Expr, Expr>();
  #simplifiedAt = -1;

  constructor(readonly shapeEnv: ShapeEnv = new ShapeEnv()) {}

  get version(): number {
    return this.shapeEnv.version;
  }

  get replacements(): ReadonlyMap<SymExpr, Expr> {
    return this.shapeEnv.replacements;
  }

  /** Multiplied out, equalities applied. */
  simplify(e: ExprLike): Expr {
    const x = toExpr(e);
    if (x.args.length === 0 && x.kind !== "sym") return x;
    if (this.#simplifiedAt !== this.version) {
      this.#simplified.clear();
      this.#simplifiedAt = this.version;
    }
    let result = this.#simplified.get(x);
    if (result === undefined) {
      result = this.shapeEnv.simplify(x);
      this.#simplified.set(x, result);
    }
    return result;
  }

  // --- hints ---

  /** Example value; undefined if an unbacked symbol occurs. */
  hint(e: ExprLike): number | undefined {
    return this.shapeEnv.hint(typeof e === "number" ? e : this.removePrecomputed(e));
  }

  /** Example value, or `fallback` (moved into the expression's bounds) for unbacked symbols. NaN without a fallback. */
  sizeHint(e: ExprLike, fallback?: number): number {
    const value = this.hint(e);
    if (value !== undefined) return value;
    if (fallback === undefined) return Number.NaN;
    const { lower, upper } = this.bounds(toExpr(e));
    return Math.min(Math.max(fallback, lower), upper);
  }

  /** Example value with `fallback` (moved into its range) for each unbacked symbol. */
  optimizationHint(e: ExprLike, fallback = 8192): number {
    const value = this.hint(e);
    if (value !== undefined) return value;
    const x = this.removePrecomputed(this.simplify(e));
    const result = evaluateNumber(x, s => {
      const known = this.shapeEnv.hints.get(s);
      if (known !== undefined) return known;
      const range = this.shapeEnv.symbolBounds(s);
      return range === undefined ? fallback : Math.min(Math.max(fallback, range.lower), range.upper);
    });
    return result ?? fallback;
  }

  sizeHints(list: readonly ExprLike[], fallback?: number): number[] {
    return list.map(e => this.sizeHint(e, fallback));
  }

  /** Example values put in for backed symbols, unbacked ones left alone. */
  symbolicHint(e: ExprLike): Expr {
    const x = this.removePrecomputed(this.simplify(e));
    const values = new Map<SymExpr, Expr>();
    for (const s of freeSymbols(x)) {
      const v = this.shapeEnv.hints.get(s);
      if (v !== undefined) values.set(s, toExpr(v));
    }
    return substitute(x, values);
  }

  /** Numeric bounds of an expression over sizes, loop variables and symbols that `known` bounds. */
  bounds(e: Expr, ranges: VarRanges = NO_RANGES, known?: SymbolBounds): Bounds {
    return this.shapeEnv.bounds(this.removePrecomputed(e), ranges, known);
  }

  // --- statically known; never guards ---

  evaluateStatic(condition: Expr, ranges?: VarRanges, extra?: Facts): boolean | undefined {
    if (isTrue(condition)) return true;
    if (isFalse(condition)) return false;
    return this.shapeEnv.evaluateStatic(condition, ranges, extra);
  }

  knownTrue(condition: Expr): boolean {
    return this.evaluateStatic(condition) === true;
  }

  knownEquals(a: ExprLike, b: ExprLike): boolean {
    if (a === b) return true;
    const x = toExpr(a);
    const y = toExpr(b);
    if (x === y) return true;
    if (x.kind === "int" && y.kind === "int") return false;
    return this.knownTrue(relation("eq", x, y));
  }

  knownListEquals(a: readonly ExprLike[], b: readonly ExprLike[]): boolean {
    return a.length === b.length && a.every((x, i) => this.knownEquals(x, b[i] as ExprLike));
  }

  knownLeq(a: ExprLike, b: ExprLike): boolean {
    return this.knownTrue(relation("le", a, b));
  }

  knownLt(a: ExprLike, b: ExprLike): boolean {
    return this.knownTrue(relation("lt", a, b));
  }

  knownGeq(a: ExprLike, b: ExprLike): boolean {
    return this.knownTrue(relation("ge", a, b));
  }

  knownGt(a: ExprLike, b: ExprLike): boolean {
    return this.knownTrue(relation("gt", a, b));
  }

  /** Whether `a` is a multiple of `b`. */
  knownMultipleOf(a: ExprLike, b: ExprLike): boolean {
    const x = toExpr(a);
    const y = toExpr(b);
    if (freeSymbols(x).size > 20) return false;
    return this.shapeEnv.isDivisible(x, y);
  }

  // --- guarded ---

  /** Truth of a condition by the example values, guarded; undefined if unbacked symbols leave it open. */
  evaluateExpr(condition: Expr, reason = "sizevars.evaluate_expr"): boolean | undefined {
    return this.shapeEnv.evaluate(this.removePrecomputed(condition), reason);
  }

  guardOrFalse(condition: Expr, reason?: string): boolean {
    return this.evaluateExpr(condition, reason) ?? false;
  }

  /** Makes two sizes equal (callers know that they are) and returns the left one, simplified. */
  guardEquals(a: ExprLike, b: ExprLike, reason = "sizevars.check_equals"): Expr {
    const x = this.removePrecomputed(toExpr(a));
    const condition = relation("eq", x, this.removePrecomputed(toExpr(b)));
    if (!this.knownTrue(condition) && !isFalse(condition)) this.shapeEnv.assume(this.simplify(condition), reason);
    return x;
  }

  /** Records a <= b (callers know that it holds). */
  guardLeq(a: ExprLike, b: ExprLike, reason = "sizevars.check_leq"): void {
    const condition = this.removePrecomputed(relation("le", a, b));
    if (!this.knownTrue(condition) && !isFalse(condition)) this.shapeEnv.assume(this.simplify(condition), reason);
  }

  /** The number that a size is, guarded to stay so; undefined for unbacked ones. */
  guardInt(e: ExprLike, reason = "sizevars.guard_int"): number | undefined {
    return this.shapeEnv.specialize(this.removePrecomputed(toExpr(e)), reason);
  }

  /** Whether a size is 1; guards on a backed size, false for unbacked ones. */
  isSizeOne(e: ExprLike): boolean {
    const v = intValue(e);
    return v !== undefined ? v === 1 : this.guardOrFalse(relation("eq", e, 1));
  }

  // --- precomputed sizes ---

  /** ps symbol for a size expression that is neither a number nor a symbol. */
  lookupPrecomputedSize(e: Expr): Expr {
    if (e.args.length === 0) return e;
    const x = this.removePrecomputed(e);
    let s = this.#precomputed.get(x);
    if (s === undefined) {
      s = sym(`ps${this.#precomputed.size}`, { kind: "size", positive: false, nonnegative: true });
      this.#precomputed.set(x, s);
      this.invPrecomputedReplacements.set(s, x);
    }
    return s;
  }

  get precomputedReplacements(): ReadonlyMap<Expr, SymExpr> {
    return this.#precomputed;
  }

  removePrecomputed(e: Expr): Expr {
    return this.invPrecomputedReplacements.size === 0 ? e : substitute(e, this.invPrecomputedReplacements);
  }

  // --- indices and loops, see simplify.ts ---

  simplifyWithRanges(e: ExprLike, ranges: VarRanges): Expr {
    return simplifyWithRanges(e, ranges, this);
  }

  combineModularIndexingPairs(e: Expr): Expr {
    return combineModularIndexingPairs(e, this);
  }

  simplifyLoops(vars: readonly SymExpr[], sizes: readonly Expr[], formulas: readonly Expr[]): SimplifiedLoops {
    return simplifyLoops(vars, sizes, formulas, this);
  }

  strideVars(index: Expr, vars: readonly Expr[], supportVars?: readonly Expr[]): readonly Expr[] {
    return strideVars(index, vars, this, supportVars);
  }

  strideHints(index: Expr, vars: readonly Expr[], supportVars?: readonly Expr[]): number[] {
    return strideHints(index, vars, this, supportVars);
  }

  strideOrder(index: Expr, vars: readonly Expr[]): number[] {
    return strideOrder(index, vars, this);
  }

  offsetVar(index: Expr, vars: readonly Expr[]): Expr {
    return offsetVar(index, vars, this);
  }

  /** Number of elements of a shape. */
  numel(sizes: readonly Expr[]): Expr {
    return this.simplify(sizes.reduce<Expr>((a, b) => mul(a, b), int(1)));
  }
}
