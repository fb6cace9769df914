// What tracing below autograd hands around. In: nodes of the graph being traced. Out: handles of the operator table.
import type { FxNode } from "../fx/graph";
import type { FakeTensor } from "../fx/types";

/** A tensor of the traced program: the node that computes it and what is known of it. */
export class TracedTensor {
  constructor(
    readonly node: FxNode,
    readonly meta: FakeTensor,
  ) {}
}

export const isTraced = (x: unknown): x is TracedTensor => x instanceof TracedTensor;

/** an operator's results as a list */
export function many<T>(r: T | readonly T[]): readonly T[] {
  return Array.isArray(r) ? (r as readonly T[]) : [r as T];
}
