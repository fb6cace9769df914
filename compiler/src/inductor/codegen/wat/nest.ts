// Emits one loop nest. In: an analysed part and how its loops should run. Out: loops in a function. A part without
// reductions runs over a slice of its elements, one with reductions over a slice of its rows (the iteration space), each
// row being a sequence of reduction loops and of what stands between them.
import type { DType, ReductionType } from "../../../aten/types";
import { runBody } from "../../ir/run_body";
import { add, type Expr, int, intValue, mul, type SymExpr, substitute } from "../../symbolic/expr";
import { reductionOutputs } from "./accesses";
import { type Accumulator, accumulator, type VectorAccumulator } from "./accumulators";
import { type HandlerScope, WatBodyHandler } from "./body_handler";
import { convert, rounded } from "./convert";
import type { FunctionBuilder } from "./function_builder";
import type { LoopDim } from "./loop_space";
import { NestBase, type NestContext, type PlainScope } from "./nest_base";
import type { Member, Part, Segment } from "./part";
import { type SoftmaxPowers, softmaxPowers } from "./softmax_powers";
import { SortScratch, sortBytes } from "./sort_code";
import { vectorAccumulator } from "./vector_accumulators";
import { VectorBodyHandler, type VectorScope } from "./vector_handler";
import { isAligned, type PartMode, simplifierOf } from "./vector_plan";
import { isVector, keepVector, LANES, NotVectorizable, type VecValue } from "./vector_types";
import { computeType, type WatValue } from "./wat_types";

type SortPass = HandlerScope["sort"];

/** operations of a body beyond which its loop is not unrolled */
const UNROLL_OPS = 24;
const UNROLL = 4;
/**
 * fours of an unrolled turn that are stored together: V8 orders what lies between loads and stores by the steps that each
 * is away from the stores, so two chains side by side, if no load stands behind the first one's store
 */
const SIDE_BY_SIDE = 2;
/** elements of a row whose exponentials are kept: longer rows leave the cache that is a core's own */
const KEPT_POWERS = 65536;

/** one reduction of a loop: the accumulator of single elements, and the locals that its results end in */
interface Reduction {
  readonly scalar: Accumulator;
  readonly vectors: VectorAccumulator[];
  readonly results: readonly WatValue[];
}

/** the reductions of a loop; nodes that reduce the same values (variance and mean) share one */
class Reductions {
  readonly all: Reduction[] = [];
  /** number of the reduction that the n-th one of a turn is */
  private readonly places: number[] = [];

  /** `powersRow`: where an online softmax keeps its exponentials */
  constructor(
    private readonly f: FunctionBuilder,
    readonly powersRow: string | null,
  ) {}

  /** a turn's reductions in order, first time or again */
  turn(): (
    type: ReductionType,
    dtype: DType,
    srcDtype: DType,
    values: string,
  ) => { readonly reduction: Reduction; readonly first: boolean } {
    let n = 0;
    const seen = new Map<string, number>();
    const met = new Set<number>();
    return (type, dtype, srcDtype, values) => {
      const key = `${type} ${dtype} ${srcDtype} ${values}`;
      let at = this.places[n];
      if (at === undefined) {
        at = seen.get(key) ?? this.all.push(newReduction(type, dtype, srcDtype, this.f)) - 1;
        this.places.push(at);
      }
      n += 1;
      seen.set(key, at);
      const first = !met.has(at);
      met.add(at);
      return { reduction: this.all[at] as Reduction, first };
    };
  }

  /** after the last four elements of a turn */
  end(): void {
    for (const r of this.all) for (const v of r.vectors) v.end?.();
  }

  reset(): void {
    this.all.splice(0);
    this.places.splice(0);
  }
}

function newReduction(type: ReductionType, dtype: DType, srcDtype: DType, f: FunctionBuilder): Reduction {
  // results have locals of their own, set after the loop; bodies only hand them on to store_reduction
  const resultDtype: DType = type.startsWith("arg") ? "int64" : dtype;
  const wasm = computeType(resultDtype);
  const results = Array.from(
    { length: reductionOutputs(type) },
    (): WatValue => ({ code: `(local.get ${f.local(wasm, "result")})`, type: wasm, dtype: resultDtype }),
  );
  return { scalar: accumulator(type, dtype, srcDtype, f), vectors: [], results };
}

/** a row's exponentials in scratch, and the local of what each is multiplied by */
interface PowersRow {
  readonly address: string;
  readonly factor: string;
}

export class NestEmitter extends NestBase {
  /** softmax exponentials that one loop hands on to another, null if there are none */
  private readonly powers: SoftmaxPowers | null;
  private powersRow: PowersRow | null = null;

