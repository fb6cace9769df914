// One launch as a CPU kernel. In: the nodes that a GPU kernel fuses. Out: WatKernel. The fusion is the GPU's: the same
// members run in the same loops, values of buffers that live only inside the kernel stay in locals or thread scratch.
import type { DType } from "../../../aten/types";
import { originOf } from "../../../report/origins";
import { runBody } from "../../ir/run_body";
import type { WatKernel } from "../../plan/types";
import type { AnyNode, Schedule, SchedulerNode } from "../../scheduler/types";
import { type Expr, int, product, type SymExpr } from "../../symbolic/expr";
import { nodeSchedule } from "../triton/node_schedule";
import type { Accumulator } from "./accumulators";
import { type HandlerScope, type KernelMemory, WatBodyHandler } from "./body_handler";
import { FunctionBuilder } from "./function_builder";
import { indexCode } from "./index_code";
import { flatIndex, type LoopDim, type LoopSpace, loopSpace, memberVariables } from "./loop_space";
import { computeType, itemSize, UnsupportedOnCpu } from "./wat_types";

/** elements that make a slice worth a thread's while */
const GRAIN_ELEMENTS = 16384;

export interface WatContext {
  /** buffers that live only inside this kernel */
  readonly removedBuffers: ReadonlySet<string>;
  readonly file: string;
  readonly name: string;
}

export function leavesOf(node: AnyNode): SchedulerNode[] {
  return "operation" in node ? [node] : node.snodes.flatMap(leavesOf);
}

export function generateKernel(node: AnyNode, schedule: Schedule, ctx: WatContext): WatKernel {
  return new KernelEmitter(schedule, ctx).emit(node);
}

interface Segment {
  readonly loop: boolean;
  readonly nodes: readonly SchedulerNode[];
}

class KernelEmitter {
  private readonly f = new FunctionBuilder();
  private readonly buffers: string[] = [];
  private readonly scratchOffsets = new Map<string, number>();
  private scratchBytes = 0;
  private atomic = false;
  private readonly cache: HandlerScope["cache"] = new Map();

  constructor(
    private readonly schedule: Schedule,
    private readonly ctx: WatContext,
  ) {}

  emit(node: AnyNode): WatKernel {
    const parts =
      "operation" in node || node.type === "FusedSchedulerNode" || node.type === "FusedNestedReductions"
        ? [node]
        : node.snodes;
    const several = parts.length > 1;
    let parallelSize = 1;
    let grain = 1;
    for (const part of parts) {
      this.cache.clear();
      const { size, perItem } = this.part(part, several);
      if (!several) {
        parallelSize = size;
        grain = this.atomic ? Math.max(1, size) : Math.max(1, Math.ceil(GRAIN_ELEMENTS / Math.max(1, perItem)));
      }
    }
    const parameters = [
      ...this.buffers.map((_, i) => `$b${i}`),
      ...(this.scratchBytes ? ["$scratch"] : []),
      "$begin",
      "$end",
    ];
    const origin = originOf(
      leavesOf(node).flatMap(m => m.operation.origins),
      this.ctx.file,
    );
    const { text, origins } = this.f.module(`${this.ctx.name}, lines ${origin.lines.join(", ")}`, parameters);
    return {
      name: this.ctx.name,
      text,
      buffers: this.buffers,
      parallelSize,
      grain,
      scratchBytes: this.scratchBytes,
      lines: origins,
      zeroed: [],
    };
  }

