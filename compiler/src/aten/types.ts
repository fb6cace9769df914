// The operator table's own vocabulary. One record per operator (see OpRecord); records import nothing but this file, which
// passes on values.ts and builders.ts, and the stages that use a record (dynamo, aot, inductor/ir) implement the builder
// interfaces declared there over handles that are opaque to the record. So no stage reaches another through the table.
import type { Derivative, GraphBuilder, LoweringBuilder, MetaBuilder, Result } from "./builders";
import type { Args, TensorMeta } from "./values";

export * from "./builders";
export * from "./values";

export type OpTag =
  | "pointwise" // tagged pointwise in PyTorch's native functions
  | "view"
  | "reduction"
  | "random"
  | "inplace"
  | "factory"
  | "extern"
  | "foreach"
  | "data_dependent"
  | "side_effect";

/**
 * Everything that is known of one operator. `composite` runs before autograd (CompositeImplicit), `decompose` after
 * it (Inductor's table); an operator without either needs `lower`.
 */
export interface OpRecord {
  /** "aten.add.Tensor" */
  readonly name: string;
  /** "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  readonly schema: string;
  /**
   * Python spellings that reach it: "torch.add", "Tensor.add", "operator.add", "torch.nn.functional.relu"; several
   * overloads may share a spelling, the first record whose schema binds the arguments wins.
   */
  readonly python?: readonly string[];
  /** how the pre-grad graph prints a function spelling where that differs ("torch._C._nn.gelu") */
  readonly printedAs?: string;
  /** for operators of our own: the packet that PyTorch's graphs name as the original of what they decompose to */
  readonly original?: string;
  readonly tags?: readonly OpTag[];
  readonly meta: (m: MetaBuilder, a: Args<TensorMeta>) => TensorMeta | readonly (TensorMeta | null)[];
  /**
   * For operators that write arguments: the functional operator ("aten.add_.Tensor" -> "aten.add.Tensor"). Its results
   * are the operator's own results that alias no argument, then, in schema order, the new value of each written argument.
   * Its derivative serves the write too, unless the writing operator has one (elu_ goes by its result).
   */
  readonly functional?: string;
  /**
   * Results that never require grad though they are floats (the statistics of layer_norm); like integer results they are
   * saved without an alias pair.
   */
  readonly nonDifferentiable?: readonly number[];
  /** for view operators: which argument the result aliases */
  readonly viewOf?: string;
  /** a view only for functionalization: to autograd the result is a new tensor */
  readonly hiddenView?: true;
  readonly composite?: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T>;
  readonly decompose?: <T>(b: GraphBuilder<T>, a: Args<T>) => Result<T> | undefined; // undefined: declined, keep the op
  readonly derivative?: Derivative;
  readonly lower?: <B>(b: LoweringBuilder<B>, a: Args<B>) => B | readonly (B | null)[];
}
