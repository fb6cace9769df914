// Generated kernels by the shape of what they are generated from. In: members of one kernel. Out: its source and what it
// does to the graph, buffers and operations named by number. Promises: two kernels that differ in nothing but names get one
// form, generated once per intern table; a kernel over symbolic sizes, which may add guards, is generated anew each time.
import { type EmittedKernel, emitKernel, type KernelContext } from "../codegen/triton/generate";
import type { GraphView } from "../codegen/triton/graph_view";
import { type KernelParam, type KernelSource, kernelSource } from "../codegen/triton/kernel_text";
import { memoryStats } from "../codegen/triton/memory_stats";
import { bodyShape, idsOf } from "../ir/body_shape";
import type { Dep, SchedulerNode } from "../scheduler/types";
import { type Expr, isSizeFree } from "../symbolic/expr";
import { internTable } from "../symbolic/intern";
import type { InplaceDecision } from "./inplace";
import type { PlanScheduleEntry } from "./types";

/** what launching a kernel needs to know of it */
export interface LaunchForm {
  /** equal for equal kernels, whatever their names */
  readonly key: string;
  readonly params: readonly KernelParam[];
  readonly source: () => KernelSource;
  /** bytes that it reads once more for every further loop over its rows */
  readonly again: number;
  readonly schedule: readonly PlanScheduleEntry[];
  readonly inplaceUpdates: ReadonlyMap<string, string>;
  readonly workspaces: EmittedKernel["kernel"]["args"]["workspaces"];
  readonly removed: Iterable<string>;
  readonly inplacedToRemove: Iterable<string>;
}

/** Forms are dropped all at once when there are this many: an editor's session goes on for days. */
const MOST_FORMS = 1000;

/** Stands for the settings of a compile, whose text is much longer than what else a key holds. */
function settingsNumber(settings: string): number {
  const known = internTable().memo<string, number>("launch_settings");
  const number = known.get(settings) ?? known.size;
  known.set(settings, number);
  return number;
}

export class LaunchForms {
  private readonly known = internTable().memo<string, LaunchForm>("launch_forms");
  private readonly prefix: string;

  constructor(
    private readonly context: KernelContext,
    private readonly kind: "inference" | "forward" | "backward",
    private readonly decide: (node: SchedulerNode) => readonly InplaceDecision[],
    /** tiling is the caller's own: nothing is known of what it depends on */
    private readonly remember: boolean,
  ) {
    // the numbers of products are no part of it: a kernel with a template has a form of its own each time
    const { config, behaviours, target } = context.options;
    this.prefix = String(settingsNumber(JSON.stringify([kind, [...config], [...behaviours], target])));
  }

  formOf(members: readonly SchedulerNode[]): LaunchForm {
    const decisions = members.map(m => this.decide(m));
    const names = this.remember ? new ShapeNames(this.context.graph, members, decisions).write(this.prefix) : null;
    if (names === null) return this.generate(members, decisions);
    const found = this.known.get(names.key);
    if (found) return renamed(found, n => names.name(n));
    const made = this.generate(members, decisions);
    if (made.workspaces.length > 0) return made;
    if (this.known.size >= MOST_FORMS) this.known.clear();
    this.known.set(names.key, kept(renamed(made, n => names.number(n))));
    return made;
  }

  private generate(members: readonly SchedulerNode[], decisions: readonly (readonly InplaceDecision[])[]): LaunchForm {
    const byNode = new Map(members.map((m, i) => [m, decisions[i] ?? []] as const));
    const e = emitKernel(
      {
        ...this.context,
        decideInplace: (kernel, node) => {
          for (const { input, output } of byNode.get(node) ?? []) kernel.takeOver(input, output);
        },
      },
      members,
    );
    const source = kernelSource(e, this.context.options, this.kind);
    return {
      key: sourceKey(source),
      params: source.params,
      source: () => source,
      again: movedAgain(e),
      schedule: e.schedule.map(x =>
        x === "disable" ? "disable_reduction" : x === "enable" ? "enable_reduction" : { type: x.type, name: x.name },
      ),
      inplaceUpdates: e.kernel.inplaceUpdates,
      workspaces: e.kernel.args.workspaces,
      removed: e.kernel.removed,
      inplacedToRemove: e.kernel.inplacedToRemove,
    };
  }
}

function movedAgain(e: EmittedKernel): number {
  const { kernel, features, schedule } = e;
  if (!kernel.isLooped) return 0;
  const stats = memoryStats(kernel.graph, schedule, features.numel, features.rnumel);
  return stats === null ? 0 : Math.max(0, stats.loopedBytes - stats.persistentBytes);
}

/** everything that makes two kernels the same but their names */
export function sourceKey(s: KernelSource): string {
  return JSON.stringify([s.preamble.map(l => l.text), s.lines.map(l => l.text), s.meta, s.heuristic]);
}

function renamed(f: LaunchForm, name: (n: string) => string): LaunchForm {
  const line = (l: KernelSource["lines"][number]): KernelSource["lines"][number] =>
    l.op === "" ? l : { text: l.text, op: name(l.op) };
  const params = f.params.map(p =>
    p.def.kind === "tensor" ? { ...p, def: { ...p.def, buffer: name(p.def.buffer) } } : p,
  );
  const source = (): KernelSource => {
    const s = f.source();
    return { ...s, lines: s.lines.map(line), preamble: s.preamble.map(line), params };
  };
  return {
    ...f,
    params,
    source,
    schedule: f.schedule.map(x => (typeof x === "string" ? x : { type: x.type, name: name(x.name) })),
    inplaceUpdates: new Map([...f.inplaceUpdates].map(([k, v]) => [name(k), name(v)] as const)),
    removed: [...f.removed].map(name),
    inplacedToRemove: [...f.inplacedToRemove].map(name),
  };
}

