// Tensors of a traced program as autograd sees them, and the functions that made them. In: functional tensors.
// Out: Values with an edge to where their gradient goes. Promises: data only; dispatch.ts makes them, autograd.ts walks them.
import type { Bound } from "../aten/bind";
import { isComplexDType, isFloatDType } from "../aten/promotion";
import type { Derivative, OpRecord, TensorMeta } from "../aten/types";
import type { FunctionalTensor } from "./functional";
import type { TraceContext } from "./tracer";

/** Where a gradient goes: into input `index` of a function, or to a leaf. */
export type Edge = { readonly fn: GradFunction; readonly index: number } | { readonly leaf: number };

/** one tensor argument that a gradient may go to */
export interface GradInput {
  readonly name: string;
  /** position in a tensor-list argument, else null */
  readonly item: number | null;
  readonly edge: Edge | null;
  readonly meta: TensorMeta;
}

export interface GradFunction {
  readonly seqNr: number;
  readonly record: OpRecord;
  readonly derivative: Exclude<Derivative, { kind: "none" }>;
  readonly bound: Bound<Value>;
  readonly inputs: readonly GradInput[];
  readonly outputs: readonly TensorMeta[];
  /** saved results, kept detached (an alias in the graph) */
  readonly saved: ReadonlyMap<number, Value>;
  /** results that are saved as they are (not differentiable) */
  readonly results: readonly (Value | null)[];
  readonly context: TraceContext;
}

export const isDifferentiable = (d: TensorMeta["dtype"]): boolean => isFloatDType(d) || isComplexDType(d);

/** A tensor of the running program. */
export class Value {
  /** where its gradient goes; null: it needs none */
  edge: Edge | null = null;
  /** the view operator that made it, for gradients through writes to its base */
  viewOf: {
    readonly base: Value;
    readonly record: OpRecord;
    readonly bound: Bound<Value>;
    readonly index: number;
  } | null = null;
  /** writes to it that the tape has seen */
  version = 0;
  private seenBaseVersion = 0;

  constructor(readonly tensor: FunctionalTensor) {}

  get requiresGrad(): boolean {
    return this.edge !== null;
  }
  noteBase(base: Value, record: OpRecord, bound: Bound<Value>, index: number): void {
    this.viewOf = { base, record, bound, index };
    this.seenBaseVersion = base.version;
  }
  get behindBase(): boolean {
    return this.viewOf !== null && (this.seenBaseVersion !== this.viewOf.base.version || this.viewOf.base.behindBase);
  }
  caughtUp(): void {
    if (this.viewOf) this.seenBaseVersion = this.viewOf.base.version;
  }
}

export const isValue = (x: unknown): x is Value => x instanceof Value;

export function metaOf(v: Value): TensorMeta {
  return v.requiresGrad ? { ...v.tensor.meta, requiresGrad: true } : v.tensor.meta;
}

export const isDifferentiableValue = (v: Value): boolean => isDifferentiable(v.tensor.meta.dtype);
