// Where operators go while a frame is traced; trace/ implements it. Here so that torch/ and trace/ form no circle.
import type { GraphMetaBuilder } from "../../aten/meta_builder";
import type { FxGraph, FxNode } from "../../fx/graph";
import type { Argument, FakeValue, NodeOp, StackFrame } from "../../fx/types";
import type { Expr, SymExpr } from "../../inductor/symbolic/expr";
import type { Value } from "../objects/values";
import type { PySymFloat, PySymInt, PyTensor } from "./objects";

export interface EmitOptions {
  readonly candidate?: string;
  /** frames of library functions that torch inlines and shows */
  readonly extraFrames?: readonly StackFrame[];
  readonly opaque?: string;
  /** the node of a context manager: Dynamo gives it no place in the program */
  readonly placeless?: true;
}

export interface TraceSink {
  readonly graph: FxGraph;
  readonly metaBuilder: GraphMetaBuilder;
  /** the node that stands for a tensor; a tensor from before the trace becomes an input */
  nodeOf(t: PyTensor): FxNode;
  nodeOfSym(s: PySymInt | PySymFloat): Argument;
  emit(
    op: NodeOp,
    target: string,
    args: readonly Argument[],
    kwargs: ReadonlyMap<string, Argument>,
    val: FakeValue | undefined,
    options?: EmitOptions,
  ): FxNode;
  /** marks a tensor as made by this trace */
  adopt(t: PyTensor, node: FxNode): void;
  /** decides a condition over symbols by the example values, and guards on it */
  decide(condition: Expr): boolean;
  hint(e: Expr): number;
  /** a number that only data decides */
  unbackedInt(): Expr;
  note(assumption: string): void;
}

/** Watches traces while inputs are being inferred; an error then ends the run at once instead of running again eagerly. */
export interface Probe {
  decided(condition: Expr, holds: boolean): void;
  /** an operator is about to read the tensor */
  touched(t: PyTensor): void;
  emitted(node: FxNode): void;
  /** an operator outside of a trace made the one tensors of the others */
  ranEagerly(from: Iterable<PyTensor>, made: readonly PyTensor[]): void;
  /** the trace that made the tensor, or read it, is at its end; the tensor still has its node */
  released(t: PyTensor): void;
  /** the trace ended with an error; example values of its symbols can be asked for */
  failed(hint: (s: SymExpr) => number | undefined): void;
}

/** A construct that Dynamo cannot trace: ends the graph before the instruction that runs into it. */
export class Unsupported extends Error {
  constructor(
    readonly gb: {
      readonly type: string;
      readonly number: string;
      readonly explanation: string;
      readonly hints: readonly string[];
      readonly context: string;
    },
    /** the data-dependent `if`, which splits after the test and not before it */
    readonly branch = false,
  ) {
    super(gb.type);
  }
}

export type { Value };

// what Dynamo advises where it ends a graph
export const REPORT = "Please report an issue to PyTorch.";
export const SUPPORTABLE =
  "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch if you encounter this graph break often and it is causing performance issues.";
export const FUNDAMENTAL =
  "This graph break is fundamental - it is unlikely that Dynamo will ever be able to trace through your code. Consider finding a workaround.";
