// fx.Graph: what every graph stage reads and writes. Nodes are mutable while a stage builds them and are checked by
// verify() between stages.
import type { DeviceArg, DTypeArg, LayoutArg, MemoryFormatArg, PyComplex, PyFloat, TensorMeta } from "../aten/types";
import type { Expr } from "../inductor/symbolic/expr";
import type { FxNode } from "./graph";

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
  /** inductor: the strides this value must be realised with */
  realizeToStrides?: readonly Expr[];
  recompute?: "must_save" | "must_recompute" | "prefer_recompute";
  /** an opaque operator: why it can't be compiled or benchmarked */
  opaque?: string;
  assumed?: readonly string[];
}
