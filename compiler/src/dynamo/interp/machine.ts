// The interpreter: runs Code frame by frame over Python values. In: a module's Code. Out: its effects on the heap, and
// events through the host. Promises: no user code is executed by JavaScript, every instruction costs one step of the
// budget, and whatever Python would raise arrives as PyError.
import type { Span } from "../../python/ast";
import type { Code } from "../code/instructions";
import { record, recording } from "../objects/journal";
import {
  type Key,
  type Kwargs,
  keyOf,
  type NativeFn,
  PyBuiltin,
  PyBytes,
  PyCell,
  PyClass,
  PyClassMethod,
  PyComplex,
  PyDict,
  PyFloat,
  PyInstance,
  PyIterator,
  PyList,
  PyMethod,
  PyModule,
  PyNamed,
  PyObject,
  PyProperty,
  PyRange,
  PySet,
  PySlice,
  PyStaticMethod,
  PySuper,
  PyTuple,
  PyUnknown,
  type Value,
} from "../objects/values";
import {
  type BinaryOperator,
  type CompareOperator,
  type Guest,
  type Interp,
  Interrupted,
  type Observer,
  PyError,
  type Types,
} from "./api";
import { bindParameters } from "./arguments";
import { bind, deleteAttribute, getAttribute, setAttribute } from "./attributes";
import { deleteItem, getItem, plainLength, setItem } from "./containers";
import { Frame, PyFunction, PyGenerator } from "./frame";
import { handlers } from "./handlers";
import { asFloat, asInt } from "./numbers";
import { binaryOperation, compareOperation, plain, special, unaryOperation } from "./operators";
import { formatValue, plainRepr } from "./text";

export interface Host {
  readonly stepBudget: number;
  readonly shouldStop: () => boolean;
  print(text: string): void;
  report(code: string, message: string, severity: "error" | "warning" | "information" | "hint", at?: Span): void;
  importModule(name: string, fromFile: string | null): Value;
  /** an exception of this program as one of Python's; undefined: not one that Python code should see */
  translate?(e: unknown): PyError | undefined;
}

/** what a frame's run ends with */
export type Completion =
  | { readonly kind: "return"; readonly value: Value }
  | { readonly kind: "yield"; readonly value: Value };

const MAX_DEPTH = 220;
const NO_KWARGS: Kwargs = new Map();

/** elements of one list, or characters of one string: more is no model's */
const MAX_ELEMENTS = 10_000_000;
/** so few cost no steps beside the one of their instruction */
const FREE_ELEMENTS = 256;

export class Machine implements Interp {
  readonly types: Types;
  readonly builtins: PyDict;
  readonly emptyKwargs = NO_KWARGS;
  readonly ellipsis: PyNamed;
  readonly notImplemented: PyNamed;
  readonly guests: Guest[] = [];
  observer: Observer | null = null;
  objectAttribute: (name: string) => Value | undefined = () => undefined;
  moduleBase: () => PyClass | null = () => null;
  readonly frames: Frame[] = [];
  /** takes a frame over before it runs (a compiled function's frame); undefined: run it here */
  frameHook: ((frame: Frame) => Value | undefined) | null = null;
  /** is told before each instruction of one frame (the traced one); ends the run by throwing */
  traceHook: { readonly frame: Frame; readonly before: () => void } | null = null;
  /** the frames that ran when the last exception that is no Python exception was thrown, outermost first */
  faultFrames: readonly Frame[] | null = null;
  private lastFault: unknown = null;
  /** ends a part of the analysis before the whole budget is spent */
  stepLimit: number | null = null;
  steps = 0;
  private nextPoll = 1024;
  private readonly exceptionClasses = new Map<string, PyClass>();

  constructor(readonly host: Host) {
    this.types = makeTypes();
    this.builtins = this.dict();
    this.ellipsis = new PyNamed(this.types.ellipsis, "Ellipsis");
    this.notImplemented = new PyNamed(this.types.notImplemented, "NotImplemented");
  }

  // ---- objects

