// Emits a nest whose columns are reduced side by side: blocks of columns, rows in the outer loop, four columns at a time
// in the inner one, so that memory is read along its rows. In: an analysed part. Out: loops in a function; a work item is
// a block of columns. Throws NotVectorizable for what columns have no form for.
import type { DType } from "../../../aten/types";
import { runBody } from "../../ir/run_body";
import { add, ceilDiv, type Expr, int, intValue, mul, type SymExpr, substitute } from "../../symbolic/expr";
import { type ColumnRef, type Columns, WatBodyHandler } from "./body_handler";
import { type ColumnReduction, type ColumnScratch, columnReduction } from "./column_accumulators";
import type { LoopDim } from "./loop_space";
import { NestBase, type NestContext, type PlainScope } from "./nest_base";
import type { Member, Part } from "./part";
import type { KernelSizes } from "./sizes";
import { VectorBodyHandler, type VectorScope } from "./vector_handler";
import { loadColumn } from "./vector_memory";
import { LANES, NotVectorizable } from "./vector_types";
import { computeType, type WatValue } from "./wat_types";

/** columns of a block: long runs of memory where that leaves enough blocks for the threads */
const BLOCKS = [1024, 256, 64];
const FEW_BLOCKS = 16;
/** rows that a turn takes at once, in bodies of few operations */
const ROWS = 4;
const UNROLL_OPS = 16;

/** columns of a block */
export function blockOf(part: Part, sizes: KernelSizes): number {
  const inner = part.space.x[part.space.x.length - 1];
  const columns = inner ? sizes.hint(inner.size) : 1;
  const outer = sizes.hint(part.space.numel) / Math.max(1, columns);
  return BLOCKS.find(b => outer * Math.ceil(columns / b) >= FEW_BLOCKS) ?? 64;
}

/** work items: blocks of columns */
export function columnItems(part: Part, sizes: KernelSizes): Expr {
  const dims = part.space.x;
  const inner = dims[dims.length - 1];
  if (!inner) return int(1);
  const outer = dims.slice(0, -1).reduce<Expr>((n, d) => mul(n, d.size), int(1));
  return sizes.resolve(mul(outer, ceilDiv(inner.size, blockOf(part, sizes))));
}

interface Result {
  readonly buffer: string;
  readonly index: Expr;
  readonly ref: ColumnRef;
}

export class ColumnNest extends NestBase implements Columns, ColumnScratch {
  private readonly block: number;
  private readonly inner: LoopDim;
  private readonly lane: string;
  private readonly count: string;
  private readonly first: string;
  private readonly seen: string;
  private readonly kept = new Map<string, ColumnRef>();
  private readonly refsOf = new Map<string, ColumnRef>();
  private reciprocals: string[] = [];
  private results: Result[] = [];

  constructor(ctx: NestContext, part: Part) {
    super(ctx, part);
    const inner = part.space.x[part.space.x.length - 1];
    if (!inner) throw new NotVectorizable("no columns");
    this.inner = inner;
    this.block = blockOf(part, ctx.sizes);
    this.lane = this.f.local("i32", "lane");
    this.count = this.f.local("i32", "lanes");
    this.first = this.f.local("i32", "first");
    this.seen = this.f.local("f32", "seen");
  }

  emit(begin: string, end: string): void {
    const { f } = this;
    const item = f.local("i32", "item");
    const size = f.keep(this.ctx.memory.sizeCode(this.inner.size), "i32", "columns");
    const blocks = f.keep(
      `(i32.div_u (i32.add ${size} (i32.const ${this.block - 1})) (i32.const ${this.block}))`,
      "i32",
      "blocks",
    );
    f.loop(item, begin, end, () => {
      this.setFromFlat(
        f.keep(`(i32.div_u (local.get ${item}) ${blocks})`, "i32", "outer"),
        this.part.space.x.slice(0, -1),
      );
      f.set(this.first, `(i32.mul (i32.rem_u (local.get ${item}) ${blocks}) (i32.const ${this.block}))`);
      const left = f.keep(`(i32.sub ${size} (local.get ${this.first}))`, "i32", "left");
      f.set(this.count, `(select ${left} (i32.const ${this.block}) (i32.lt_u ${left} (i32.const ${this.block})))`);
      for (const segment of this.part.segments) {
        if (segment.loop) this.loopSegment(segment.members);
        else this.flatSegment(segment.members);
      }
    });
  }

  // --- Columns and ColumnScratch ---

