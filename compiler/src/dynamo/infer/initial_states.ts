// States that a module makes before its first step: what init_hidden(batch) gives is what forward's `hidden` holds. In: the
// module and a parameter of its forward. Out: choices for it, for a batch that comes first and for one behind the steps.
import { PyFunction } from "../interp/frame";
import { PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { PyTensor } from "../torch/objects";
import { SIZES } from "./choices/names";
import { methodOf } from "./context";
import { guarded } from "./guarded";
import type { Program } from "./program";
import { type Choice, distinct, type Hole, NONE, tensor } from "./types";

const STATE =
  /^(h|hx|hc|h_?0|hiddens?|hidden_(states?|cell)|states?|prev_(hidden|states?)|last_(hidden|states?)|carry)$/;
const MAKER = /^_?(init|initial|initiali[sz]e|get_init(ial)?|begin|zero)_?(hidden|carry|states?)(_?states?)?$/i;
const STEPS = 200_000;

export function initialStates(p: Program, target: Value, h: Hole): Choice[] {
  if (!(target instanceof PyInstance) || h.written || !STATE.test(h.name)) return [];
  const name = makerOf(target);
  if (name === undefined) return [];
  const made = [SIZES.batch, SIZES.length].flatMap(batch => {
    // read before what the method did is undone
    const run = () => choiceOf(p.vm.call(p.vm.getattr(target, name), [batch]));
    const outcome = guarded(p, STEPS, run, "nothing");
    const c = "ok" in outcome ? outcome.ok : undefined;
    return c === undefined || c.kind === "none" || (c.kind === "seq" && c.items.length === 0) ? [] : [c];
  });
  return distinct(made);
}

/** a method of the class, or of its bases, that goes by such a name and takes the size of the batch */
function makerOf(target: PyInstance): string | undefined {
  const names = target.cls.mro.flatMap(c => c.dict.keys().map(String));
  return names.find(n => {
    const f = MAKER.test(n) ? methodOf(target.cls, n) : undefined;
    const s = f instanceof PyFunction && f.code.file.library === "user" ? f.code.signature : undefined;
    return s !== undefined && s !== null && s.posonlyargs.length + s.args.length >= 2;
  });
}

function choiceOf(v: Value): Choice | undefined {
  if (v === null) return NONE;
  if (v instanceof PyTensor) {
    const dims = v.meta.shape.map(e => (e.kind === "int" ? e.value : 0));
    return dims.every(d => d > 0) ? tensor(v.meta.dtype, dims) : undefined;
  }
  if (!(v instanceof PyTuple || v instanceof PyList)) return undefined;
  const items = v.items.map(choiceOf);
  return items.every(i => i !== undefined) ? { kind: "seq", items, tuple: v instanceof PyTuple } : undefined;
}