  tuple(items: readonly Value[]): PyTuple {
    return new PyTuple(this.types.tuple, items);
  }
  list(items: readonly Value[]): PyList {
    this.room(items.length);
    return new PyList(this.types.list, [...items]);
  }
  dict(entries: readonly (readonly [string, Value])[] = []): PyDict {
    const d = new PyDict(this.types.dict);
    for (const [k, v] of entries) d.set(k, v);
    return d;
  }
  set(items: readonly Value[]): PySet {
    const s = new PySet(this.types.set, false);
    for (const v of items) s.entries.set(this.hash(v), v);
    return s;
  }
  bytes(data: Uint8Array): PyBytes {
    return new PyBytes(this.types.bytes, data);
  }
  iterator(next: () => Value | undefined, kind?: string): PyIterator {
    return new PyIterator(this.types.iterator, next, kind);
  }
  builtin(name: string, fn: NativeFn): PyBuiltin {
    return new PyBuiltin(this.types.builtin, name, fn);
  }
  klass(name: string, bases: readonly PyClass[], module = "builtins"): PyClass {
    const c = new PyClass(name, bases.length > 0 ? bases : [this.types.object], this.dict(), this.types.type);
    c.module = module;
    return c;
  }
  unknown(what: string): PyUnknown {
    return new PyUnknown(this.types.unknown, what.length > 80 ? `${what.slice(0, 77)}...` : what);
  }
  newModule(name: string): PyModule {
    return new PyModule(this.types.module, name, this.dict([["__name__", name]]));
  }

  // ---- errors and budget

  registerException(cls: PyClass): void {
    this.exceptionClasses.set(cls.name, cls);
  }
  exceptionClass(name: string): PyClass {
    return this.exceptionClasses.get(name) ?? this.exceptionClasses.get("RuntimeError") ?? this.types.exception;
  }
  makeError(type: string, args: readonly Value[]): PyError {
    const e = new PyInstance(this.exceptionClass(type));
    e.attrs = this.dict([["args", this.tuple(args)]]);
    return new PyError(e);
  }
  raise(type: string, message: string): never {
    throw this.makeError(type, [message]);
  }
  tick(): void {
    this.charge(1);
  }
  /** work that counts as so many instructions, so that a budget in steps holds as one in time */
  charge(steps: number): void {
    this.steps += steps;
    if (this.stepLimit !== null && this.steps > this.stepLimit) throw new Interrupted("a part took too many steps");
    if (this.steps > this.host.stepBudget) throw new Interrupted("the analysis took too many steps");
    if (this.steps < this.nextPoll) return;
    this.nextPoll = this.steps + 1024;
    if (this.host.shouldStop()) throw new Interrupted("stopped");
  }
  room(n: number): void {
    if (n > MAX_ELEMENTS) this.raise("MemoryError", "more elements than the analysis makes");
    if (n < FREE_ELEMENTS) return;
    this.steps += n >> 4;
    this.tick();
    if (this.host.shouldStop()) throw new Interrupted("stopped");
  }
  print(text: string): void {
    this.host.print(text);
  }
  report(
    code: string,
    message: string,
    severity: "error" | "warning" | "information" | "hint" = "warning",
    at?: Span,
  ): void {
    this.host.report(code, message, severity, at);
  }
  importModule(name: string, fromFile: string | null): Value {
    return this.host.importModule(name, fromFile);
  }

  // ---- types

  typeOf(v: Value): PyClass {
    if (v instanceof PyObject) {
      for (const g of this.guests) {
        const t = g.typeOf?.(v);
        if (t) return t;
      }
      return v.cls;
    }
    if (v === null) return this.types.none;
    if (typeof v === "string") return this.types.str;
    if (typeof v === "boolean") return this.types.bool;
    if (typeof v === "number" || typeof v === "bigint") return this.types.int;
    if (v instanceof PyFloat) return this.types.float;
    if (v instanceof PyComplex) return this.types.complex;
    for (const g of this.guests) {
      const t = g.typeOf?.(v);
      if (t) return t;
    }
    return v satisfies never;
  }

