// Choices made into values. In: a choice and the function that it is for. Out: a Python value; objects of classes are built
// like roots, so this may fail as Python fails.

import { Frame } from "../interp/frame";
import { type Kwargs, PyClass, PyDict, PyFloat, PyInstance, PyList, PyTuple, type Value } from "../objects/values";
import { libraryCode } from "../stdlib/modules";
import { PyTensor } from "../torch/objects";
import { guessByName } from "./choices/choices";
import { type InferContext, isEnum, lookup } from "./context";
import type { Choice, Hole } from "./types";

/** builds an object of a class, its constructor's parameters inferred; undefined: it can't be built */
export type Build = (cls: PyClass, why: string) => Value | undefined;

export function makeValue(ctx: InferContext, h: Hole, c: Choice, build: Build): Value | undefined {
  const { vm } = ctx;
  switch (c.kind) {
    case "absent":
      return undefined;
    case "none":
      return null;
    case "number":
      return c.float || !Number.isInteger(c.value) ? new PyFloat(c.value) : c.value;
    case "bool":
    case "str":
      return c.value;
    case "seq": {
      const items = c.items.map(i => makeValue(ctx, h, i, build) ?? null);
      return c.tuple ? vm.tuple(items) : vm.list(items);
    }
    case "dict":
      return vm.dict(c.entries.map(([k, v]) => [k, makeValue(ctx, h, v, build) ?? null] as const));
    case "tensor":
      return makeTensor(ctx, c.dims, c.dtype, c.filled);
    case "named":
      return lookup(ctx, h.globals, c.path);
    case "instance": {
      const cls = lookup(ctx, h.globals, c.path);
      if (!(cls instanceof PyClass)) return undefined;
      if (isEnum(cls)) return vm.toArray(cls)[0];
      return build(cls, h.name);
    }
    case "object":
      return assumedObject(ctx, h, c.given);
    case "module":
      return assumedModule(ctx, h, null);
    case "scale":
      return assumedModule(ctx, h, scaleClass(ctx));
    case "identity":
      return vm.builtin("identity", args => args[0] ?? null);
    default:
      return c satisfies never;
  }
}

function makeTensor(
  ctx: InferContext,
  dims: readonly number[],
  dtype: PyTensor["meta"]["dtype"],
  filled: number | undefined,
): PyTensor {
  const meta = ctx.torch.metaStatic.tensor([...dims], { dtype, device: { type: "cuda", index: 0 } });
  const t = ctx.torch.newTensor(meta as PyTensor["meta"]);
  if (filled !== undefined) t.known = new Array<number>(dims.reduce((a, b) => a * b, 1)).fill(filled);
  return t;
}

/** an object whose attributes and items are guessed by their names when they are first asked for */
function assumedObject(ctx: InferContext, h: Hole, given: readonly (readonly [string, Choice])[]): PyInstance {
  const { vm } = ctx;
  const cls = vm.klass("AssumedConfig", [], "fuselens");
  const o = new PyInstance(cls);
  o.attrs = vm.dict();
  const known = new Map<string, Value>();
  // the more is asked for, the better it is known which file of the project speaks of it
  const read = [...h.usage.attributes, ...h.usage.keys].filter(n => !n.startsWith("_"));
  let about: ((name: string) => Choice | undefined) | null = null;
  const constantOf = (name: string): Choice | undefined => {
    const asked = [...new Set([...read, ...known.keys(), name])];
    if (about === null || known.size === 3 || known.size === 10) about = ctx.constants.about(asked);
    return about(name);
  };
  const answer = (name: string): Value => {
    const had = known.get(name);
    if (had !== undefined) return had;
    const told = given.find(([k]) => k === name)?.[1] ?? constantOf(name);
    const v = plainValue(ctx, told ?? ctx.constants.comparedWith(name) ?? guessByName(name));
    known.set(name, v);
    o.attrs?.set(name, v);
    const note = `${h.name}.${name} is ${vm.repr(v)}`;
    if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    return v;
  };
  const own = (name: string, fn: (args: readonly Value[], kw: Kwargs) => Value): void => {
    const b = vm.builtin(name, ([, ...args], kw) => fn(args, kw));
    b.method = true;
    cls.dict.set(name, b);
  };
  own("__getattr__", ([name]) => {
    const n = String(name);
    if (n.startsWith("__")) return vm.raise("AttributeError", `'AssumedConfig' object has no attribute '${n}'`);
    return answer(n);
  });
  own("__getitem__", ([key]) => (typeof key === "string" ? answer(key) : vm.raise("KeyError", vm.repr(key ?? null))));
  own("get", ([key, fallback]) =>
    fallback === undefined && typeof key === "string" ? answer(key) : (fallback ?? null),
  );
  own("__contains__", () => false);
  own("keys", () => vm.list([...known.keys()]));
  own("items", () => vm.list([]));
  return o;
}

