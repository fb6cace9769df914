// Estimated memory at every step of a schedule (estimate_peak_memory in torch/_inductor/memory.py). In: a schedule. Out:
// bytes alive at each step, inputs that stay anyway not counted. Used to limit how long a freed buffer waits for reuse.
import { itemsize } from "../ir/dtypes";
import { bufferNumel, layoutOf } from "../scheduler/state";
import type { AnyNode, Schedule } from "../scheduler/types";

export class PeakEstimate {
  private readonly memory: number[];
  readonly overall: number;

  /** `returnsFirst`: what the graph returns is taken off before the first step (behaviour returns_freed_first) */
  constructor(schedule: Schedule, returnsFirst: boolean) {
    this.memory = memoryBySteps(schedule, returnsFirst);
    this.overall = Math.max(0, ...this.memory);
  }

  /** highest estimate strictly between two steps, 0 if there is none */
  between(first: number, last: number): number {
    return Math.max(0, ...this.memory.slice(first + 1, Math.max(last, first + 1)));
  }
  /** a buffer is kept alive between two steps */
  keep(first: number, last: number, bytes: number): void {
    for (let i = first + 1; i < last; i++) this.memory[i] = (this.memory[i] ?? 0) + bytes;
  }
}

function memoryBySteps(schedule: Schedule, returnsFirst: boolean): number[] {
  const { nodes, graph } = schedule;
  const sv = graph.sizevars;
  const inputs = new Set(graph.inputs.map(i => i.name));
  const outputs = new Set(graph.outputs.flatMap(o => (o && "buffer" in o ? [o.buffer] : [])));
  const lastReader = new Map<string, number>();
  const freeable = new Map<string, number>();
  nodes.forEach((n, step) => {
    for (const d of n.unmetDependencies) lastReader.set(d.name, step);
    for (const d of n.readWrites.reads) {
      if (!inputs.has(d.name) || /^(primals_|arg)/.test(d.name)) continue;
      lastReader.set(d.name, step);
      freeable.set(d.name, bytesOf(d.name));
    }
  });
  for (const [version, real] of [...schedule.mutationRealName].reverse()) {
    const last = lastReader.get(version);
    if (last !== undefined) lastReader.set(real, Math.max(last, lastReader.get(real) ?? 0));
  }
  const change = new Array<number>(nodes.length + 1).fill(0);
  const add = (start: number, end: number, alloc: number, free: number): void => {
    change[start] = (change[start] ?? 0) + alloc;
    change[end + 1] = (change[end + 1] ?? 0) - free;
  };
  for (const [name, bytes] of freeable) add(0, lastReader.get(name) ?? 0, bytes, bytes);
  nodes.forEach((n, step) => {
    for (const o of n.outputs) {
      const kept = returnsFirst ? -1 : nodes.length - 1;
      const end = outputs.has(o.name) ? kept : (lastReader.get(o.name) ?? step);
      const layout = layoutOf(graph, o.name);
      if (layout?.kind === "multi_output") {
        // what is unpacked from a tuple comes with the tuple
        const parts = o.users.flatMap(u => (u.node ? u.node.outputs.map(x => bytesOf(x.name)) : []));
        add(
          step,
          end,
          parts.reduce((a, b) => a + b, 0),
          0,
        );
      } else {
        const bytes = bytesOf(o.name);
        const unpacked = isUnpacked(n, o.name);
        add(step, end, unpacked ? 0 : bytes, bytes);
      }
    }
  });
  let now = 0;
  return change.map(c => {
    now += c;
    return now;
  });

  function bytesOf(name: string): number {
    const l = layoutOf(graph, name);
    if (!l || l.kind === "multi_output" || l.kind === "none") return 0;
    return sv.sizeHint(bufferNumel(graph, name), 0) * itemsize(l.dtype);
  }
}

function isUnpacked(n: AnyNode, buffer: string): boolean {
  return (
    !("snodes" in n) &&
    n.operation.kind === "extern" &&
    n.operation.irClass === "MultiOutput" &&
    n.outputs.some(o => o.name === buffer)
  );
}
