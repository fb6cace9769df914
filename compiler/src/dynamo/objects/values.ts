// Python values as the interpreter holds them. Ints are JS numbers (bigint beyond 2**53), floats are PyFloat, str is a
// JS string, None is null; everything else is a PyObject. Classes here only hold data and keep the journal; what
// operations mean is in interp/.

import { PyComplex, PyFloat } from "../../aten/types";
import { type Int, normal } from "./integers";
import { record } from "./journal";

export { PyComplex, PyFloat };

export type Value = null | boolean | number | bigint | string | PyFloat | PyComplex | PyObject;

export type Kwargs = ReadonlyMap<string, Value>;

/** Everything that is not a JS primitive or a number. `cls` decides behaviour, `attrs` is `__dict__` where there is one. */
export abstract class PyObject {
  attrs: PyDict | null = null;
  abstract cls: PyClass;
}

// ---- dict and set

/** What a Map can compare: Python's hash and equality folded into one primitive, or the object itself. */
export type Key = string | number | bigint | object;

const NONE_KEY = "\u0000none";

/** undefined: unhashable; user-defined __hash__ is asked for by interp/hashing.ts before it comes here */
export function keyOf(v: Value): Key | undefined {
  if (typeof v === "string" || typeof v === "number" || typeof v === "bigint") return v;
  if (v === null) return NONE_KEY;
  if (typeof v === "boolean") return v ? 1 : 0;
  // equal to an int, it is the same key
  if (v instanceof PyFloat)
    return Number.isInteger(v.value) && !Number.isSafeInteger(v.value) ? BigInt(v.value) : v.value;
  if (v instanceof PyComplex) return v.im === 0 ? v.re : `\u0000c${v.re},${v.im}`;
  if (v instanceof PyTuple) {
    let text = "\u0000t";
    for (const item of v.items) {
      const k = keyOf(item);
      if (k === undefined) return undefined;
      text += `${typeof k === "object" ? `#${identity(k)}` : `${typeof k}:${String(k)}`}\u0001`;
    }
    return text;
  }
  if (v instanceof PyBytes) return `\u0000b${v.data.join(",")}`;
  if (v instanceof PySet) {
    if (!v.frozen) return undefined;
    return `\u0000f${[...v.entries.keys()].map(k => (typeof k === "object" ? `#${identity(k)}` : String(k))).sort()}`;
  }
  if (v instanceof PyList || v instanceof PyDict) return undefined;
  if (v instanceof PyInstance && v.hashKey !== undefined) return v.hashKey;
  return v;
}

let nextIdentity = 1;
const identities = new WeakMap<object, number>();

/** a number per object, as id() gives; assigned when first asked for */
export function identity(o: object): number {
  let id = identities.get(o);
  if (id === undefined) {
    id = nextIdentity++;
    identities.set(o, id);
  }
  return id;
}

export class PyDict extends PyObject {
  private map = new Map<Key, { key: Value; value: Value }>();
  /** the factory of a defaultdict */
  defaultFactory: Value = null;

  constructor(public cls: PyClass) {
    super();
  }
  get size(): number {
    return this.map.size;
  }
  getKey(k: Key): Value | undefined {
    return this.map.get(k)?.value;
  }
  get(name: string): Value | undefined {
    return this.map.get(name)?.value;
  }
  has(k: Key): boolean {
    return this.map.has(k);
  }
  set(name: string, value: Value): void {
    this.setKey(name, name, value);
  }
  setKey(k: Key, key: Value, value: Value): void {
    const old = this.map.get(k);
    if (old) {
      const before = old.value;
      record(() => {
        old.value = before;
      });
      old.value = value;
    } else {
      this.map.set(k, { key, value });
      record(() => this.map.delete(k));
    }
  }
  deleteKey(k: Key): boolean {
    if (!this.map.has(k)) return false;
    this.replaceAll([...this.map].filter(([other]) => other !== k));
    return true;
  }
  clear(): void {
    this.replaceAll([]);
  }
  moveToEnd(k: Key, last: boolean): void {
    const entry = this.map.get(k);
    if (!entry) return;
    const others = [...this.map].filter(([other]) => other !== k);
    this.replaceAll(last ? [...others, [k, entry]] : [[k, entry], ...others]);
  }
  private replaceAll(entries: [Key, { key: Value; value: Value }][]): void {
    const before = this.map;
    record(() => {
      this.map = before;
    });
    this.map = new Map(entries);
  }
  keys(): Value[] {
    return [...this.map.values()].map(e => e.key);
  }
  values(): Value[] {
    return [...this.map.values()].map(e => e.value);
  }
  entries(): [Value, Value][] {
    return [...this.map.values()].map(e => [e.key, e.value]);
  }
  rawEntries(): [Key, Value, Value][] {
    return [...this.map].map(([k, e]) => [k, e.key, e.value]);
  }
}

