// Single numbers of a tensor. In: a tensor and a place in it. Out: the number as Python has it, or one that is not known.
import { PyFloat } from "../../aten/types";
import type { Value } from "../objects/values";
import { isFloatDType, type Torch } from "./context";
import { type PyTensor, PyUnknownNumber } from "./objects";

/**
 * The number in a tensor of one element: known, or unknown until the program's control flow asks for it. Inside a
 * compiled call it is worked out at once, since the frame that goes on is compiled for it.
 */
export function itemValue(torch: Torch, t: PyTensor, what: string, index = 0): Value {
  const one = t.known?.[index] ?? (torch.compiling ? elements(torch, t)?.[index] : undefined);
  if (one !== undefined) return asPython(t, one);
  const { vm } = torch;
  const cls = t.meta.dtype === "bool" ? vm.types.bool : isFloatDType(t.meta.dtype) ? vm.types.float : vm.types.int;
  const step = torch.steps.length;
  return new PyUnknownNumber(cls, what, t, () => {
    const v = elements(torch, t, step)?.[index];
    return v === undefined ? undefined : Number(v);
  });
}

/** a tensor's elements in row-major order, undefined where they can't be worked out; `step`: how far the program had come */
export function elements(
  torch: Torch,
  t: PyTensor,
  step = torch.steps.length,
): readonly (number | boolean)[] | undefined {
  if (t.known) return t.known;
  if (torch.stepsPaused) return undefined;
  return torch.options.evaluate?.(torch.steps.slice(0, step), torch.runtime(t));
}

/** an element as Python has it: a bool, a float or an int by the tensor's dtype */
export function asPython(t: PyTensor, v: number | boolean): Value {
  if (t.meta.dtype === "bool") return Boolean(v);
  return isFloatDType(t.meta.dtype) ? new PyFloat(Number(v)) : Number(v);
}
