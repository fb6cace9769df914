// Configuration and behaviours by preset. In: a preset's name and the user's own settings. Out: a flat map of
// torch._inductor.config values by dotted name, and the named behaviours in which PyTorch versions differ.
// Promises: no stage reads a preset's name; every value a stage asks for has a default here.

export type ConfigValue = boolean | number | string | null | readonly (string | number)[];
export type PresetName = "nightly-2026-11" | "torch-2.11" | "fuselens";

export interface Preset {
  readonly config: Readonly<Record<string, ConfigValue>>;
  readonly behaviours: Readonly<Record<string, boolean | number | string>>;
}

/** Inductor's defaults (open-source build) that the presets share. */
const config: Readonly<Record<string, ConfigValue>> = {
  // lowering
  realize_reads_threshold: 4,
  realize_opcount_threshold: 30,
  realize_acc_reads_threshold: 8,
  realize_acc_reads_size_threshold: null,
  unroll_reductions_threshold: 8,
  split_reductions: true,
  min_num_split: 0,
  max_pointwise_cat_inputs: 8,
  force_pointwise_cat: false,
  inplace_padding: true,
  online_softmax: true,
  optimize_scatter_upon_const_tensor: true,
  layout_optimization: true,
  keep_output_stride: true,
  conv_1x1_as_mm: false,
  max_autotune: false,
  max_autotune_gemm: false,
  max_autotune_pointwise: false,
  max_autotune_gemm_backends: "ATEN,TRITON,CPP",
  // FuseLens's own: a way of docs/gemm.md, or one for each product with commas between them; null: the fastest
  "triton.template_form": null,
  // FuseLens's own: two products of one input, and what joins them, in one kernel
  "triton.paired_products": false,
  max_autotune_conv_backends: "ATEN,TRITON",
  coordinate_descent_tuning: false,
  emulate_precision_casts: false,
  comprehensive_padding: true,
  padding_alignment_bytes: 128,
  padding_stride_threshold: 1024,
  pad_outputs: false,
  pad_channels_last: false,
  pad_dynamic_shapes: false,
  joint_graph_constant_folding: true,
  pattern_matcher: true,
  reorder_for_locality: true,
  shape_padding: true,
  implicit_fallbacks: true,
  assert_indirect_indexing: true,
  size_asserts: true,
  alignment_asserts: true,
  constant_and_index_propagation: true,
  fallback_random: false,
  // scheduler
  use_dce: true,
  max_fusion_size: 64,
  max_fusion_buffer_group_pairwise_attempts: 64,
  max_fusion_unique_io_buffers: null,
  score_fusion_memory_threshold: 10,
  aggressive_fusion: false,
  loop_ordering_after_fusion: true,
  loop_index_inversion_in_fusion: true,
  loop_reindexing_after_fusion: false,
  expand_dimension_for_pointwise_nodes: false,
  small_memory_access_threshold: 16777216,
  epilogue_fusion: true,
  epilogue_fusion_first: false,
  prologue_fusion: true,
  benchmark_fusion: false,
  benchmark_epilogue_fusion: false,
  max_epilogue_benchmarked_choices: 1,
  benchmark_combo_kernel: false,
  combo_kernels: false,
  combo_kernels_autotune: 1,
  combo_kernels_pointwise_only: false,
  combo_kernel_allow_mixed_sizes: 1,
  combo_kernel_foreach_dynamic_shapes: true,
  combo_kernel_max_num_args: 250,
  combo_kernel_max_num_nodes: 8,
  combo_kernel_max_distance: null,
  combo_kernel_allow_mixed_pointwise_reduction: false,
  combo_kernel_per_subkernel_blocks: false,
  reorder_for_peak_memory: true,
  size_threshold_for_succ_based_strategy: 0,
  reorder_for_compute_comm_overlap: false,
  graph_partition: true,
  inplace_buffers: true,
  allow_buffer_reuse: true,
  memory_planning: false,
  cpp_wrapper: false,
  // the same bits at every run: no atomic additions, nothing tuned, the library's repeatable kernels
  deterministic: false,
  // code generation
  "triton.cudagraphs": false,
  "triton.mix_order_reduction": true,
  "triton.mix_order_reduction_split_size": null,
  "triton.mix_order_reduction_initial_xblock": 1,
  "triton.mix_order_reduction_non_strict_mode": false,
  "triton.mix_order_reduction_max_reads": null,
  "triton.nested_reduction": false,
  "triton.cooperative_reductions": false,
  "triton.force_cooperative_reductions": false,
  "triton.persistent_reductions": true,
  "triton.multi_kernel": 0,
  "triton.tile_reductions": false,
  "triton.max_tiles": null,
  "triton.prefer_nd_tiling": false,
  "triton.autotune_pointwise": true,
  "triton.autotune_at_compile_time": null,
  "triton.tiling_prevents_pointwise_fusion": true,
  "triton.tiling_prevents_reduction_fusion": true,
  "triton.coalesce_tiling_analysis": true,
  "triton.use_block_ptr": false,
  "triton.native_matmul": false,
  "triton.unique_kernel_names": true,
  "triton.descriptive_names": "original_aten",
  "triton.unique_user_kernel_names": false,
  "triton.store_cubin": false,
  "triton.skip_l1_cache": false,
  "triton.min_split_scan_rblock": 256,
};

