// One launch as a CPU kernel. In: the nodes that a GPU kernel fuses. Out: WatKernel. The fusion is the GPU's: the same
// members run in the same loops; values of buffers that live only inside the kernel stay in locals, in a thread's
// scratch row, or, where a later loop reads them at other places, in storage that the launch borrows.
import { originOf } from "../../../report/origins";
import type { PlanSize, WatKernel } from "../../plan/types";
import type { AnyNode, Schedule, SchedulerNode } from "../../scheduler/types";
import { add, type Expr, int, intValue, mul } from "../../symbolic/expr";
import { blockOf, ColumnNest, columnItems } from "./column_nest";
import { FunctionBuilder, ModuleBuilder } from "./function_builder";
import { KernelMemory, type Placement } from "./kernel_memory";
import { NestEmitter } from "./nest";
import type { NestBase, NestContext } from "./nest_base";
import { analysePart, type Part } from "./part";
import { accumulating, type Partials } from "./partials";
import { KernelSizes } from "./sizes";
import { TILE, TileNest, tileItems } from "./tile_nest";
import { choosePartMode, type PartMode } from "./vector_plan";
import { NotVectorizable } from "./vector_types";

/** elements that make a slice worth a thread's while */
const GRAIN_ELEMENTS = 16384;
/** a slice that is never cut: kernels that add into memory keep to one thread, so that sums do not depend on chance */
const WHOLE = 2 ** 31 - 1;

export interface WatContext {
  /** buffers that live only inside this kernel */
  readonly removedBuffers: ReadonlySet<string>;
  readonly file: string;
  readonly name: string;
  /** column sums that the launch leaves in parts */
  readonly partials?: Partials | null;
  /** test only: how a part's loops run, null for the usual choice */
  readonly prefer?: (part: Part, sizes: KernelSizes) => PartMode | null;
}

export function leavesOf(node: AnyNode): SchedulerNode[] {
  return "operation" in node ? [node] : node.snodes.flatMap(leavesOf);
}

/** Throws UnsupportedOnCpu for what there is no code for. */
export function generateKernel(node: AnyNode, schedule: Schedule, ctx: WatContext): WatKernel {
  const module = new ModuleBuilder();
  const sizes = new KernelSizes(schedule.graph.sizevars);
  const memory = new KernelMemory(schedule, ctx.removedBuffers, sizes, module);
  const env: Env = { memory, sizes, file: ctx.file, prefer: ctx.prefer };
  let count = 0;
  const analyse = (nodes: readonly SchedulerNode[]): Part => analysePart(nodes, schedule, sizes, `p${count++}_`);
  const functions = ctx.partials
    ? [inPartials(node, ctx.partials, analyse, module, env)]
    : inPhases(
        phasesOf(node).map(p => p.map(n => analyse(leavesOf(n)))),
        module,
        env,
      );
  functions.forEach(({ f }, i) => {
    module.define(exportName(i), [...memory.parameters(), "$begin", "$end"], f);
  });
  const origin = originOf(
    leavesOf(node).flatMap(m => m.operation.origins),
    ctx.file,
  );
  const lines = origin.lines.length ? `, lines ${origin.lines.join(", ")}` : "";
  const { text, origins } = module.finish(`${ctx.name}${lines}`);
  const [first, ...later] = functions.map(({ parallelSize, grain }) => ({ parallelSize, grain }));
  return {
    name: ctx.name,
    text,
    buffers: memory.buffers,
    temps: memory.tempBytes,
    symbols: sizes.names,
    parallelSize: first?.parallelSize ?? 0,
    grain: first?.grain ?? 1,
    later,
    scratchBytes: memory.scratchBytes,
    lines: origins,
    zeroed: [],
  };
}

/** the CPU form of a launch that has nothing left to do once its matrix products are there */
export function emptyKernel(name: string): WatKernel {
  const module = new ModuleBuilder();
  module.define(exportName(0), ["$begin", "$end"], new FunctionBuilder(module));
  const { text, origins } = module.finish(name);
  return { name, text, buffers: [], parallelSize: 0, grain: 1, scratchBytes: 0, lines: origins, zeroed: [] };
}

interface Env {
  readonly memory: KernelMemory;
  readonly sizes: KernelSizes;
  readonly file: string;
  readonly prefer: WatContext["prefer"];
}

interface Phase {
  readonly f: FunctionBuilder;
  readonly parallelSize: PlanSize;
  readonly grain: number;
}

