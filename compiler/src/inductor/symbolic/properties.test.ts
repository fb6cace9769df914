import fc from "fast-check";
import { expect, test } from "vitest";
import { compareNumbers } from "./choice";
import { evaluateNumber, numberFunction } from "./evaluate";
import {
  add,
  type Expr,
  expand,
  floorDiv,
  floorDivNumber,
  identity,
  int,
  max,
  min,
  mod,
  modNumber,
  modularIndexing,
  mul,
  type RelationOp,
  relation,
  type SymExpr,
  sub,
  substitute,
  sum,
  sym,
} from "./expr";
import { bounds } from "./ranges";
import { contiguousIndex, preventReordering, simplifyLoops, simplifyWithRanges } from "./simplify";
import { SizeVars } from "./size_vars";

const VARS = [sym("p0"), sym("p1"), sym("p2")];

/** An expression and, beside it, the same computation on numbers. */
interface Traced {
  readonly e: Expr;
  readonly run: (values: readonly number[]) => number;
}

const divisor = fc.constantFrom<number>(1, 2, 3, 4, 8, 64);

const traced: fc.Arbitrary<Traced> = fc.letrec<{ node: Traced }>(tie => {
  const leaf = fc.oneof(
    fc.integer({ min: -70, max: 200 }).map(n => ({ e: int(n), run: () => n })),
    fc.nat(2).map(i => ({ e: VARS[i] as Expr, run: (v: readonly number[]) => v[i] as number })),
  );
  const node = tie("node");
  const binary = (op: (a: Expr, b: Expr) => Expr, run: (a: number, b: number) => number): fc.Arbitrary<Traced> =>
    fc.tuple(node, node).map(([a, b]) => ({ e: op(a.e, b.e), run: v => run(a.run(v), b.run(v)) }));
  return {
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      binary(add, (a, b) => a + b),
      binary(sub, (a, b) => a - b),
      binary(mul, (a, b) => a * b),
      binary(min, Math.min),
      binary(max, Math.max),
      fc
        .tuple(node, divisor)
        .map(([a, d]) => ({ e: floorDiv(a.e, d), run: (v: readonly number[]) => floorDivNumber(a.run(v), d) })),
      fc
        .tuple(node, divisor)
        .map(([a, d]) => ({ e: mod(a.e, d), run: (v: readonly number[]) => modNumber(a.run(v), d) })),
      fc.tuple(node, divisor, divisor).map(([a, d, m]) => ({
        e: modularIndexing(a.e, d, m),
        run: (v: readonly number[]) => modNumber(floorDivNumber(a.run(v), d), m),
      })),
      node.map(a => ({ e: identity(a.e), run: a.run })),
    ),
  };
}).node;

const sizes = fc.tuple(...VARS.map(() => fc.constantFrom<number>(1, 2, 3, 4, 8, 64)));
const values = fc.tuple(...VARS.map(() => fc.nat(100)));
/** Sizes and an assignment within them. */
const assignment = fc
  .tuple(sizes, values)
  .map(([s, v]) => ({ sizes: s, values: v.map((x, i) => x % (s[i] as number)) }));

const valueAt = (e: Expr, v: readonly number[]): number | undefined =>
  evaluateNumber(e, s => v[VARS.indexOf(s as (typeof VARS)[number])]);

const inRange = (n: number): boolean => Math.abs(n) < 2 ** 50;

const rangesOf = (s: readonly number[]): Map<SymExpr, Expr> => new Map(VARS.map((v, i) => [v, int(s[i] as number)]));