/** Ways in which PyTorch versions differ beyond configuration; each is read by one stage. */
const behaviours: Readonly<Record<string, boolean | number | string>> = {
  /** symbolic arithmetic behind tensor wrappers takes node names, so numbers have gaps under dynamic shapes */
  symbolic_name_gaps: true,
  /** joint graphs say "Backward of forward node" over backward nodes */
  backward_comments: false,
  /** dumps show min_input_distance and max_input_distance */
  prints_input_distance: false,
  /** stack traces carry a line of carets under the expression */
  stack_trace_anchors: false,
  /** pairs that share a large part of a buffer, indexed differently, count as sharing data */
  buffer_overlap_score: false,
  min_overlap_ratio: 0.5,
  /** a loop reordering is undone if the pair then does not fuse */
  rollback_refused_reordering: false,
  /** a read and a write are compared as they are before their loops are merged */
  compares_deps_before_normalizing: false,
  /** extern kernels that take an epilogue have refusal texts of their own */
  extern_epilogue_wording: false,
  /** reductions nested in groups of another's loop may fuse (triton.nested_reduction decides) */
  nested_reduction: false,
  /** combo kernels: sub-kernels have block sizes of their own and share one flattened grid */
  combo_per_subkernel_blocks: false,
  /** combo kernels: nodes per combo, in order of topological levels */
  combo_chunk: 8,
  /** a copy of an input stays where it is read after the input was written (pytorch issue 198131) */
  keeps_copies_of_written_inputs: false,
  /** nested reductions keep their loops apart when all others are merged */
  nested_keeps_loops: true,
  /** transposed copies join the reductions over the same input */
  transpose_reduction_fusion: false,
  /** accesses are compared with their loops merged where they are not the same as they are */
  compares_merged_loops: false,
  /** combo kernels only of one kind, and only where a launch saved outweighs what larger kernels lose */
  combo_by_cost: false,
  /** a combo kernel moves what its sub-kernels move */
  combo_bytes_by_part: false,
  /** memory estimates that orders and reuse go by take what a graph returns off before its first step */
  returns_freed_first: true,
  /** elements of lost reuse that a fusion may cost without being weighed */
  peak_memory_tolerance: 0,
  /** a kernel over a concatenation of costly pieces has a sub-kernel per piece */
  cuts_concatenations: false,
  /** additions into rows named at run time (gradients of embeddings): rows that many lines name are summed first */
  adds_rows_together: false,
  /** programs that read the same data run at about the same time: mirrored and transposed reads, parts of combo kernels */
  orders_programs: false,
  /** exp, tanh, erf and sigmoid by short formulas where their last bits are lost */
  cheap_math: false,
  /** a persistent reduction loads what all rows share where it is used, not before all reductions */
  late_loads: false,
  /** a reduction over rows that are named at run time (embedding bags) is a loop over them, and not one block */
  gathers_in_loops: false,
  /** mix-order kernels: all partial sums of a launch are added up by one launch, and there are fewer of them */
  sums_partials_together: false,
  /** a few launch configurations beyond Inductor's, for the first run to choose from */
  more_configurations: false,
  /** rows of up to so many elements are held in registers where no more than two of them live at once; 0: 1024 and no more */
  widest_persistent_row: 0,
  /** attention has a template too: it computes what PyTorch's kernels do, biases and masks included */
  attention_template: false,
  /** products of scaled fp8 matrices have a template too */
  scaled_product_templates: false,
  /** products of few tiles and long sums may be computed in pieces of the sum, which another kernel adds up */
  split_products: false,
  /** templates compute operands from what pointwise operations read, where that pays */
  computes_operands: false,
  /** float32 products without TF32 run on tensor cores as six products of bfloat16 parts, as exact as float32's own */
  float32_products_in_parts: false,
  /** rows of products' operands are padded, and operands read through views, where that is estimated or measured to pay */
  operand_layouts: false,
};

/** How generated code differs, beginning with what torch 2.11 writes; codegen/triton/options.ts says what each means. */
const codegenOf211 = {
  broadcast_test_in_grid_order: true,
  barrier_before_reduced_inplace_store: true,
  argreduce_casts_to_source: true,
  space_after_output_code: true,
} as const;