  /** one loop nest; alone it does the slice [begin, end), among several all of its work */
  private part(part: AnyNode, whole: boolean): { readonly size: number; readonly perItem: number } {
    const sv = this.schedule.graph.sizevars;
    const members = leavesOf(part).filter(m => m.body !== null && !this.schedule.removedOps.has(m.name));
    const lead = members.find(m => m.group[1].kind !== "int" || m.group[1].value !== 1) ?? members[0];
    if (!lead) throw new UnsupportedOnCpu("a kernel without loops");
    const entries = nodeSchedule(members, lead.group[0], lead.group[1], sv);
    if (!entries) throw new UnsupportedOnCpu("members that share no loop");
    const hint = (e: Expr): number => sv.sizeHint(e);
    const numel = hint(lead.group[0]);
    const rnumel = hint(lead.group[1]);
    const outside = (m: SchedulerNode): boolean => hint(product([...m.group])) === numel && rnumel !== 1;
    const space = loopSpace(
      numel,
      rnumel,
      members.map(m => ({ sizes: [...m.sizes[0], ...m.sizes[1]].map(hint), outside: outside(m) })),
    );
    const segments = segmentsOf(entries, rnumel !== 1);
    this.planScratch(segments, rnumel);
    const { f } = this;

    // A pointwise kernel's innermost dim is a loop of its own, so that indices are not taken apart per element.
    const inner = rnumel === 1 && space.x.length > 1 ? space.x.slice(-1) : [];
    const outer = space.x.slice(0, space.x.length - inner.length);
    const size = outer.reduce((n, d) => n * d.size, 1);
    const locals = new Map<SymExpr, string>();
    for (const d of [...space.x, ...space.r]) locals.set(d.variable, f.local("i32", d.variable.name));
    const flat = f.local("i32", "flat");
    f.loop(
      flat,
      whole ? "(i32.const 0)" : "(local.get $begin)",
      whole ? `(i32.const ${size})` : "(local.get $end)",
      () => {
        this.setFromFlat(flat, outer, locals);
        this.nest(inner, locals, () => {
          for (const [i, segment] of segments.entries()) this.segment(segment, i, space, locals, outside, rnumel);
        });
      },
    );
    return { size, perItem: inner.reduce((n, d) => n * d.size, 1) * Math.max(1, rnumel) };
  }

  private setFromFlat(flat: string, dims: readonly LoopDim[], locals: ReadonlyMap<SymExpr, string>): void {
    let divisor = 1;
    for (const [i, d] of [...dims.entries()].reverse()) {
      const quotient = divisor === 1 ? `(local.get ${flat})` : `(i32.div_u (local.get ${flat}) (i32.const ${divisor}))`;
      this.f.lines.add(
        `(local.set ${locals.get(d.variable)} ${i === 0 ? quotient : `(i32.rem_u ${quotient} (i32.const ${d.size}))`})`,
      );
      divisor *= d.size;
    }
  }

  private nest(dims: readonly LoopDim[], locals: ReadonlyMap<SymExpr, string>, body: () => void): void {
    const [first, ...rest] = dims;
    if (!first) return body();
    this.f.loop(locals.get(first.variable) ?? "", "(i32.const 0)", `(i32.const ${first.size})`, () =>
      this.nest(rest, locals, body),
    );
  }

  private segment(
    segment: Segment,
    number: number,
    space: LoopSpace,
    locals: ReadonlyMap<SymExpr, string>,
    outside: (m: SchedulerNode) => boolean,
    rnumel: number,
  ): void {
    const { f } = this;
    const accumulators: Accumulator[] = [];
    const after: (() => void)[] = [];
    const sv = this.schedule.graph.sizevars;
    const ranges = new Map<SymExpr, Expr>([...space.x, ...space.r].map(d => [d.variable, int(d.size)]));
    const symbol = (s: SymExpr): string => {
      const local = locals.get(s);
      return local === undefined ? `(i32.const ${sv.sizeHint(s)})` : `(local.get ${local})`;
    };
    const position = segment.loop ? indexCode(flatIndex(space.r), { symbol, ranges, use: h => f.use(h) }) : null;
    const memory = this.memory(position);
    const scope: HandlerScope = {
      f,
      memory,
      symbol,
      ranges,
      position,
      cache: this.cache,
      loop: segment.loop ? number : -1,
      accumulators,
      after,
      line: () => f.lines.length,
    };
    const run = (): void => {
      for (const m of segment.nodes) {
        f.lines.origin = originOf(m.operation.origins, this.ctx.file);
        f.lines.comment(
          `${m.name}: ${m.operation.origins.map(o => o.name).join(", ")} (line ${f.lines.origin.at.join(", ")})`,
        );
        this.member(m, space, outside(m), new WatBodyHandler(scope));
      }
    };
    if (!segment.loop) {
      run();
      for (const a of accumulators) a.start();
      for (const g of after) g();
      return;
    }
    // the loop's text comes first to be known, the accumulators' start stands before it
    const loop = f.lines.capture(() => this.nest(space.r, locals, run));
    for (const a of accumulators) a.start();
    f.lines.append(loop);
    for (const g of after) g();
    void rnumel;
  }

