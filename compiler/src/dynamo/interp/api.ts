// What every part of the interpreter may ask of the whole. The machine (machine.ts) implements it; parts import this
// file only, so that none imports another in a circle.
import type { Span } from "../../python/ast";
import type { Code, SourceFile } from "../code/instructions";
import type { Int } from "../objects/integers";
import type {
  Key,
  Kwargs,
  NativeFn,
  PyBuiltin,
  PyBytes,
  PyClass,
  PyDict,
  PyInstance,
  PyIterator,
  PyList,
  PyModule,
  PyNamed,
  PySet,
  PyTuple,
  PyUnknown,
  Value,
} from "../objects/values";
import type { Frame, PyFunction, PyGenerator } from "./frame";

/** elements of one list, or characters of one string: more is no model's */
export const MAX_ELEMENTS = 10_000_000;

/** A Python exception on its way up. */
export class PyError extends Error {
  /** where it was raised, innermost last; for the diagnostic */
  trace: { readonly file: SourceFile; readonly span: Span; readonly func: string }[] = [];
  /** its message, kept where what raised it is undone: the exception's own arguments go with it */
  text: string | null = null;
  /** the frame whose place the trace has already: it raises again what it caught */
  placedIn: Frame | null = null;
  constructor(readonly value: PyInstance) {
    super(value.cls.name);
  }
}

const caught = new WeakMap<PyInstance, PyError>();

/** a frame handles the error from here on */
export function noteCaught(e: PyError): void {
  caught.set(e.value, e);
}

/** the exception that `frame` handles on its way up once more: it was raised where it was raised first */
export function raisedAgain(value: PyInstance, frame: Frame): PyError {
  const e = new PyError(value);
  const before = caught.get(value);
  if (before) {
    e.trace = [...before.trace];
    e.text = before.text;
    e.placedIn = frame;
  }
  return e;
}

/** The step budget is spent or the caller asked to stop; nothing in Python can catch it. */
export class Interrupted extends Error {
  /** `within`: the code that was running, outermost first, where a part took too many steps */
  constructor(
    message: string,
    readonly within: readonly Code[] = [],
  ) {
    super(message);
  }
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**" | "@" | "<<" | ">>" | "&" | "|" | "^";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "is" | "is not" | "in" | "not in";

/** Classes that the interpreter itself needs. */
export interface Types {
  readonly object: PyClass;
  readonly type: PyClass;
  readonly none: PyClass;
  readonly bool: PyClass;
  readonly int: PyClass;
  readonly float: PyClass;
  readonly complex: PyClass;
  readonly str: PyClass;
  readonly bytes: PyClass;
  readonly list: PyClass;
  readonly tuple: PyClass;
  readonly dict: PyClass;
  readonly set: PyClass;
  readonly frozenset: PyClass;
  readonly range: PyClass;
  readonly slice: PyClass;
  readonly func: PyClass;
  readonly method: PyClass;
  readonly builtin: PyClass;
  readonly module: PyClass;
  readonly generator: PyClass;
  readonly iterator: PyClass;
  readonly cell: PyClass;
  readonly property: PyClass;
  readonly staticmethod: PyClass;
  readonly classmethod: PyClass;
  readonly super: PyClass;
  readonly ellipsis: PyClass;
  readonly notImplemented: PyClass;
  readonly unknown: PyClass;
  readonly code: PyClass;
  readonly exception: PyClass;
}

/** Behaviour that torch objects, symbols and other guests add to the core operations; undefined: not mine. */
export interface Guest {
  typeOf?(v: Value): PyClass | undefined;
  getattr?(o: Value, name: string): Value | undefined;
  setattr?(o: Value, name: string, v: Value): boolean;
  binary?(op: BinaryOperator, a: Value, b: Value, inplace: boolean): Value | undefined;
  unary?(op: "+" | "-" | "~", a: Value): Value | undefined;
  compare?(op: CompareOperator, a: Value, b: Value): Value | undefined;
  getitem?(o: Value, key: Value): Value | undefined;
  setitem?(o: Value, key: Value, v: Value): boolean;
  truth?(v: Value): boolean | undefined;
  /** identity or type of the value is asked for */
  touched?(v: Value): void;
  length?(v: Value): Value | undefined;
  iterate?(v: Value): PyIterator | undefined;
  /** the n items that an assignment wants of something of which nobody knows how many it has */
  unpack?(v: Value, n: number): readonly Value[] | undefined;
  call?(f: Value, args: readonly Value[], kwargs: Kwargs): Value | undefined;
  repr?(v: Value, str: boolean): string | undefined;
  hash?(v: Value): Key | undefined;
  /** a plain number where one stands for the value (a symbolic int by its hint) */
  index?(v: Value): number | undefined;
  format?(v: Value, spec: string): string | undefined;
}

/** What a trace wants to see of the running code. */
export interface Observer {
  /** a local was stored under this name in any frame; null: in one of a builtin that torch runs in Python */
  stored?(name: string, value: Value, frame: Frame | null): void;
  loadedLocal?(name: string, value: Value, frame: Frame): Value;
  loadedGlobal?(name: string, value: Value, frame: Frame): Value;
  loadedDeref?(name: string, value: Value, frame: Frame): Value;
  loadedAttribute?(owner: Value, name: string, value: Value): Value;
  loadedItem?(owner: Value, key: Value, value: Value): Value;
  /** `attribute`: what of it, where it was an attribute */
  mutated?(owner: Value, attribute?: string): void;
  /** a function is about to run; bound methods have their object as first argument */
  called?(f: PyFunction, args: readonly Value[]): void;
}

export interface Interp {
  readonly types: Types;
  readonly builtins: PyDict;
  readonly emptyKwargs: Kwargs;
  readonly ellipsis: PyNamed;
  readonly notImplemented: PyNamed;
  readonly guests: Guest[];
  observer: Observer | null;
  /** what every object has although no class says so: object.__setattr__ and the like */
  objectAttribute: (name: string) => Value | undefined;
  /** the class that a base nobody knows is taken for; null: none is known */
  moduleBase: () => PyClass | null;
  readonly frames: Frame[];

