// Loop IR as lowering leaves it and the scheduler takes it: buffers with layouts, operations that write them.
// Names are Inductor's (torch/_inductor/ir.py). Sizes, strides and offsets are in elements.
import type { ArgValue, Device, DType, ReductionType } from "../../aten/types";
import type { FxGraph, FxNode } from "../../fx/graph";
import type { Expr, SymExpr } from "../symbolic/expr";
import type { SizeVars } from "../symbolic/size_vars";
import type { LoopBody } from "./loop_body";

export type Layout =
  | {
      readonly kind: "fixed";
      readonly device: Device;
      readonly dtype: DType;
      readonly size: readonly Expr[];
      readonly stride: readonly Expr[];
      readonly offset: Expr;
    }
  /** strides not decided yet; never seen after lowering has finished */
  | {
      readonly kind: "flexible";
      readonly device: Device;
      readonly dtype: DType;
      readonly size: readonly Expr[];
      readonly stride: readonly Expr[];
      readonly offset: Expr;
    }
  /** a slice of another buffer's storage (an input of ConcatKernel written in place): indices count from baseOffset in it, so offset is 0 */
  | {
      readonly kind: "non_owning";
      readonly device: Device;
      readonly dtype: DType;
      readonly size: readonly Expr[];
      readonly stride: readonly Expr[];
      readonly offset: Expr;
      readonly base: string;
      readonly baseOffset: Expr;
    }
  /** writes into `target`'s storage */
  | {
      readonly kind: "mutation";
      readonly device: Device;
      readonly dtype: DType;
      readonly size: readonly Expr[];
      readonly stride: readonly Expr[];
      readonly offset: Expr;
      readonly target: string;
    }
  | { readonly kind: "multi_output"; readonly device: Device }
  | { readonly kind: "none"; readonly device: Device };

/** A strided view of a buffer as an extern argument or graph output: reinterpret_tensor(buf, size, stride, offset). */
export interface BufferView {
  readonly buffer: string;
  readonly size: readonly Expr[];
  readonly stride: readonly Expr[];
  readonly offset: Expr;
  readonly dtype: DType;
  /** the buffer exactly as it is, printed by name */
  readonly whole: boolean;
  /** the buffer's bits are read as another dtype than it holds (Tensor.view(dtype)) */
  readonly reinterpreted?: true;
}

export type ReductionHint = "INNER" | "OUTER" | "OUTER_TINY" | "DEFAULT";

/** How IR prints and what codegen asks of the loops; the loops themselves are in the LoopBody. */
export type LoopsKind =
  | { readonly kind: "Pointwise" }
  | { readonly kind: "Scatter"; readonly mode: "store" | "atomic_add" }
  | {
      readonly kind: "Reduction" | "WelfordReduction" | "OnlineSoftmaxReduction" | "MultiOutputReduction";
      readonly type: ReductionType;
      readonly hint: ReductionHint;
      readonly srcDtype: DType;
      /** first stage of a split: number of splits, and the sizes before splitting (for mix-order fusion) */
      readonly split?: {
        readonly size: number;
        readonly ranges: readonly Expr[];
        readonly reductionRanges: readonly Expr[];
        readonly original: () => LoopBody;
      };
      readonly outputIndex?: number;
    }
  | { readonly kind: "Scan" | "SplitScan"; readonly hint?: ReductionHint }
  | { readonly kind: "Sort"; readonly stable: boolean; readonly descending: boolean };

interface OperationBase {
  /** "op3" */
  readonly name: string;
  /** names of the buffers it writes, "buf3"; several for multi-output externs only through MultiOutput nodes */
  readonly outputs: readonly string[];
  readonly device: Device;
  /** FX nodes in insertion order (newest first, as Inductor's OrderedSet of origins prints) */
  readonly origins: readonly FxNode[];
  readonly originNode: FxNode | null;
}

export interface ComputedOperation extends OperationBase {
  readonly kind: "computed";
  readonly loops: LoopsKind;
  /** sizes as printed by the fusion log: ranges before dropping 1s, and the reduction's */
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  /** after simplify_and_reorder: sizes squeezed and ordered, loops not merged */
  readonly sizes: readonly [readonly Expr[], readonly Expr[]];
  readonly body: LoopBody;
}

export interface ExternOperation extends OperationBase {
  readonly kind: "extern";
  readonly irClass:
    | "ExternKernelOut"
    | "ExternKernelAlloc"
    | "FallbackKernel"
    | "MultiOutput"
    | "RandomSeeds"
    | "TemplateBuffer"
    | "MultiTemplateBuffer"
    | "DeviceCopy"
    | "ScatterFallback"
    | "IndexPutFallback"
    | "InplaceCopyFallback"
    | "InplaceBernoulliFallback"
    | "InplaceFallback";
  /** "extern_kernels.mm", "torch.ops.aten.topk.default"; null for MultiOutput */
  readonly kernel: string | null;
  readonly op: string;
  readonly args: readonly ArgValue<BufferView>[];
  readonly kwargs: Readonly<Record<string, ArgValue<BufferView>>>;
  readonly reads: readonly BufferView[];
  readonly mutates: readonly string[];
  /** buffers whose memory the results share: a view that ATen makes, and what is unpacked from it */
  readonly aliases?: readonly string[];
  /** MultiOutput: which element of its producer */
  readonly index?: number;
  /** opaque operator: why it can't be run */
  readonly opaque?: string;
  /** the graph's own operator, where it is not `op`: what calls name their results after */
  readonly target?: string;
}

/** ConcatKernel whose pieces are written in place, zero-element computations, empty(): an allocation, no kernel. */
export interface NopOperation extends OperationBase {
  readonly kind: "nop";
  readonly irClass: "ConcatKernel" | "ComputedBuffer";
  readonly reads: readonly string[];
  /** ComputedBuffer: the loops that would compute no element, as logs print them */
  readonly loops?: LoopsKind;
  readonly ranges?: readonly Expr[];
  readonly reductionRanges?: readonly Expr[];
}

export type Operation = ComputedOperation | ExternOperation | NopOperation;

export interface Buffer {
  readonly name: string;
  readonly irClass: string; // "ComputedBuffer", "ExternKernelOut", ... as dumps print it
  readonly layout: Layout;
  readonly operation: string | null; // null: graph input or constant
  readonly originNode: FxNode | null;
}

export interface GraphInput {
  readonly name: string;
  readonly layout: Layout | null; // null: a symbol
  readonly symbol?: Expr;
  /** the value an ungiven input has for timing (size hint) */
  readonly hint?: number;
  /** a tensor that may begin anywhere in memory: a view of another one from an offset on */
  readonly unaligned?: true;
}

/** The whole of one lowered graph. */
export interface LoweredGraph {
  readonly graph: FxGraph;
  readonly kind: "inference" | "forward" | "backward";
  readonly sizevars: SizeVars;
  readonly inputs: readonly GraphInput[];
  readonly operations: readonly Operation[];
  readonly buffers: ReadonlyMap<string, Buffer>;
  readonly constants: ReadonlyMap<
    string,
    { readonly values: readonly number[]; readonly dtype: DType; readonly size: readonly number[] }
  >;
  /** null for a None output, Expr for a symbolic int */
  readonly outputs: readonly (BufferView | Expr | null)[];
  /** inputs whose storage the graph writes, in input order */
  readonly mutatedInputs: readonly string[];
  /** buffers that a backward may overwrite (donated) */
  readonly donated: ReadonlySet<string>;
  /** foreach groups: operation names that stay together */
  readonly foreachLists: readonly (readonly string[])[];
  readonly symbols: readonly SymExpr[];
}