/** with its source at hand, and nothing of the graph it was made for */
function kept(f: LaunchForm): LaunchForm {
  const source = f.source();
  return { ...f, source: () => source };
}

/** Writes all that a kernel's text depends on, with operations and buffers by number in order of first mention. */
class ShapeNames {
  private readonly numbers = new Map<string, number>();
  private readonly list: string[] = [];
  private readonly ops = new Set<string>();
  private out = "";

  constructor(
    private readonly graph: GraphView,
    private readonly members: readonly SchedulerNode[],
    private readonly decisions: readonly (readonly InplaceDecision[])[],
  ) {}

  get key(): string {
    return this.out;
  }

  number(name: string): string {
    let n = this.numbers.get(name);
    if (n === undefined) {
      n = this.list.push(name) - 1;
      this.numbers.set(name, n);
    }
    return `#${n}`;
  }

  name(number: string): string {
    const name = this.list[Number(number.slice(1))];
    if (name === undefined) throw new Error(`kernel form names ${number}, which is not there`);
    return name;
  }

  /** null: a symbolic size occurs */
  write(prefix: string): this | null {
    this.out = prefix;
    // operations first, so that what follows can speak of members by number
    for (const m of this.members) {
      this.number(m.name);
      this.ops.add(m.name);
    }
    for (const [i, m] of this.members.entries()) if (!this.member(m, this.decisions[i] ?? [])) return null;
    // facts of a buffer may name further buffers
    for (let i = this.members.length; i < this.list.length; i++) if (!this.buffer(this.list[i] as string)) return null;
    return this;
  }

  private member(m: SchedulerNode, decisions: readonly InplaceDecision[]): boolean {
    const op = m.operation;
    if (op.kind !== "computed" || !m.body) return false;
    const shape = bodyShape(m.body);
    if (![...shape.exprs, ...m.sizes[0], ...m.sizes[1], ...m.group].every(isSizeFree)) return false;
    const { loops } = op;
    this.out += `\n${m.type},${m.device.type},${loops.kind}`;
    if ("type" in loops) this.out += `,${loops.type},${loops.hint},${loops.srcDtype},${loops.outputIndex ?? ""}`;
    else if (loops.kind === "Scatter") this.out += `,${loops.mode}`;
    else if (loops.kind === "Sort") this.out += `,${loops.stable},${loops.descending}`;
    this.out += `|${idsOf(m.sizes[0])};${idsOf(m.sizes[1])};${idsOf(m.group)}|${shape.key}|`;
    this.out += shape.buffers.map(b => this.number(b)).join();
    for (const o of m.outputs)
      this.out += `|${this.number(o.name)}:${o.aliases.map(a => this.number(a)).join()}:${o.mutations.map(x => this.number(x)).join()}`;
    for (const deps of [m.readWrites.reads, m.readWrites.writes]) {
      this.out += "|";
      for (const d of deps) if (!this.dep(d)) return false;
    }
    this.out += "|";
    for (const other of this.members) if (m.ancestors.has(other.name)) this.out += this.number(other.name);
    for (const d of decisions) this.out += `|${this.number(d.input)}>${this.number(d.output)}`;
    return true;
  }

  private dep(d: Dep): boolean {
    this.out += `${this.number(d.name)},`;
    if (d.kind === "star") this.out += `*${d.mode ?? ""};`;
    else if (d.kind === "weak") this.out += `w${this.number(d.mutatingBuffer)}${d.isFake};`;
    else {
      if (!isSizeFree(d.index) || !d.sizes.every(isSizeFree)) return false;
      this.out += `${d.index.id}:${idsOf(d.vars)}:${idsOf(d.sizes)}${d.mode ?? ""};`;
    }
    return true;
  }

  private buffer(name: string): boolean {
    const { graph } = this;
    const { schedule } = graph;
    const real = graph.realName(name);
    this.out += `\n${this.number(real)}`;
    const flags = [
      graph.isInput(name),
      graph.isUnspecified(name),
      graph.outputNames.has(name),
      name.startsWith("seed"),
      graph.removedBuffers.has(name),
      graph.inplacedToRemove.has(name),
      schedule.mutationRenames.has(name),
      schedule.mutationRealName.has(name),
    ];
    for (const f of flags) this.out += f ? "1" : "0";
    const constant = schedule.graph.constants.get(name);
    if (constant) this.out += `c${constant.dtype}${constant.size.join()}`;
    const l = graph.layout(name);
    if (l) {
      this.out += `|${l.kind},${l.device.type},${l.device.index}`;
      if ("size" in l) {
        const exprs: Expr[] = [...l.size, ...l.stride, l.offset];
        if (l.kind === "non_owning") exprs.push(l.baseOffset);
        if (!exprs.every(isSizeFree)) return false;
        this.out += `,${l.dtype},${l.size.length},${idsOf(exprs)}`;
      }
    }
    const b = graph.schedulerBuffer(name);
    if (!b) return true;
    this.out += `|${this.ops.has(b.definingOp.name) ? this.number(b.definingOp.name) : ""}|`;
    let outside = false;
    for (const u of b.users) {
      if (u.isWeak) continue;
      if (u.node !== null && this.ops.has(u.node.name)) this.out += this.number(u.node.name);
      else outside = true;
    }
    if (outside) this.out += "x";
    return true;
  }
}
