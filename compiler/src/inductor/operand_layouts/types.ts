// How operands of library kernels and templates lie in memory, as choices that people see. In: nothing. Out: types.
import type { Expr } from "../symbolic/expr";

/** report/layout_reasons.ts says each in words */
export type LayoutCode =
  | "padded_rows"
  | "padded_shape"
  | "off_alignment"
  | "read_as_it_lies"
  | "copied_to_rows"
  | "channels_last"
  | "written_as_read";

export interface StridedShape {
  readonly size: readonly Expr[];
  readonly stride: readonly Expr[];
}

/** One operand's layout: the one taken and the other that it might have. */
export interface LayoutChoice {
  readonly code: LayoutCode;
  /** the product or convolution */
  readonly op: string;
  /** the buffer or input that is read */
  readonly buffer: string;
  /** the operation that writes the layout taken; null: none is needed */
  readonly copy: string | null;
  /** the layout taken, and the other */
  readonly taken: StridedShape;
  readonly other: StridedShape;
  /** bytes of the operand's elements */
  readonly bytes: number;
  /** estimated microseconds with it, and with the other layout; null: nothing was weighed, a rule says so */
  readonly estimateUs: { readonly taken: number; readonly other: number } | null;
}
