// An error of the user's program, found while tracing it. In: what an operator refused. Out: the same with its place.
import type { OpError } from "../aten/types";
import type { StackFrame } from "../fx/types";

export class OpFailure extends Error {
  constructor(
    /** of the call at fault; for a gradient, of the call that it belongs to */
    readonly frames: readonly StackFrame[],
    override readonly cause: OpError,
  ) {
    super(cause.message);
  }
}