  private member(m: SchedulerNode, space: LoopSpace, isOutside: boolean, handler: WatBodyHandler): void {
    const { body } = m;
    if (!body) return;
    const hint = (e: Expr): number => this.schedule.graph.sizevars.sizeHint(e);
    const iter = body.iterSizes.map(hint);
    const reduce = body.reduceSizes.map(hint);
    const dims = isOutside ? space.x : [...space.x, ...space.r];
    const all = memberVariables([...iter, ...reduce], dims);
    if (
      m.operation.kind === "computed" &&
      m.operation.loops.kind === "Scatter" &&
      m.operation.loops.mode === "atomic_add"
    )
      this.atomic = true;
    runBody(body, handler, all.slice(0, iter.length), all.slice(iter.length));
  }

  private memory(position: string | null): KernelMemory {
    const dtypeOf = (buffer: string): DType => this.dtypeOf(buffer);
    return {
      dtype: dtypeOf,
      address: buffer => `(local.get $b${this.bufferNumber(buffer)})`,
      isLocal: buffer => this.ctx.removedBuffers.has(buffer),
      scratch: buffer => {
        const offset = this.scratchOffsets.get(buffer) ?? 0;
        const width = computeType(dtypeOf(buffer)).endsWith("64") ? 8 : 4;
        return `(i32.add (i32.add (local.get $scratch) (i32.const ${offset})) (i32.mul ${position ?? "(i32.const 0)"} (i32.const ${width})))`;
      },
    };
  }

  /** rows of scratch for local buffers that are written in a reduction loop */
  private planScratch(segments: readonly Segment[], rnumel: number): void {
    for (const s of segments) {
      if (!s.loop) continue;
      for (const m of s.nodes) {
        if (m.body?.reduceSizes.length) continue;
        for (const b of m.outputs) {
          if (!this.ctx.removedBuffers.has(b.name) || this.scratchOffsets.has(b.name)) continue;
          this.scratchOffsets.set(b.name, this.scratchBytes);
          this.scratchBytes += Math.ceil((rnumel * Math.max(4, itemSize(this.dtypeOf(b.name)))) / 64) * 64;
        }
      }
    }
  }

  private bufferNumber(buffer: string): number {
    const real = this.schedule.mutationRealName.get(buffer) ?? buffer;
    const at = this.buffers.indexOf(real);
    if (at >= 0) return at;
    this.buffers.push(real);
    return this.buffers.length - 1;
  }

  private dtypeOf(buffer: string): DType {
    const { graph } = this.schedule;
    const layout = graph.buffers.get(buffer)?.layout ?? graph.inputs.find(i => i.name === buffer)?.layout;
    if (layout && "dtype" in layout) return layout.dtype;
    const constant = graph.constants.get(buffer);
    if (constant) return constant.dtype;
    throw new UnsupportedOnCpu(`no dtype is known of ${buffer}`);
  }
}

function segmentsOf(entries: readonly (SchedulerNode | "disable" | "enable")[], reduces: boolean): Segment[] {
  const out: { loop: boolean; nodes: SchedulerNode[] }[] = [{ loop: reduces, nodes: [] }];
  for (const e of entries) {
    if (e === "disable") out.push({ loop: false, nodes: [] });
    else if (e === "enable") out.push({ loop: true, nodes: [] });
    else out[out.length - 1]?.nodes.push(e);
  }
  return out.filter(s => s.nodes.length);
}
