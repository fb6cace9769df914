// Which tensors rest on a size that only data decides and that was taken to be something. In: what was assumed, and the
// program's steps. Out: the assumptions behind a tensor, so that graphs that take it can say so and others need not.
import type { RuntimeStep, RuntimeTensor } from "../types";

type Assumptions = readonly string[];

const NONE: Assumptions = [];

export class DataSizes {
  /** by the number of a tensor */
  private readonly behind = new Map<number, Assumptions>();
  private arisen: Assumptions = NONE;

  /** an operator is about to run: what the one before assumed, and then did not come to a result for, is nothing to it */
  begin(): void {
    this.arisen = NONE;
  }

  /** the operator that runs has assumed this of its result's size */
  assume(text: string): void {
    this.arisen = [text];
  }

  /** results rest on what their operands rest on, those of a compiled call on what any of its inputs does */
  follow(step: RuntimeStep): void {
    if (step.kind !== "eager" && step.kind !== "call") return;
    const own = step.kind === "eager" ? this.arisen : NONE;
    if (own.length === 0 && this.behind.size === 0) return;
    const given = step.inputs.flatMap(t => (typeof t === "number" ? [] : this.of(t.id)));
    const all = new Set([...given, ...own]);
    if (all.size > 0) for (const t of step.outputs) if (t) this.behind.set(t.id, [...all]);
    if (step.kind === "eager") this.arisen = NONE;
  }

  /** `id`: a tensor's number; undefined where no step has met it */
  of(id: RuntimeTensor["id"] | undefined): Assumptions {
    return (id === undefined ? undefined : this.behind.get(id)) ?? NONE;
  }
}
