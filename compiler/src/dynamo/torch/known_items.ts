// Values of small tensors where items are taken out of them or written, outside of compiled frames. In: the tensor, the index
// and what is written. Out: the values, in row-major order, or nothing where not all that they hang on is known.
import { asFloat } from "../interp/numbers";
import { PySlice, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { store } from "./known";
import { type KnownArray, slice as knownSlice, spread } from "./known_arrays";
import { PyTensor } from "./objects";

/** larger tensors are not followed; writes come in loops, each of them over all of the tensor */
const MOST_READ = 16384;
const MOST_WRITTEN = 1024;

export function items(key: Value): readonly Value[] {
  if (key instanceof PyTuple) return key.items;
  return [key];
}

/** what is taken out of a tensor of known values by ints, slices, None and ... stays known */
export function knownItem(torch: Torch, t: PyTensor, key: Value): readonly (number | boolean)[] | undefined {
  if (!t.known || t.known.length > MOST_READ) return undefined;
  const a = selected(torch, { shape: torch.hints(t), data: t.known.map(Number) }, key);
  return a?.data.map(v => store(t.meta.dtype, v));
}

/** all values of a tensor once numbers that are known have been written where ints, slices, ... or a known mask say */
export function knownWritten(
  torch: Torch,
  t: PyTensor,
  key: Value,
  value: Value,
): readonly (number | boolean)[] | undefined {
  if (!t.known || t.known.length > MOST_WRITTEN || items(key).includes(null)) return undefined;
  const shape = torch.hints(t);
  const data = t.known.map(Number);
  const at =
    key instanceof PyTensor ? masked(torch, key, shape) : selected(torch, { shape, data: data.map((_, i) => i) }, key);
  const given = valuesOf(torch, value);
  if (!at || !given || (key instanceof PyTensor && given.data.length !== 1)) return undefined;
  const values = spread(given, at.shape);
  at.data.forEach((place, i) => {
    data[place] = values[i] ?? 0;
  });
  return data.map(v => store(t.meta.dtype, v));
}

/** where a mask of the tensor's shape is set */
function masked(torch: Torch, mask: PyTensor, shape: readonly number[]): KnownArray | undefined {
  if (mask.meta.dtype !== "bool" || !mask.known || torch.hints(mask).join() !== shape.join()) return undefined;
  const data = mask.known.flatMap((on, i) => (on ? [i] : []));
  return { shape: [data.length], data };
}

function valuesOf(torch: Torch, v: Value): KnownArray | undefined {
  if (v instanceof PyTensor) return v.known ? { shape: torch.hints(v), data: v.known.map(Number) } : undefined;
  const n = typeof v === "boolean" ? Number(v) : asFloat(v);
  return n === undefined ? undefined : { shape: [], data: [n] };
}

function selected(torch: Torch, all: KnownArray, key: Value): KnownArray | undefined {
  let a = all;
  const parts = items(key);
  const used = parts.filter(k => k !== null && k !== torch.vm.ellipsis).length;
  const spelled = parts.flatMap(k =>
    k === torch.vm.ellipsis
      ? new Array<Value>(Math.max(0, a.shape.length - used)).fill(new PySlice(torch.vm.types.slice, null, null, null))
      : [k],
  );
  let dim = 0;
  for (const k of spelled) {
    if (k === null) continue;
    const n = a.shape[dim] ?? 0;
    if (typeof k === "number") {
      const at = k < 0 ? k + n : k;
      a = knownSlice(a, dim, at, at + 1, 1);
      a = { shape: a.shape.filter((_, d) => d !== dim), data: a.data };
      continue;
    }
    if (!(k instanceof PySlice)) return undefined;
    const bound = (v: Value, otherwise: number): number | undefined => {
      if (v === null) return otherwise;
      if (typeof v !== "number") return undefined;
      return Math.min(n, Math.max(0, v < 0 ? v + n : v));
    };
    const [from, to] = [bound(k.start, 0), bound(k.stop, n)];
    const by = k.step === null ? 1 : k.step;
    if (from === undefined || to === undefined || typeof by !== "number" || by < 1) return undefined;
    a = knownSlice(a, dim, from, to, by);
    dim++;
  }
  return a;
}