  touch(v: Value): void {
    if (v instanceof PyObject) for (const g of this.guests) g.touched?.(v);
  }

  isInstance(v: Value, cls: Value): boolean {
    this.touch(v);
    if (cls instanceof PyTuple) return cls.items.some(c => this.isInstance(v, c));
    if (cls instanceof PyUnknown) return v instanceof PyUnknown && v.what.startsWith(cls.what);
    if (cls === null) return v === null;
    if (!(cls instanceof PyClass)) {
      const check = special(this, cls, "__instancecheck__");
      if (check !== undefined) return this.truthy(this.call(check, [v]));
      return this.raise("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union");
    }
    if (cls.cls !== cls && cls.cls !== this.types.type) {
      const check = cls.cls.lookup("__instancecheck__");
      if (check !== undefined) return this.truthy(this.call(bind(this, check, cls, cls.cls), [v]));
    }
    const native = cls.dict.get("__instancecheck__");
    if (native instanceof PyStaticMethod) return this.truthy(this.call(native.func, [v]));
    return this.typeOf(v).isSubclassOf(cls);
  }

  // ---- attributes and items

  getattrOrUndefined(o: Value, name: string): Value | undefined {
    const v = getAttribute(this, o, name);
    if (v !== undefined && this.observer?.loadedAttribute) return this.observer.loadedAttribute(o, name, v);
    return v;
  }
  getattr(o: Value, name: string): Value {
    const v = this.getattrOrUndefined(o, name);
    if (v !== undefined) return v;
    if (o instanceof PyModule) return this.raise("AttributeError", `module '${o.name}' has no attribute '${name}'`);
    if (o instanceof PyClass) return this.raise("AttributeError", `type object '${o.name}' has no attribute '${name}'`);
    return this.raise("AttributeError", `'${this.typeOf(o).name}' object has no attribute '${name}'`);
  }
  setattr(o: Value, name: string, v: Value): void {
    this.observer?.mutated?.(o);
    setAttribute(this, o, name, v);
  }
  delattr(o: Value, name: string): void {
    this.observer?.mutated?.(o);
    deleteAttribute(this, o, name);
  }

  getitem(o: Value, key: Value): Value {
    const v = this.itemOf(o, key);
    return this.observer?.loadedItem ? this.observer.loadedItem(o, key, v) : v;
  }
  private itemOf(o: Value, key: Value): Value {
    for (const g of this.guests) {
      const v = g.getitem?.(o, key);
      if (v !== undefined) return v;
    }
    if (o instanceof PyObject && o.cls.lookup("__getitem__") instanceof PyFunction) {
      return this.call(bind(this, o.cls.lookup("__getitem__") as Value, o, o.cls), [key]);
    }
    const item = getItem(this, o, key);
    if (item !== undefined) return item;
    if (o instanceof PyClass) return this.classItem(o, key);
    const method = special(this, o, "__getitem__");
    if (method !== undefined) return this.call(method, [key]);
    if (plain(o) !== o) return this.getitem(plain(o), key);
    if (o instanceof PyUnknown) return this.unknown(`${o.what}[...]`);
    if (o instanceof PyNamed) return o; // Optional[...] and the like
    return this.raise("TypeError", `'${this.typeOf(o).name}' object is not subscriptable`);
  }
  private classItem(c: PyClass, key: Value): Value {
    const meta = c.cls === c ? undefined : c.cls.lookup("__getitem__");
    if (meta !== undefined) return this.call(bind(this, meta, c, c.cls), [key]);
    const own = c.lookup("__class_getitem__");
    if (own instanceof PyClassMethod) return this.call(own.func, [c, key]);
    return c; // list[int] is list, for every purpose here
  }
  setitem(o: Value, key: Value, v: Value): void {
    this.observer?.mutated?.(o);
    for (const g of this.guests) if (g.setitem?.(o, key, v)) return;
    if (o instanceof PyObject) {
      const own = o.cls.lookup("__setitem__");
      if (own instanceof PyFunction) {
        this.call(bind(this, own, o, o.cls), [key, v]);
        return;
      }
    }
    if (setItem(this, o, key, v) || o instanceof PyUnknown) return;
    const method = special(this, o, "__setitem__");
    if (method === undefined) {
      this.raise("TypeError", `'${this.typeOf(o).name}' object does not support item assignment`);
    }
    this.call(method, [key, v]);
  }
  delitem(o: Value, key: Value): void {
    this.observer?.mutated?.(o);
    const method = o instanceof PyObject ? o.cls.lookup("__delitem__") : undefined;
    if (method instanceof PyFunction && o instanceof PyObject) {
      this.call(bind(this, method, o, o.cls), [key]);
      return;
    }
    if (deleteItem(this, o, key) || o instanceof PyUnknown) return;
    const own = special(this, o, "__delitem__");
    if (own === undefined) this.raise("TypeError", `'${this.typeOf(o).name}' object doesn't support item deletion`);
    this.call(own, [key]);
  }