const codegenOfNightly = {
  evict_first_in_persistent_reductions: true,
  barrier_before_read_back: true,
  masks_below_warp_size: true,
  mix_order_masks_single_row: true,
  persistent_by_tiling_scores: true,
  index_expr_casts: true,
  tl_maximum: true,
  drop_unit_tree_variables: true,
  late_inductor_meta: true,
  combo_per_subkernel_blocks: true,
  combo_full_triton_meta: true,
  mix_order_multi_stages: true,
  mix_order_rebinds_buffer: true,
  scan_inlines_scratch: true,
  inline_kernel_source: true,
  lean_wrapper_imports: true,
  asserts_at_first_use: true,
  raw_stream_name: true,
  benchmark_names_device: true,
} as const;

const configOfNightly = {
  ...config,
  "triton.nested_reduction": true,
  combo_kernel_per_subkernel_blocks: true,
} as const;

const behavioursOfNightly = {
  ...behaviours,
  symbolic_name_gaps: false,
  backward_comments: true,
  prints_input_distance: true,
  stack_trace_anchors: true,
  buffer_overlap_score: true,
  rollback_refused_reordering: true,
  compares_deps_before_normalizing: true,
  extern_epilogue_wording: true,
  nested_reduction: true,
  keeps_copies_of_written_inputs: true,
  ...codegenOfNightly,
} as const;

export const presets: Readonly<Record<PresetName, Preset>> = {
  "torch-2.11": { config, behaviours: { ...behaviours, ...codegenOf211 } },
  "nightly-2026-11": {
    config: configOfNightly,
    behaviours: behavioursOfNightly,
  },
  fuselens: {
    config: {
      ...configOfNightly,
      // rows and columns of one matrix are summed in one pass whatever its shape
      "triton.mix_order_reduction_non_strict_mode": true,
      combo_kernels: true,
      combo_kernel_allow_mixed_pointwise_reduction: true,
      "triton.paired_products": true,
      epilogue_fusion_first: true,
    },
    behaviours: {
      ...behavioursOfNightly,
      transpose_reduction_fusion: true,
      widest_persistent_row: 32768,
      cuts_concatenations: true,
      more_configurations: true,
      sums_partials_together: true,
      gathers_in_loops: true,
      late_loads: true,
      cheap_math: true,
      orders_programs: true,
      adds_rows_together: true,
      compares_merged_loops: true,
      combo_by_cost: true,
      combo_bytes_by_part: true,
      returns_freed_first: false,
      peak_memory_tolerance: 262144,
      attention_template: true,
      scaled_product_templates: true,
      split_products: true,
      computes_operands: true,
      float32_products_in_parts: true,
      operand_layouts: true,
    },
  },
};

export const presetNames = (): readonly PresetName[] => ["nightly-2026-11", "torch-2.11", "fuselens"];
export const isPresetName = (name: string): name is PresetName => (presetNames() as readonly string[]).includes(name);

/** The preset's whole configuration as a map, with `overrides` on top. */
export function defaultConfig(
  preset: PresetName,
  overrides: Iterable<readonly [string, unknown]> = [],
): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([...Object.entries(presets[preset].config), ...overrides]);
}

/** names of torch._inductor.config that some stage reads; another one changes nothing */
export function configNames(): string[] {
  return [...new Set(presetNames().flatMap(p => Object.keys(presets[p].config)))].sort();
}

export function defaultBehaviours(preset: PresetName): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(Object.entries(presets[preset].behaviours));
}

/** The value that `--config NAME=VALUE` means: Python's and JSON's spellings of booleans, None, numbers; else the text. */
export function parseConfigValue(text: string): ConfigValue {
  const t = text.trim();
  if (/^(true|on|yes)$/i.test(t)) return true;
  if (/^(false|off|no)$/i.test(t)) return false;
  if (/^(none|null)$/i.test(t)) return null;
  if (t !== "" && Number.isFinite(Number(t))) return Number(t);
  return t.replace(/^(['"])(.*)\1$/, "$2");
}

/** A setting as a boolean: Python's truth of what is there, the default of the newest preset where it is missing. */
export function readBoolean(map: ReadonlyMap<string, unknown>, name: string): boolean {
  const v = map.has(name) ? map.get(name) : (config[name] ?? behaviours[name]);
  if (Array.isArray(v)) return v.length > 0;
  return v !== false && v !== null && v !== undefined && v !== 0 && v !== "";
}

/** A setting as a number; null where it is None. */
export function readNumber(map: ReadonlyMap<string, unknown>, name: string): number | null {
  const v = map.has(name) ? map.get(name) : (config[name] ?? behaviours[name]);
  if (typeof v === "number") return v;
  return typeof v === "boolean" ? Number(v) : null;
}
