// What libraries that are not there export under names that mean the same in all of them. In: the name. Out: what stands for it;
// nothing for other names.
import type { Value } from "../objects/values";
import type { Interp } from "./api";

const SHARED_NORM = /^Sync(?:hronized)?B(?:atch)?N(?:orm)?([123])d$/;
/** helpers of layers, as timm has them */
const HELPERS = /^(make_divisible|to_[1-4]tuple|to_ntuple|drop_path|DropPath|trunc_normal_)$/;

export function sharedName(vm: Interp, name: string): Value | undefined {
  // in one process, a normalisation that processes share is the usual one
  const dims = SHARED_NORM.exec(name)?.[1];
  if (dims !== undefined) return vm.getattr(vm.importModule("torch.nn", null), `BatchNorm${dims}d`);
  return HELPERS.test(name) ? vm.getattrOrUndefined(vm.importModule("timm.layers", null), name) : undefined;
}
