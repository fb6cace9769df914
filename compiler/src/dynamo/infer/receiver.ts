// forward(*args, **kwargs) that hands all of it on: the method that takes the arguments apart. In: a module whose forward failed
// because that method was given too few. Out: the method, whose parameters are forward's.
import type { PyFunction } from "../interp/frame";
import { PyInstance, type Value } from "../objects/values";
import { methodOf } from "./context";
import { guarded } from "./guarded";
import type { Program } from "./program";
import type { Failure } from "./types";

const TOO_FEW = /^(?:[\w.]+\.)?(\w+)\.(\w+)\(\) missing \d+ required positional argument/;
const STEPS = 500_000;

export function receiverOf(p: Program, target: Value, forward: PyFunction, f: Failure | null): PyFunction | undefined {
  const s = forward.code.signature;
  const [, cls, method] = TOO_FEW.exec(f?.message ?? "") ?? [];
  if (!s?.vararg || s.posonlyargs.length + s.args.length !== 1 || cls === undefined || method === undefined)
    return undefined;
  if (!(target instanceof PyInstance)) return undefined;
  const found = [target, ...parts(p, target)]
    .filter(m => m.cls.mro.some(c => c.name === cls))
    .map(m => methodOf(m.cls, method))
    .find(m => m !== undefined && m !== forward);
  return found;
}

function parts(p: Program, target: PyInstance): PyInstance[] {
  const { vm } = p;
  const outcome = guarded(p, STEPS, () => vm.toArray(vm.call(vm.getattr(target, "modules"), [])));
  return "ok" in outcome ? outcome.ok.filter(m => m instanceof PyInstance) : [];
}