/** a part with the way that its loops run */
interface PlannedPart {
  readonly part: Part;
  readonly mode: PartMode;
  /** work items */
  readonly items: Expr;
}

function inPhases(phases: readonly (readonly Part[])[], module: ModuleBuilder, env: Env): Phase[] {
  const { sizes } = env;
  const planned = phases.map(parts => parts.map(p => planPart(p, env)));
  placeRemoved(planned, env.memory);
  return planned.map(parts => {
    const f = new FunctionBuilder(module);
    emitParts(f, parts, env);
    const total = parts.reduce<Expr>((n, p) => sizes.resolve(addSizes(n, p.items)), int(0));
    return { f, parallelSize: sizes.plan(total), grain: grainOf(parts, sizes) };
  });
}

const modeOf = (part: Part, env: Env): PartMode => env.prefer?.(part, env.sizes) ?? choosePartMode(part, env.sizes);

/** work items */
function itemsOf(part: Part, mode: PartMode, sizes: KernelSizes): Expr {
  switch (mode.kind) {
    case "columns":
      return columnItems(part, sizes);
    case "tiles":
      return tileItems(part, mode.across, sizes);
    case "last":
    case "scalar":
      return part.reduces ? part.space.numel : sizes.resolve(mul(part.space.numel, part.space.rnumel));
    default: {
      const never: never = mode;
      return never;
    }
  }
}

function planPart(part: Part, env: Env): PlannedPart {
  const { sizes } = env;
  const wanted = modeOf(part, env);
  const mode: PartMode = wanted.kind === "columns" && !columnsWork(part, env) ? { kind: "scalar" } : wanted;
  return { part, mode, items: itemsOf(part, mode, sizes) };
}

/** whether all of the part has a form for columns side by side: it is emitted for nothing */
function columnsWork(part: Part, env: Env): boolean {
  const sizes = new KernelSizes(env.sizes.sv);
  const module = new ModuleBuilder();
  const trial: Env = { ...env, sizes, memory: env.memory.fresh(sizes, module) };
  const planned: PlannedPart = { part, mode: { kind: "columns" }, items: int(0) };
  placeRemoved([[planned]], trial.memory);
  try {
    emitParts(new FunctionBuilder(module), [planned], trial);
    return true;
  } catch (e) {
    if (e instanceof NotVectorizable) return false;
    throw e;
  }
}

/** rows reduced as ever; their column sums go to the row of the workspace that belongs to their share of the rows */
function inPartials(
  node: AnyNode,
  partials: Partials,
  analyse: (nodes: readonly SchedulerNode[]) => Part,
  module: ModuleBuilder,
  env: Env,
): Phase {
  const { memory, sizes } = env;
  const part = analyse(leavesOf(node).map(m => (partials.slots.has(m.name) ? accumulating(m) : m)));
  placeRemoved([[{ part, mode: { kind: "last" }, items: int(0) }]], memory);
  const f = new FunctionBuilder(module);
  const splits = sizes.given(partials.splits);
  const columns = memory.sizeCode(part.space.rnumel);
  const rows = memory.sizeCode(part.space.numel);
  const share = f.keep(`(i32.div_u (i32.sub (i32.add ${rows} ${splits}) (i32.const 1)) ${splits})`, "i32", "share");
  const split = f.local("i32", "split");
  const workspace = memory.address(partials.workspace);
  f.loop(split, "(local.get $begin)", "(local.get $end)", () => {
    const addresses = new Map<number, string>();
    for (const { slot, product } of partials.slots.values()) {
      const row = `(i32.add (i32.mul (i32.const ${slot}) ${splits}) (local.get ${split}))`;
      const at = f.keep(`(i32.add ${workspace} (i32.shl (i32.mul ${row} ${columns}) (i32.const 2)))`, "i32", "sums");
      addresses.set(slot, at);
      const column = f.local("i32", "column");
      f.loop(column, "(i32.const 0)", columns, () =>
        f.lines.add(
          `(f32.store (i32.add ${at} (i32.shl (local.get ${column}) (i32.const 2))) (f32.const ${product ? 1 : 0}))`,
        ),
      );
    }
    const first = f.keep(`(i32.mul (local.get ${split}) ${share})`, "i32", "first");
    const last = f.keep(`(i32.add ${first} ${share})`, "i32", "last");
    const partial = (operation: string): { row: string; product: boolean } | null => {
      const s = partials.slots.get(operation);
      return s ? { row: addresses.get(s.slot) ?? workspace, product: s.product } : null;
    };
    const emitter = new NestEmitter({ ...env, f, partial, alone: false }, part, modeOf(part, env));
    emitter.emit(first, f.keep(`(select ${last} ${rows} (i32.lt_u ${last} ${rows}))`, "i32", "last"));
  });
  return { f, parallelSize: partials.splits, grain: 1 };
}

