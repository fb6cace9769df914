// Tensors of a traced program as autograd sees them, and the functions that made them. In: functional tensors.
// Out: Values with an edge to where their gradient goes. Promises: data only; dispatch.ts makes them, autograd.ts walks them.
import type { Bound } from "../aten/bind";
import { isDifferentiableDType } from "../aten/ops/helpers/dtypes";
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
  /** instead of the derivative's formulas: gradients of the inputs, in their order */
  readonly apply?: (grads: readonly (Value | null)[]) => (Value | null)[];
}

/** A view operator as the program called it; the viewed tensor is replaced when it runs again. */
export interface ValueView {
  readonly record: OpRecord;
  readonly bound: Bound<Value>;
  readonly index: number;
}

/** A tensor of the running program. */
export class Value {
  /** where its gradient goes; null: it needs none */
  edge: Edge | null = null;
  /** for a view: the tensor that owns the memory and the view operators on the way, for gradients through writes */
  viewOf: { readonly root: Value; readonly steps: readonly ValueView[] } | null = null;
  /** writes to it that the tape has seen */
  version = 0;
  private seenVersion = 0;

  /** changes only where the tensor gets other sizes and strides in place */
  constructor(public tensor: FunctionalTensor) {}

  /** the program's tensor requires grad, though grad mode is off and no gradient goes anywhere */
  wantsGrad = false;

  /** an input that is no leaf of the program's; copied before its first write, as all such inputs are */
  mayBeWritten = false;

  get requiresGrad(): boolean {
    return this.edge !== null;
  }
  noteBase(base: Value, step: ValueView): void {
    const root = base.viewOf?.root ?? base;
    this.viewOf = { root, steps: [...(base.viewOf?.steps ?? []), step] };
    this.seenVersion = root.version;
  }
  /** its root was written after this view's history was worked out */
  get behindRoot(): boolean {
    return this.viewOf !== null && this.seenVersion !== this.viewOf.root.version;
  }
  caughtUp(): void {
    if (this.viewOf) this.seenVersion = this.viewOf.root.version;
  }
}

export const isValue = (x: unknown): x is Value => x instanceof Value;

export function metaOf(v: Value): TensorMeta {
  // a view says what its base says
  const requiresGrad = v.requiresGrad || v.wantsGrad || v.viewOf?.root.wantsGrad === true;
  return requiresGrad ? requiringGrad(v.tensor.meta) : v.tensor.meta;
}

/**
 * Equal layers have metas in common, and what is known by them. Of symbolic sizes each tensor keeps a meta of its own, as
 * the names that working with them takes are counted by it (symbolic_names.ts).
 */
const withGrad = new WeakMap<TensorMeta, TensorMeta>();

const isStatic = ({ shape, stride, storageOffset }: TensorMeta): boolean =>
  storageOffset.kind === "int" && shape.every(d => d.kind === "int") && stride.every(d => d.kind === "int");

function requiringGrad(meta: TensorMeta): TensorMeta {
  if (meta.requiresGrad && isStatic(meta)) return meta;
  let known = withGrad.get(meta);
  if (known === undefined) {
    known = { ...meta, requiresGrad: true };
    if (isStatic(meta)) withGrad.set(meta, known);
  }
  return known;
}

export const isDifferentiableValue = (v: Value): boolean => isDifferentiableDType(v.tensor.meta.dtype);
