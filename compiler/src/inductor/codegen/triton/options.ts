// What code generation is told besides the schedule: the preset's named behaviours, Inductor's configuration and the
// target. In: plain data from the session. Promises: no stage reads a preset's name, only behaviours.

import { readBoolean, readNumber } from "../../../presets";
import type { TargetProperties } from "../../ir/target";

/** Names of the behaviours in which one torch version's generated code differs from another's. */
const CODEGEN_BEHAVIOURS = [
  /** a full-size load inside a persistent reduction gets evict_first, not only one inside a loop */
  "evict_first_in_persistent_reductions",
  /** broadcast test of y/x-tiled indices pairs x's length with y's numel */
  "broadcast_test_in_grid_order",
  /** a broadcast store to an in-place buffer gets a barrier also after the reduction has been closed */
  "barrier_before_reduced_inplace_store",
  /** a load that reads back what an earlier loop stored gets a barrier */
  "barrier_before_read_back",
  /** masks of persistent reductions shorter than a warp are never constant */
  "masks_below_warp_size",
  /** a mix-order kernel masks x even where its numel is 1 */
  "mix_order_masks_single_row",
  /** arg reductions cast their index to the source's dtype if that is float */
  "argreduce_casts_to_source",
  /** persistent or looped is decided with the hint that tiling scores refine */
  "persistent_by_tiling_scores",
  /** index_expr prints as (e).to(tl.int32) */
  "index_expr_casts",
  /** maximum and minimum are tl.maximum with NaN propagation */
  "tl_maximum",
  /** indices over a tree of numel 1 lose that tree's variables */
  "drop_unit_tree_variables",
  /** autotune_hints prints as () after num_reduction, tiling scores before the common part, with the later keys */
  "late_inductor_meta",
  /** combo kernels: one noinline function and block sizes per sub-kernel */
  "combo_per_subkernel_blocks",
  /** combo kernels state launch_pdl and disable_ftz */
  "combo_full_triton_meta",
  /** several pipeline stages are tried for mix-order kernels */
  "mix_order_multi_stages",
  /** mix-order partial sums are written with parenthesised sizes and a final view, into an allocated buffer */
  "mix_order_rebinds_buffer",
  /** mix-order partial sums of a launch are added up by one launch of FuseLens's runtime; groups of rows are rounded up */
  "sums_partials_together",
  /** atomic additions of a tile's lines into rows named at run time: rows that many lines name are summed first */
  "adds_rows_together",
  /** programs that read the same data run at about the same time */
  "orders_programs",
  /** exp, tanh, erf and sigmoid by short formulas where their last bits are lost */
  "cheap_math",
  /** a persistent reduction loads what all rows share where it is used */
  "late_loads",
  /** a reduction over rows that are named at run time is a loop, and not one block */
  "gathers_in_loops",
  /** the kernel's source stands in the output code itself, not in a string given to async_compile.triton */
  "inline_kernel_source",
  /** a split scan's scratch address is written where it is used, without temporaries */
  "scan_inlines_scratch",
  /** imports and aliases are printed only where used */
  "lean_wrapper_imports",
  /** input checks stand at the first use, grouped, with copy_if_misaligned */
  "asserts_at_first_use",
  /** the log's title of the output code ends in a space */
  "space_after_output_code",
  /** stream variable is raw_stream0 */
  "raw_stream_name",
  /** a kernel over a concatenation of costly pieces has a sub-kernel per piece */
  "cuts_concatenations",
  /** float32 products without TF32 are made of six products of bfloat16 parts */
  "float32_products_in_parts",
  /** a few launch configurations beyond Inductor's */
  "more_configurations",
  /** print_performance is told the device */
  "benchmark_names_device",
] as const;

export type CodegenBehaviour = (typeof CODEGEN_BEHAVIOURS)[number];

/** the same three inputs that the scheduler decides with */
export interface CodegenOptions {
  /** the preset's behaviours by name */
  readonly behaviours: ReadonlyMap<string, unknown>;
  /** torch._inductor.config by dotted name */
  readonly config: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  /** matrix products by number, equal ones together (GraphWays) */
  readonly products?: ReadonlyMap<string, number>;
}

export const has = (o: CodegenOptions, b: CodegenBehaviour): boolean => readBoolean(o.behaviours, b);
export const configBool = (o: CodegenOptions, name: string): boolean => readBoolean(o.config, name);
export const configNumber = (o: CodegenOptions, name: string, otherwise: number): number =>
  readNumber(o.config, name) ?? otherwise;
