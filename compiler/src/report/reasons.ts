// Why two nodes stay apart, in an editor's words. In: a refusal's code. Out: a title, what it means, what may help.
// Promises: every code has an entry (the type sees to it); docs/reasons.md is made from this table.
import type { RefusalCode } from "../inductor/scheduler/types";
import { LAYOUT_REASONS } from "./layout_reasons";

export interface ReasonText {
  readonly title: string;
  readonly meaning: string;
  /** what the author of the model can do; null: nothing, it has to be so */
  readonly advice: string | null;
}

export const REASONS: Readonly<Record<RefusalCode, ReasonText>> = {
  no_shared_data: {
    title: "No access in common",
    meaning:
      "The two nodes share no buffer that both walk in the same order, so one kernel would save no memory traffic as its loops stand. A buffer that both use, each indexing it in another way, does not count, be it read by both or written by one and read by the other.",
    advice:
      "If they read the same buffer in different orders, store it in the layout that the larger reader needs, or let loops be reordered (`loop_ordering_after_fusion`).",
  },
  intermediate_nodes: {
    title: "Something between them",
    meaning:
      "A third node needs a result of the first and is itself needed by the second; a kernel of both would have to run before and after it.",
    advice:
      "If the node between is an extern kernel (a matrix product, a sort), only a different order of operations can help.",
  },
  numel_rnumel_mismatch_reduce: {
    title: "Reductions of different extent",
    meaning: "Two reductions fit one kernel only if they keep and reduce the same numbers of elements.",
    advice:
      "Reductions along rows and along columns of a large tall matrix can share a kernel with `triton.mix_order_reduction`; reductions of groups inside rows with `triton.nested_reduction`.",
  },
  numel_rnumel_mismatch_pointwise: {
    title: "Different numbers of elements",
    meaning: "Two elementwise nodes fit one kernel only if they compute the same number of elements.",
    advice: "Launch them together with `combo_kernels` if launches are what costs.",
  },
  nodes_numel_rnumel_incompatibility: {
    title: "Loops that cannot be cut",
    meaning:
      "The elementwise node has as many elements as the reduction reads, but its loops cannot be cut into kept and reduced ones.",
    advice: "Give the elementwise result the shape that the reduction sees.",
  },
  nodes_numel_incompatibility: {
    title: "Neither per element nor per result",
    meaning:
      "An elementwise node joins a reduction if it runs once per element read or once per result; this one does neither.",
    advice: null,
  },
  invalid_tiling_for_reduction: {
    title: "Tiling does not fit the reduction",
    meaning: "The loops of the elementwise node would be cut in another way than the reduction's.",
    advice: null,
  },
  tiling_prevents_reduction_fusion: {
    title: "Two-dimensional tiles keep them apart",
    meaning:
      "The elementwise node (often a transposed copy) is best done in two-dimensional tiles, and Inductor keeps such nodes out of reduction kernels (`triton.tiling_prevents_reduction_fusion`). The shared input is read twice.",
    advice: "Switch `triton.tiling_prevents_reduction_fusion` off to try one kernel.",
  },
  tiling_mismatch: {
    title: "Tiles of different shape",
    meaning:
      "Each node prefers its own two-dimensional tiles, and together they would be cut in a third way (`triton.tiling_prevents_pointwise_fusion`).",
    advice: "Store the transposed operand in the layout in which it is read.",
  },
  memory_deps_did_not_match: {
    title: "Reads other elements than were written",
    meaning:
      "The consumer reads the producer's buffer at other positions than the same iteration wrote (shifted, gathered, reversed, or scattered by atomic additions), so the whole buffer must be finished first.",
    advice: null,
  },
  order: {
    title: "Needed in the other order",
    meaning: "The first node depends on the second.",
    advice: null,
  },
  cycle: {
    title: "Would wait for itself",
    meaning: "Other fusions already made would have to run both before and after the fused kernel.",
    advice: null,
  },
  max_fusion_size: {
    title: "Kernel would be too large",
    meaning: "One kernel holds at most `max_fusion_size` operations (64).",
    advice: "Raise `max_fusion_size`.",
  },
  peak_memory: {
    title: "Would need more memory",
    meaning:
      "Buffers that could take over each other's memory if the kernels ran one after the other would have to be alive together, at more cost than the fusion saves.",
    advice: null,
  },
  score_fusion_memory_threshold: {
    title: "Too little to gain",
    meaning: "What the two share is smaller than `score_fusion_memory_threshold` bytes (10), typically one scalar.",
    advice: null,
  },
  too_far_away: {
    title: "Too far apart",
    meaning: "More than 64 operations lie between the two, so fusing them would keep buffers alive for long.",
    advice: "Move the operations closer together.",
  },
  device_mismatch: {
    title: "On different devices",
    meaning: "A kernel runs on one device.",
    advice: "Move one of the tensors first.",
  },
  extern_kernel: {
    title: "A library kernel",
    meaning:
      "One of the two is a call of a kernel that is not generated (a matrix product, a convolution, an operator without lowering).",
    advice: "With `max_autotune` a matrix product can be generated from a template, into which what follows may fuse.",
  },
  nop_kernel: {
    title: "No kernel at all",
    meaning: "One of the two only allocates memory (a concatenation written in place).",
    advice: null,
  },
  foreach_dependency: {
    title: "Fits no member of the foreach",
    meaning: "A node fuses with a foreach kernel only through the one member that it feeds or reads.",
    advice: null,
  },
  foreach_length: {
    title: "Foreach lists of different length",
    meaning: "Two foreach kernels fuse member by member.",
    advice: null,
  },
  split_scan: {
    title: "A scan over several blocks",
    meaning: "A scan that is split over blocks passes values between them and cannot hold another reduction.",
    advice: null,
  },
  template_epilogue: {
    title: "Cannot follow the template",
    meaning:
      "Only elementwise operations without aliases or in-place writes can be computed at the end of a matrix product's template.",
    advice: null,
  },
  template_prologue: {
    title: "Cannot precede the template",
    meaning:
      "Only cheap elementwise operations with a single use can be computed on the way into a matrix product's template.",
    advice: null,
  },
  benchmark_slowdown: {
    title: "Slower together",
    meaning: "The fused kernel was measured (or estimated) to be slower than the two apart.",
    advice: null,
  },
  register_spilling: {
    title: "Too many registers",
    meaning: "The fused kernel would spill registers to memory.",
    advice: null,
  },
  both_reductions_reorder: {
    title: "Both are reductions",
    meaning: "Loops are reordered only for elementwise nodes; both of these reduce.",
    advice: null,
  },
  grouped_node: {
    title: "Kept as a group",
    meaning: "The node is a group that was asked to stay as it is.",
    advice: null,
  },
  no_fuse_buffer: {
    title: "Fusion switched off",
    meaning: "A buffer of the node is listed as not to be fused.",
    advice: null,
  },
  too_many_buffers: {
    title: "Too many buffers",
    meaning: "The kernel would read and write more buffers than `max_fusion_unique_io_buffers` allows.",
    advice: "Raise or unset `max_fusion_unique_io_buffers`.",
  },
  cost_model: {
    title: "Not worth it by estimate",
    meaning: "FuseLens estimates that one kernel would not be faster than two here.",
    advice: null,
  },
  not_one_pass: {
    title: "Does not fit one pass",
    meaning: "The two could share a kernel only if one of them read its input a second time.",
    advice: null,
  },
};