  constructor(
    ctx: NestContext,
    part: Part,
    private readonly mode: PartMode,
  ) {
    super(ctx, part);
    const { r, rnumel } = part.space;
    const kept = mode.kind === "last" && r.length === 1 && ctx.sizes.hint(rnumel) <= KEPT_POWERS;
    this.powers = kept ? softmaxPowers(part, simplifierOf(part, ctx.sizes).simplify, ctx.memory) : null;
  }

  /** the elements (or rows) from `begin` to `end`, i32 texts */
  emit(begin: string, end: string): void {
    if (this.part.reduces) this.rows(begin, end);
    else this.elements(begin, end);
  }

  private rows(begin: string, end: string): void {
    const { f } = this;
    const flat = f.local("i32", "row");
    f.loop(flat, begin, end, () => {
      this.setFromFlat(`(local.get ${flat})`, this.part.space.x);
      this.body();
    });
  }

  /** runs of the innermost dim, so that indices are taken apart once a run */
  private elements(begin: string, end: string): void {
    const { f } = this;
    const { x } = this.part.space;
    const inner = x[x.length - 1];
    if (!inner) {
      f.branch(`(i32.lt_u ${begin} ${end})`, () => this.body());
      return;
    }
    if (x.length === 1) {
      this.run(inner, begin, end);
      return;
    }
    const size = f.keep(this.ctx.memory.sizeCode(inner.size), "i32", "size");
    const at = f.local("i32", "at");
    const stop = f.local("i32", "stop");
    const last = f.keep(end, "i32", "end");
    f.set(at, begin);
    const label = at.slice(1);
    f.lines.block(`(block $done_${label}`, () => {
      f.lines.block(`(loop $next_${label}`, () => {
        f.lines.add(`(br_if $done_${label} (i32.ge_u (local.get ${at}) ${last}))`);
        f.scope(() => {
          const first = f.keep(`(i32.rem_u (local.get ${at}) ${size})`, "i32", "first");
          this.setFromFlat(f.keep(`(i32.div_u (local.get ${at}) ${size})`, "i32", "outer"), x.slice(0, -1));
          const left = f.keep(`(i32.add ${first} (i32.sub ${last} (local.get ${at})))`, "i32", "left");
          f.set(stop, `(select ${left} ${size} (i32.lt_u ${left} ${size}))`);
          this.run(inner, first, `(local.get ${stop})`);
          f.set(at, `(i32.add (local.get ${at}) (i32.sub (local.get ${stop}) ${first}))`);
        });
        f.lines.add(`(br $next_${label})`);
      });
    });
  }

  /** one run of elements along the innermost dim */
  private run(inner: LoopDim, first: string, stop: string): void {
    const { f } = this;
    const variable = this.local(inner.variable);
    const [segment] = this.part.segments;
    const number = this.segmentNumber++;
    let from = first;
    if (this.mode.kind === "last" && segment) {
      this.attempt(() => {
        const below = (n: number): string =>
          f.keep(`(i32.add ${first} (i32.and (i32.sub ${stop} ${first}) (i32.const -${n})))`, "i32", "whole");
        const whole = below(LANES);
        const copies = opsOf(segment.members) <= UNROLL_OPS ? UNROLL : 1;
        const pairs = below(copies * LANES);
        f.loop(
          variable,
          first,
          pairs,
          () => this.vectorTurns(segment.members, inner, number, null, copies),
          copies * LANES,
        );
        if (copies > 1)
          f.loop(variable, pairs, whole, () => this.vectorTurns(segment.members, inner, number, null, 1), LANES);
        from = whole;
      });
    }
    f.loop(variable, from, stop, () => {
      this.written.clear();
      if (segment) this.turn(segment.members, this.scope(number, null), null, null);
    });
  }

  private body(): void {
    for (const segment of this.part.segments) {
      const pieces = segment.loop ? splitAtSorts(segment) : [{ members: segment.members, sort: null }];
      let use: SortPass = null;
      for (const piece of pieces) {
        const collect = piece.sort ? this.sortArea(piece.sort) : null;
        this.segment(segment, piece.members, use, collect);
        use = collect ? { ...collect, pass: "use" } : null;
      }
    }
  }

  private sortArea(member: Member): {
    readonly pass: "collect";
    readonly scratch: SortScratch;
    readonly values: number;
  } {
    const { memory } = this.ctx;
    const { rnumel } = this.part.space;
    const values = sortWidth(member);
    const offset = memory.reserve(mul(rnumel, sortBytes(values)));
    return { pass: "collect", scratch: new SortScratch(memory.scratchAt(offset), memory.sizeCode(rnumel)), values };
  }

