// Who writes and who reads each buffer of a lowered graph. In: a graph. Out: answers by name. Promises: made once a graph.
import type { LoweredGraph, Operation } from "../ir/types";
import { buffersRead } from "../templates/attention";

/** Producers and users of a graph's buffers. */
export class GraphFacts {
  private readonly producers = new Map<string, Operation>();
  private readonly users = new Map<string, Operation[]>();
  private readonly returned: ReadonlySet<string>;
  private readonly written = new Set<string>();

  constructor(readonly graph: LoweredGraph) {
    for (const op of graph.operations) {
      for (const o of op.outputs) this.producers.set(o, op);
      for (const name of new Set(buffersRead(op))) this.users.set(name, [...(this.users.get(name) ?? []), op]);
      if (op.kind === "extern") for (const m of op.mutates) this.written.add(m);
    }
    for (const b of graph.buffers.values()) if (b.layout.kind === "mutation") this.written.add(b.layout.target);
    for (const m of graph.mutatedInputs) this.written.add(m);
    this.returned = new Set(graph.outputs.flatMap(o => (o !== null && "buffer" in o ? [o.buffer] : [])));
  }

  producer(buffer: string): Operation | undefined {
    return this.producers.get(buffer);
  }

  readers(buffer: string): readonly Operation[] {
    return this.users.get(buffer) ?? [];
  }

  /** whether the caller sees it */
  isReturned(buffer: string): boolean {
    return this.returned.has(buffer);
  }

  /** whether something writes over it after it was made */
  isWrittenOver(buffer: string): boolean {
    return this.written.has(buffer);
  }
}
