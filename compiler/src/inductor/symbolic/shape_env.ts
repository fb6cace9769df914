// In: sizes of a frame's inputs with their sources and example values. Out: symbols, guards, replacements.
// Promises: names, duck sizing and 0/1 specialisation as torch's ShapeEnv (symbolic_shapes.py) does them; guards are data
// (condition, reason, source), in the order in which they were made. One ShapeEnv belongs to one compiled frame.

import { createHash } from "node:crypto";
import { mul, sub } from "./arith";
import { isTrue, not, relation } from "./choice";
import { divideExact, mod } from "./divide";
import { evaluateNumber } from "./evaluate";
import { decideCondition, Facts, type Knowledge } from "./facts";
import { type Expr, type ExprLike, int, intValue, type RelationExpr, type SymExpr, sym, toExpr } from "./nodes";
import { compareText } from "./order";
import { type Bounds, bounds, type SymbolBounds, type VarRanges } from "./ranges";
import { coefficientOf, expand, freeSymbols, hasKind, rewrite, substitute } from "./traverse";

/** How a size becomes a symbol (torch's DimDynamic). */
export type SymbolPolicy = "duck" | "dynamic" | "static" | "unbacked";

export interface Guard {
  /** The condition that held for the example values. */
  readonly expr: Expr;
  /** What asked for it. */
  readonly reason: string;
  /** Sources of the symbols in it, in order of first occurrence ("L['x'].size()[0]"). */
  readonly sources: readonly string[];
}

export interface CreateSymbolOptions {
  /** False for a Python int, whose sign is not known (torch passes positive=None). Default true. */
  readonly positive?: boolean;
  /** Whether 0 and 1 become constants. Default: true for sizes, false for Python ints. */
  readonly specializeZeroOne?: boolean;
}

const NO_RANGES: VarRanges = new Map();
const INF = Number.POSITIVE_INFINITY;

/** int(sha256(text), base 16) mod 100. */
export function sourceNumber(sourceName: string): number {
  const hex = createHash("sha256").update(sourceName, "utf8").digest("hex");
  let n = 0;
  for (const digit of hex) n = (n * 16 + Number.parseInt(digit, 16)) % 100;
  return n;
}

export class ShapeEnv {
  readonly guards: Guard[] = [];
  /** Symbols that are known to equal something simpler. */
  readonly replacements = new Map<SymExpr, Expr>();
  /** Example value of each backed symbol. */
  readonly hints = new Map<SymExpr, number>();
  /** Where each symbol comes from; a duck-sized symbol has several. */
  readonly sources = new Map<SymExpr, string[]>();
  readonly symbolRanges = new Map<SymExpr, Bounds>();
  readonly #usedNumbers = new Set<number>();
  readonly #bySource = new Map<string, Expr>();
  readonly #byValue = new Map<number, SymExpr>();
  readonly #facts = new Facts();
  /** Remainders known to be 0. */
  readonly #divisible = new Set<Expr>();
  readonly #seenGuards = new Set<Expr>();
  #unbacked = 0;
  #version = 0;

  /** Changes whenever a replacement, range or guard is added; caches of simplified expressions compare it. */
  get version(): number {
    return this.#version;
  }

  /**
   * The size that `sourceName` stands for, whose example value is `hint`: a constant (static, or 0 and 1), the symbol of
   * an equal size seen before (duck), or a new symbol.
   */
  createSymbol(sourceName: string, hint: number, policy: SymbolPolicy, options: CreateSymbolOptions = {}): Expr {
    const known = this.#bySource.get(sourceName);
    if (known !== undefined) return known;
    const result = this.#create(sourceName, hint, policy, options);
    this.#bySource.set(sourceName, result);
    return result;
  }