test("the constructors keep the value", () => {
  fc.assert(
    fc.property(traced, values, (t, v) => {
      const expected = t.run(v) + 0;
      fc.pre(inRange(expected));
      expect(valueAt(t.e, v)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test("a function of one symbol gives what evaluation gives, number by number", () => {
  fc.assert(
    fc.property(traced, values, fc.array(fc.nat(100), { minLength: 1, maxLength: 4 }), (t, v, tried) => {
      const [free, ...others] = VARS;
      const of = numberFunction(t.e, s => (s === free ? "free" : v[1 + others.indexOf(s as (typeof VARS)[number])]));
      for (const n of tried) expect(of(n)).toBe(valueAt(t.e, [n, ...v.slice(1)]));
    }),
    { numRuns: 1000 },
  );
  expect(numberFunction(sum([sym("free"), sym("unknown")]), s => (s.name === "free" ? "free" : undefined))(3)).toBe(
    undefined,
  );
});

test("multiplying out keeps the value", () => {
  fc.assert(
    fc.property(traced, values, (t, v) => {
      const expected = t.run(v) + 0;
      fc.pre(inRange(expected));
      expect(valueAt(expand(t.e), v)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});

test("substitution is evaluation", () => {
  fc.assert(
    fc.property(traced, values, (t, v) => {
      const expected = t.run(v) + 0;
      fc.pre(inRange(expected));
      const replaced = substitute(t.e, new Map(VARS.map((s, i): [SymExpr, number] => [s, v[i] as number])));
      expect(evaluateNumber(replaced, () => undefined)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});

test("simplifying under ranges keeps the value within them", () => {
  const sizevars = new SizeVars();
  fc.assert(
    fc.property(traced, assignment, (t, a) => {
      const expected = t.run(a.values) + 0;
      fc.pre(inRange(expected));
      expect(valueAt(simplifyWithRanges(t.e, rangesOf(a.sizes), sizevars), a.values)).toBe(expected);
    }),
    { numRuns: 1500 },
  );
});

test("bounds contain every value", () => {
  fc.assert(
    fc.property(traced, assignment, (t, a) => {
      const v = t.run(a.values);
      fc.pre(inRange(v));
      const b = bounds(t.e, rangesOf(a.sizes));
      expect(b.lower).toBeLessThanOrEqual(v);
      expect(b.upper).toBeGreaterThanOrEqual(v);
    }),
    { numRuns: 2000 },
  );
});

test("what is decided of a comparison under ranges holds for every value", () => {
  const sizevars = new SizeVars();
  const op = fc.constantFrom<RelationOp>("eq", "ne", "lt", "le", "gt", "ge");
  fc.assert(
    fc.property(op, traced, traced, assignment, (o, x, y, a) => {
      const [l, r] = [x.run(a.values) + 0, y.run(a.values) + 0];
      fc.pre(inRange(l) && inRange(r));
      const decided = sizevars.evaluateStatic(relation(o, x.e, y.e), rangesOf(a.sizes));
      if (decided !== undefined) expect(decided).toBe(compareNumbers(o, l, r));
    }),
    { numRuns: 2000 },
  );
});

/** Indices as views make them: the contiguous offset split into dimensions and put together with other strides. */
const viewIndex = fc
  .tuple(
    sizes,
    fc.array(divisor, { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(300), { minLength: 4, maxLength: 4 }),
  )
  .map(([s, split, strides]) => {
    const flat = contiguousIndex(
      VARS,
      s.map(n => int(n)),
    );
    let d = 1;
    const parts: Expr[] = [];
    split.forEach((n, i) => {
      parts.push(mul(modularIndexing(flat, d, n), strides[i] as number));
      d *= n;
    });
    parts.push(mul(floorDiv(flat, d), strides[3] as number));
    return { sizes: s, index: sum(parts) };
  });

test("merged loops visit the same addresses in the same order", () => {
  const sizevars = new SizeVars();
  fc.assert(
    fc.property(viewIndex, ({ sizes: s, index }) => {
      const ranges = rangesOf(s);
      const simplified = simplifyWithRanges(index, ranges, sizevars);
      const exprSizes = s.map(n => int(n));
      const loops = simplifyLoops(VARS, exprSizes, preventReordering([simplified], VARS, exprSizes), sizevars);
      const newVars: SymExpr[] = loops.sizes.map((_, i) => sym(`c${i}`));
      const merged = substitute(
        simplified,
        new Map(loops.reindex(newVars).map((e, i): [SymExpr, Expr] => [VARS[i] as SymExpr, e])),
      );
      const numel = s.reduce((x, y) => x * y, 1);
      for (let i = 0; i < numel; i += Math.max(1, Math.floor(numel / 50))) {
        const old = unravel(i, s);
        const fresh = unravel(
          i,
          loops.sizes.map(e => (e.kind === "int" ? e.value : 1)),
        );
        expect(evaluateNumber(merged, x => fresh[newVars.indexOf(x)])).toBe(valueAt(index, old));
      }
    }),
    { numRuns: 300 },
  );
});

function unravel(offset: number, shape: readonly number[]): number[] {
  const result: number[] = [];
  for (let i = shape.length - 1; i >= 0; i--) {
    result.unshift(offset % (shape[i] as number));
    offset = Math.floor(offset / (shape[i] as number));
  }
  return result;
}
