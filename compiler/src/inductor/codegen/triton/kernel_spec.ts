// What a Triton kernel is made for: decided before any of its bodies is emitted, and the same for all of them.
import type { GraphView } from "./graph_view";
import type { KernelArgs } from "./kernel_args";
import type { CodegenOptions } from "./options";
import type { ProgramOrder } from "./program_order";
import type { Prefix, Tiling, TreeNames } from "./range_tree";

export interface KernelSpec {
  readonly graph: GraphView;
  readonly options: CodegenOptions;
  readonly tiling: Tiling;
  readonly isReduction: boolean;
  readonly persistent: boolean;
  readonly indexDtype: "int32" | "int64";
  /** false inside combo kernels of the per-subkernel form: no mask is constant */
  readonly optimizeMask?: boolean;
  /** rows in an outer loop, column sums kept in registers */
  readonly mixOrder?: boolean;
  /** program ids come from the caller: sub-kernels of a combo kernel */
  readonly pidOffset?: "pid_offset" | "x_pid_offset";
  /** shared by the sub-kernels of a combo kernel */
  readonly shared?: { readonly args: KernelArgs; readonly tmp: { next: number }; readonly vars: { next: number } };
  /** grouped reduction inside an outer one */
  readonly nested?: NestedSpec;
  readonly splitScan?: boolean;
  /** a name for scratch memory that the caller provides */
  readonly nextWorkspace?: () => string;
  /** trees that a program has one value of, instead of a block */
  readonly scalarTrees?: ReadonlySet<Prefix>;
  /** trees whose indices, masks and blocks go by other names than their own */
  readonly treeNames?: ReadonlyMap<Prefix, TreeNames>;
  /** all floating-point results that leave the kernel are halves */
  readonly halves?: boolean;
  /** in which order programs walk the tiles; the grid's own where it is missing */
  readonly order?: ProgramOrder | null;
  /** further constants of the launch configuration, after the block sizes */
  readonly constants?: readonly string[];
}

export interface NestedSpec {
  readonly prefix: Prefix;
  readonly group: number;
}
