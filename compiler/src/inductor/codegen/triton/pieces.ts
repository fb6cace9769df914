// A pointwise kernel over a concatenation, cut where its pieces meet. In: members over the same loops. Out: per piece the
// same members over that piece's part of one loop, with the conditions that tell pieces apart decided. Promises: together
// the pieces visit every element once; nothing is cut unless every element would otherwise compute all pieces' values. Not
// Inductor's: behaviour `cuts_concatenations`.
import type { DType, OpName } from "../../../aten/types";
import { PyFloat } from "../../../aten/types";
import type { BodyOps } from "../../ir/body_ops";
import { buildBody } from "../../ir/build_body";
import type { Block, ConstantValue, LoopBody } from "../../ir/loop_body";
import { opsHandler } from "../../ir/replay";
import { type BodyHandler, runBody } from "../../ir/run_body";
import { bodySizes, loopVars } from "../../ir/transform";
import { extractReadWrites } from "../../scheduler/extract";
import type { SchedulerNode } from "../../scheduler/types";
import {
  add,
  type Expr,
  freeSymbols,
  int,
  intValue,
  isFalse,
  isTrue,
  relation,
  type SymExpr,
  sameExprs,
  sub,
} from "../../symbolic/expr";
import type { SizeVars } from "../../symbolic/size_vars";

const COMPARISONS: Readonly<Partial<Record<OpName, "lt" | "le" | "gt" | "ge">>> = {
  lt: "lt",
  le: "le",
  gt: "gt",
  ge: "ge",
};
/** operations that take tens of instructions */
const HEAVY: ReadonlySet<string> = new Set([
  ..."exp exp2 expm1 log log1p log2 log10 sin cos tan tanh sigmoid erf erfc erfinv pow sqrt rsqrt atan asin acos".split(
    " ",
  ),
  ..."sinh cosh asinh acosh atanh lgamma digamma truediv".split(" "),
]);
const HEAVY_COST = 10;
/** instructions per element that must be saved */
const WORTH = 8;
const MOST_PIECES = 8;
/** elements of the cut loop that a piece has at least */
const SHORTEST = 32;

interface Cuts {
  readonly loop: number;
  /** where pieces begin, 0 first, the loop's size last */
  readonly at: readonly number[];
}

/** The members of each piece; null: one kernel is better. */
export function piecesOf(members: readonly SchedulerNode[], sv: SizeVars): SchedulerNode[][] | null {
  const [first] = members;
  if (!first?.body || members.some(m => !sameLoops(m, first))) return null;
  const cuts = cutsOf(
    members.flatMap(m => m.body ?? []),
    sv,
  );
  if (!cuts || wasted(members, cuts.at.length - 1) < WORTH) return null;
  return cuts.at.slice(0, -1).map((from, i) => {
    const count = (cuts.at[i + 1] as number) - from;
    return members.map(m => piece(m, cuts.loop, from, count, sv));
  });
}

function sameLoops(m: SchedulerNode, first: SchedulerNode): boolean {
  const op = m.operation;
  if (op.kind !== "computed" || op.loops.kind !== "Pointwise" || !m.body || !first.body) return false;
  return sameExprs(m.body.iterSizes, first.body.iterSizes);
}

/** where conditions over a single loop change */
function cutsOf(bodies: readonly LoopBody[], sv: SizeVars): Cuts | null {
  const found = new Map<number, Set<number>>();
  for (const body of bodies) {
    const sizes = body.iterSizes.map(intValue);
    for (const n of body.block.nodes) {
      const kind = n.op === "call" ? COMPARISONS[n.fn] : undefined;
      if (n.op !== "call" || !kind) continue;
      const [x, y] = n.args;
      if (x?.op !== "index_expr" || y?.op !== "constant" || x.at.op !== "get_index") continue;
      const index = body.indexing.get(x.at.index);
      const [v, ...more] = index ? [...freeSymbols(index)] : [];
      if (!index || !v || more.length) continue;
      const loop = body.iterVars.indexOf(v);
      const shift = intValue(sv.simplify(sub(index, v)));
      const size = sizes[loop];
      if (loop < 0 || shift === undefined || size === undefined) continue;
      const at = Number(y.value) - shift + (kind === "le" || kind === "gt" ? 1 : 0);
      if (at <= 0 || at >= size) continue;
      found.set(loop, (found.get(loop) ?? new Set()).add(at));
    }
  }
  const [only, ...others] = [...found];
  if (!only || others.length) return null;
  const [loop, set] = only;
  const size = intValue(bodies[0]?.iterSizes[loop] ?? int(0)) ?? 0;
  const at = [0, ...[...set].sort((a, b) => a - b), size];
  if (at.length - 1 > MOST_PIECES) return null;
  return at.every((x, i) => i === 0 || x - (at[i - 1] as number) >= SHORTEST) ? { loop, at } : null;
}

/** instructions per element that go into values of other pieces */
function wasted(members: readonly SchedulerNode[], pieces: number): number {
  const cost = (b: Block): number =>
    b.nodes.reduce((n, x) => n + (x.op === "call" ? (HEAVY.has(x.fn) ? HEAVY_COST : 1) : 0), 0);
  let inside = 0;
  for (const m of members) for (const b of m.body?.subblocks.values() ?? []) inside += cost(b);
  return inside * (1 - 1 / pieces);
}