const SCALE = `
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, *args, **kwargs):
        return self.scaled(args[0] if args else next(iter(kwargs.values())))

    def scaled(self, x):
        if isinstance(x, torch.Tensor):
            return x * self.scale
        if isinstance(x, (list, tuple)):
            return type(x)([self.scaled(v) for v in x])
        if isinstance(x, dict):
            return {k: self.scaled(v) for k, v in x.items()}
        return x
`;

function scaleClass(ctx: InferContext): PyClass | null {
  const { vm } = ctx;
  const dict = vm.dict([
    ["__name__", "scale"],
    ["torch", vm.importModule("torch", null)],
    ["nn", vm.importModule("torch.nn", null)],
  ]);
  const frame = new Frame(libraryCode("scale", SCALE, "nn_modules", "scale.py"), dict, null, []);
  frame.names = dict;
  vm.run(frame);
  const made = dict.get("Scale");
  return made instanceof PyClass ? made : null;
}

/** a module whose forward gives back what it gets, or that of `base`, for wrappers that only need something inside */
function assumedModule(ctx: InferContext, h: Hole, base: PyClass | null): PyInstance {
  const { vm, torch } = ctx;
  const cls = vm.klass("AssumedModule", [base ?? torch.moduleClass ?? vm.types.object], "fuselens");
  const own = (name: string, fn: (args: readonly Value[]) => Value): void => {
    const b = vm.builtin(name, args => fn(args));
    b.method = true;
    cls.dict.set(name, b);
  };
  if (base === null) own("forward", ([, x]) => x ?? null);
  own("__getattr__", ([self, name]) => {
    const n = String(name);
    const members = ["_parameters", "_buffers", "_modules"].map(k =>
      self instanceof PyInstance ? self.attrs?.get(k) : undefined,
    );
    for (const d of members) {
      const v = d instanceof PyDict ? d.get(n) : undefined;
      if (v !== undefined) return v;
    }
    if (n.startsWith("_")) return vm.raise("AttributeError", `'AssumedModule' object has no attribute '${n}'`);
    const v = plainValue(ctx, guessByName(n));
    const note = `${h.name}.${n} is ${vm.repr(v)}`;
    if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    return v;
  });
  const made = vm.call(cls, []);
  return made instanceof PyInstance ? made : new PyInstance(cls);
}

function plainValue(ctx: InferContext, c: Choice): Value {
  switch (c.kind) {
    case "number":
      return c.float || !Number.isInteger(c.value) ? new PyFloat(c.value) : c.value;
    case "bool":
    case "str":
      return c.value;
    case "seq":
      return ctx.vm.list(c.items.map(i => plainValue(ctx, i)));
    default:
      return null;
  }
}

/** positional and keyword arguments for a state; holes left to their defaults end the positional ones */
export function callArguments(
  holes: readonly Hole[],
  values: ReadonlyMap<string, Value>,
): { readonly args: Value[]; readonly kwargs: Map<string, Value> } {
  const args: Value[] = [];
  const kwargs = new Map<string, Value>();
  let open = true;
  for (const h of holes) {
    const v = values.get(h.name);
    if (v === undefined) {
      open = false;
      continue;
    }
    if (open && !h.keywordOnly) args.push(v);
    else kwargs.set(h.name, v);
  }
  return { args, kwargs };
}

export { PyList, PyTensor, PyTuple };
