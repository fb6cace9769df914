// Functions of torch.nn.functional that Dynamo traces into, as what they call. In: a function's name. Out: the callable; its
// nodes show the frame of functional.py, and bear the names of its locals.
import { isFloatDType } from "../../aten/ops/helpers/dtypes";
import { lookupPython } from "../../aten/registry";
import { NativeArgs } from "../interp/arguments";
import { type Kwargs, PyFloat, PyList, PyTuple, type Value } from "../objects/values";
import type { Torch } from "./context";
import { runOp } from "./dispatch";
import { inlinedFrames } from "./inlined_frames";
import { PyTensor } from "./objects";
import type { OpCall } from "./results";

/** undefined: Dynamo does not trace into this function */
export function inlinedFunctional(torch: Torch, name: string): Value | undefined {
  const { vm } = torch;
  if (name === "rms_norm") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "normalized_shape", "weight?", "eps?"], args, kw);
      return runOp(
        torch,
        {
          op: "call_function",
          target: "torch.rms_norm",
          spelling: "torch.rms_norm",
          options: { extraFrames: inlinedFrames(name) },
        },
        [a.need("input"), a.need("normalized_shape"), a.get("weight") ?? null, a.get("eps") ?? null],
        vm.emptyKwargs,
      );
    });
  }
  if (name === "threshold") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "threshold", "value", "inplace?"], args, kw);
      const inplace = vm.truthy(a.get("inplace") ?? false);
      const target = inplace ? "torch.threshold_" : "torch.threshold";
      const options = { extraFrames: inlinedFrames(inplace ? "_threshold_" : "_threshold") };
      const call: OpCall = { op: "call_function", target, spelling: target, options };
      const result = runOp(torch, call, [a.need("input"), a.need("threshold"), a.need("value")], vm.emptyKwargs);
      vm.observer?.stored?.("result", result, null);
      return result;
    });
  }
  if (name === "pad") {
    return vm.builtin(name, (args, kw) => {
      const a = new NativeArgs(vm, name, ["input", "pad", "mode?", "value?"], args, kw);
      const pads = a.need("pad");
      const call: OpCall = {
        op: "call_function",
        target: "torch._C._nn.pad",
        spelling: lookupPython("torch._C._nn.pad").length > 0 ? "torch._C._nn.pad" : "torch.nn.functional.pad",
        options: { extraFrames: inlinedFrames(name) },
      };
      const list = pads instanceof PyList || pads instanceof PyTuple ? pads : vm.list(vm.toArray(pads));
      return runOp(
        torch,
        call,
        [a.need("input"), list, a.get("mode") ?? "constant", a.get("value") ?? null],
        vm.emptyKwargs,
      );
    });
  }
  if (name === "_canonical_mask") return vm.builtin(name, (args, kw) => canonicalMask(torch, args, kw));
  return undefined;
}

/** an attention mask as numbers to add: a boolean one has -inf where it is True */
function canonicalMask(torch: Torch, args: readonly Value[], kw: Kwargs): Value {
  const { vm } = torch;
  const parameters = ["mask", "mask_name", "other_type", "other_name", "target_type", "check_other?"];
  const a = new NativeArgs(vm, "_canonical_mask", parameters, args, kw);
  const mask = a.need("mask");
  // its dtype is asked for, which makes it an input
  if (mask instanceof PyTensor) torch.trace?.nodeOf(mask);
  if (!(mask instanceof PyTensor) || isFloatDType(mask.meta.dtype)) return mask;
  if (mask.meta.dtype !== "bool") {
    const given = String(a.need("mask_name"));
    return vm.raise("AssertionError", `only bool and floating types of ${given} are supported`);
  }
  const options = { extraFrames: inlinedFrames("_canonical_mask") };
  const zeros: OpCall = { op: "call_function", target: "torch.zeros_like", spelling: "torch.zeros_like", options };
  const fill: OpCall = { op: "call_method", target: "masked_fill_", spelling: "Tensor.masked_fill_", options };
  const blank = runOp(torch, zeros, [mask], new Map([["dtype", a.need("target_type")]]));
  const filled = runOp(torch, fill, [blank, mask, new PyFloat(Number.NEGATIVE_INFINITY)], vm.emptyKwargs);
  vm.observer?.stored?.("mask", filled, null);
  return filled;
}

/** the product of direction and length in torch.nn.utils.weight_norm's hook, or in the parametrization of that name */
export function weightNorm(torch: Torch, where: "hook" | "parametrized"): Value {
  return torch.vm.builtin("_weight_norm", args => {
    const spelling = "torch._weight_norm";
    const options = { extraFrames: inlinedFrames(`weight_norm_${where}`) };
    return runOp(torch, { op: "call_function", target: spelling, spelling, options }, args, torch.vm.emptyKwargs);
  });
}
