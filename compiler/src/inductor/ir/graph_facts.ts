// Who writes and who reads each buffer of a lowered graph. In: a graph. Out: answers by name. Promises: made once a graph, when
// first asked for.
import type { LoweredGraph, Operation } from "./types";

/** names of the buffers and inputs that an operation reads */
export function buffersRead(op: Operation): readonly string[] {
  switch (op.kind) {
    case "computed":
      return [...op.body.block.nodes, ...[...op.body.subblocks.values()].flatMap(b => b.nodes)].flatMap(n =>
        n.op === "load" ? [n.buffer] : [],
      );
    case "extern":
      return op.reads.map(r => r.buffer);
    case "nop":
      return op.reads;
    default: {
      const never: never = op;
      return never;
    }
  }
}

/** Producers and users of a graph's buffers; graphFacts() makes it. */
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

const known = new WeakMap<LoweredGraph, GraphFacts>();

export function graphFacts(graph: LoweredGraph): GraphFacts {
  let facts = known.get(graph);
  if (facts === undefined) {
    facts = new GraphFacts(graph);
    known.set(graph, facts);
  }
  return facts;
}
