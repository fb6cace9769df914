// fx.Graph: what every graph stage reads and writes. Nodes are mutable while a stage builds them and are checked by
// verify() between stages.
import {
  type Device,
  type DeviceArg,
  type DType,
  type DTypeArg,
  type LayoutArg,
  type MemoryFormatArg,
  type PyComplex,
  PyFloat,
  type TensorMeta,
} from "../aten/types";
import type { Expr } from "../inductor/symbolic/expr";

/** One frame of a node's Python stack, innermost last. Lines are 1-based, columns 0-based in characters of the line. */
export interface StackFrame {
  readonly file: string;
  readonly func: string;
  readonly line: number;
  /** the physical source line, stripped */
  readonly code: string;
  /** columns stripped from the left of `code` */
  readonly indent?: number;
  readonly span: {
    readonly line: number;
    readonly column: number;
    readonly endLine: number;
    readonly endColumn: number;
  };
  /** where the operator stands inside the span (a + b, a[i], f(...)), for carets `~~^~~`; columns of the first line */
  readonly anchor?: { readonly start: number; readonly end: number };
  /**
   * Not in PyTorch's stack traces, and known to us all the same: the call of compiled library code, which has no frames of
   * its own, and the lines of what a pass has replaced. Reports show it where nothing else is known.
   */
  readonly reportOnly?: boolean;
}

/** what PyTorch's stack trace of a node holds of its stack */
export function stackTrace(stack: readonly StackFrame[]): readonly StackFrame[] {
  return stack.some(f => f.reportOnly) ? stack.filter(f => !f.reportOnly) : stack;
}

export type FakeTensor = TensorMeta<Expr>;
/** SymInt as Expr, SymFloat as {symFloat}; a tuple or list as an array. */
export type FakeValue = FakeTensor | Expr | { readonly symFloat: Expr } | readonly (FakeValue | null)[] | null;

export class SliceArg {
  constructor(
    readonly start: Argument,
    readonly stop: Argument,
    readonly step: Argument,
  ) {}
}
export class EllipsisArg {}
/** a Python tuple; a JS array is a Python list */
export class TupleArg {
  constructor(readonly items: readonly Argument[]) {}
}
/** text printed as it is: an object that the graph only names (torch.Generator, a submodule) */
export class OpaqueArg {
  constructor(readonly text: string) {}
}

export type Argument =
  | FxNode
  | Expr
  | number
  | bigint
  | boolean
  | string
  | null
  | PyFloat
  | PyComplex
  | DTypeArg
  | DeviceArg
  | LayoutArg
  | MemoryFormatArg
  | SliceArg
  | EllipsisArg
  | TupleArg
  | OpaqueArg
  | readonly Argument[];

export type NodeOp = "placeholder" | "get_attr" | "call_function" | "call_method" | "output";

export interface NodeMeta {
  val?: FakeValue;
  /** outermost frame first; empty: no stack trace */
  stack: readonly StackFrame[];
  /** a line that torch appends to the stack's text ("Gradient addition node due to multiple use of tensor around:") */
  stackNote?: string;
  /** names of the pre-grad nodes that this came from, first is the one torch prints as source node */
  fromNode: readonly string[];
  /** overload packet before decomposition: "aten.native_layer_norm", "prims.convert_element_type" */
  originalAten?: string;
  /** forward operator's autograd sequence number; backward nodes carry the same */
  seqNr?: number;
  isBackward?: boolean;
  /** pre-grad: text of the source expression of a placeholder, "L['self']._modules['q']._parameters['weight']" */
  source?: string;
  /** pre-grad: an input that requires grad and was computed, so it may be written */
  nonLeaf?: true;
  /** pre-grad: the module that the graph calls and that holds this node ("wrap_body_0"), and the node's name there */
  body?: string;
  shown?: string;
  /** inductor: the strides this value must be realised with */
  realizeToStrides?: readonly Expr[];
  /** activation checkpointing's wish */
  recompute?: "must_save" | "must_recompute" | "prefer_recompute";
  /** number of the checkpoint() call that the wish comes from, in the order of the calls */
  checkpoint?: number;
  /** the number that prints give that call (ac_graph_id) */
  checkpointId?: number;
  /** an opaque operator: why it can't be compiled or benchmarked */
  opaque?: string;
  assumed?: readonly string[];
}

/** A tensor written out in the source, which the graph holds as an attribute; values are row-major. */
export interface TensorConstant {
  readonly values: readonly (number | bigint | boolean)[];
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly device: Device;
}

/** the graph that a node belongs to, as far as a node must know it */
export interface OwnerGraph {
  readonly constants: ReadonlyMap<string, TensorConstant>;
  readonly nodes: readonly FxNode[];
  /** -1: not in this graph */
  indexOf(node: FxNode): number;
}

