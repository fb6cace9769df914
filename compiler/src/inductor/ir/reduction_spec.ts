// What a reduction is before it is decided how it runs.
import type { Device, DType, ReductionType } from "../../aten/types";
import type { Expr } from "../symbolic/expr";
import type { InnerFn } from "./body_ops";
import type { TensorBox } from "./boxes";
import type { ReductionHint } from "./types";

export interface ReductionSpec {
  readonly device: Device;
  readonly dtype: DType;
  readonly srcDtype: DType;
  readonly inner: InnerFn;
  readonly ranges: readonly Expr[];
  readonly reductionRanges: readonly Expr[];
  readonly type: ReductionType;
  readonly hint: ReductionHint;
  readonly input: TensorBox | null;
  /** how long a reduction may be to be written out, where that is not unroll_reductions_threshold */
  readonly unrollBelow?: number;
}
