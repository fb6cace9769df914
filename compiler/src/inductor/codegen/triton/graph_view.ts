// What a kernel asks of the graph that it is generated for. In: the schedule. Out: layouts, dtypes, real names of
// mutated buffers, which buffers are gone. Promises: the mutable sets here are shared by all kernels of one graph, as
// V.graph's are in Inductor.
import type { DType } from "../../../aten/types";
import type { Buffer, GraphInput, Layout } from "../../ir/types";
import type { Schedule, SchedulerBuffer } from "../../scheduler/types";
import { add, type Expr, int, mul, sub } from "../../symbolic/expr";
import type { SizeVars } from "../../symbolic/size_vars";

export type TensorLayout = Exclude<Layout, { kind: "multi_output" } | { kind: "none" }>;

export class GraphView {
  readonly sizevars: SizeVars;
  /** buffers that live and die inside one kernel */
  readonly removedBuffers = new Set<string>();
  readonly inplacedToRemove = new Set<string>();
  /** operations that another kernel has done already */
  readonly removedOps: Set<string>;
  private readonly inputs = new Map<string, GraphInput>();
  readonly outputNames: ReadonlySet<string>;

  constructor(readonly schedule: Schedule) {
    this.sizevars = schedule.graph.sizevars;
    this.removedOps = new Set(schedule.removedOps);
    for (const i of schedule.graph.inputs) this.inputs.set(i.name, i);
    const outputs = new Set<string>();
    for (const o of schedule.graph.outputs) if (o !== null && "buffer" in o) outputs.add(o.buffer);
    this.outputNames = outputs;
  }

  buffer(name: string): Buffer | undefined {
    return this.schedule.graph.buffers.get(name);
  }
  schedulerBuffer(name: string): SchedulerBuffer | undefined {
    return this.schedule.buffers.get(name);
  }
  isInput(name: string): boolean {
    return this.inputs.has(name);
  }
  /** whether it may begin anywhere in memory: an input that is a part of a tensor, a slice of another buffer */
  isUnaligned(name: string): boolean {
    const input = this.inputs.get(name);
    if (input) return input.unaligned === true;
    const l = this.layout(name);
    return l?.kind === "non_owning" && !this.sizevars.knownMultipleOf(l.baseOffset, 16);
  }
  isConstant(name: string): boolean {
    return this.schedule.graph.constants.has(name);
  }
  realName(name: string): string {
    return this.schedule.mutationRealName.get(name) ?? name;
  }

  layout(name: string): Layout | undefined {
    return this.schedule.graph.buffers.get(name)?.layout ?? this.inputs.get(name)?.layout ?? undefined;
  }
  tensorLayout(name: string): TensorLayout {
    const l = this.layout(name);
    if (l && l.kind !== "multi_output" && l.kind !== "none") return l;
    const c = this.schedule.graph.constants.get(name);
    if (c) {
      const size = c.size.map(int);
      return {
        kind: "fixed",
        device: { type: "cuda", index: 0 },
        dtype: c.dtype,
        size,
        stride: contiguous(size),
        offset: int(0),
      };
    }
    throw new Error(`${name} is no tensor`);
  }
  dtype(name: string): DType {
    return this.tensorLayout(name).dtype;
  }
  /** a 0-d tensor on the CPU: passed to kernels by value */
  isUnspecified(name: string): boolean {
    const l = this.inputs.get(name)?.layout;
    return l !== undefined && l !== null && l.kind === "fixed" && l.device.type === "cpu" && l.size.length === 0;
  }

  numel(name: string): Expr {
    return this.sizevars.numel(this.tensorLayout(name).size);
  }
  /** elements from the first to the last one addressed (Layout.storage_size) */
  storageSize(name: string): Expr {
    const l = this.tensorLayout(name);
    let last: Expr = int(0);
    for (const [i, size] of l.size.entries()) last = add(last, mul(sub(size, 1), l.stride[i] as Expr));
    return this.sizevars.simplify(add(add(last, 1), l.offset));
  }
}

export function contiguous(size: readonly Expr[]): Expr[] {
  const out: Expr[] = [];
  let stride: Expr = int(1);
  for (let i = size.length - 1; i >= 0; i--) {
    out.unshift(stride);
    stride = mul(stride, size[i] as Expr);
  }
  return out;
}
