// A running (or suspended) piece of code, and the objects that make frames: functions and generators.
import type { Code } from "../code/instructions";
import {
  type PyCell,
  type PyClass,
  type PyDict,
  type PyInstance,
  type PyModule,
  PyObject,
  type Value,
} from "../objects/values";

export class PyFunction extends PyObject {
  name: string;
  qualname: string;
  /** torch.compiler.disable, torch.compile: what the tracer must know of it */
  marks: ReadonlySet<string> = new Set();
  constructor(
    public cls: PyClass,
    readonly code: Code,
    readonly globals: PyDict,
    readonly module: PyModule | null,
    public defaults: readonly Value[],
    public kwDefaults: ReadonlyMap<string, Value>,
    readonly closure: readonly PyCell[],
  ) {
    super();
    this.name = code.name;
    this.qualname = code.qualname;
  }
}

export class Frame {
  pc = 0;
  stack: Value[] = [];
  readonly locals: (Value | undefined)[];
  /** own cells first, then the closure's */
  readonly cells: PyCell[];
  /** exceptions that are being handled, innermost last */
  handling: PyInstance[] = [];
  /** the namespace of a class body or module; null in functions */
  names: PyDict | null = null;
  /** slots in order of their first store, parameters first (outputs of a graph break come in this order) */
  storeOrder: number[] = [];
  /** resumed frames bear this name in stacks */
  resumedAs: string | null = null;

  constructor(
    readonly code: Code,
    readonly globals: PyDict,
    readonly func: PyFunction | null,
    cells: PyCell[],
  ) {
    this.locals = new Array<Value | undefined>(code.varnames.length);
    this.cells = cells;
  }

  get shownName(): string {
    return this.resumedAs ?? this.code.name;
  }
}

export class PyGenerator extends PyObject {
  state: "new" | "suspended" | "running" | "done" = "new";
  returned: Value = null;
  constructor(
    public cls: PyClass,
    readonly frame: Frame,
  ) {
    super();
  }
}