/** docs/reasons.md */
export function reasonsPage(): string {
  const lines = [
    "# Why two operations did not fuse",
    "",
    "Every refusal carries one of these codes; hover, diagnostics, `explain --json` and `emit --stage fusion` use the same.",
    "`bytesLost` is what one pass would not move: each buffer that both read, once; for a buffer that one writes and the",
    "other reads, the read, and the write too if no one else uses it.",
    "",
  ];
  for (const [code, text] of Object.entries(REASONS)) {
    lines.push(`## \`${code}\``, "", `**${text.title}.** ${text.meaning}`, "");
    if (text.advice !== null) lines.push(`What may help: ${text.advice}`, "");
  }
  lines.push(
    "# Why an operand lies as it does",
    "",
    "Layouts of matrix products' and convolutions' operands carry one of these codes, in hover, `explain` and",
    "`explain --json` (`layouts`). Each names both layouts, the bytes that are moved for the one taken (negative: not moved",
    "because of it), and what the product takes with each, as estimated or measured, said once for all of its operands.",
    "",
  );
  for (const [code, text] of Object.entries(LAYOUT_REASONS))
    lines.push(`## \`${code}\``, "", `**${text.title}.** ${text.meaning}`, "");
  return `${lines.join("\n").trimEnd()}\n`;
}
