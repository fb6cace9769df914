// Functional tensors: aliasing and mutation kept beside the traced values, as c10's FunctionalTensorWrapper does.
// In: views and in-place writes. Out: traced values that are always current when they are read. Promises: a view that
// is behind its base is computed anew from it (the old nodes die, their names stay used); a write through a view goes
// back into the base by the view's inverse.
import type { Bound } from "../aten/bind";
import { DTypeArg, type OpRecord } from "../aten/types";
import { many, type TracedTensor } from "./traced_tensor";
import type { TraceContext, Tracer } from "./tracer";
import { invertView, type ViewStep } from "./view_inverse";

/** What several tensors share: the base's current value and the writes not yet applied to it. */
class FunctionalStorage {
  generation = 0;
  private pending: { readonly value: TracedTensor; readonly steps: readonly ViewStep[] }[] = [];
  /** where the last write came from */
  lastWrite: TraceContext | undefined;
  /** some write happened where autograd looks */
  writtenUnderGrad = false;

  constructor(public base: TracedTensor) {}

  addUpdate(value: TracedTensor, steps: readonly ViewStep[], context: TraceContext): void {
    this.pending.push({ value, steps });
    this.generation++;
    this.lastWrite = context;
  }

  apply(tracer: Tracer): void {
    for (const { value, steps } of this.pending.splice(0)) {
      const bases = [this.base];
      for (const step of steps.slice(0, -1)) bases.push(replay(tracer, step, bases[bases.length - 1] as TracedTensor));
      let current = value;
      for (let i = steps.length - 1; i >= 0; i--) {
        const step = steps[i] as ViewStep;
        // each operator of the inverse is one of its own, whatever wrote
        current = tracer.asOriginal(undefined, () => invertView(tracer, step, bases[i] as TracedTensor, current));
      }
      this.base = current;
    }
  }
}

/** what a view is told as; an alias is what detach leaves */
const packet = (r: OpRecord): string =>
  r.name === "aten.alias.default" ? "aten.detach" : r.name.slice(0, r.name.lastIndexOf("."));

/** runs a view operator on a base; its nodes show the line that the trace is at */
function runView(tracer: Tracer, step: ViewStep, base: TracedTensor): TracedTensor {
  const viewed = step.record.viewOf ?? "self";
  const bound: Bound<TracedTensor> = {
    schema: step.bound.schema,
    values: new Map([...step.bound.values, [viewed, base]]),
  };
  const r = many(tracer.call(step.record, bound))[step.index];
  if (r === undefined || r === null) throw new Error(`${step.record.name} has no result ${step.index}`);
  return r;
}

/** the same, told as the view's own operator */
const replay = (tracer: Tracer, step: ViewStep, base: TracedTensor): TracedTensor =>
  tracer.asOriginal(packet(step.record), () => runView(tracer, step, base));

export class FunctionalTensor {
  private generation = 0;

  constructor(
    private value: TracedTensor,
    readonly storage: FunctionalStorage,
    readonly steps: readonly ViewStep[],
  ) {}

  static fresh(value: TracedTensor): FunctionalTensor {
    return new FunctionalTensor(value, new FunctionalStorage(value), []);
  }

  /** the value as last computed; may be behind the base. Its shape and dtype are right all the same. */
  get stale(): TracedTensor {
    return this.value;
  }
  get meta(): TracedTensor["meta"] {
    return this.value.meta;
  }

  /**
   * The current value: pending writes are applied and the views computed anew if the base has changed. What an operator
   * reads shows the line that its old value came from, what a graph returns shows none.
   */
  sync(tracer: Tracer): TracedTensor {
    if (this.generation === this.storage.generation) return this.value;
    const { context } = tracer;
    if (context.stack.length === 0) return this.renew(tracer);
    return tracer.withContext({ ...context, stack: this.value.node.meta.stack }, () => this.renew(tracer));
  }

  private renew(tracer: Tracer): TracedTensor {
    this.storage.apply(tracer);
    let t = this.storage.base;
    for (const step of this.steps) t = replay(tracer, step, t);
    this.value = t;
    this.generation = this.storage.generation;
    return t;
  }

  /** an in-place write of a whole new value */
  write(tracer: Tracer, value: TracedTensor): void {
    let v = value;
    if (v.meta.dtype !== this.value.meta.dtype) v = tracer.asOriginal(undefined, () => castTo(tracer, v, this.value));
    this.value = v;
    this.storage.addUpdate(v, this.steps, tracer.context);
    this.renew(tracer);
  }

  /** the results of a view operator on this tensor, whose current value is among the arguments */
  view(tracer: Tracer, record: OpRecord, traced: Bound<TracedTensor>): (FunctionalTensor | null)[] {
    const results = many(tracer.call(record, traced));
    return results.map((r, index) =>
      r === null ? null : new FunctionalTensor(r, this.storage, [...this.steps, { record, bound: traced, index }]),
    );
  }

  /** what this tensor is after an in-place change of sizes by a view operator; it is as new as it was */
  becomeView(tracer: Tracer, record: OpRecord, traced: Bound<TracedTensor>): FunctionalTensor {
    const [made] = this.view(tracer, record, traced);
    if (!made) throw new Error(`${record.name} has no result`);
    made.generation = this.generation;
    return made;
  }

  /** a tensor that holds this value now and is told of no later write */
  snapshot(tracer: Tracer): FunctionalTensor {
    return FunctionalTensor.fresh(this.sync(tracer));
  }
}

function castTo(tracer: Tracer, v: TracedTensor, like: TracedTensor): TracedTensor {
  return tracer.builder.call("aten._to_copy.default", [v], { dtype: new DTypeArg(like.meta.dtype) });
}