/** name of the function of phase i */
const exportName = (i: number): string => (i === 0 ? "run" : `run_${i}`);

const addSizes = (a: Expr, b: Expr): Expr => (intValue(a) === 0 ? b : add(a, b));

/**
 * What runs after what: parts of one phase are independent of each other and run side by side, a phase begins when the
 * one before has ended.
 */
function phasesOf(node: AnyNode): AnyNode[][] {
  if ("operation" in node) return [[node]];
  switch (node.type) {
    case "FusedSchedulerNode":
      return [[node]];
    case "ForeachKernelSchedulerNode":
      return [[...node.snodes]];
    case "FusedMixOrderReductions":
      return [node.halves ? [...node.halves] : [...node.snodes]];
    case "FusedNestedReductions":
    case "FusedTransposeReduction":
      return (node.halves ?? node.snodes).map(h => [h]);
    case "GroupedSchedulerNode":
      return node.snodes.flatMap(phasesOf);
    default: {
      const never: never = node;
      return never;
    }
  }
}

/** loop nests one after the other, each doing its share of [begin, end) */
function emitParts(f: FunctionBuilder, parts: readonly PlannedPart[], env: Env): void {
  let before: Expr = int(0);
  for (const { part, mode, items } of parts) {
    const ctx = { ...env, f, alone: parts.length === 1 };
    const emitter = emitterOf(ctx, part, mode);
    if (parts.length === 1) {
      emitter.emit("(local.get $begin)", "(local.get $end)");
      return;
    }
    const from = env.memory.sizeCode(before);
    const size = env.memory.sizeCode(items);
    before = addSizes(before, items);
    // begin - from and end - from, within [0, size]
    const clip = (slice: string): string => {
      const less = `(i32.sub ${slice} ${from})`;
      const low = `(select ${less} (i32.const 0) (i32.gt_u ${slice} ${from}))`;
      const kept = f.keep(low, "i32", "clip");
      return f.keep(`(select ${kept} ${size} (i32.lt_u ${kept} ${size}))`, "i32", "clip");
    };
    const begin = clip("(local.get $begin)");
    const end = clip("(local.get $end)");
    f.branch(`(i32.lt_u ${begin} ${end})`, () => emitter.emit(begin, end));
  }
}

function emitterOf(ctx: NestContext, part: Part, mode: PartMode): NestBase {
  switch (mode.kind) {
    case "columns":
      return new ColumnNest(ctx, part);
    case "tiles":
      return new TileNest(ctx, part, mode.across);
    case "last":
    case "scalar":
      return new NestEmitter(ctx, part, mode);
    default: {
      const never: never = mode;
      return never;
    }
  }
}

function grainOf(parts: readonly PlannedPart[], sizes: KernelSizes): number {
  if (parts.some(p => p.part.atomic)) return WHOLE;
  const work = (p: PlannedPart): number =>
    (p.mode.kind === "columns" ? blockOf(p.part, sizes) : p.mode.kind === "tiles" ? TILE * TILE : 1) *
    (p.part.reduces ? sizes.hint(p.part.space.rnumel) : 1);
  return Math.max(1, Math.ceil(GRAIN_ELEMENTS / Math.max(1, ...parts.map(work))));
}

/** decides where removed buffers live */
function placeRemoved(phases: readonly (readonly PlannedPart[])[], memory: KernelMemory): void {
  const all = phases.flat();
  for (const { part, mode } of all) {
    part.segments.forEach((segment, number) => {
      for (const written of segment.members.flatMap(m => m.accesses)) {
        if (written.kind === "load" || !memory.isRemoved(written.buffer)) continue;
        const rowLevel = written.kind === "store_reduction" || !segment.loop;
        let placement: Placement = "register";
        for (const { part: other } of all) {
          other.segments.forEach((s, n) => {
            for (const load of s.members.flatMap(m => m.accesses)) {
              if (load.kind !== "load" || load.buffer !== written.buffer) continue;
              if (other !== part || load.index !== written.index || n < number) placement = "temp";
              else if (!rowLevel && n !== number && placement === "register")
                placement = mode.kind === "columns" ? "temp" : "scratch";
            }
          });
        }
        memory.place(written.buffer, placement, part.space.rnumel);
      }
    });
  }
}
