// Branches that lead straight to a raise: asserts, and tests that refuse what they were given. In: code and where it is. Out:
// the way that does not raise. What nobody can know of a program that runs is taken to be as the program wants it.
import type { Code } from "./instructions";

/** instructions of a message that are gone through before the raise */
const LONGEST = 60;
const LEAVES = new Set(["RETURN_VALUE", "YIELD_VALUE", "YIELD_FROM"]);

/**
 * The truth with which the conditional jump at `index` does not raise, where the other one does and nothing but the
 * error's making stands before it; undefined: it is no such jump.
 */
export function truthThatGoesOn(code: Code, index: number): boolean | undefined {
  const jump = code.instructions[index];
  if (jump?.op !== "POP_JUMP_IF_TRUE" && jump?.op !== "POP_JUMP_IF_FALSE") return undefined;
  const jumps = raises(code, jump.arg);
  const falls = raises(code, index + 1);
  if (jumps === falls) return undefined;
  return (jump.op === "POP_JUMP_IF_TRUE") === falls;
}

/** the same of the jump that comes next in a frame, whose condition is being worked out */
export const truthAskedNext = (f: { readonly code: Code; readonly pc: number } | undefined): boolean | undefined =>
  f && truthThatGoesOn(f.code, f.pc);

/**
 * Whether a comparison that is running (`==`, `in` and their opposites), and that such a jump asks about next, goes on where
 * two things in it are equal; undefined: no comparison is running, or no such jump comes next.
 */
export function equalityAsked(f: { readonly code: Code; readonly pc: number } | undefined): boolean | undefined {
  const running = f?.code.instructions[f.pc - 1];
  if (running?.op !== "COMPARE_OP") return undefined;
  const wanted = truthAskedNext(f);
  if (running.data === "==" || running.data === "in") return wanted;
  if (running.data === "!=" || running.data === "not in") return wanted === undefined ? undefined : !wanted;
  return undefined;
}

function raises(code: Code, from: number): boolean {
  for (let i = from; i < from + LONGEST; i++) {
    const op = code.instructions[i]?.op;
    if (op === "RAISE") return true;
    if (op === undefined || LEAVES.has(op) || /JUMP|FOR_ITER/.test(op)) return false;
  }
  return false;
}