  // ---- operators

  binary(op: BinaryOperator, a: Value, b: Value, inplace = false): Value {
    return binaryOperation(this, op, a, b, inplace);
  }
  unary(op: "+" | "-" | "~" | "not", a: Value): Value {
    return unaryOperation(this, op, a);
  }
  compare(op: CompareOperator, a: Value, b: Value): Value {
    return compareOperation(this, op, a, b);
  }
  equal(a: Value, b: Value): boolean {
    return this.truthy(this.compare("==", a, b));
  }
  truthy(v: Value): boolean {
    if (typeof v === "boolean") return v;
    if (v === null) return false;
    if (typeof v === "number" || typeof v === "bigint") return v !== 0 && v !== 0n;
    if (typeof v === "string") return v !== "";
    for (const g of this.guests) {
      const t = g.truth?.(v);
      if (t !== undefined) return t;
    }
    const f = asFloat(v);
    if (f !== undefined) return f !== 0;
    if (v instanceof PyComplex) return v.re !== 0 || v.im !== 0;
    const own = special(this, v, "__bool__");
    if (own !== undefined) return this.truthy(this.call(own, []));
    if (v instanceof PyObject) {
      const len = v.cls.lookup("__len__");
      if (len instanceof PyFunction) return this.truthy(this.call(bind(this, len, v, v.cls), []));
    }
    const n = plainLength(v);
    if (n !== undefined) return n > 0;
    if (plain(v) !== v) return this.truthy(plain(v));
    const len = special(this, v, "__len__");
    return len === undefined ? true : this.truthy(this.call(len, []));
  }
  length(v: Value): Value {
    for (const g of this.guests) {
      const n = g.length?.(v);
      if (n !== undefined) return n;
    }
    if (v instanceof PyObject) {
      const own = v.cls.lookup("__len__");
      if (own instanceof PyFunction) return this.call(bind(this, own, v, v.cls), []);
    }
    const n = plainLength(v);
    if (n !== undefined) return n;
    const own = special(this, v, "__len__");
    if (own !== undefined) return this.call(own, []);
    if (plain(v) !== v) return this.length(plain(v));
    if (v instanceof PyUnknown) return this.unknown(`len(${v.what})`);
    return this.raise("TypeError", `object of type '${this.typeOf(v).name}' has no len()`);
  }
  index(v: Value, what = "an integer"): number {
    const i = asInt(v);
    if (i !== undefined) return Number(i);
    for (const g of this.guests) {
      const n = g.index?.(v);
      if (n !== undefined) return n;
    }
    const p = plain(v);
    if (p !== v) return this.index(p, what);
    const own = special(this, v, "__index__");
    if (own !== undefined) return this.index(this.call(own, []), what);
    return this.raise(
      "TypeError",
      what.endsWith("indices")
        ? `${what} must be integers or slices, not ${this.typeOf(v).name}`
        : `'${this.typeOf(v).name}' object cannot be interpreted as an integer`,
    );
  }
  hash(v: Value): Key {
    for (const g of this.guests) {
      const k = g.hash?.(v);
      if (k !== undefined) return k;
    }
    if (v instanceof PyInstance && v.hashKey === undefined) {
      const own = v.cls.lookup("__hash__");
      if (own instanceof PyFunction) v.hashKey = `\u0000h${String(keyOf(this.call(own, [v])))}:${v.cls.name}`;
      else if (v.payload !== undefined) return this.hash(v.payload);
      else if (own === null) this.raise("TypeError", `unhashable type: '${v.cls.name}'`);
      else return v;
    }
    if (v instanceof PyTuple) for (const x of v.items) if (x instanceof PyInstance) this.hash(x);
    const k = keyOf(v);
    if (k === undefined) this.raise("TypeError", `unhashable type: '${this.typeOf(v).name}'`);
    return k;
  }