  /**
   * One loop over the reduction dims, or what stands outside of one. `use`: the first member sorts, and the row is
   * sorted; `collect`: the last member sorts, and hands its values in.
   */
  private segment(
    segment: Segment,
    members: readonly Member[],
    use: SortPass,
    collect: (SortPass & { readonly values: number }) | null,
  ): void {
    const { f } = this;
    const number = this.segmentNumber++;
    if (!segment.loop) {
      const scope = this.scope(number, null);
      this.turn(members, scope, null, null);
      for (const g of scope.after) g();
      return;
    }
    const keeping = segment === this.powers?.reducing ? this.startPowers() : null;
    const reductions = new Reductions(f, keeping?.address ?? null);
    const after: (() => void)[] = [];
    const { r } = this.part.space;
    const inner = r[r.length - 1];
    const scalarTurn = (): void => {
      const next = reductions.turn();
      const reduce: HandlerScope["reduce"] = (type, dtype, srcDtype, values) => {
        const { reduction, first } = next(type, dtype, srcDtype, values.map(v => v.code).join(" "));
        return { scalar: first ? reduction.scalar : null, results: reduction.results };
      };
      const scope = { ...this.scope(number, this.position()), reduce, after: [] };
      this.turn(members, scope, use, collect);
      // both forms of the loop store the same results after it
      after.splice(0, after.length, ...scope.after);
    };
    // which accumulators there are is known after the loop's text, their start stands before it
    const text = f.lines.capture(() => {
      const vector =
        this.mode.kind === "last" && inner && !use && !collect
          ? this.attempt(() =>
              this.loops(r.slice(0, -1), () => this.vectorLoop(members, inner, number, reductions, scalarTurn)),
            )
          : false;
      if (vector) return;
      reductions.reset();
      this.loops(r, scalarTurn);
    });
    for (const a of reductions.all) {
      a.scalar.start();
      for (const v of a.vectors) v.start();
    }
    f.lines.append(text);
    for (const a of reductions.all) for (const v of a.vectors) v.flush(a.scalar);
    for (const a of reductions.all) finish(a, f);
    if (keeping) this.powersRow = this.finishPowers(keeping, reductions);
    for (const g of after) g();
    collect?.scratch.order(collect.values, f);
  }

  private startPowers(): PowersRow {
    const { memory } = this.ctx;
    const address = memory.scratchAt(memory.reserve(mul(this.part.space.rnumel, int(4))));
    return { address, factor: this.f.local("v128", "factor") };
  }

  /** null if the loop had no vector form, and kept nothing */
  private finishPowers(row: PowersRow, reductions: Reductions): PowersRow | null {
    for (const r of reductions.all) {
      const code = r.vectors[0]?.factor?.(r.results[0]?.code ?? "");
      if (code === undefined) continue;
      this.f.set(row.factor, code);
      return row;
    }
    return null;
  }

  /** four of a row's kept exponentials, the `copy`-th of an unrolled turn */
  private loadPowers(row: PowersRow, copy: number): VecValue {
    const { f } = this;
    const at = f.keep(`(i32.add ${row.address} (i32.shl ${this.position()} (i32.const 2)))`, "i32", "kept");
    const power = `(v128.load ${copy ? `offset=${4 * LANES * copy} ` : ""}${at})`;
    return keepVector("f32x4", [`(f32x4.mul ${power} (local.get ${row.factor}))`], "float32", f);
  }

  /** the innermost reduction loop: unrolled, by fours, and what is left one by one */
  private vectorLoop(
    members: readonly Member[],
    inner: LoopDim,
    number: number,
    reductions: Reductions,
    scalarTurn: () => void,
  ): void {
    const { f } = this;
    const variable = this.local(inner.variable);
    const copies = opsOf(members) <= UNROLL_OPS && this.ctx.sizes.hint(inner.size) >= UNROLL * LANES ? UNROLL : 1;
    const step = copies * LANES;
    const constant = intValue(inner.size);
    const size = f.keep(this.ctx.memory.sizeCode(inner.size), "i32", "size");
    /** the size rounded down to a multiple of `n` */
    const below = (n: number): string =>
      constant === undefined
        ? f.keep(`(i32.and ${size} (i32.const -${n}))`, "i32", "whole")
        : `(i32.const ${constant - (constant % n)})`;
    f.loop(
      variable,
      "(i32.const 0)",
      below(step),
      () => {
        this.vectorTurns(members, inner, number, reductions, copies);
        reductions.end();
      },
      step,
    );
    const left = (n: number): boolean => constant === undefined || constant % n !== 0;
    if (left(step) && copies > 1 && (constant === undefined || constant % step >= LANES))
      f.loop(
        variable,
        below(step),
        below(LANES),
        () => {
          this.vectorTurns(members, inner, number, reductions, 1);
          reductions.end();
        },
        LANES,
      );
    const tail = f.attempt(() => f.loop(variable, below(LANES), size, scalarTurn));
    if (left(LANES)) f.lines.append(tail);
  }

