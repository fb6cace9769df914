// Numbers that nobody knows (the length of a vocabulary that is read from a file, a count of classes in a checkpoint) and that
// constructors need as sizes. In: a constructor's frame. Out: likely numbers in their place, by the names of the parameters.
import type { Frame } from "../interp/frame";
import { PyDict, PyFloat, PyInstance, PyUnknown, type Value } from "../objects/values";
import { isBoolName, isClassName, isModuleName, numberFor } from "./choices/names";
import type { InferContext } from "./context";

/** Fills a frame's parameters that `taken` accepts; returns what is to be said of it. */
export function fillUnknown({ code, locals, cells }: Frame, taken: (name: string) => boolean = () => true): string[] {
  const said: string[] = [];
  const likely = (name: string, v: Value): Value => {
    const n = v instanceof PyUnknown && taken(name) ? numberFor(name) : undefined;
    if (n === undefined) return v;
    said.push(`${name} taken as ${n}`);
    return Number.isInteger(n) ? n : new PyFloat(n);
  };
  locals.forEach((v, i) => {
    if (v instanceof PyDict) {
      for (const [k, x] of v.entries()) if (x instanceof PyUnknown) v.set(String(k), likely(String(k), x));
    } else if (v instanceof PyUnknown) locals[i] = likely(code.varnames[i] ?? "", v);
  });
  for (const [slot, cell] of code.cellParams) {
    const c = cells[cell];
    if (c?.value instanceof PyUnknown) c.value = likely(code.varnames[slot] ?? "", c.value);
  }
  return said;
}

/** sizes that torch's layers take */
const LAYER_SIZES =
  /^(num_embeddings|embedding_dim|(in|out)_(features|channels)|num_features|num_channels|hidden_size|input_size|embed_dim|normalized_shape)$/;

const isSize = (name: string): boolean => !isModuleName(name) && !isClassName(name) && !isBoolName(name);

/** Runs code that builds modules, whose constructors, those of torch's layers too, get likely sizes for unknown ones. */
export function withLikelySizes<T>(ctx: InferContext, f: () => T): T {
  const { vm, torch } = ctx;
  const outer = vm.frameHook;
  vm.frameHook = frame => {
    const taken = outer?.(frame);
    const self = frame.locals[0];
    if (taken === undefined && frame.code.name === "__init__" && self instanceof PyInstance && torch.isModule(self)) {
      const own = frame.code.file.library === "user";
      for (const note of fillUnknown(frame, own ? isSize : n => LAYER_SIZES.test(n)))
        if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    }
    return taken;
  };
  try {
    return f();
  } finally {
    vm.frameHook = outer;
  }
}
