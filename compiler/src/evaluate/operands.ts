// Arguments of an operator as plain numbers. In: an operand, undefined where the call has none. Out: numbers.
import type { Operand } from "./types";

/** a number, or a truth as one */
export const number = (x: Operand | undefined): number | undefined =>
  typeof x === "number" ? x : typeof x === "boolean" ? Number(x) : undefined;

/** a list of numbers, or one as a list */
export const numbers = (x: Operand | undefined): number[] =>
  Array.isArray(x) ? x.map(v => number(v as Operand) ?? 0) : number(x) === undefined ? [] : [number(x) ?? 0];

/** a dim counted from the front */
export const wrap = (d: number, rank: number): number => (d < 0 ? d + Math.max(1, rank) : d);