  address(ref: ColumnRef): string {
    const width = computeType(ref.dtype).endsWith("64") ? 8 : 4;
    return `(i32.add ${this.f.keep(this.ctx.memory.scratchAt(ref.offset), "i32", "column")} (i32.shl (local.get ${this.lane}) (i32.const ${Math.log2(width)})))`;
  }
  reserve(dtype: DType): ColumnRef {
    const width = computeType(dtype).endsWith("64") ? 8 : 4;
    return { offset: this.ctx.memory.reserve(int(this.block * width)), dtype };
  }
  keep(buffer: string, dtype: DType): ColumnRef {
    let ref = this.kept.get(buffer);
    if (!ref) {
      ref = this.reserve(dtype);
      this.kept.set(buffer, ref);
    }
    return ref;
  }
  resultOf(value: WatValue): ColumnRef {
    const ref = this.refsOf.get(value.code);
    if (!ref) throw new NotVectorizable("a reduction's result that is worked on inside the loop");
    return ref;
  }
  finished(buffer: string, index: Expr, ref: ColumnRef): void {
    if (!this.results.some(r => r.buffer === buffer)) this.results.push({ buffer, index, ref });
  }
  reciprocal(row: number): string {
    this.reciprocals[row] ??= this.f.local("f32", "share");
    return `(local.get ${this.reciprocals[row]})`;
  }
  get rows(): string {
    return `(local.get ${this.seen})`;
  }

  // --- loops over the block's columns ---

  /** runs `four` over groups of four columns, then `one` over those left */
  private lanes(four: () => void, one: () => void): void {
    const { f } = this;
    const variable = this.local(this.inner.variable);
    const turn = (body: () => void) => (): void => {
      f.set(variable, `(i32.add (local.get ${this.first}) (local.get ${this.lane}))`);
      body();
    };
    const whole = f.keep(`(i32.and (local.get ${this.count}) (i32.const -${LANES}))`, "i32", "whole");
    f.loop(this.lane, "(i32.const 0)", whole, turn(four), LANES);
    const size = intValue(this.inner.size);
    const tail = f.attempt(() => f.loop(this.lane, whole, `(local.get ${this.count})`, turn(one)));
    if (size === undefined || size % LANES !== 0) f.lines.append(tail);
  }

  private forget(segment: number): void {
    for (const [buffer, w] of this.written) if (w.segment === segment && !w.column) this.written.delete(buffer);
  }

  private vectorScope(scope: PlainScope): Omit<VectorScope, "sort" | "partial"> {
    return {
      ...scope,
      columns: this,
      variable: this.inner.variable,
      aligned: true,
      accumulate: () => {
        throw new NotVectorizable("a reduction outside of a loop");
      },
    };
  }

  private flatSegment(members: readonly Member[]): void {
    const number = this.segmentNumber++;
    const run = (four: boolean): void => {
      this.forget(number);
      const scope = { ...this.scope(number, null), columns: this };
      for (const m of members) {
        this.announce(m);
        if (four)
          runBody(
            m.body,
            new VectorBodyHandler({ ...this.vectorScope(scope), sort: null, partial: null }),
            m.iter,
            m.reduce,
          );
        else runBody(m.body, new WatBodyHandler({ ...scope, sort: null, partial: null }), m.iter, m.reduce);
      }
      for (const store of scope.stores) store();
    };
    this.lanes(
      () => run(true),
      () => run(false),
    );
    // other segments run over all columns anew: only what each column keeps is still there
    for (const [buffer, w] of this.written)
      if (w.segment === number && w.column)
        this.written.set(buffer, { column: w.column, index: w.index, segment: number });
  }

  private loopSegment(members: readonly Member[]): void {
    const { f } = this;
    const number = this.segmentNumber++;
    const reductions: ColumnReduction[] = [];
    this.results = [];
    const r = this.part.space.r;
    const last = r[r.length - 1];
    const ops = members.reduce((n, m) => n + m.body.block.nodes.length, 0);
    const constant = last ? intValue(last.size) : 1;
    const rows = ops <= UNROLL_OPS && (constant ?? 0) >= ROWS ? ROWS : 1;
    const text = f.lines.capture(() => {
      this.loops(r.slice(0, -1), () => {
        if (!last) return this.rowsTurn(members, number, reductions, 1, null);
        const size = f.keep(this.ctx.memory.sizeCode(last.size), "i32", "size");
        const many = `(i32.const ${(constant ?? 0) - ((constant ?? 0) % rows)})`;
        const variable = this.local(last.variable);
        if (rows > 1)
          f.loop(variable, "(i32.const 0)", many, () => this.rowsTurn(members, number, reductions, rows, last), rows);
        if (rows === 1 || (constant ?? 0) % rows !== 0)
          f.loop(variable, rows > 1 ? many : "(i32.const 0)", size, () =>
            this.rowsTurn(members, number, reductions, 1, last),
          );
      });
    });
    if (reductions.length) {
      f.set(this.seen, "(f32.const 0)");
      const start = (four: boolean) => (): void => {
        for (const a of reductions) a.start(four);
      };
      this.lanes(start(true), start(false));
    }
    f.lines.append(text);
    if (!reductions.length) return;
    this.lanes(
      () => {
        for (const a of reductions) a.finish(true);
        this.storeResults(number, true);
      },
      () => {
        for (const a of reductions) a.finish(false);
        this.storeResults(number, false);
      },
    );
  }

