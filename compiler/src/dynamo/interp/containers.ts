// Items of built-in containers: indexing, slicing, length, membership. In: plain containers. Out: values, or Python's
// errors; undefined where the object is none of these.
import { PyBytes, PyDict, PyFloat, PyList, PyRange, PySet, PySlice, PyTuple, type Value } from "../objects/values";
import type { Interp } from "./api";
import { itemOfModule } from "./attributes";
import { asInt, type Int, normal } from "./numbers";

export interface Bounds {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly length: number;
}

/** slice.indices */
export function sliceBounds(vm: Interp, s: PySlice, length: number): Bounds {
  // a bound beyond all lengths is as good as the end
  const whole = (v: Value): number => {
    const i = Number(vm.integer(v, "slice indices"));
    return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(i, Number.MAX_SAFE_INTEGER));
  };
  const step = s.step === null ? 1 : whole(s.step);
  if (step === 0) vm.raise("ValueError", "slice step cannot be zero");
  const lower = step > 0 ? 0 : -1;
  const upper = step > 0 ? length : length - 1;
  const clamp = (v: Value, missing: number): number => {
    if (v === null) return missing;
    let i = whole(v);
    if (i < 0) i = Math.max(i + length, lower);
    return Math.min(i, upper);
  };
  const start = clamp(s.start, step > 0 ? lower : upper);
  const stop = clamp(s.stop, step > 0 ? upper : lower);
  return { start, stop, step, length: Math.max(0, Math.ceil((stop - start) / step)) };
}

/** a part of a range, of whatever size its numbers are */
function rangeSlice(vm: Interp, r: PyRange, s: PySlice): PyRange {
  const length = BigInt(r.count);
  const step = s.step === null ? 1n : BigInt(vm.integer(s.step, "slice indices"));
  if (step === 0n) vm.raise("ValueError", "slice step cannot be zero");
  const [lower, upper] = step > 0n ? [0n, length] : [-1n, length - 1n];
  const clamp = (v: Value, missing: bigint): Int => {
    if (v === null) return normal(missing);
    let i = BigInt(vm.integer(v, "slice indices"));
    if (i < 0n) i += length;
    return normal(i < lower ? lower : i > upper ? upper : i);
  };
  const start = clamp(s.start, step > 0n ? lower : upper);
  const stop = clamp(s.stop, step > 0n ? upper : lower);
  return new PyRange(r.cls, r.at(start), r.at(stop), normal(BigInt(r.step) * step));
}

function takeSlice<T>(items: readonly T[], b: Bounds): T[] {
  if (b.step === 1) return items.slice(b.start, Math.max(b.start, b.stop));
  const out: T[] = [];
  for (let k = 0, i = b.start; k < b.length; k++, i += b.step) out.push(items[i] as T);
  return out;
}

/** whether each letter is one unit of a JavaScript string */
const isPlain = (s: string): boolean => !/[\ud800-\udfff]/.test(s);

function position(vm: Interp, key: Value, length: number, what: string): number {
  const i = vm.index(key, `${what} indices`);
  const at = i < 0 ? i + length : i;
  if (at < 0 || at >= length) vm.raise("IndexError", `${what} index out of range`);
  return at;
}

export function getItem(vm: Interp, o: Value, key: Value): Value | undefined {
  if (o instanceof PyDict) {
    const v = o.getKey(vm.hash(key));
    if (v !== undefined) return v;
    if (o.defaultFactory !== null) {
      const made = vm.call(o.defaultFactory, []);
      o.setKey(vm.hash(key), key, made);
      return made;
    }
    const missing = o.cls.lookup("__missing__");
    if (missing !== undefined) return vm.call(missing, [o, key]);
    const made = typeof key === "string" ? itemOfModule(vm, o, key) : undefined;
    if (made !== undefined) return made;
    throw vm.makeError("KeyError", [key]);
  }
  if (o instanceof PyList) {
    if (key instanceof PySlice) return vm.list(takeSlice(o.items, sliceBounds(vm, key, o.items.length)));
    return o.items[position(vm, key, o.items.length, "list")];
  }
  if (o instanceof PyTuple) {
    if (key instanceof PySlice) {
      const items = takeSlice(o.items, sliceBounds(vm, key, o.items.length));
      // a slice of torch.Size is one; of a named tuple a plain tuple
      return o.cls.name === "Size" ? new PyTuple(o.cls, items) : vm.tuple(items);
    }
    return o.items[position(vm, key, o.items.length, "tuple")];
  }
  if (typeof o === "string") {
    if (isPlain(o) && !(key instanceof PySlice)) return o[position(vm, key, o.length, "string")];
    const letters = [...o];
    if (key instanceof PySlice) return takeSlice(letters, sliceBounds(vm, key, letters.length)).join("");
    return letters[position(vm, key, letters.length, "string")];
  }
  if (o instanceof PyRange) {
    if (key instanceof PySlice) return rangeSlice(vm, o, key);
    const i = vm.integer(key, "range indices");
    const at = i < 0 ? normal(BigInt(i) + BigInt(o.count)) : i;
    if (at < 0 || at >= o.count) vm.raise("IndexError", "range object index out of range");
    return o.at(at);
  }
  if (o instanceof PyBytes) {
    if (key instanceof PySlice) {
      return vm.bytes(Uint8Array.from(takeSlice([...o.data], sliceBounds(vm, key, o.data.length))));
    }
    return o.data[position(vm, key, o.data.length, "index")];
  }
  return undefined;
}