  /** `copies` times four elements */
  private vectorTurns(
    members: readonly Member[],
    inner: LoopDim,
    number: number,
    reductions: Reductions | null,
    copies: number,
  ): void {
    const together = reductions ? 1 : SIDE_BY_SIDE;
    for (let first = 0; first < copies; first += together) {
      const stores: (() => void)[] = [];
      for (let c = first; c < Math.min(first + together, copies); c++)
        stores.push(...this.vectorTurn(members, inner, number, reductions, c));
      for (const store of stores) store();
    }
  }

  /** the `copy`-th four elements of an unrolled turn, which have accumulators of their own; gives their stores */
  private vectorTurn(
    members: readonly Member[],
    inner: LoopDim,
    number: number,
    reductions: Reductions | null,
    copy: number,
  ): (() => void)[] {
    const { f } = this;
    this.forget(number);
    const next = reductions?.turn();
    const scope: Omit<VectorScope, "sort" | "partial" | "powers"> = {
      ...this.scope(number, reductions ? this.position(copy * LANES) : null),
      variable: inner.variable,
      // a reduction's loop begins at 0, a slice at a multiple of four unless it is one nest's share of several
      aligned: reductions !== null || (this.ctx.alone && (this.part.space.x.length === 1 || isAligned(inner))),
      accumulate: (type, dtype, srcDtype, values) => {
        if (!next) throw new NotVectorizable("a reduction outside of a loop");
        const codes = values.map(v => (isVector(v) ? v.codes.join(" ") : v.code)).join(" ");
        const { reduction, first } = next(type, dtype, srcDtype, codes);
        const [leader] = reduction.vectors;
        const vector = leader?.shared
          ? leader
          : (reduction.vectors[copy] ?? vectorAccumulator(type, srcDtype, f, reductions?.powersRow));
        if (!leader?.shared) reduction.vectors[copy] = vector;
        return { vector: first ? vector : null, results: reduction.results };
      },
    };
    const shift = copy ? new Map<SymExpr, Expr>([[inner.variable, add(inner.variable, int(copy * LANES))]]) : null;
    const moved = (es: readonly Expr[]): Expr[] => es.map(e => (shift ? substitute(e, shift) : e));
    for (const m of members) {
      this.announce(m);
      const partial = this.ctx.partial?.(m.node.name) ?? null;
      const [row, uses] = [this.powersRow, this.powers?.uses.get(m)];
      const powers = row && uses && reductions ? { uses, load: () => this.loadPowers(row, copy) } : null;
      const handler = new VectorBodyHandler({ ...scope, sort: null, partial, powers });
      runBody(m.body, handler, moved(m.iter), moved(m.reduce));
    }
    return scope.stores;
  }

  /** what this segment wrote so far is another turn's */
  private forget(segment: number): void {
    for (const [buffer, w] of this.written)
      if (w.segment === segment || this.part.reduces === false) this.written.delete(buffer);
  }

  /** one element of a loop, or what stands outside of one */
  private turn(members: readonly Member[], scope: PlainScope, use: SortPass, collect: SortPass): void {
    this.forget(scope.segment);
    members.forEach((m, i) => {
      const sort = i === members.length - 1 && collect ? collect : i === 0 ? use : null;
      this.announce(m);
      const partial = this.ctx.partial?.(m.node.name) ?? null;
      runBody(m.body, new WatBodyHandler({ ...scope, sort, partial }), m.iter, m.reduce);
    });
    for (const store of scope.stores) store();
  }
}

function finish(r: Reduction, f: FunctionBuilder): void {
  r.scalar.finish().forEach((value, i) => {
    const target = r.results[i];
    if (!target) return;
    const code =
      value.dtype === target.dtype ? value.code : rounded(convert(value, target.dtype).code, target.dtype, f);
    f.set(target.code.slice("(local.get ".length, -1), code);
  });
}

const opsOf = (members: readonly Member[]): number => members.reduce((n, m) => n + m.body.block.nodes.length, 0);

const sorts = (m: Member): boolean => m.body.block.nodes.some(n => n.op === "sort");

function sortWidth(m: Member): number {
  const node = m.body.block.nodes.find(n => n.op === "sort");
  return node?.op === "sort" ? node.values.length : 0;
}

/** a member that sorts ends one loop, in which it collects, and begins the next, in which it stores */
function splitAtSorts(segment: Segment): { readonly members: readonly Member[]; readonly sort: Member | null }[] {
  const out: { members: Member[]; sort: Member | null }[] = [{ members: [], sort: null }];
  for (const m of segment.members) {
    const last = out[out.length - 1];
    last?.members.push(m);
    if (last && sorts(m)) {
      last.sort = m;
      out.push({ members: [m], sort: null });
    }
  }
  return out;
}