/** what most nodes have */
const NO_KEYWORDS: ReadonlyMap<string, Argument> = new Map();

/** keyword arguments with each value replaced by f(value) */
export function mapKeywords<V>(kwargs: ReadonlyMap<string, V>, f: (v: V) => Argument): ReadonlyMap<string, Argument> {
  if (kwargs.size === 0) return NO_KEYWORDS;
  const out = new Map<string, Argument>();
  for (const [k, v] of kwargs) out.set(k, f(v));
  return out;
}

export class FxNode {
  /** users in order of first use; a node that uses this one twice stands once */
  readonly users = new Set<FxNode>();
  /** kept by the graph: where the node last stood, and whether it has been dropped */
  near = 0;
  erased = false;
  private inputNodes: FxNode[] = [];
  private argumentList: readonly Argument[] = [];
  private keywordMap: ReadonlyMap<string, Argument> = NO_KEYWORDS;

  constructor(
    readonly graph: OwnerGraph,
    public name: string,
    readonly op: NodeOp,
    /** placeholder: its target name; call_function: "aten.add.Tensor", "torch.nn.functional.relu", "operator.getitem"; call_method: "relu" */
    public target: string,
    readonly meta: NodeMeta,
  ) {}

  get args(): readonly Argument[] {
    return this.argumentList;
  }
  get kwargs(): ReadonlyMap<string, Argument> {
    return this.keywordMap;
  }
  /** distinct nodes among the arguments, in order of first occurrence */
  get inputs(): readonly FxNode[] {
    return this.inputNodes;
  }

  setArguments(args: readonly Argument[], kwargs: ReadonlyMap<string, Argument> = this.keywordMap): void {
    for (const n of this.inputNodes) n.users.delete(this);
    this.argumentList = args;
    this.keywordMap = kwargs;
    const inputs: FxNode[] = [];
    for (const a of args) this.use(a, inputs);
    if (kwargs.size > 0) for (const a of kwargs.values()) this.use(a, inputs);
    this.inputNodes = inputs;
  }

  private use(a: Argument, inputs: FxNode[]): void {
    if (Array.isArray(a)) {
      for (const x of a as readonly Argument[]) this.use(x, inputs);
      return;
    }
    if (!(a instanceof FxNode)) {
      if (a instanceof TupleArg || a instanceof SliceArg) visitNodes(a, n => this.use(n, inputs));
      return;
    }
    // a few are searched faster than a set is made; of many, each has this node among its users once it is in
    if (inputs.length < 16 ? !inputs.includes(a) : !a.users.has(this)) {
      inputs.push(a);
      a.users.add(this);
    }
  }

  /** swaps floats among the arguments; inputs and users stay as they are */
  mapFloats(f: (x: PyFloat) => PyFloat): void {
    const map = (a: Argument): Argument => {
      if (a instanceof PyFloat) return f(a);
      if (Array.isArray(a)) return (a as readonly Argument[]).map(map);
      if (a instanceof TupleArg) return new TupleArg(a.items.map(map));
      return a instanceof SliceArg ? new SliceArg(map(a.start), map(a.stop), map(a.step)) : a;
    };
    this.argumentList = this.argumentList.map(map);
    this.keywordMap = mapKeywords(this.keywordMap, map);
  }

  replaceInput(from: FxNode, to: Argument): void {
    const swap = (a: Argument): Argument => mapNodes(a, n => (n === from ? to : n));
    this.setArguments(this.argumentList.map(swap), mapKeywords(this.keywordMap, swap));
  }

  /** makes every user take `to` instead; `to` itself keeps its inputs */
  replaceAllUsesWith(to: Argument): void {
    for (const user of [...this.users]) if (user !== to) user.replaceInput(this, to);
  }
}

/** calls f on every node inside an argument, in order */
export function visitNodes(a: Argument, f: (n: FxNode) => void): void {
  if (a instanceof FxNode) f(a);
  else if (Array.isArray(a)) for (const x of a) visitNodes(x, f);
  else if (a instanceof TupleArg) for (const x of a.items) visitNodes(x, f);
  else if (a instanceof SliceArg) for (const x of [a.start, a.stop, a.step]) visitNodes(x, f);
}

/** the argument with every node replaced by f(node) */
export function mapNodes(a: Argument, f: (n: FxNode) => Argument): Argument {
  if (a instanceof FxNode) return f(a);
  if (Array.isArray(a)) return (a as readonly Argument[]).map(x => mapNodes(x, f));
  if (a instanceof TupleArg) return new TupleArg(a.items.map(x => mapNodes(x, f)));
  if (a instanceof SliceArg) return new SliceArg(mapNodes(a.start, f), mapNodes(a.stop, f), mapNodes(a.step, f));
  return a;
}
