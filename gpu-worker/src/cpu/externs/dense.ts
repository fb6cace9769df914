// Tensors copied into plain row-major Float32/Float64 arrays, worked on, and stored back rounded once.
import { accessor } from "../dtypes";
import { forEachElement, numel, type TensorView } from "../rows";

export type Floats = Float32Array | Float64Array;

/** row-major values; float64 tensors keep their precision, all others compute in float32 */
export function dense(t: TensorView, buffer: ArrayBufferLike): Floats {
  const out: Floats = t.dtype === "float64" ? new Float64Array(numel(t.size)) : new Float32Array(numel(t.size));
  const element = accessor(buffer, t.dtype);
  forEachElement(t, (flat, address) => {
    out[flat] = element.get(address);
  });
  return out;
}

export function store(t: TensorView, values: ArrayLike<number>, buffer: ArrayBufferLike): void {
  const element = accessor(buffer, t.dtype);
  forEachElement(t, (flat, address) => element.set(address, values[flat] ?? 0));
}
