// Values while a graph is lowered (torch/_inductor/ir.py: TensorBox, StorageBox, views, Loops, buffers) as data.
// In: nothing. Out: the types that the files of this folder work on, and queries that change nothing.
// Promises: a box is a cell; what it holds is replaced when the value is put in memory or mutated.
import type { ArgValue, Device, DType, Loader, Ops, ReductionType } from "../../aten/types";
import type { FxNode } from "../../fx/graph";
import type { Expr } from "../symbolic/expr";
import type { CombineFn, InnerFn } from "./body_ops";
import type { ExternOperation, ReductionHint } from "./types";

/** newest first, as Inductor's sets of origins iterate */
export type Origins = ReadonlySet<FxNode>;

// --- loops: values not in memory yet ---

interface LoopsBase {
  readonly device: Device;
  readonly dtype: DType;
  readonly ranges: readonly Expr[];
  readonly origins: Origins;
  originNode: FxNode | null;
}

export interface PointwiseLoops extends LoopsBase {
  readonly kind: "Pointwise";
  readonly inner: Loader;
}

export interface ScatterLoops extends LoopsBase {
  readonly kind: "Scatter";
  readonly inner: Loader;
  readonly outputIndexer: <V>(ops: Ops<V>, index: readonly Expr[]) => readonly Expr[];
  readonly mode: "store" | "atomic_add";
}

/** what the first stage of a split reduction was before it was split */
export interface SplitInfo {
  readonly size: number;
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  readonly inner: InnerFn;
}

export interface ReductionLoops extends LoopsBase {
  readonly kind: "Reduction" | "WelfordReduction" | "MultiOutputReduction";
  readonly reductionRanges: readonly Expr[];
  readonly type: ReductionType;
  readonly srcDtype: DType;
  readonly hint: ReductionHint;
  /** welford_combine: the three values of one element */
  readonly inner: InnerFn;
  readonly outputIndex: number;
  split?: SplitInfo;
}

export interface ScanLoops extends LoopsBase {
  readonly kind: "Scan" | "SplitScan";
  readonly hint: ReductionHint;
  readonly scanRanges: readonly Expr[];
  /** the whole shape, scanned axis included */
  readonly size: readonly Expr[];
  readonly dtypes: readonly DType[];
  readonly inners: readonly Loader[];
  readonly combine: CombineFn;
  readonly reindex: (index: readonly Expr[], scan: readonly Expr[]) => Expr[];
  readonly outputIndex: number;
}

export interface SortLoops extends LoopsBase {
  readonly kind: "Sort";
  readonly sortRanges: readonly Expr[];
  readonly size: readonly Expr[];
  readonly dtypes: readonly DType[];
  readonly inners: readonly Loader[];
  readonly reindex: (index: readonly Expr[], scan: readonly Expr[]) => Expr[];
  readonly outputIndex: number;
  readonly stable: boolean;
  readonly descending: boolean;
}

export type Loops = PointwiseLoops | ScatterLoops | ReductionLoops | ScanLoops | SortLoops;

// --- layouts ---

export interface StridedLayout {
  readonly kind: "fixed" | "flexible";
  readonly device: Device;
  readonly dtype: DType;
  readonly size: readonly Expr[];
  readonly stride: readonly Expr[];
  readonly offset: Expr;
}

export type IrLayout =
  | StridedLayout
  /** a slice of another buffer: what a ConcatKernel's input writes into */
  | { readonly kind: "non_owning"; readonly view: ReinterpretView }
  /** writes into the storage that `target` shows */
  | { readonly kind: "mutation"; readonly target: TensorBox }
  | { readonly kind: "multi_output"; readonly device: Device }
  | { readonly kind: "none"; readonly device: Device };

// --- buffers: values in memory ---

interface BufferBase {
  /** a concatenation gets its name after its inputs have theirs */
  name: string;
  layout: IrLayout;
  origins: Origins;
  originNode: FxNode | null;
}

export interface InputBuffer extends BufferBase {
  readonly kind: "input";
  readonly irClass: "InputBuffer" | "ConstantBuffer";
}