  // ---- iteration

  iterate(v: Value): PyIterator {
    for (const g of this.guests) {
      const it = g.iterate?.(v);
      if (it) return it;
    }
    if (v instanceof PyIterator) return v;
    if (v instanceof PyGenerator) return this.iterator(() => this.resume(v, null), "generator");
    if (v instanceof PyObject) {
      const own = v.cls.lookup("__iter__");
      if (own instanceof PyFunction || own instanceof PyBuiltin) {
        return this.iterate(this.call(bind(this, own, v, v.cls), []));
      }
    }
    let i = 0;
    const next = (): number =>
      this.advance(
        () => i,
        n => {
          i = n;
        },
      );
    if (v instanceof PyList || v instanceof PyTuple) {
      const kind = v instanceof PyList ? "list_iterator" : "tuple_iterator";
      return this.iterator(() => {
        const at = next();
        const item = v.items[at];
        return item === undefined ? undefined : (this.observer?.loadedItem?.(v, at, item) ?? item);
      }, kind);
    }
    if (v instanceof PyRange) {
      const n = v.length;
      return this.iterator(() => (i < n ? v.start + next() * v.step : undefined), "range_iterator");
    }
    if (typeof v === "string") {
      const letters = [...v];
      return this.iterator(() => letters[i++]);
    }
    if (v instanceof PyDict) {
      const keys = v.keys();
      return this.iterator(() => keys[i++]);
    }
    if (v instanceof PySet) {
      const items = [...v.entries.values()];
      return this.iterator(() => items[i++]);
    }
    if (v instanceof PyBytes) return this.iterator(() => v.data[i++]);
    if (v instanceof PyUnknown) return this.iterator(() => undefined);
    if (v instanceof PyClass && v.cls !== v) {
      const meta = v.cls.lookup("__iter__");
      if (meta !== undefined) return this.iterate(this.call(bind(this, meta, v, v.cls), []));
    }
    const own = special(this, v, "__next__");
    if (own !== undefined) return this.iterator(() => this.nextOrEnd(() => this.call(own, [])));
    const get = special(this, v, "__getitem__");
    if (get !== undefined) {
      return this.iterator(() => this.nextOrEnd(() => this.call(get, [i++]), "IndexError"));
    }
    if (plain(v) !== v) return this.iterate(plain(v));
    return this.raise("TypeError", `'${this.typeOf(v).name}' object is not iterable`);
  }
  /** an iterator that lived before a trace must be wound back with it */
  private advance(get: () => number, set: (n: number) => void): number {
    const i = get();
    if (recording()) record(() => set(i));
    set(i + 1);
    return i;
  }
  private nextOrEnd(f: () => Value, end = "StopIteration"): Value | undefined {
    try {
      return f();
    } catch (e) {
      if (e instanceof PyError && e.value.cls.isSubclassOf(this.exceptionClass(end))) return undefined;
      throw e;
    }
  }
  next(it: Value): Value | undefined {
    if (it instanceof PyIterator) return it.next();
    if (it instanceof PyGenerator) return this.resume(it, null);
    const own = special(this, it, "__next__");
    if (own !== undefined) return this.nextOrEnd(() => this.call(own, []));
    if (it instanceof PyUnknown) return undefined;
    return this.raise("TypeError", `'${this.typeOf(it).name}' object is not an iterator`);
  }
  toArray(v: Value): Value[] {
    if (v instanceof PyList || v instanceof PyTuple) {
      if (!(v.cls.lookup("__iter__") instanceof PyFunction)) {
        // items of a sourced list are found through it
        if (this.observer?.loadedItem) return v.items.map((x, i) => this.observer?.loadedItem?.(v, i, x) ?? x);
        this.room(v.items.length);
        return [...v.items];
      }
    }
    const it = this.iterate(v);
    const out: Value[] = [];
    for (let x = it.next(); x !== undefined; x = it.next()) {
      this.tick();
      if (out.length >= MAX_ELEMENTS) this.room(out.length + 1);
      out.push(x);
    }
    return out;
  }