export function setItem(vm: Interp, o: Value, key: Value, v: Value): boolean {
  if (o instanceof PyDict) {
    o.setKey(vm.hash(key), key, v);
    return true;
  }
  if (!(o instanceof PyList)) return false;
  if (!(key instanceof PySlice)) {
    o.set(position(vm, key, o.items.length, "list assignment"), v);
    return true;
  }
  const b = sliceBounds(vm, key, o.items.length);
  const values = vm.toArray(v);
  if (b.step === 1) {
    o.replace([...o.items.slice(0, b.start), ...values, ...o.items.slice(Math.max(b.start, b.stop))]);
    return true;
  }
  if (values.length !== b.length) {
    vm.raise("ValueError", `attempt to assign sequence of size ${values.length} to extended slice of size ${b.length}`);
  }
  const items = [...o.items];
  values.forEach((x, k) => {
    items[b.start + k * b.step] = x;
  });
  o.replace(items);
  return true;
}

export function deleteItem(vm: Interp, o: Value, key: Value): boolean {
  if (o instanceof PyDict) {
    if (!o.deleteKey(vm.hash(key))) throw vm.makeError("KeyError", [key]);
    return true;
  }
  if (!(o instanceof PyList)) return false;
  if (key instanceof PySlice) {
    const b = sliceBounds(vm, key, o.items.length);
    const gone = new Set(Array.from({ length: b.length }, (_, k) => b.start + k * b.step));
    o.replace(o.items.filter((_, i) => !gone.has(i)));
  } else {
    const at = position(vm, key, o.items.length, "list assignment");
    o.replace(o.items.filter((_, i) => i !== at));
  }
  return true;
}

export function plainLength(o: Value): number | undefined {
  if (typeof o === "string") return isPlain(o) ? o.length : [...o].length;
  if (o instanceof PyList || o instanceof PyTuple) return o.items.length;
  if (o instanceof PyDict || o instanceof PySet) return o.size;
  if (o instanceof PyRange) return o.length;
  if (o instanceof PyBytes) return o.data.length;
  return undefined;
}

/** whether an item is what is searched for among so many */
export function sameAs(vm: Interp, x: Value, among: number): (item: Value) => boolean {
  vm.charge(among >> 3);
  // what is no object is equal only to itself and to other kinds
  const kind = typeof x;
  const plain = kind === "number" || kind === "string";
  return item => item === x || (!(plain && typeof item === kind) && vm.equal(item, x));
}

/** `x in o` for built-in containers */
export function plainContains(vm: Interp, o: Value, x: Value): boolean | undefined {
  if (typeof o === "string") {
    if (typeof x !== "string") {
      return vm.raise("TypeError", `'in <string>' requires string as left operand, not ${vm.typeOf(x).name}`);
    }
    return o.includes(x);
  }
  if (o instanceof PyDict) return o.has(vm.hash(x));
  if (o instanceof PySet) return o.entries.has(vm.hash(x));
  if (o instanceof PyList || o instanceof PyTuple) {
    const same = sameAs(vm, x, o.items.length);
    return o.items.some(same);
  }
  if (o instanceof PyRange) {
    if (typeof x === "number" && typeof o.start === "number" && typeof o.step === "number") {
      const k = (x - o.start) / o.step;
      return Number.isInteger(k) && k >= 0 && k < o.length;
    }
    const i = x instanceof PyFloat && Number.isInteger(x.value) ? BigInt(x.value) : asInt(x);
    if (i === undefined) return false;
    const [distance, step] = [BigInt(i) - BigInt(o.start), BigInt(o.step)];
    return distance % step === 0n && distance / step >= 0n && distance / step < o.count;
  }
  return undefined;
}