  #create(sourceName: string, hint: number, policy: SymbolPolicy, options: CreateSymbolOptions): Expr {
    if (policy === "static") return int(hint);
    if (policy === "unbacked") {
      const u = this.createUnbacked();
      this.sources.set(u, [sourceName]);
      return u;
    }
    const positive = options.positive ?? true;
    const specialize = options.specializeZeroOne ?? positive;
    if (specialize && (hint === 0 || hint === 1)) return int(hint);
    if (policy === "duck") {
      const same = this.#byValue.get(hint);
      if (same !== undefined) {
        this.sources.get(same)?.push(sourceName);
        return same;
      }
    }
    const s = sym(`s${this.#uniqueNumber(sourceName)}`, { kind: "size", positive });
    this.hints.set(s, hint);
    this.sources.set(s, [sourceName]);
    const lower = specialize ? 2 : positive ? 0 : -INF;
    this.symbolRanges.set(s, { lower, upper: INF });
    if (policy === "duck") this.#byValue.set(hint, s);
    return s;
  }

  /**
   * Symbolic sizes and strides of a tensor input. Strides are expressed through sizes where the example values allow it
   * (a contiguous stride is the next size times the next stride), in ascending order of their value.
   * `sourceName` is the tensor's ("L['x']"); `policies` are per dimension.
   */
  createTensorSymbols(
    sourceName: string,
    exampleSizes: readonly number[],
    exampleStrides: readonly number[],
    policies: readonly SymbolPolicy[],
  ): { readonly sizes: readonly Expr[]; readonly strides: readonly Expr[] } {
    const sizes = exampleSizes.map((n, i) =>
      this.createSymbol(`${sourceName}.size()[${i}]`, n, policies[i] ?? "static"),
    );
    const stridePolicy: SymbolPolicy = policies.every(p => p === "static") ? "static" : "duck";
    const last = exampleStrides.length - 1;
    const strides: Expr[] = exampleStrides.map(() => int(0));
    const candidates = new Map<number, Expr>();
    const order = exampleStrides
      .map((_, i) => i)
      .sort((a, b) => at(exampleStrides, a) - at(exampleStrides, b) || b - a);
    for (const i of order) {
      const value = at(exampleStrides, i);
      const contiguous = i !== last && value === at(exampleSizes, i + 1) * at(exampleStrides, i + 1);
      let stride: Expr;
      if ((value === 0 || value === 1) && !contiguous) stride = int(value);
      else stride = candidates.get(value) ?? this.createSymbol(`${sourceName}.stride()[${i}]`, value, stridePolicy);
      strides[i] = stride;
      candidates.set(at(exampleSizes, i) * value, mul(sizes[i] as Expr, stride));
    }
    return { sizes, strides };
  }

  /** A float input that stays symbolic (`zf` + number). */
  createFloatSymbol(sourceName: string, hint: number): Expr {
    const known = this.#bySource.get(sourceName);
    if (known !== undefined) return known;
    const s = sym(`zf${this.#uniqueNumber(sourceName)}`, { kind: "float" });
    this.hints.set(s, hint);
    this.sources.set(s, [sourceName]);
    this.#bySource.set(sourceName, s);
    return s;
  }

  /** A size known only at run time: u0, u1, ... (nonnegative, as sizes are). */
  createUnbacked(): SymExpr {
    const s = sym(`u${this.#unbacked++}`, { kind: "unbacked" });
    this.symbolRanges.set(s, { lower: 0, upper: INF });
    return s;
  }

  #uniqueNumber(sourceName: string): number {
    let n = sourceNumber(sourceName);
    while (this.#usedNumbers.has(n)) n++;
    this.#usedNumbers.add(n);
    return n;
  }

  /** Range of a symbol, as far as guards narrowed it. */
  symbolBounds = (s: SymExpr): Bounds | undefined => this.symbolRanges.get(s);

  /** Narrows a symbol's range (torch._check, mark_dynamic's min and max, guards). */
  constrainRange(s: SymExpr, lower: number, upper: number): void {
    const old = this.symbolRanges.get(s) ?? { lower: -INF, upper: INF };
    const next = { lower: Math.max(old.lower, lower), upper: Math.min(old.upper, upper) };
    if (next.lower === old.lower && next.upper === old.upper) return;
    this.symbolRanges.set(s, next);
    this.#version++;
    if (next.lower === next.upper && Number.isFinite(next.lower)) this.#replace(s, int(next.lower));
  }

  /** The expression multiplied out, with known equalities applied. */
  simplify(e: ExprLike): Expr {
    let x = expand(toExpr(e));
    for (let step = 0; step < 16; step++) {
      const next = this.replacements.size === 0 ? x : expand(substitute(x, this.replacements));
      if (next === x) break;
      x = next;
    }
    return hasKind(x, "max") ? expand(rewrite(x, n => this.#dropLowMax(n))) : x;
  }

  /** max(1, x) and max(0, x), which contiguous strides bring, where x is never smaller. */
  #dropLowMax(e: Expr): Expr {
    if (e.kind !== "max" || e.args.length !== 2) return e;
    const [a, b] = e.args as readonly [Expr, Expr];
    const low = intValue(a);
    return (low === 0 || low === 1) && bounds(b, NO_RANGES, this.symbolBounds).lower >= low ? b : e;
  }

  /** Value under the example inputs; undefined if an unbacked or unknown symbol occurs. */
  hint(e: ExprLike): number | undefined {
    if (typeof e === "number") return e;
    const v = intValue(e);
    if (v !== undefined) return v;
    return evaluateNumber(this.simplify(e), s => this.hints.get(s));
  }

  #knowledge(ranges?: VarRanges, extra?: Facts): Knowledge {
    return {
      facts: extra === undefined ? [this.#facts] : [this.#facts, extra],
      ranges,
      symbolBounds: this.symbolBounds,
      divisible: (a, b) => this.isDivisible(a, b),
    };
  }

  /**
   * Truth of a condition from ranges, guards and assumptions alone (`_maybe_evaluate_static`); undefined if unknown.
   * `ranges` are loop variables in scope, `extra` further facts.
   */
  evaluateStatic(condition: Expr, ranges?: VarRanges, extra?: Facts): boolean | undefined {
    return decideCondition(this.simplify(condition), this.#knowledge(ranges, extra));
  }

  /** Numeric bounds of an expression; `known` goes before what is known of a symbol here. */
  bounds(e: Expr, ranges?: VarRanges, known?: SymbolBounds): Bounds {
    const { symbolBounds } = this;
    const of = known === undefined ? symbolBounds : (s: SymExpr) => known(s) ?? symbolBounds(s);
    return bounds(this.simplify(e), ranges ?? NO_RANGES, of);
  }

  /** Whether `a` is known to be a multiple of `b`. */
  isDivisible(a: Expr, b: Expr): boolean {
    const x = this.simplify(a);
    const y = this.simplify(b);
    if (divideExact(x, y) !== undefined) return true;
    if (intValue(y) === 0) return false;
    const r = mod(x, y);
    return intValue(r) === 0 || this.#divisible.has(r);
  }

  /**
   * Truth of a condition, guarding on it if it is not known: the answer is that of the example values.
   * Undefined if it depends on unbacked symbols (torch raises a data-dependent error there).
   */
  evaluate(condition: Expr, reason: string): boolean | undefined {
    const known = this.evaluateStatic(condition);
    if (known !== undefined) return known;
    const simplified = this.simplify(condition);
    const value = evaluateNumber(simplified, s => this.hints.get(s));
    if (value === undefined) return undefined;
    this.assume(value !== 0 ? simplified : not(simplified), reason);
    return value !== 0;
  }

  /** Value of an expression, guarded to stay it (specialisation). */
  specialize(e: Expr, reason: string): number | undefined {
    const value = this.hint(e);
    if (value === undefined) return undefined;
    const x = this.simplify(e);
    if (intValue(x) === undefined) {
      this.assume(relation("eq", x, value), reason);
    }
    return value;
  }

  /** Records that a condition holds, and draws what follows: replacements, ranges, divisibility. */
  assume(condition: Expr, reason: string): void {
    const c = condition;
    if (isTrue(c) || this.#seenGuards.has(c)) return;
    this.#seenGuards.add(c);
    const sources: string[] = [];
    for (const s of freeSymbols(c)) sources.push(...(this.sources.get(s)?.slice(0, 1) ?? []));
    this.guards.push({ expr: c, reason, sources });
    this.#version++;
    this.#learn(c);
  }

  #learn(c: Expr): void {
    if (c.kind === "and") for (const a of c.args) this.#learn(a);
    if (c.kind !== "relation") return;
    this.#facts.add(c);
    if (c.op === "eq") this.#learnEqual(c);
    else if (c.op !== "ne") this.#learnBound(c);
  }

  #learnEqual(c: RelationExpr): void {
    const [a, b] = c.args;
    for (const [x, y] of [
      [a, b],
      [b, a],
    ] as const) {
      if (x.kind === "mod" && intValue(y) === 0) {
        this.#divisible.add(x);
        return;
      }
    }
    const d = expand(sub(a, b));
    if (hasKind(d, "floordiv") || hasKind(d, "modular") || hasKind(d, "mod")) return;
    // The symbol with the largest example value goes, then the one whose name sorts last.
    const candidates = [...freeSymbols(d)].filter(s => s.symKind !== "loop" && s.symKind !== "indirect");
    if (candidates.length > 5) return;
    const weight = (s: SymExpr): number => (s.symKind === "size" ? (this.hints.get(s) ?? INF) : INF);
    candidates.sort((x, y) => (weight(x) === weight(y) ? compareText(y.name, x.name) : weight(y) > weight(x) ? 1 : -1));
    const target = candidates[0];
    if (target === undefined) return;
    const solution = solve(d, target);
    if (solution !== undefined) this.#replace(target, this.simplify(solution));
  }

  #learnBound(c: RelationExpr): void {
    const d = expand(sub(c.args[0], c.args[1]));
    const symbols = [...freeSymbols(d)];
    const s = symbols[0];
    if (s === undefined || symbols.length !== 1 || s.symKind === "float") return;
    const slope = intValue(coefficientOf(d, s));
    if (slope === undefined || slope === 0) return;
    const offset = intValue(sub(d, mul(slope, s)));
    if (offset === undefined) return;
    // slope * s + offset  op  0
    const strict = c.op === "lt" || c.op === "gt";
    const isUpper = (c.op === "lt" || c.op === "le") === slope > 0;
    const exact = -offset / slope;
    if (isUpper) this.constrainRange(s, -INF, strict ? Math.ceil(exact) - 1 : Math.floor(exact));
    else this.constrainRange(s, strict ? Math.floor(exact) + 1 : Math.ceil(exact), INF);
  }

  /** Makes `s` stand for `by`, unless that would forget a bound of `s` that `by` does not imply. */
  #replace(s: SymExpr, by: Expr): void {
    if (this.replacements.has(s) || freeSymbols(by).has(s)) return;
    const source = this.symbolRanges.get(s);
    if (source !== undefined && !this.#within(by, source)) {
      this.#narrowInverse(by, source);
      if (!this.#within(by, source)) return;
    }
    this.replacements.set(s, by);
    for (const [other, value] of this.replacements) {
      if (freeSymbols(value).has(s)) this.replacements.set(other, this.simplify(value));
    }
    this.#version++;
  }

  #within(e: Expr, range: Bounds): boolean {
    const b = this.bounds(e);
    return b.lower >= range.lower && b.upper <= range.upper;
  }

  /** by = slope*t + offset must lie in `range`: narrows t. */
  #narrowInverse(by: Expr, range: Bounds): void {
    const symbols = [...freeSymbols(by)];
    const t = symbols[0];
    if (t === undefined || symbols.length !== 1) return;
    const slope = intValue(coefficientOf(by, t));
    const offset = slope === undefined ? undefined : intValue(sub(by, mul(slope, t)));
    if (slope === undefined || slope === 0 || offset === undefined) return;
    const ends = [(range.lower - offset) / slope, (range.upper - offset) / slope];
    this.constrainRange(t, Math.ceil(Math.min(...ends)), Math.floor(Math.max(...ends)));
  }
}

function at(list: readonly number[], i: number): number {
  return list[i] ?? 0;
}

/** The integer solution of d == 0 for `s` if d is linear in it with an exact solution. */
function solve(d: Expr, s: SymExpr): Expr | undefined {
  const slope = coefficientOf(d, s);
  const rest = expand(sub(d, expand(mul(slope, s))));
  if (freeSymbols(slope).has(s) || freeSymbols(rest).has(s) || intValue(slope) === 0) return undefined;
  const q = divideExact(rest, slope);
  return q === undefined ? undefined : mul(-1, q);
}