  /** runs a generator to its next yield; undefined when it has ended */
  resume(g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined {
    if (g.state === "running") this.raise("ValueError", "generator already executing");
    if (g.state === "done") {
      if (thrown) throw thrown;
      return undefined;
    }
    const frame = g.frame;
    if (recording()) {
      const saved = {
        state: g.state,
        pc: frame.pc,
        stack: [...frame.stack],
        locals: [...frame.locals],
        handling: [...frame.handling],
      };
      record(() => {
        g.state = saved.state;
        frame.pc = saved.pc;
        frame.stack = saved.stack;
        frame.handling = saved.handling;
        saved.locals.forEach((v, i) => {
          frame.locals[i] = v;
        });
      });
    }
    if (g.state === "suspended") frame.stack.push(sent);
    g.state = "running";
    try {
      const done = this.runFrame(frame, thrown);
      if (done.kind === "yield") {
        g.state = "suspended";
        return done.value;
      }
      g.state = "done";
      g.returned = done.value;
      return undefined;
    } catch (e) {
      g.state = "done";
      throw e;
    }
  }

  // ---- calls

  call(f: Value, args: readonly Value[], kwargs: Kwargs = NO_KWARGS): Value {
    for (const g of this.guests) {
      const r = g.call?.(f, args, kwargs);
      if (r !== undefined) return r;
    }
    if (f instanceof PyFunction) return this.callFunction(f, args, kwargs);
    if (f instanceof PyMethod) return this.call(f.func, [f.self, ...args], kwargs);
    if (f instanceof PyBuiltin) return f.fn(args, kwargs);
    if (f instanceof PyClass) return this.instantiate(f, args, kwargs);
    if (f instanceof PyStaticMethod || f instanceof PyClassMethod) return this.call(f.func, args, kwargs);
    if (f instanceof PyUnknown) {
      this.report("unknown-call", `${f.what} is not known here; its result is unknown`, "information");
      return this.unknown(`${f.what}(...)`);
    }
    const own = special(this, f, "__call__");
    if (own !== undefined) return this.call(own, args, kwargs);
    return this.raise("TypeError", `'${this.typeOf(f).name}' object is not callable`);
  }

  makeFrame(f: PyFunction, args: readonly Value[], kwargs: Kwargs): Frame {
    const code = f.code;
    const cells: PyCell[] = [];
    for (let i = 0; i < code.cellNames.length; i++) cells.push(new PyCell(this.types.cell));
    cells.push(...f.closure);
    const frame = new Frame(code, f.globals, f, cells);
    bindParameters(this, f, args, kwargs, frame.locals);
    for (const [slot, cell] of code.cellParams) {
      const c = cells[cell];
      if (c) c.value = frame.locals[slot];
    }
    return frame;
  }

  private callFunction(f: PyFunction, args: readonly Value[], kwargs: Kwargs): Value {
    const frame = this.makeFrame(f, args, kwargs);
    if (f.code.isGenerator) return new PyGenerator(this.types.generator, frame);
    const taken = this.frameHook?.(frame);
    if (taken !== undefined) return taken;
    return this.run(frame);
  }

  run(frame: Frame): Value {
    const done = this.runFrame(frame);
    if (done.kind === "yield") throw new Error("a plain frame cannot yield");
    return done.value;
  }

  runCode(code: Code, globals: PyDict, names: PyDict | null, cells: PyCell[] = []): Frame {
    const frame = new Frame(code, globals, null, cells);
    frame.names = names;
    this.run(frame);
    return frame;
  }

  runFrame(frame: Frame, thrown?: PyError): Completion {
    if (this.frames.length > MAX_DEPTH) this.raise("RecursionError", "maximum recursion depth exceeded");
    this.frames.push(frame);
    try {
      return this.loop(frame, thrown);
    } finally {
      this.frames.pop();
    }
  }

  private loop(frame: Frame, thrown?: PyError): Completion {
    const { instructions } = frame.code;
    let pending = thrown;
    for (;;) {
      try {
        if (pending) {
          const e = pending;
          pending = undefined;
          throw e;
        }
        for (;;) {
          const i = instructions[frame.pc];
          if (!i) throw new Error("ran past the end of the code");
          this.tick();
          if (this.traceHook?.frame === frame) this.traceHook.before();
          frame.pc++;
          const done = handlers[i.op](this, frame, i);
          if (done) return done;
        }
      } catch (thrown) {
        const e = thrown instanceof PyError ? thrown : (this.host.translate?.(thrown) ?? thrown);
        if (!(e instanceof PyError)) {
          if (this.frames[this.frames.length - 1] === frame && this.lastFault !== e) {
            this.lastFault = e;
            this.faultFrames = [...this.frames];
          }
          throw e;
        }
        this.unwind(frame, e);
      }
    }
  }

  private unwind(frame: Frame, e: PyError): void {
    const at = frame.pc - 1;
    const i = frame.code.instructions[at];
    if (i && e.trace.length < 60) {
      e.trace.unshift({ file: frame.code.file, span: i.at.span, func: frame.shownName });
    }
    const handler = frame.code.handlers[at];
    if (!handler) throw e;
    frame.stack.length = handler.depth;
    frame.handling.length = handler.handling;
    frame.stack.push(e.value);
    frame.pc = handler.target;
  }

  // ---- classes

  instantiate(cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
    const meta = cls.cls === cls ? undefined : cls.cls.lookup("__call__");
    if (meta !== undefined && cls.cls !== this.types.type) {
      return this.call(bind(this, meta, cls, cls.cls), args, kwargs);
    }
    return this.construct(cls, args, kwargs);
  }

  /** type.__call__ */
  construct(cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
    const make = cls.lookup("__new__");
    let self: Value;
    if (make !== undefined) {
      const f = make instanceof PyStaticMethod ? make.func : make;
      self = this.call(f, [cls, ...args], kwargs);
      if (!this.typeOf(self).isSubclassOf(cls)) return self;
    } else {
      self = new PyInstance(cls);
    }
    const init = cls.lookup("__init__");
    if (init !== undefined) this.call(bind(this, init, self, cls), args, kwargs);
    else if (make === undefined && (args.length > 0 || kwargs.size > 0)) {
      this.raise("TypeError", `${cls.name}() takes no arguments`);
    }
    return self;
  }

  // ---- text

  repr(v: Value): string {
    for (const g of this.guests) {
      const t = g.repr?.(v, false);
      if (t !== undefined) return t;
    }
    if (v instanceof PyObject) {
      const own = v.cls.lookup("__repr__");
      if (own !== undefined) return String(this.call(bind(this, own, v, v.cls), []));
    }
    const text = plainRepr(this, v);
    if (text !== undefined) return text;
    if (v instanceof PyNamed) return v.text;
    if (v instanceof PyFunction) return `<function ${v.qualname} at 0x7f0000000000>`;
    if (v instanceof PyBuiltin) return `<built-in function ${v.name}>`;
    if (v instanceof PyMethod) return `<bound method ${this.nameOf(v.func)} of ${this.repr(v.self)}>`;
    if (v instanceof PyModule) return `<module '${v.name}'>`;
    if (v instanceof PyUnknown) return `<unknown ${v.what}>`;
    const cls = this.typeOf(v);
    if (cls.isSubclassOf(this.types.exception) && v instanceof PyObject) {
      const args = v.attrs?.get("args");
      return `${cls.name}(${args instanceof PyTuple ? args.items.map(a => this.repr(a)).join(", ") : ""})`;
    }
    return `<${cls.module === "builtins" ? "__main__" : cls.module}.${cls.qualname} object at 0x7f0000000000>`;
  }
  private nameOf(f: Value): string {
    if (f instanceof PyFunction) return f.qualname;
    return f instanceof PyBuiltin ? f.name : "?";
  }
  str(v: Value): string {
    if (typeof v === "string") return v;
    for (const g of this.guests) {
      const t = g.repr?.(v, true);
      if (t !== undefined) return t;
    }
    if (v instanceof PyObject) {
      const own = v.cls.lookup("__str__");
      if (own !== undefined) return String(plain(this.call(bind(this, own, v, v.cls), [])));
      if (v instanceof PyInstance && typeof v.payload === "string" && v.cls.lookup("__repr__") === undefined) {
        return v.payload;
      }
      if (v.cls.isSubclassOf(this.types.exception)) {
        const args = v.attrs?.get("args");
        if (args instanceof PyTuple) {
          const only = args.items[0];
          if (args.items.length === 1 && only !== undefined) {
            return v.cls.name === "KeyError" ? this.repr(only) : this.str(only);
          }
          return args.items.length === 0 ? "" : this.repr(args);
        }
      }
    }
    return this.repr(v);
  }
  format(v: Value, spec: string): string {
    for (const g of this.guests) {
      const t = g.format?.(v, spec);
      if (t !== undefined) return t;
    }
    if (v instanceof PyObject) {
      const own = v.cls.lookup("__format__");
      if (own !== undefined) return this.str(this.call(bind(this, own, v, v.cls), [spec]));
    }
    const text = formatValue(this, plain(v), spec);
    if (text !== undefined) return text;
    if (spec === "") return this.str(v);
    if (v instanceof PyUnknown) return this.str(v);
    return this.raise("TypeError", `unsupported format string passed to ${this.typeOf(v).name}.__format__`);
  }
}

function makeTypes(): Types {
  // `type` and `object` need each other and a dict class that needs both
  const placeholder = { name: "dict" } as unknown as PyClass;
  const raw = (name: string, bases: PyClass[], meta: PyClass | null): PyClass =>
    new PyClass(name, bases, new PyDict(placeholder), meta);
  const type = raw("type", [], null);
  const object = raw("object", [], type);
  type.mro = [type, object];
  type.bases = [object];
  const made = (name: string, base = object): PyClass => raw(name, [base], type);
  const dict = made("dict");
  const int = made("int");
  const all = [type, object, dict, int];
  const add = (name: string, base = object): PyClass => {
    const c = made(name, base);
    all.push(c);
    return c;
  };
  const types: Types = {
    object,
    type,
    dict,
    int,
    none: add("NoneType"),
    bool: add("bool", int),
    float: add("float"),
    complex: add("complex"),
    str: add("str"),
    bytes: add("bytes"),
    list: add("list"),
    tuple: add("tuple"),
    set: add("set"),
    frozenset: add("frozenset"),
    range: add("range"),
    slice: add("slice"),
    func: add("function"),
    method: add("method"),
    builtin: add("builtin_function_or_method"),
    module: add("module"),
    generator: add("generator"),
    iterator: add("iterator"),
    cell: add("cell"),
    property: add("property"),
    staticmethod: add("staticmethod"),
    classmethod: add("classmethod"),
    super: add("super"),
    ellipsis: add("ellipsis"),
    notImplemented: add("NotImplementedType"),
    unknown: add("unknown"),
    code: add("code"),
    exception: add("BaseException"),
  };
  for (const c of all) c.dict.cls = dict;
  return types;
}

export { PyProperty, PySlice, PySuper };
