// What launch configurations of a kernel are chosen by: size hints, and what kind of kernel it is.
import type { ReductionHint } from "../../ir/types";
import type { TritonKernel } from "./kernel";

export interface ConfigInput {
  readonly kernel: TritonKernel;
  readonly hints: Readonly<Record<string, number>>;
  readonly hint: ReductionHint;
  readonly scores: ReadonlyMap<string, number> | null;
  readonly tileHint: "SQUARE" | "DEFAULT" | undefined;
  readonly rsplitSize: number | null;
  readonly addPersistentRBlock: boolean;
  /** rows that are named at run time are added up */
  readonly gathers?: boolean;
  /** rows of a persistent reduction that are alive at once */
  readonly rowsHeld: number;
}