  // objects
  tuple(items: readonly Value[]): PyTuple;
  list(items: readonly Value[]): PyList;
  dict(entries?: readonly (readonly [string, Value])[]): PyDict;
  set(items: readonly Value[]): PySet;
  bytes(data: Uint8Array): PyBytes;
  iterator(next: () => Value | undefined, kind?: string): PyIterator;
  builtin(name: string, fn: NativeFn): PyBuiltin;
  klass(name: string, bases: readonly PyClass[], module?: string): PyClass;
  unknown(what: string): PyUnknown;
  newModule(name: string): PyModule;

  // operations; all may throw PyError
  typeOf(v: Value): PyClass;
  call(f: Value, args: readonly Value[], kwargs?: Kwargs): Value;
  getattr(o: Value, name: string): Value;
  /** undefined where Python would raise AttributeError */
  getattrOrUndefined(o: Value, name: string): Value | undefined;
  setattr(o: Value, name: string, v: Value): void;
  delattr(o: Value, name: string): void;
  getitem(o: Value, key: Value): Value;
  setitem(o: Value, key: Value, v: Value): void;
  delitem(o: Value, key: Value): void;
  binary(op: BinaryOperator, a: Value, b: Value, inplace?: boolean): Value;
  unary(op: "+" | "-" | "~" | "not", a: Value): Value;
  compare(op: CompareOperator, a: Value, b: Value): Value;
  equal(a: Value, b: Value): boolean;
  truthy(v: Value): boolean;
  length(v: Value): Value;
  iterate(v: Value): PyIterator;
  toArray(v: Value): Value[];
  next(it: Value): Value | undefined;
  /** runs a generator to its next yield; undefined when it has ended */
  resume(g: PyGenerator, sent: Value, thrown?: PyError): Value | undefined;
  hash(v: Value): Key;
  str(v: Value): string;
  repr(v: Value): string;
  format(v: Value, spec: string): string;
  isInstance(v: Value, cls: Value): boolean;
  touch(v: Value): void;
  /** a JS integer from an int, bool or symbolic int */
  index(v: Value, what?: string): number;
  /** the same of any size, where `index` raises beyond what memory can have */
  integer(v: Value, what?: string): Int;
  importModule(name: string, fromFile: string | null): Value;

  raise(type: string, message: string): never;
  makeError(type: string, args: readonly Value[]): PyError;
  exceptionClass(name: string): PyClass;
  /** one unit of work; throws Interrupted when the budget is spent */
  tick(): void;
  /** so many units of it */
  charge(steps: number): void;
  /** asked before `n` elements are made at once: what would not fit raises MemoryError, what fits costs its steps */
  room(n: number): void;
  /** puts items at the end of a list: what it grows by costs, not what it holds */
  extend(l: PyList, more: readonly Value[]): void;
  print(text: string): void;
  report(code: string, message: string, severity?: "error" | "warning" | "information" | "hint", at?: Span): void;
}
