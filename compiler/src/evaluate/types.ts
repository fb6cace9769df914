// What evaluating one operator takes and gives.
import type { DType } from "../aten/types";
import type { Budget, Dense } from "./arrays";

export type Operand = Dense | number | boolean | string | null | DType | readonly Operand[];

export interface Operation {
  /** "aten.add" */
  readonly packet: string;
  readonly get: (name: string) => Operand | undefined;
  /** of the first result */
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly budget: Budget;
}

export type Outcome = Dense | readonly Dense[] | undefined;
