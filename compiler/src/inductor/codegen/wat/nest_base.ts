// What every form of a loop nest shares: loop variables, symbols, comments, giving up on what has no vector form.
import { originOf } from "../../../report/origins";
import { add, type Expr, int, intValue, mul, type SymExpr } from "../../symbolic/expr";
import type { HandlerScope } from "./body_handler";
import type { FunctionBuilder } from "./function_builder";
import { indexCode } from "./index_code";
import type { KernelMemory } from "./kernel_memory";
import { flatIndex, type LoopDim } from "./loop_space";
import type { Member, Part } from "./part";
import type { KernelSizes } from "./sizes";
import { simplifierOf } from "./vector_plan";
import { NotVectorizable } from "./vector_types";

export interface NestContext {
  readonly f: FunctionBuilder;
  readonly memory: KernelMemory;
  readonly sizes: KernelSizes;
  readonly file: string;
  /** the only nest of its launch, whose slices begin at multiples of 64 where its grain is as large */
  readonly alone: boolean;
  /** members whose reductions add up in memory */
  readonly partial?: (operation: string) => HandlerScope["partial"];
}

export type PlainScope = Omit<HandlerScope, "sort" | "partial">;

export abstract class NestBase {
  protected readonly f: FunctionBuilder;
  protected readonly locals = new Map<SymExpr, string>();
  protected readonly written: HandlerScope["written"] = new Map();
  protected segmentNumber = 0;

  constructor(
    protected readonly ctx: NestContext,
    protected readonly part: Part,
  ) {
    this.f = ctx.f;
    for (const d of [...part.space.x, ...part.space.r])
      this.locals.set(d.variable, this.f.local("i32", d.variable.name));
  }

  /** the work items from `begin` to `end`, i32 texts */
  abstract emit(begin: string, end: string): void;

  /** emits what `make` emits, or nothing if it meets something that has no vector form */
  protected attempt(make: () => void): boolean {
    try {
      this.f.lines.append(this.f.attempt(make));
      return true;
    } catch (e) {
      if (e instanceof NotVectorizable) return false;
      throw e;
    }
  }

  protected local(s: SymExpr): string {
    const name = this.locals.get(s);
    if (name === undefined) throw new Error(`no loop variable ${s.name}`);
    return name;
  }

  protected symbol(s: SymExpr): string {
    const local = this.locals.get(s);
    return local === undefined ? this.ctx.sizes.symbol(s) : `(local.get ${local})`;
  }

  /** sets the variables of `dims` from their flat index */
  protected setFromFlat(flat: string, dims: readonly LoopDim[]): void {
    const { f } = this;
    let divisor: Expr = int(1);
    for (const [i, d] of [...dims.entries()].reverse()) {
      const quotient = intValue(divisor) === 1 ? flat : `(i32.div_u ${flat} ${this.ctx.memory.sizeCode(divisor)})`;
      f.set(this.local(d.variable), i === 0 ? quotient : `(i32.rem_u ${quotient} ${this.ctx.memory.sizeCode(d.size)})`);
      divisor = mul(divisor, d.size);
    }
  }

  protected loops(dims: readonly LoopDim[], body: () => void): void {
    const [first, ...rest] = dims;
    if (!first) return body();
    this.f.loop(this.local(first.variable), "(i32.const 0)", this.ctx.memory.sizeCode(first.size), () =>
      this.loops(rest, body),
    );
  }

  protected scope(segment: number, position: string | null): PlainScope {
    return {
      f: this.f,
      memory: this.ctx.memory,
      symbol: s => this.symbol(s),
      ...simplifierOf(this.part, this.ctx.sizes),
      position,
      written: this.written,
      segment,
      columns: null,
      tile: () => null,
      reduce: () => {
        throw new Error("a reduction outside of a loop");
      },
      stores: [],
      after: [],
    };
  }

  /** flat reduction index, with so much added */
  protected position(plus = 0): string {
    const index = add(flatIndex(this.part.space.r), int(plus));
    return indexCode(index, { symbol: s => this.symbol(s), ranges: this.part.ranges, use: h => this.f.use(h) });
  }

  protected announce(m: Member): void {
    const origin = originOf(m.node.operation.origins, this.ctx.file);
    this.f.lines.origin = origin;
    this.f.lines.comment(memberComment(m, origin.at));
  }
}

function memberComment(m: Member, lines: readonly number[]): string {
  const names = m.node.operation.origins.map(o => o.name).join(", ");
  const where = lines.length ? ` (line ${lines.join(", ")})` : "";
  return `${m.node.name}${names ? `: ${names}` : ""}${where}`;
}