export class PySet extends PyObject {
  entries = new Map<Key, Value>();
  constructor(
    public cls: PyClass,
    readonly frozen: boolean,
  ) {
    super();
  }
  get size(): number {
    return this.entries.size;
  }
  add(k: Key, v: Value): void {
    if (this.entries.has(k)) return;
    this.entries.set(k, v);
    record(() => this.entries.delete(k));
  }
  replace(entries: Map<Key, Value>): void {
    const before = this.entries;
    record(() => {
      this.entries = before;
    });
    this.entries = entries;
  }
  delete(k: Key): boolean {
    if (!this.entries.has(k)) return false;
    this.replace(new Map([...this.entries].filter(([other]) => other !== k)));
    return true;
  }
}

// ---- sequences

export class PyTuple extends PyObject {
  constructor(
    public cls: PyClass,
    readonly items: readonly Value[],
  ) {
    super();
  }
}

export class PyList extends PyObject {
  /** read freely; written only through the methods below, which keep the journal */
  items: readonly Value[];
  constructor(
    public cls: PyClass,
    items: readonly Value[],
  ) {
    super();
    this.items = items;
  }
  set(i: number, v: Value): void {
    const own = this.items as Value[];
    const before = own[i] as Value;
    record(() => {
      own[i] = before;
    });
    own[i] = v;
  }
  push(v: Value): void {
    const own = this.items as Value[];
    own.push(v);
    record(() => {
      own.length--;
    });
  }
  extend(items: readonly Value[]): void {
    const own = this.items as Value[];
    const before = own.length;
    for (const v of [...items]) own.push(v);
    record(() => {
      own.length = before;
    });
  }
  replace(items: readonly Value[]): void {
    const before = this.items;
    record(() => {
      this.items = before;
    });
    this.items = items;
  }
}

export class PyRange extends PyObject {
  constructor(
    public cls: PyClass,
    readonly start: Int,
    readonly stop: Int,
    readonly step: Int,
  ) {
    super();
  }
  /** how many there are */
  get count(): Int {
    const { start, stop, step } = this;
    if (typeof start === "number" && typeof stop === "number" && typeof step === "number")
      return Math.max(0, Math.ceil((stop - start) / step));
    const [distance, by] = [BigInt(stop) - BigInt(start), BigInt(step)];
    const whole = distance / by;
    const n = distance % by !== 0n && distance < 0n === by < 0n ? whole + 1n : whole;
    return n < 0n ? 0 : normal(n);
  }
  /** the same as a number of JavaScript's, which may be rounded, or infinite */
  get length(): number {
    return Number(this.count);
  }
  at(i: Int): Int {
    const { start, step } = this;
    if (typeof start === "number" && typeof step === "number" && typeof i === "number") {
      const at = start + i * step;
      if (Number.isSafeInteger(at)) return at;
    }
    return normal(BigInt(start) + BigInt(i) * BigInt(step));
  }
}

export class PySlice extends PyObject {
  constructor(
    public cls: PyClass,
    readonly start: Value,
    readonly stop: Value,
    readonly step: Value,
  ) {
    super();
  }
}

export class PyBytes extends PyObject {
  constructor(
    public cls: PyClass,
    readonly data: Uint8Array,
  ) {
    super();
  }
}

// ---- classes, instances, functions

export class PyClass extends PyObject {
  mro: readonly PyClass[] = [];
  readonly dict: PyDict;
  /** makes the raw instance; inherited along the mro (list.__new__ and the like) */
  construct: ((cls: PyClass) => PyObject) | null = null;
  /** library frames and repr need the home module */
  module = "builtins";
  qualname: string;
  /** set for classes of the user's files: where they stand */
  place: { readonly file: string; readonly line: number } | null = null;
  private metaclass: PyClass | null;

