// The blocks that TORCH_LOGS=graph_breaks prints. In: what could not be traced, and where. Out: text, line for line as
// torch writes it.

import type { StackFrame } from "../../fx/types";
import type { Code, OpName } from "../code/instructions";
import type { Unsupported } from "../torch/sink";

/** how Dynamo describes the instruction it stopped at */
const INSTRUCTIONS: Partial<Record<OpName, string>> = {
  CALL: "CALL: a function call, e.g. f(x, y):",
  CALL_EX: "CALL_FUNCTION_EX: a function call with unpacked arguments, e.g. f(*args, **kwargs):",
  STORE_ATTR: "STORE_ATTR: storing an object's attribute, e.g. x.attr = y:",
  LOAD_ATTR: "LOAD_ATTR: accessing an object's attribute, e.g. x.attr:",
  BINARY_SUBSCR: "BINARY_SUBSCR: a binary subscript, e.g. x[attr]:",
  STORE_SUBSCR: "STORE_SUBSCR: a store subscript, e.g. x[attr] = y:",
  DELETE_SUBSCR: "DELETE_SUBSCR: a delete subscript, e.g. del x[attr]:",
  BINARY_OP: "BINARY_OP: a binary operator, e.g. x + y:",
  INPLACE_OP: "BINARY_OP: a binary operator, e.g. x + y:",
  COMPARE_OP: "COMPARE_OP: a comparison, e.g. x < y:",
  UNARY_OP: "UNARY_OP: a unary operator, e.g. -x:",
};

/** instructions before which a graph can end */
export function breakable(op: OpName): boolean {
  return op in INSTRUCTIONS;
}

export function describe(gb: Unsupported["gb"]): string {
  const hints = gb.hints.map(h => `  Hint: ${h}\n`).join("");
  const link = `https://meta-pytorch.github.io/compile-graph-break-site/gb/gb${gb.number}.html`;
  return (
    `${gb.type}\n  Explanation: ${gb.explanation}\n${hints}\n  Developer debug context: ${gb.context}\n\n` +
    ` For more details about this graph break, please visit: ${link}`
  );
}

export function breakBlock(
  at: { readonly file: string; readonly line: number },
  reason: string,
  traceback: readonly StackFrame[],
): string {
  const frames = traceback.map(f => `  File "${f.file}", line ${f.line}, in ${f.func}\n    ${f.code}\n`).join("");
  return `Graph break in user code at ${at.file}:${at.line}\nGraph Break Reason: ${reason}\n\nUser code traceback:\n${frames}`;
}

export function reasonFor(op: OpName | null, fault: Unsupported, skipped: boolean, another: string | null): string {
  const text = describe(fault.gb);
  if (skipped) {
    const more =
      another === null
        ? ""
        : `\n\n*** While handling this graph break, another graph break occurred: ***\n\n${another}`;
    return `Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break encountered:\n\n${text}${more}`;
  }
  if (fault.branch || op === null) return text;
  return `Encountered graph break when attempting to trace ${INSTRUCTIONS[op] ?? `${op}:`}\n\n${text}`;
}

/** of a break in a loop, which skips its frame */
export function loopText(code: Code): string {
  return describe({
    type: "graph break in loop",
    number: "7000",
    explanation:
      "torch.compile detected a graph break in a for/while loop. Skipping the frame and falling back to eager, as graph breaks in loops are not supported.",
    hints: [
      "This graph break may have been caused by an earlier graph break. Resolving the earlier graph break may resolve this one.",
    ],
    context: `frame skipped: ${code.name} (${code.file.name} line ${code.firstLine})`,
  });
}