function piece(m: SchedulerNode, loop: number, from: number, count: number, sv: SizeVars): SchedulerNode {
  const { body, operation: op } = m;
  if (!body || op.kind !== "computed") throw new Error(`${m.name} is no loop nest`);
  const iterSizes = body.iterSizes.map((e, i) => (i === loop ? int(count) : e));
  const [iterVars] = loopVars(iterSizes, []);
  const values = iterVars.map((v, i) => (i === loop ? add(v, from) : v));
  const ranges = new Map(iterVars.map((v, i) => [v, iterSizes[i] as Expr] as const));
  const cut = buildBody(iterVars, iterSizes, [], [], bodySizes(sv), ops =>
    runBody(body, deciding(ops, ranges, sv), values, []),
  );
  const sizes = [cut.iterSizes, []] as const;
  return {
    ...m,
    operation: { ...op, body: cut, sizes },
    body: cut,
    sizes,
    group: [sv.numel(cut.iterSizes), int(1)],
    readWrites: extractReadWrites(cut, sizes, sv, { normalize: true, prefix: "d" }),
  };
}

/** a value with what is known of it: the index that it is, or its truth */
interface Decided<V> {
  readonly value: V;
  readonly index?: Expr;
  readonly truth?: boolean;
}

/** Runs operations, leaving out what conditions over the loops' ranges decide. */
function deciding<V>(ops: BodyOps<V>, ranges: ReadonlyMap<SymExpr, Expr>, sv: SizeVars): BodyHandler<Decided<V>> {
  const h = opsHandler(ops);
  const wrap = (v: V | readonly V[]): Decided<V> | readonly Decided<V>[] =>
    Array.isArray(v) ? (v as readonly V[]).map(value => ({ value })) : { value: v as V };
  const bare = (v: Decided<V>): V => v.value;
  const constant = (value: ConstantValue, dtype: DType): Decided<V> => {
    const index = typeof value === "number" && Number.isInteger(value) ? int(value) : undefined;
    return { value: h.constant(value, dtype), index, truth: typeof value === "boolean" ? value : undefined };
  };
  const decided = (truth: boolean): Decided<V> => constant(truth, "bool");
  const call: BodyHandler<Decided<V>>["call"] = (fn, args, node) => {
    const [a, b, c] = args;
    const kind = COMPARISONS[fn];
    if (kind && a?.index && b?.index) {
      const r = relation(kind, a.index, b.index);
      const known = isTrue(r) ? true : isFalse(r) ? false : sv.evaluateStatic(r, ranges);
      if (known !== undefined) return decided(known);
    }
    if ((fn === "and_" || fn === "bitwise_and" || fn === "logical_and") && a && b) {
      if (a.truth === false || b.truth === false) return decided(false);
      if (a.truth === true) return b;
      if (b.truth === true) return a;
    }
    if ((fn === "bitwise_or" || fn === "logical_or") && a && b) {
      if (a.truth === true || b.truth === true) return decided(true);
      if (a.truth === false) return b;
      if (b.truth === false) return a;
    }
    if (fn === "where" && a?.truth !== undefined && b && c) return a.truth ? b : c;
    return wrap(h.call(fn, args.map(bare), node));
  };
  return {
    constant,
    indexExpr: (index, dtype) => ({ value: h.indexExpr(index, dtype), index }),
    load: (buffer, index) => ({ value: h.load(buffer, index) }),
    store: (buffer, index, v, mode) => h.store(buffer, index, v.value, mode),
    storeReduction: (buffer, index, v) => h.storeReduction(buffer, index, v.value),
    toDtype: (x, dtype, src, node) => ({ ...x, value: h.toDtype(x.value, dtype, src, node), truth: undefined }),
    toDtypeBitcast: (x, dtype, src) => ({ value: h.toDtypeBitcast(x.value, dtype, src) }),
    indirectIndexing: (x, size, check, wrapNeg, symbol) => h.indirectIndexing(x.value, size, check, wrapNeg, symbol),
    checkBounds: (index, size, lower, upper) => h.checkBounds(index, size, lower, upper),
    masked: (mask, run, other, otherIsFloat, block) => {
      if (mask.truth === true) return run();
      if (mask.truth === false)
        return {
          value: ops.constant(otherIsFloat ? new PyFloat(Number(other)) : other, otherDtype(other, otherIsFloat)),
        };
      return { value: h.masked(mask.value, () => run().value, other, otherIsFloat, block) };
    },
    reduction: () => {
      throw new Error("a pointwise body reduces nothing");
    },
    scan: () => {
      throw new Error("a pointwise body scans nothing");
    },
    sort: () => {
      throw new Error("a pointwise body sorts nothing");
    },
    loadSeed: (buffer, offset) => ({ value: h.loadSeed(buffer, offset) }),
    random: (kind, seed, offset) => ({ value: h.random(kind, seed.value, offset.value) }),
    randint64: (seed, offset, low, high) => ({ value: h.randint64(seed.value, offset.value, low.value, high.value) }),
    call,
  };
}

const otherDtype = (other: number | boolean, isFloat: boolean): DType =>
  typeof other === "boolean" ? "bool" : isFloat ? "float32" : "int64";