  constructor(
    public name: string,
    public bases: readonly PyClass[],
    dict: PyDict,
    metaclass: PyClass | null,
  ) {
    super();
    this.qualname = name;
    this.dict = dict;
    this.metaclass = metaclass;
    this.mro = linearize(this, bases);
  }
  get cls(): PyClass {
    return this.metaclass ?? this;
  }
  set cls(c: PyClass) {
    this.metaclass = c;
  }
  lookup(name: string): Value | undefined {
    for (const c of this.mro) {
      const v = c.dict.get(name);
      if (v !== undefined) return v;
    }
    return undefined;
  }
  /** as lookup, but starting after `after` in this class's order (super()) */
  lookupAfter(after: PyClass, name: string): Value | undefined {
    const at = this.mro.indexOf(after);
    for (const c of this.mro.slice(at + 1)) {
      const v = c.dict.get(name);
      if (v !== undefined) return v;
    }
    return undefined;
  }
  isSubclassOf(other: PyClass): boolean {
    return this.mro.includes(other);
  }
}

/** C3; an inconsistent order falls back to depth-first without repeats, so that the file can still be analysed */
function linearize(self: PyClass, bases: readonly PyClass[]): PyClass[] {
  const lists = [...bases.map(b => [...b.mro]), [...bases]].filter(l => l.length > 0);
  const out: PyClass[] = [self];
  while (lists.some(l => l.length > 0)) {
    const candidate = lists.map(l => l[0]).find(c => c !== undefined && !lists.some(l => l.indexOf(c) > 0)) as
      | PyClass
      | undefined;
    if (!candidate) return [self, ...new Set(bases.flatMap(b => b.mro))];
    out.push(candidate);
    for (const l of lists) if (l[0] === candidate) l.shift();
  }
  return out;
}

export class PyInstance extends PyObject {
  /** of a subclass of int, str, float: the plain value */
  payload: Value | undefined;
  /** set when the class defines __hash__: the key that stands for it */
  hashKey: Key | undefined;
  constructor(public cls: PyClass) {
    super();
  }
}

export type NativeFn = (args: readonly Value[], kwargs: Kwargs) => Value;

export class PyBuiltin extends PyObject {
  /** binds to an instance when found on a class */
  method = false;
  module: string | null = null;
  constructor(
    public cls: PyClass,
    readonly name: string,
    readonly fn: NativeFn,
  ) {
    super();
  }
}

export class PyMethod extends PyObject {
  constructor(
    public cls: PyClass,
    readonly func: Value,
    readonly self: Value,
  ) {
    super();
  }
}

export class PyProperty extends PyObject {
  constructor(
    public cls: PyClass,
    readonly fget: Value,
    readonly fset: Value,
    readonly fdel: Value,
  ) {
    super();
  }
}

export class PyStaticMethod extends PyObject {
  constructor(
    public cls: PyClass,
    readonly func: Value,
  ) {
    super();
  }
}

export class PyClassMethod extends PyObject {
  constructor(
    public cls: PyClass,
    readonly func: Value,
  ) {
    super();
  }
}

export class PySuper extends PyObject {
  constructor(
    public cls: PyClass,
    readonly after: PyClass,
    readonly self: Value,
    readonly selfClass: PyClass,
  ) {
    super();
  }
}

export class PyCell extends PyObject {
  private held: Value | undefined;
  constructor(
    public cls: PyClass,
    value?: Value,
  ) {
    super();
    this.held = value;
  }
  get value(): Value | undefined {
    return this.held;
  }
  set value(v: Value | undefined) {
    const before = this.held;
    record(() => {
      this.held = before;
    });
    this.held = v;
  }
}

export class PyModule extends PyObject {
  /** computes a name that is not in the dict yet; undefined: there is none */
  lazy: ((name: string) => Value | undefined) | null = null;
  /** path of the user's file, or null for library modules */
  file: string | null = null;
  constructor(
    public cls: PyClass,
    readonly name: string,
    readonly dict: PyDict,
  ) {
    super();
    this.attrs = dict;
  }
}

/** Anything with `__next__` made by the interpreter; `next` gives undefined at the end. */
export class PyIterator extends PyObject {
  constructor(
    public cls: PyClass,
    readonly next: () => Value | undefined,
    readonly kind = "iterator",
  ) {
    super();
  }
}

/** Ellipsis, NotImplemented, dtypes and other objects of which only the identity and the text matter. */
export class PyNamed extends PyObject {
  constructor(
    public cls: PyClass,
    readonly text: string,
    readonly data: unknown = undefined,
  ) {
    super();
  }
}

/** A value that can't be known: attributes, calls and items of it are unknown too. `what` says where it came from. */
export class PyUnknown extends PyObject {
  constructor(
    public cls: PyClass,
    readonly what: string,
  ) {
    super();
  }
}
