// Why an operand lies as it does, in an editor's words. In: a layout's code. Out: a title and what it means. Promises: every
// code has an entry (the type sees to it); a part of docs/reasons.md is made from this table.
import type { LayoutCode } from "../inductor/operand_layouts/types";

interface LayoutReason {
  readonly title: string;
  readonly meaning: string;
  /** what the product does with the other layout, said after the time that it then takes; null: nothing is timed */
  readonly other: string | null;
}

export const LAYOUT_REASONS: Readonly<Record<LayoutCode, LayoutReason>> = {
  padded_rows: {
    title: "Rows padded",
    meaning:
      "Rows of a matrix product's operand would begin off the 16 bytes that tensor cores' kernels load at once, so they are stored further apart, for a template that cuts at the edges itself. The kernel that computes the operand writes it so; an input is copied once.",
    other: "without padding",
  },
  padded_shape: {
    title: "Shape padded",
    meaning:
      "The library's fast kernels take no sizes that are not multiples of 8 (4 for float32), so operands are copied with zeros around them, and what is computed beyond the result is left out again, as by PyTorch's `pad_mm`.",
    other: "without padding",
  },
  off_alignment: {
    title: "Left off alignment",
    meaning:
      "Sizes or rows of a matrix product's operands are no multiples of what tensor cores' kernels load at once. A template needs no padding: it cuts at the edges itself. Where it is the library's kernel, copies would cost more than they save.",
    other: "with padded copies",
  },
  read_as_it_lies: {
    title: "Read as it lies",
    meaning:
      "PyTorch copies a permuted tensor before it is flattened to a matrix. Here the product reads it where it is, as a batch of matrices, and the copy is left out.",
    other: "with the copy",
  },
  copied_to_rows: {
    title: "Copied to rows",
    meaning:
      "A permuted tensor is copied before it is flattened to a matrix; to read it where it is, as a batch of matrices, would be no faster.",
    other: "read as it lies",
  },
  written_as_read: {
    title: "Written as it is read",
    meaning:
      "A matrix product's result is wanted in another order than rows by columns (transposed, or its heads apart). The template writes it so, and no kernel has to read and write it again.",
    other: null,
  },
  channels_last: {
    title: "Channels last",
    meaning:
      "A convolution reads its input and weight with channels innermost (`layout_optimization`): Inductor weighs all of a graph's convolutions by their arithmetic and takes the layout that was measured faster for most of it. What does not lie so yet is copied.",
    other: null,
  },
};