  /** one turn over `rows` rows and all columns of the block */
  private rowsTurn(
    members: readonly Member[],
    number: number,
    reductions: ColumnReduction[],
    rows: number,
    last: LoopDim | null,
  ): void {
    const { f } = this;
    const text = f.lines.capture(() =>
      this.lanes(
        () => this.turn(members, number, reductions, rows, last, true),
        () => this.turn(members, number, reductions, rows, last, false),
      ),
    );
    this.reciprocals.slice(0, rows).forEach((name, row) => {
      f.set(name, `(f32.div (f32.const 1) (f32.add (local.get ${this.seen}) (f32.const ${row + 1})))`);
    });
    f.lines.append(text);
    f.set(this.seen, `(f32.add (local.get ${this.seen}) (f32.const ${rows}))`);
  }

  private turn(
    members: readonly Member[],
    number: number,
    reductions: ColumnReduction[],
    rows: number,
    last: LoopDim | null,
    four: boolean,
  ): void {
    const { f } = this;
    const turns = new Map<ColumnReduction, ReturnType<ColumnReduction["vectorTurn"]>>();
    const scalarTurns = new Map<ColumnReduction, ReturnType<ColumnReduction["scalarTurn"]>>();
    for (let row = 0; row < rows; row++) {
      this.forget(number);
      let n = 0;
      const reductionAt = (...args: Parameters<VectorScope["accumulate"]>): ColumnReduction => {
        const at = n++;
        let reduction = reductions[at];
        if (!reduction) {
          reduction = columnReduction(args[0], args[1], args[2], this, f);
          reductions.push(reduction);
          reduction.results.forEach((v, i) => {
            this.refsOf.set(v.code, reduction?.refs[i] as ColumnRef);
          });
        }
        return reduction;
      };
      const scope: PlainScope = {
        ...this.scope(number, this.position(row)),
        columns: this,
        reduce: (type, dtype, srcDtype, values) => {
          const reduction = reductionAt(type, dtype, srcDtype, values);
          const turn = scalarTurns.get(reduction) ?? reduction.scalarTurn();
          scalarTurns.set(reduction, turn);
          return { scalar: turn.accumulator, results: reduction.results };
        },
      };
      const vector: Omit<VectorScope, "sort" | "partial"> = {
        ...this.vectorScope(scope),
        accumulate: (type, dtype, srcDtype, values) => {
          const reduction = reductionAt(type, dtype, srcDtype, values);
          const turn = turns.get(reduction) ?? reduction.vectorTurn();
          turns.set(reduction, turn);
          return { vector: turn.accumulator, results: reduction.results };
        },
      };
      const shift = row && last ? new Map<SymExpr, Expr>([[last.variable, add(last.variable, int(row))]]) : null;
      const moved = (es: readonly Expr[]): Expr[] => es.map(e => (shift ? substitute(e, shift) : e));
      for (const m of members) {
        this.announce(m);
        const handler = four
          ? new VectorBodyHandler({ ...vector, sort: null, partial: null })
          : new WatBodyHandler({ ...scope, sort: null, partial: null });
        runBody(m.body, handler as never, moved(m.iter), moved(m.reduce));
      }
      for (const store of scope.stores) store();
    }
    for (const t of turns.values()) t.end();
    for (const t of scalarTurns.values()) t.end();
  }

  private storeResults(number: number, four: boolean): void {
    const { f } = this;
    for (const { buffer, index, ref } of this.results) {
      const dtype = this.ctx.memory.dtype(buffer);
      const scope = { ...this.scope(number, null), columns: this };
      if (four) {
        const handler = new VectorBodyHandler({ ...this.vectorScope(scope), sort: null, partial: null });
        handler.emitStore(buffer, index, loadColumn(ref, this.address(ref), f), dtype);
      } else {
        const handler = new WatBodyHandler({ ...scope, sort: null, partial: null });
        const type = computeType(ref.dtype);
        const code = f.keep(`(${type}.load ${this.address(ref)})`, type);
        handler.storeOne(buffer, index, { code, type, dtype: ref.dtype }, dtype);
      }
      for (const store of scope.stores) store();
    }
  }
}
