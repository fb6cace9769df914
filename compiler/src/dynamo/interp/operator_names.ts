// Python's names of its operators, said once: the special methods (__add__, __eq__) and the functions of module operator
// (add, and_) derive from them.
import type { BinaryOperator } from "./api";

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** the word inside __add__, __radd__ and __iadd__ */
export const OPERATOR_WORDS: Readonly<Record<BinaryOperator, string>> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "truediv",
  "//": "floordiv",
  "%": "mod",
  "**": "pow",
  "@": "matmul",
  "<<": "lshift",
  ">>": "rshift",
  "&": "and",
  "|": "or",
  "^": "xor",
};

export const COMPARISON_WORDS = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
} as const satisfies Readonly<Record<Comparison, string>>;

/** what a comparison becomes when its sides are swapped */
export const SWAPPED: Readonly<Record<Comparison, Comparison>> = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

export const isComparison = (op: string): op is Comparison => Object.hasOwn(COMPARISON_WORDS, op);

/** a function of module operator; names that are keywords have a trailing underscore */
export function operatorFunction(op: BinaryOperator): string {
  const word = OPERATOR_WORDS[op];
  return word === "and" || word === "or" ? `${word}_` : word;
}
