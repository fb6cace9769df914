// Operators of the table as a graph records them, and the ways a graph ends at a tensor. In: a name and its operands.
// Out: the operator's value, or Unsupported.
import type { Kwargs, Value } from "../objects/values";
import type { Torch } from "./context";
import { runOp } from "./dispatch";
import { Unsupported } from "./sink";

export { FUNDAMENTAL, REPORT, SUPPORTABLE } from "./sink";

/** a method of the table, as the graph records it */
export function methodOp(torch: Torch, name: string, self: Value, args: readonly Value[], kwargs: Kwargs): Value {
  return runOp(torch, { op: "call_method", target: name, spelling: `Tensor.${name}` }, [self, ...args], kwargs);
}

export function functionOp(
  torch: Torch,
  target: string,
  args: readonly Value[],
  kwargs: Kwargs = new Map(),
  spelling = target,
): Value {
  return runOp(torch, { op: "call_function", target, spelling }, args, kwargs);
}

export const unsupportedItem = (name: string): Unsupported =>
  new Unsupported({
    type: "Unsupported Tensor.item() call with capture_scalar_outputs=False",
    number: "0124",
    explanation: "Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.",
    hints: [
      "Set `torch._dynamo.config.capture_scalar_outputs = True` or `export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` to include these operations in the captured graph.",
    ],
    context: `call_method TensorVariable() ${name} () {}`,
  });

export function breakOn(
  type: string,
  number: string,
  explanation: string,
  hints: readonly string[],
  context: string,
): never {
  throw new Unsupported({ type, number, explanation, hints, context });
}
