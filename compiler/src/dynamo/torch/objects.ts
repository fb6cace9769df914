// Tensors and symbolic numbers as Python values. In: metas. Out: objects that the interpreter passes around. A tensor
// knows its meta, its storage (views share it) and, while a frame is traced, the graph node that stands for it.
import type { PyFloat } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import type { FakeTensor } from "../../fx/types";
import type { Expr } from "../../inductor/symbolic/expr";
import { record } from "../objects/journal";
import { type PyClass, PyObject, type Value } from "../objects/values";
import type { RuntimeTensor } from "../types";

export class Storage {
  /** counts writes; views of one storage see each other's */
  private writes = 0;
  /** the tensor that it was made for; the others are views */
  root: PyTensor | null = null;

  get version(): number {
    return this.writes;
  }
  wrote(): void {
    const before = this.writes;
    record(() => {
      this.writes = before;
    });
    this.writes++;
  }
}

export interface Proxy {
  /** the trace that the node belongs to; nodes of a finished trace mean nothing */
  readonly trace: object;
  node: FxNode;
  /** a local's name has been given to the node already */
  named: boolean;
}

export class PyTensor extends PyObject {
  proxy: Proxy | null = null;
  /** gradient, once backward() has run */
  grad: PyTensor | null = null;
  /** made by nn.Buffer: assigning it to a module's attribute registers it */
  isBuffer = false;
  /** the unknown function that gave it: it may as well be an object or a sequence that holds tensors */
  guessedFrom: string | null = null;
  /** a number that nobody knows, as another one and so much more */
  sum: { readonly from: PyTensor; readonly more: number } | null = null;
  isLeaf = true;
  private knownValues: readonly (number | boolean)[] | null = null;
  private knownAt = 0;
  /** dims given by mark_dynamic and friends */
  marks: Map<number, "dynamic" | "static" | "unbacked"> | null = null;
  private runtimeTensor: RuntimeTensor | null = null;

  constructor(
    public cls: PyClass,
    private currentMeta: FakeTensor,
    readonly storage: Storage,
  ) {
    super();
  }
  /** values of small tensors that the program states, for .item() and .tolist(); a write to the storage ends it */
  get known(): readonly (number | boolean)[] | null {
    return this.knownAt === this.storage.version ? this.knownValues : null;
  }
  set known(values: readonly (number | boolean)[] | null) {
    const { knownValues, knownAt } = this;
    if (knownValues !== null)
      record(() => {
        Object.assign(this, { knownValues, knownAt });
      });
    this.knownValues = values;
    this.knownAt = this.storage.version;
  }
  get meta(): FakeTensor {
    return this.currentMeta;
  }
  set meta(m: FakeTensor) {
    const before = this.currentMeta;
    record(() => {
      this.currentMeta = before;
    });
    this.currentMeta = m;
  }
  setProxy(p: Proxy | null): void {
    const before = this.proxy;
    record(() => {
      this.proxy = before;
    });
    this.proxy = p;
  }
  setGrad(g: PyTensor | null): void {
    const before = this.grad;
    record(() => {
      this.grad = before;
    });
    this.grad = g;
  }
  /** becomes the same memory as another tensor of the replayed program (a Parameter of its data) */
  takeRuntime(from: PyTensor): void {
    this.runtimeTensor = from.runtimeTensor;
  }
  /** its number in the replayed program, once a step has met it */
  get runtimeId(): number | undefined {
    return this.runtimeTensor?.id;
  }
  /** the tensor as the replayed program knows it */
  runtime(make: (t: PyTensor) => RuntimeTensor): RuntimeTensor {
    const known = this.runtimeTensor;
    if (known && known.meta === this.currentMeta) return known;
    const made = make(this);
    this.runtimeTensor = known ? { ...made, id: known.id } : made;
    return this.runtimeTensor;
  }
}

/** an int that the graph computes with */
export class PySymInt extends PyObject {
  constructor(
    public cls: PyClass,
    readonly expr: Expr,
    readonly node: FxNode | null,
    readonly trace: object,
  ) {
    super();
  }
}

/** a float that the graph computes with */
export class PySymFloat extends PyObject {
  constructor(
    public cls: PyClass,
    readonly hint: PyFloat,
    readonly expr: Expr,
    readonly node: FxNode,
    readonly trace: object,
  ) {
    super();
  }
}

/** the result of .item() on a tensor whose values nobody knows yet: a number by type; by value, only when asked */
export class PyUnknownNumber extends PyObject {
  private answer: number | undefined | null = null;

  constructor(
    public cls: PyClass,
    readonly what: string,
    readonly from: PyTensor | null,
    /** works the value out, which may cost much; undefined: it stays unknown */
    private readonly compute: () => number | undefined = () => undefined,
  ) {
    super();
  }
  /** the value, worked out at the first call */
  value(): number | undefined {
    if (this.answer === null) this.answer = this.compute();
    return this.answer;
  }
}

/** a function or module handed to torch.compile */
export class PyCompiled extends PyObject {
  constructor(
    public cls: PyClass,
    readonly target: Value,
    readonly options: CompileOptions,
  ) {
    super();
  }
}

export interface CompileOptions {
  readonly fullgraph: boolean;
  readonly dynamic: boolean | null;
  readonly mode: string | null;
  readonly backend: string;
  /** Inductor's options by dotted name */
  readonly options: ReadonlyMap<string, unknown>;
  /** analysed as if compiled, though the file does not say so */
  readonly assumed: readonly string[];
  /** backward() is assumed to follow, as in training */
  readonly backward?: boolean;
}
