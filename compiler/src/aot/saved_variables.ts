// Tensors that the forward pass saves for the backward pass (torch's SavedVariable). In: Values as they are saved. Out: what
// they held then, whatever was written since. Promises: to compute with the values of one that was written is an error, as
// a tensor's version tells autograd.
import type { Bound } from "../aten/bind";
import { type Dim, OpError, type OpRecord, SCALAR_TYPE_NAMES } from "../aten/types";
import { tensorsOf } from "./call_args";
import type { TracedTensor } from "./traced_tensor";
import { isValue, metaOf, Value } from "./value";

interface SavedValue {
  readonly value: Value;
  readonly traced: TracedTensor;
  /** writes to its memory so far */
  readonly generation: number;
}

/** they ask a tensor for its shape alone, or for nothing (a batch norm's gradient while it trains for its statistics) */
const READS_NO_VALUES = /^aten\.(\w+_like|new_\w+|\w+_as|sum_to_size|\w*batch_norm\w*_backward)\b/;

/** What one trace of a forward pass saves. */
export class SavedVariables {
  private readonly saved = new WeakMap<Value, SavedValue>();
  /** what was saved and has been written since */
  private readonly overwritten = new Set<Value>();

  /** remembers what a tensor holds now; a later write to it must not change what was saved */
  save(v: Value): Value {
    if (!this.saved.has(v)) {
      const kept = new Value(v.tensor);
      kept.edge = null;
      this.saved.set(kept, { value: v, traced: v.tensor.stale, generation: v.tensor.storage.generation });
      return kept;
    }
    return v;
  }

  /** what a saved tensor held; `wrap` makes a Value of it where it has been written since */
  unpack(v: Value, wrap: (t: TracedTensor) => Value): Value {
    const s = this.saved.get(v);
    if (s === undefined || s.value.tensor.storage.generation === s.generation) return v;
    const before = wrap(s.traced);
    this.overwritten.add(before);
    return before;
  }

  /** @throws OpError on an operator that reads the values of a tensor that was written after it was saved */
  refuseOverwritten(record: OpRecord, bound: Bound<Value>, hint: (d: Dim) => number): void {
    if (this.overwritten.size === 0 || READS_NO_VALUES.test(record.name)) return;
    for (const v of tensorsOf(bound, isValue)) {
      if (!this.overwritten.has(v)) continue;
      const { shape, dtype, device } = metaOf(v);
      const kind = SCALAR_TYPE_NAMES[dtype] ?? dtype;
      const sizes = shape.map(d => hint(d)).join(", ");
      throw new OpError(
        `one of the variables needed for gradient computation has been modified by an inplace operation: [torch.${device.type === "cpu" ? "" : `${device.type}.`}${kind}Tensor [${sizes}]]`,
      );
    }
  }
}