export interface ComputedBuffer extends BufferBase {
  readonly kind: "computed";
  readonly irClass: "ComputedBuffer";
  readonly operation: string;
  data: Loops;
}

export interface ExternBuffer extends BufferBase {
  readonly kind: "extern";
  readonly irClass: ExternOperation["irClass"];
  readonly operation: string;
  /** "extern_kernels.mm"; null for MultiOutput */
  readonly kernel: string | null;
  readonly op: string;
  /** values that the kernel reads, in memory */
  readonly inputs: readonly TensorBox[];
  readonly args: readonly ArgValue<TensorBox>[];
  readonly kwargs: Readonly<Record<string, ArgValue<TensorBox>>>;
  /** names of the buffers it writes besides its own */
  readonly mutates: readonly string[];
  /** names of the buffers whose memory its results share: a view that ATen makes */
  readonly aliases?: readonly string[];
  readonly index?: number;
  readonly opaque?: string;
  readonly target?: string;
}

/** an allocation without a kernel: the output of a concatenation whose inputs are written in place */
export interface ConcatBuffer extends BufferBase {
  readonly kind: "concat";
  readonly irClass: "ConcatKernel";
  operation: string;
  inputs: readonly (ComputedBuffer | ExternBuffer)[];
}

export type IrBuffer = InputBuffer | ComputedBuffer | ExternBuffer | ConcatBuffer;

// --- boxes and views ---

export interface StorageBox {
  readonly kind: "storage";
  data: Loops | IrBuffer;
  readonly origins: Origins;
}

/** an index map over another value */
export interface LazyView {
  readonly kind: "view";
  readonly view: "expand" | "permute" | "squeeze" | "slice" | "view" | "generic";
  readonly data: StorageBox | View;
  readonly size: readonly Expr[];
  readonly reindex: (index: readonly Expr[]) => Expr[];
  readonly origins: Origins;
}

/** strides over storage */
export interface ReinterpretView {
  readonly kind: "reinterpret";
  readonly data: StorageBox;
  readonly layout: StridedLayout;
  readonly origins: Origins;
}

/** the same bits as another dtype of the same width */
export interface DtypeView {
  readonly kind: "dtype";
  readonly data: StorageBox | View;
  readonly target: DType;
  readonly origins: Origins;
}

export type View = LazyView | ReinterpretView | DtypeView;

export interface TensorBox {
  readonly kind: "tensor";
  data: StorageBox | View;
  readonly origins: Origins;
}

export type Value = TensorBox | StorageBox | View;

export function isTensorBox(x: unknown): x is TensorBox {
  return typeof x === "object" && x !== null && "kind" in x && x.kind === "tensor";
}

export function isLoops(x: Loops | IrBuffer): x is Loops {
  switch (x.kind) {
    case "Pointwise":
    case "Scatter":
    case "Reduction":
    case "WelfordReduction":
    case "MultiOutputReduction":
    case "Scan":
    case "SplitScan":
    case "Sort":
      return true;
    case "input":
    case "computed":
    case "extern":
    case "concat":
      return false;
    default: {
      const never: never = x;
      return never;
    }
  }
}

export function isReduction(x: Loops | IrBuffer): x is ReductionLoops {
  return x.kind === "Reduction" || x.kind === "WelfordReduction" || x.kind === "MultiOutputReduction";
}

/** the storage under any number of views */
export function storageOf(x: Value): StorageBox {
  let v: Value = x;
  while (v.kind !== "storage") v = v.data;
  return v;
}

/** the buffer under any number of views, undefined while the value is not in memory */
export function bufferOf(x: Value): IrBuffer | undefined {
  const d = storageOf(x).data;
  return isLoops(d) ? undefined : d;
}

/** shape of the value that loops compute */
export function loopsSize(l: Loops): readonly Expr[] {
  return l.kind === "Scan" || l.kind === "SplitScan" || l.kind === "Sort" ? l.size : l.ranges;
}
