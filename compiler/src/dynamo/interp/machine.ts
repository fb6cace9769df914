// The interpreter: runs Code frame by frame over Python values. In: a module's Code. Out: its effects on the heap, and
// events through the host. Promises: no user code is executed by JavaScript, every instruction costs one step of the
// budget, and whatever Python would raise arrives as PyError.
import type { Span } from "../../python/ast";
import type { Code } from "../code/instructions";
import type { Int } from "../objects/integers";
import {
  type Key,
  type Kwargs,
  type NativeFn,
  PyBuiltin,
  PyBytes,
  type PyCell,
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
  PySet,
  PyStaticMethod,
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
  MAX_ELEMENTS,
  noteCaught,
  type Observer,
  PyError,
  type Types,
} from "./api";
import { deleteAttribute, getAttribute, setAttribute } from "./attributes";
import { construct, instantiate, makeFrame } from "./calls";
import { Frame, PyFunction, PyGenerator } from "./frame";
import { resume } from "./generators";
import { handlers } from "./handlers";
import type { Completion, Host } from "./host";
import * as items from "./items";
import * as iteration from "./iteration";
import * as measures from "./measures";
import { binaryOperation, compareOperation, special, unaryOperation } from "./operators";
import { makeTypes } from "./types";
import * as written from "./written";

const MAX_DEPTH = 220;
const NO_KWARGS: Kwargs = new Map();

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
  /** runs with a part of the steps that are left: more of them than `steps` interrupt it */
  withSteps<T>(steps: number, run: () => T): T {
    const outer = this.stepLimit;
    this.stepLimit = Math.min(this.steps + steps, outer ?? Number.POSITIVE_INFINITY);
    try {
      return run();
    } finally {
      this.stepLimit = outer;
    }
  }
  /** work that counts as so many instructions, so that a budget in steps holds as one in time */
  charge(steps: number): void {
    this.steps += steps;
    if (this.stepLimit !== null && this.steps > this.stepLimit) {
      const within = this.frames.map(f => f.code);
      throw new Interrupted("a part took too many steps", within);
    }
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
  extend(l: PyList, more: readonly Value[]): void {
    if (l.items.length + more.length > MAX_ELEMENTS) this.room(l.items.length + more.length);
    this.room(more.length);
    l.extend(more);
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
    return measures.isInstance(this, v, cls);
  }

  // ---- attributes and items

  /** what the program's own code said of the attribute that is asked for */
  private missing: PyError | undefined;
  private readonly toldMissing = (e: PyError): void => {
    this.missing = e;
  };

  getattrOrUndefined(o: Value, name: string): Value | undefined {
    return this.attribute(o, name);
  }
  private attribute(o: Value, name: string, missing?: (e: PyError) => void): Value | undefined {
    const v = getAttribute(this, o, name, missing);
    if (v !== undefined && this.observer?.loadedAttribute) return this.observer.loadedAttribute(o, name, v);
    return v;
  }
  getattr(o: Value, name: string): Value {
    this.missing = undefined;
    const v = this.attribute(o, name, this.toldMissing);
    if (v !== undefined) return v;
    const own: PyError | undefined = this.missing;
    this.missing = undefined;
    if (own !== undefined) throw own;
    if (o instanceof PyModule) return this.raise("AttributeError", `module '${o.name}' has no attribute '${name}'`);
    if (o instanceof PyClass) return this.raise("AttributeError", `type object '${o.name}' has no attribute '${name}'`);
    return this.raise("AttributeError", `'${this.typeOf(o).name}' object has no attribute '${name}'`);
  }
  setattr(o: Value, name: string, v: Value): void {
    this.observer?.mutated?.(o, name);
    setAttribute(this, o, name, v);
  }
  delattr(o: Value, name: string): void {
    this.observer?.mutated?.(o);
    deleteAttribute(this, o, name);
  }
  getitem(o: Value, key: Value): Value {
    return items.getitem(this, o, key);
  }
  setitem(o: Value, key: Value, v: Value): void {
    items.setitem(this, o, key, v);
  }
  delitem(o: Value, key: Value): void {
    items.delitem(this, o, key);
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
    return measures.truthy(this, v);
  }
  length(v: Value): Value {
    return measures.length(this, v);
  }
  index(v: Value, what?: string): number {
    return measures.index(this, v, what);
  }
  integer(v: Value, what?: string): Int {
    return measures.integer(this, v, what);
  }
  hash(v: Value): Key {
    return measures.hash(this, v);
  }

  // ---- iteration

  iterate(v: Value): PyIterator {
    return iteration.iterate(this, v);
  }
  next(it: Value): Value | undefined {
    return iteration.next(this, it);
  }
  toArray(v: Value): Value[] {
    return iteration.toArray(this, v);
  }

  resume(g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined {
    return resume(this, g, sent, thrown);
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
    return makeFrame(this, f, args, kwargs);
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
    if (done.kind === "yield") this.raise("SyntaxError", "'yield' outside function");
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
        const done = this.unwind(frame, e);
        if (done) return done;
      }
    }
  }

  /** whether a function of the program that failed is passed over, as if it had returned None */
  passedOver: ((frame: Frame, e: PyError) => boolean) | null = null;

  private unwind(frame: Frame, e: PyError): Completion | undefined {
    const at = frame.pc - 1;
    const i = frame.code.instructions[at];
    const placed = e.placedIn === frame;
    e.placedIn = null;
    if (i && !placed && e.trace.length < 60) {
      e.trace.unshift({ file: frame.code.file, span: i.at.span, func: frame.shownName });
    }
    const handler = frame.code.handlers[at];
    if (!handler) {
      if (this.passedOver?.(frame, e)) return { kind: "return", value: null };
      throw e;
    }
    noteCaught(e);
    frame.stack.length = handler.depth;
    frame.handling.length = handler.handling;
    frame.stack.push(e.value);
    frame.pc = handler.target;
    return undefined;
  }

  // ---- classes

  instantiate(cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
    return instantiate(this, cls, args, kwargs);
  }
  /** type.__call__ */
  construct(cls: PyClass, args: readonly Value[], kwargs: Kwargs): Value {
    return construct(this, cls, args, kwargs);
  }

  // ---- text

  repr(v: Value): string {
    return written.repr(this, v);
  }
  str(v: Value): string {
    return written.str(this, v);
  }
  format(v: Value, spec: string): string {
    return written.format(this, v, spec);
  }
}
