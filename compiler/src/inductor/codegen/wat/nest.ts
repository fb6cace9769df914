// Emits one loop nest, element by element. In: an analysed part. Out: loops in a function. A part without reductions
// runs over a slice of its elements, one with reductions over a slice of its rows (the iteration space), each row being
// a sequence of reduction loops and of what stands between them.
import { originOf } from "../../../report/origins";
import { runBody } from "../../ir/run_body";
import { type Expr, int, mul, type SymExpr } from "../../symbolic/expr";
import type { Accumulator } from "./accumulators";
import { type HandlerScope, WatBodyHandler } from "./body_handler";
import type { FunctionBuilder } from "./function_builder";
import { indexCode } from "./index_code";
import type { KernelMemory } from "./kernel_memory";
import { flatIndex, type LoopDim } from "./loop_space";
import type { Member, Part, Segment } from "./part";
import type { KernelSizes } from "./sizes";
import { SortScratch, sortBytes } from "./sort_code";

export interface NestContext {
  readonly f: FunctionBuilder;
  readonly memory: KernelMemory;
  readonly sizes: KernelSizes;
  readonly file: string;
  /** members whose reductions add up in memory */
  readonly partial?: (operation: string) => HandlerScope["partial"];
}

type SortPass = HandlerScope["sort"];

export class NestEmitter {
  private readonly f: FunctionBuilder;
  private readonly locals = new Map<SymExpr, string>();
  private readonly written: HandlerScope["written"] = new Map();
  private segmentNumber = 0;

  constructor(
    private readonly ctx: NestContext,
    private readonly part: Part,
  ) {
    this.f = ctx.f;
    for (const d of [...part.space.x, ...part.space.r])
      this.locals.set(d.variable, this.f.local("i32", d.variable.name));
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
    const variable = this.local(inner.variable);
    if (x.length === 1) {
      f.loop(variable, begin, end, () => this.body());
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
          f.loop(variable, first, `(local.get ${stop})`, () => this.body());
          f.set(at, `(i32.add (local.get ${at}) (i32.sub (local.get ${stop}) ${first}))`);
        });
        f.lines.add(`(br $next_${label})`);
      });
    });
  }

  private local(s: SymExpr): string {
    const name = this.locals.get(s);
    if (name === undefined) throw new Error(`no loop variable ${s.name}`);
    return name;
  }

  private setFromFlat(flat: string, dims: readonly LoopDim[]): void {
    const { f } = this;
    let divisor: Expr = int(1);
    for (const [i, d] of [...dims.entries()].reverse()) {
      const quotient =
        divisor.kind === "int" && divisor.value === 1
          ? flat
          : `(i32.div_u ${flat} ${this.ctx.memory.sizeCode(divisor)})`;
      f.set(this.local(d.variable), i === 0 ? quotient : `(i32.rem_u ${quotient} ${this.ctx.memory.sizeCode(d.size)})`);
      divisor = mul(divisor, d.size);
    }
  }

  private loops(dims: readonly LoopDim[], body: () => void): void {
    const [first, ...rest] = dims;
    if (!first) return body();
    this.f.loop(this.local(first.variable), "(i32.const 0)", this.ctx.memory.sizeCode(first.size), () =>
      this.loops(rest, body),
    );
  }

  private body(): void {
    for (const segment of this.part.segments) {
      const pieces = segment.loop ? splitAtSorts(segment) : [{ members: segment.members, sort: null }];
      let use: SortPass = null;
      for (const piece of pieces) {
        const collect = piece.sort ? this.sortArea(piece.sort) : null;
        this.segment(segment.loop, piece.members, use, collect);
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
    loop: boolean,
    members: readonly Member[],
    use: SortPass,
    collect: (SortPass & { readonly values: number }) | null,
  ): void {
    const { f } = this;
    const { sv } = this.ctx.sizes;
    const { ranges, space } = this.part;
    const symbol = (s: SymExpr): string => {
      const local = this.locals.get(s);
      return local === undefined ? this.ctx.sizes.symbol(s) : `(local.get ${local})`;
    };
    const scope: Omit<HandlerScope, "sort" | "partial"> = {
      f,
      memory: this.ctx.memory,
      symbol,
      ranges,
      simplify: e => sv.simplifyWithRanges(sv.removePrecomputed(e), ranges),
      position: loop ? indexCode(flatIndex(space.r), { symbol, ranges, use: h => f.use(h) }) : null,
      written: this.written,
      segment: this.segmentNumber++,
      accumulators: [],
      stores: [],
      after: [],
    };
    const run = (): void => {
      members.forEach((m, i) => {
        const sort = i === members.length - 1 && collect ? collect : i === 0 ? use : null;
        this.member(m, { ...scope, sort, partial: this.ctx.partial?.(m.node.name) ?? null });
      });
      for (const store of scope.stores) store();
    };
    if (loop) {
      // which accumulators there are is known after the loop's text, their start stands before it
      const text = f.lines.capture(() => this.loops(space.r, run));
      for (const a of scope.accumulators) (a as Accumulator).start();
      f.lines.append(text);
    } else run();
    for (const g of scope.after) g();
    collect?.scratch.order(collect.values, f);
  }

  private member(m: Member, scope: HandlerScope): void {
    const { f } = this;
    const origin = originOf(m.node.operation.origins, this.ctx.file);
    f.lines.origin = origin;
    f.lines.comment(memberComment(m, origin.at));
    runBody(m.body, new WatBodyHandler(scope), m.iter, m.reduce);
  }
}

export function memberComment(m: Member, lines: readonly number[]): string {
  const names = m.node.operation.origins.map(o => o.name).join(", ");
  const where = lines.length ? ` (line ${lines.join(", ")})` : "";
  return `${m.node.name}${names ? `: ${names}` : ""}${where}`;
}

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
