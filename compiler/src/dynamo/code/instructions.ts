// The instructions that Python source is compiled to, named after CPython 3.12's where they mean the same. In: nothing.
// Out: Code, the unit a frame runs. Graph breaks, resume points, liveness and the line shown for a node are all defined
// on instructions, as in Dynamo.
import type { Arguments, Span, Stmt } from "../../python/ast";

export type OpName =
  | "LOAD_CONST"
  | "LOAD_FAST"
  | "STORE_FAST"
  | "DELETE_FAST"
  | "LOAD_DEREF"
  | "STORE_DEREF"
  | "DELETE_DEREF"
  | "LOAD_CLOSURE"
  | "NEW_CELL"
  | "LOAD_GLOBAL"
  | "STORE_GLOBAL"
  | "DELETE_GLOBAL"
  | "LOAD_NAME"
  | "STORE_NAME"
  | "DELETE_NAME"
  | "LOAD_CLASSDEREF"
  | "LOAD_ATTR"
  | "STORE_ATTR"
  | "DELETE_ATTR"
  | "BINARY_OP"
  | "INPLACE_OP"
  | "UNARY_OP"
  | "COMPARE_OP"
  | "BINARY_SUBSCR"
  | "STORE_SUBSCR"
  | "DELETE_SUBSCR"
  | "BUILD_SLICE"
  | "BUILD_TUPLE"
  | "BUILD_LIST"
  | "BUILD_SET"
  | "BUILD_MAP"
  | "LIST_APPEND"
  | "SET_ADD"
  | "MAP_ADD"
  | "LIST_EXTEND"
  | "SET_UPDATE"
  | "DICT_UPDATE"
  | "DICT_MERGE"
  | "LIST_TO_TUPLE"
  | "FORMAT_VALUE"
  | "BUILD_STRING"
  | "CALL"
  | "CALL_EX"
  | "JUMP"
  | "POP_JUMP_IF_FALSE"
  | "POP_JUMP_IF_TRUE"
  | "JUMP_IF_FALSE_OR_POP"
  | "JUMP_IF_TRUE_OR_POP"
  | "GET_ITER"
  | "FOR_ITER"
  | "UNPACK_SEQUENCE"
  | "UNPACK_EX"
  | "POP_TOP"
  | "COPY"
  | "SWAP"
  | "RETURN_VALUE"
  | "YIELD_VALUE"
  | "YIELD_FROM"
  | "MAKE_FUNCTION"
  | "BUILD_CLASS"
  | "IMPORT_NAME"
  | "IMPORT_FROM"
  | "IMPORT_STAR"
  | "RAISE"
  | "RERAISE"
  | "PUSH_EXC"
  | "CHECK_EXC_MATCH"
  | "POP_EXCEPT"
  | "BEFORE_WITH"
  | "WITH_EXIT"
  | "WITH_EXCEPT"
  | "LOAD_ASSERTION_ERROR"
  | "MATCH_SEQUENCE"
  | "MATCH_MAPPING"
  | "MATCH_KEYS"
  | "MATCH_CLASS"
  | "GET_LEN"
  | "STORE_ANNOTATION"
  | "SYNTAX_PROBLEM";

/** Where an instruction stands; `anchor` only where the caret line marks an operator (a + b, a[i]). */
export interface Position {
  readonly span: Span;
  readonly anchor?: { readonly start: number; readonly end: number };
}

export interface Instruction {
  readonly op: OpName;
  /** slot, count or jump target */
  arg: number;
  /** name, constant, Code or other payload */
  readonly data: unknown;
  readonly at: Position;
}

/** where an exception raised by an instruction goes: stacks are cut to the depths, the exception is pushed */
export interface Handler {
  target: number;
  readonly depth: number;
  /** how many exceptions are being handled around it */
  readonly handling: number;
  /** its code ends the program or raises again: what it guards is not optional */
  readonly givesUp: boolean;
}

/** A file's text as frames and traces show it. */
export interface SourceFile {
  /** as printed in frames: a path, or "<cell>" */
  readonly name: string;
  readonly lines: readonly string[];
  /** library code: frames of "torch/nn/modules" are left out of stacks, "hidden" ones never show */
  readonly library: "user" | "nn_modules" | "library" | "hidden";
}

/** payload of MAKE_FUNCTION */
export interface FunctionSpec {
  readonly code: Code;
  readonly defaults: boolean;
  readonly kwDefaults: readonly string[];
  readonly closure: boolean;
}

export class Code {
  readonly instructions: Instruction[] = [];
  /** one per instruction */
  readonly handlers: (Handler | null)[] = [];
  /** label per slot; several slots may share a name (comprehension variables) */
  readonly varnames: string[] = [];
  readonly cellNames: string[] = [];
  readonly freeNames: string[] = [];
  /** [slot, cell] of parameters that inner functions capture */
  readonly cellParams: [number, number][] = [];
  argCount = 0;
  posOnlyCount = 0;
  kwOnlyCount = 0;
  varargs = false;
  varkw = false;
  isGenerator = false;
  isAsync = false;
  docstring: string | null = null;
  signature: Arguments | null = null;
  /** the statements it was made from, for what is inferred of parameters; null: no def */
  body: readonly Stmt[] | null = null;

  constructor(
    readonly name: string,
    readonly qualname: string,
    readonly file: SourceFile,
    readonly firstLine: number,
    readonly kind: "module" | "function" | "class",
  ) {}
}

export const JUMPS: ReadonlySet<OpName> = new Set([
  "JUMP",
  "POP_JUMP_IF_FALSE",
  "POP_JUMP_IF_TRUE",
  "JUMP_IF_FALSE_OR_POP",
  "JUMP_IF_TRUE_OR_POP",
  "FOR_ITER",
]);

/** slots that may be read after the instruction at `index`, whichever way it goes on, before they are written */
export function liveSlots(code: Code, index: number): Set<number> {
  const n = code.instructions.length;
  const live: Set<number>[] = Array.from({ length: n + 1 }, () => new Set<number>());
  let changed = true;
  while (changed) {
    changed = false;
    for (let i = n - 1; i >= 0; i--) {
      const ins = code.instructions[i];
      const here = live[i];
      if (!ins || !here) continue;
      const before = here.size;
      const handler = code.handlers[i];
      const successors: number[] = handler ? [handler.target] : [];
      if (JUMPS.has(ins.op)) successors.push(ins.arg);
      if (ins.op !== "JUMP" && ins.op !== "RETURN_VALUE" && ins.op !== "RAISE" && ins.op !== "RERAISE") {
        successors.push(i + 1);
      }
      for (const s of successors) {
        for (const v of live[s] ?? []) if (!(ins.op === "STORE_FAST" && ins.arg === v)) here.add(v);
      }
      if (ins.op === "LOAD_FAST" || ins.op === "DELETE_FAST") here.add(ins.arg);
      if (here.size !== before) changed = true;
    }
  }
  const at = code.instructions[index];
  const after = new Set(live[index + 1]);
  if (at && JUMPS.has(at.op)) for (const v of live[at.arg] ?? []) after.add(v);
  return after;
}

/** whether a jump back over `index` follows before the function returns: the instruction stands in a loop */
export function insideLoop(code: Code, index: number): boolean {
  for (let i = index + 1; i < code.instructions.length; i++) {
    const ins = code.instructions[i];
    if (!ins || ins.op === "RETURN_VALUE") return false;
    if (JUMPS.has(ins.op) && ins.arg < index) return true;
  }
  return false;
}
