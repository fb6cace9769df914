// Changes to a lowered graph: operations put in, replaced, taken out. In: a lowered graph. Out: another. Promises: the given
// graph stays as it is; names that are made are new.
import { isBufferView } from "./buffer_view";
import type { Buffer, BufferView, ExternOperation, LoweredGraph, Operation } from "./types";

export class GraphEdit {
  private readonly operations: Operation[];
  private readonly buffers: Map<string, Buffer>;
  private outputs: LoweredGraph["outputs"];
  private changed = false;

  constructor(private readonly from: LoweredGraph) {
    this.operations = [...from.operations];
    this.buffers = new Map(from.buffers);
    this.outputs = from.outputs;
  }

  get result(): LoweredGraph {
    if (!this.changed) return this.from;
    return { ...this.from, operations: this.operations, buffers: this.buffers, outputs: this.outputs };
  }

  /** an operation and its buffer that the graph does not have yet */
  newNames(): { readonly op: string; readonly buffer: string } {
    const ops = new Set(this.operations.map(o => o.name));
    let n = this.operations.length;
    while (ops.has(`op${n}`) || this.buffers.has(`buf${n}`)) n++;
    return { op: `op${n}`, buffer: `buf${n}` };
  }

  insertBefore(before: string, op: Operation, buffer: Buffer): void {
    this.operations.splice(this.at(before), 0, op);
    this.setBuffer(buffer);
  }

  insertAfter(after: string, op: Operation, buffer: Buffer): void {
    this.operations.splice(this.at(after) + 1, 0, op);
    this.setBuffer(buffer);
  }

  replace(op: Operation): void {
    this.operations.splice(this.at(op.name), 1, op);
    this.changed = true;
  }

  setBuffer(buffer: Buffer): void {
    this.buffers.set(buffer.name, buffer);
    this.changed = true;
  }

  remove(op: Operation): void {
    this.operations.splice(this.at(op.name), 1);
    for (const o of op.outputs) this.buffers.delete(o);
    this.changed = true;
  }

  buffer(name: string): Buffer {
    const buffer = this.buffers.get(name);
    if (!buffer) throw new Error(`the graph has no ${name}`);
    return buffer;
  }

  /** the operation of this name as it is by now */
  operation(name: string): Operation {
    return this.operations[this.at(name)] as Operation;
  }

  /** A buffer whose shape has changed is no longer what its readers see: they keep their view of it. */
  reshaped(buffer: string, except: string): void {
    const view = (v: BufferView): BufferView => (v.buffer === buffer ? { ...v, whole: false } : v);
    for (const [i, op] of this.operations.entries())
      if (op.kind === "extern" && op.name !== except && op.reads.some(r => r.buffer === buffer))
        this.operations[i] = withViews(op, view);
    this.outputs = this.outputs.map(o => (o !== null && "buffer" in o ? view(o) : o));
    this.changed = true;
  }

  private at(name: string): number {
    const at = this.operations.findIndex(o => o.name === name);
    if (at < 0) throw new Error(`the graph has no ${name}`);
    return at;
  }
}

/** the same for views of the same elements: arguments and reads hold equal views, not always the same ones */
export const viewKey = (v: BufferView): string =>
  [v.buffer, v.dtype, v.offset.id, ...[...v.size, ...v.stride].map(e => e.id)].join();

/** the operation with other tensors as arguments at some places */
export function withArguments(op: ExternOperation, others: ReadonlyMap<number, BufferView>): ExternOperation {
  const args = op.args.map((a, i) => others.get(i) ?? a);
  return { ...op, args, reads: [...new Map(args.filter(isBufferView).map(v => [viewKey(v), v])).values()] };
}

/** the operation with its tensors read through other views; lists of tensors included */
export function withViews(op: ExternOperation, view: (v: BufferView) => BufferView): ExternOperation {
  type Arg = ExternOperation["args"][number];
  const arg = (a: Arg): Arg => (isBufferView(a) ? view(a) : Array.isArray(a) ? (a.map(x => arg(x as Arg)) as Arg) : a);
  return {
    ...op,
    args: op.args.map(arg),
    kwargs: Object.fromEntries(Object.entries(op.kwargs).map(([k, a]) => [k, arg(a)])),
    reads: op.reads.map(view),
  };
}
