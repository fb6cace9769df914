// torch._foreach_*: operators over lists. Dynamo writes a few of them out as others first. In: lists of tensors. Out: the
// tuple of results.
import { type Kwargs, PyBuiltin, PyList, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { PyTensor } from "./objects";
import { functionOp } from "./tensor_ops";

export function foreachFunction(torch: Torch, name: string): Value {
  const { vm } = torch;
  const b = new PyBuiltin(vm.types.builtin, name, (args, kw) => call(torch, name, args, kw));
  b.module = "torch";
  return b;
}

const holdsTensors = (v: Value): boolean =>
  v instanceof PyTensor || ((v instanceof PyList || v instanceof PyTuple) && v.items.some(x => x instanceof PyTensor));

function call(torch: Torch, name: string, args: readonly Value[], kw: Kwargs): Value {
  const [a, b, weight] = args;
  // lerp_ with a number: a += (b - a) * weight
  if (name === "_foreach_lerp_" && torch.trace && weight !== undefined && !holdsTensors(weight)) {
    const delta = functionOp(torch, "torch._foreach_sub", [b ?? null, a ?? null]);
    const scaled = functionOp(torch, "torch._foreach_mul", [delta, weight]);
    return functionOp(torch, "torch._foreach_add_", [a ?? null, scaled]);
  }
  return functionOp(torch, `torch.${name}`, args, kw);
}
