// Where a kernel's buffers are. In: the schedule's buffers by name. Out: address texts, dtypes, and the lists that the
// runner needs: buffers by position, storage that the kernel wants beside them, scratch bytes per thread.
import type { DType } from "../../../aten/types";
import type { PlanSize } from "../../plan/types";
import type { Schedule } from "../../scheduler/types";
import { add, type Expr, int, mul, sub } from "../../symbolic/expr";
import type { ModuleBuilder } from "./function_builder";
import { indexCode } from "./index_code";
import type { KernelSizes } from "./sizes";
import { computeType, itemSize, UnsupportedOnCpu } from "./wat_types";

const ALIGN = 64;

/** what becomes of a buffer that the fusion removed */
export type Placement = "register" | "scratch" | "temp";

export class KernelMemory {
  readonly buffers: string[] = [];
  private readonly temps: { readonly buffer: string; readonly bytes: PlanSize }[] = [];
  private readonly placements = new Map<string, Placement>();
  private readonly scratchOffsets = new Map<string, Expr>();
  private scratchTop: Expr = int(0);

  constructor(
    private readonly schedule: Schedule,
    private readonly removed: ReadonlySet<string>,
    private readonly sizes: KernelSizes,
    private readonly module: ModuleBuilder,
  ) {}

  /** the same kernel's memory with nothing placed yet */
  fresh(sizes: KernelSizes, module: ModuleBuilder): KernelMemory {
    return new KernelMemory(this.schedule, this.removed, sizes, module);
  }

  isRemoved(buffer: string): boolean {
    return this.removed.has(buffer);
  }

  place(buffer: string, placement: Placement, rowLength: Expr): void {
    this.placements.set(buffer, placement);
    if (placement === "scratch")
      this.scratchOffsets.set(buffer, this.reserve(mul(rowLength, this.elementBytes(buffer))));
  }

  /** offset of so many bytes of scratch */
  reserve(bytes: Expr): Expr {
    const at = this.scratchTop;
    const rounded = bytes.kind === "int" ? int(Math.ceil(bytes.value / ALIGN) * ALIGN) : add(bytes, ALIGN);
    this.scratchTop = add(at, rounded);
    return at;
  }

  get scratchBytes(): PlanSize {
    return this.sizes.plan(this.scratchTop);
  }
  get tempBytes(): PlanSize[] {
    return this.temps.map(t => t.bytes);
  }

  /** parameters in the order of the calling convention, but for the slice */
  parameters(): string[] {
    return [
      ...this.buffers.map((_, i) => `$b${i}`),
      ...this.temps.map((_, i) => `$t${i}`),
      ...this.sizes.parameters(),
      ...(this.usesScratch ? ["$scratch"] : []),
    ];
  }
  get usesScratch(): boolean {
    return this.scratchTop.kind !== "int" || this.scratchTop.value > 0;
  }

  /** has no memory of its own outside of the thread */
  isLocal(buffer: string): boolean {
    return this.removed.has(buffer) && this.placements.get(buffer) !== "temp";
  }

  /** the buffer whose memory it is: writes in place have names of their own, reads after them the first one's */
  storage(buffer: string): string {
    return this.schedule.mutationRealName.get(buffer) ?? buffer;
  }

  address(buffer: string): string {
    if (this.removed.has(buffer)) return `(local.get $t${this.temp(buffer)})`;
    const real = this.storage(buffer);
    const known = this.buffers.indexOf(real);
    return `(local.get $b${known >= 0 ? known : this.buffers.push(real) - 1})`;
  }

  private temp(buffer: string): number {
    if (this.placements.get(buffer) !== "temp")
      throw new UnsupportedOnCpu(`a read of ${buffer}, which the kernel keeps to itself`);
    const known = this.temps.findIndex(t => t.buffer === buffer);
    if (known >= 0) return known;
    const layout = this.schedule.graph.buffers.get(buffer)?.layout;
    if (!layout || !("size" in layout)) throw new UnsupportedOnCpu(`no layout is known of ${buffer}`);
    const last = layout.size.reduce<Expr>(
      (n, size, d) => add(n, mul(sub(size, 1), layout.stride[d] as Expr)),
      layout.offset,
    );
    return this.temps.push({ buffer, bytes: this.sizes.plan(mul(add(last, 1), itemSize(layout.dtype))) }) - 1;
  }

  /** address of a buffer's element in the thread's scratch row; null if it has none */
  scratchElement(buffer: string, position: string | null): string | null {
    const offset = this.scratchOffsets.get(buffer);
    if (offset === undefined || position === null) return null;
    return `(i32.add ${this.scratchAt(offset)} (i32.mul ${position} (i32.const ${this.elementBytes(buffer)})))`;
  }

  scratchAt(offset: Expr): string {
    if (offset.kind === "int" && offset.value === 0) return "(local.get $scratch)";
    return `(i32.add (local.get $scratch) ${this.sizeCode(offset)})`;
  }

  sizeCode(e: Expr): string {
    return indexCode(this.sizes.resolve(e), {
      symbol: s => this.sizes.symbol(s),
      ranges: new Map(),
      use: h => this.module.use(h),
    });
  }

  private elementBytes(buffer: string): number {
    return computeType(this.dtype(buffer)).endsWith("64") ? 8 : 4;
  }

  dtype(buffer: string): DType {
    const { graph } = this.schedule;
    const layout = graph.buffers.get(buffer)?.layout ?? graph.inputs.find(i => i.name === buffer)?.layout;
    if (layout && "dtype" in layout) return layout.dtype;
    const constant = graph.constants.get(buffer);
    if (constant) return constant.dtype;
    throw new UnsupportedOnCpu(`${buffer}, of which no dtype is known`);
  }
}
