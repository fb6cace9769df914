// Estimated memory at every step of a schedule (EfficientPeakEstimate in torch/_inductor/codegen/wrapper.py). In: a
// schedule. Out: bytes alive at each step. Used to limit how long a freed buffer waits for reuse.
import { memoryAtSteps, planMemory } from "../scheduler/memory_timeline";
import type { Schedule } from "../scheduler/types";

export class PeakEstimate {
  private readonly memory: number[];
  readonly overall: number;

  /** `returnsFirst`: what the graph returns is taken off before the first step (behaviour returns_freed_first) */
  constructor(schedule: Schedule, returnsFirst: boolean) {
    const { graph, buffers, mutationRealName, nodes } = schedule;
    const plan = planMemory({ graph, sizevars: graph.sizevars, buffers, mutationRealName }, nodes);
    this.memory = memoryAtSteps(plan, nodes, returnsFirst);
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
