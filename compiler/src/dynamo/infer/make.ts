// Choices made into values. In: a choice and the function that it is for. Out: a Python value; objects of classes are built
// like roots, so this may fail as Python fails.

import { isFloatDType } from "../../aten/ops/helpers/dtypes";
import { method } from "../builtins/define";
import { Frame } from "../interp/frame";
import { PyClass, PyDict, PyInstance, type Value } from "../objects/values";
import { libraryCode } from "../stdlib/modules";
import type { PyTensor } from "../torch/objects";
import { assumedObject, plainValue } from "./assumed_object";
import { guessByName } from "./choices/constructor";
import { type InferContext, isEnum, lookup } from "./context";
import type { Choice, Hole } from "./types";

/** builds an object of a class, its parameters inferred, by a certain builder or any; undefined: it can't be built */
export type Build = (cls: PyClass, by?: string, fixed?: readonly (readonly [string, Choice])[]) => Value | undefined;

export function makeValue(ctx: InferContext, h: Hole, c: Choice, build: Build): Value | undefined {
  const { vm } = ctx;
  switch (c.kind) {
    case "absent":
      return undefined;
    case "none":
    case "number":
    case "bool":
    case "str":
    case "space":
      return plainValue(ctx, h, c);
    case "seq": {
      const items: Value[] = [];
      for (const i of c.items) {
        const made = makeValue(ctx, h, i, build);
        if (made === undefined) return undefined;
        items.push(made);
      }
      return c.tuple ? vm.tuple(items) : vm.list(items);
    }
    case "dict":
      return vm.dict(c.entries.map(([k, v]) => [k, makeValue(ctx, h, v, build) ?? null] as const));
    case "record":
      return makeRecord(
        ctx,
        c.entries.map(([k, v]) => [k, makeValue(ctx, h, v, build) ?? null] as const),
      );
    case "tensor": {
      const made = makeTensor(ctx, c.dims, c.dtype, c.filled);
      if (c.library !== undefined) made.guessedFrom = c.library;
      return made;
    }
    case "named":
      return lookup(ctx, h.globals, c.path);
    case "instance": {
      const cls = lookup(ctx, h.globals, c.path);
      if (c.path === BACKBONE && cls !== undefined) return vm.call(cls, []);
      if (!(cls instanceof PyClass)) return undefined;
      if (isEnum(cls)) return vm.toArray(cls)[0];
      if (c.given) return vm.call(cls, [], new Map(c.given.map(([k, v]) => [k, makeValue(ctx, h, v, build) ?? null])));
      return build(cls, c.by, c.fixed);
    }
    case "object":
      return assumedObject(ctx, h, c.given);
    case "module":
      return assumedModule(ctx, h, null);
    case "scale":
      return assumedModule(ctx, h, scaleClass(ctx));
    case "identity":
      return vm.builtin("identity", (args, kw) => args[0] ?? [...kw.values()][0] ?? null);
    case "unknown":
      return vm.unknown(h.name);
    default:
      return c satisfies never;
  }
}

/** makes the network that stands for one whose layers are asked for by name or place */
export const BACKBONE = "torchvision.models.resnet18";

/** what moves or copies such an object gives it back: what it holds is where it should be */
const MOVES = ["to", "cuda", "cpu", "clone", "detach", "float", "half", "contiguous"] as const;

/** the class of records, as errors name it */
export const RECORD = "Inputs";

function makeRecord(ctx: InferContext, entries: readonly (readonly [string, Value])[]): PyInstance {
  const { vm } = ctx;
  const cls = vm.klass(RECORD, [], "fuselens");
  for (const name of MOVES) method(vm, cls, name, ([self]) => self ?? null);
  const made = new PyInstance(cls);
  made.attrs = vm.dict([...entries]);
  return made;
}

function makeTensor(
  ctx: InferContext,
  dims: readonly number[],
  dtype: PyTensor["meta"]["dtype"],
  filled: number | undefined,
): PyTensor {
  const device = { type: ctx.device, index: ctx.device === "cuda" ? 0 : null } as const;
  const kept = dtype === "float32" ? (ctx.half ?? dtype) : dtype;
  const meta = ctx.torch.metaStatic.tensor([...dims], { dtype: kept, device }) as PyTensor["meta"];
  const requiresGrad = ctx.inputGrad && isFloatDType(dtype);
  const t = ctx.torch.newTensor(requiresGrad ? { ...meta, requiresGrad } : meta);
  if (filled !== undefined) t.known = new Array<number>(dims.reduce((a, b) => a * b, 1)).fill(filled);
  return t;
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
  if (base === null) method(vm, cls, "forward", ([, x]) => x ?? null);
  method(vm, cls, "__getattr__", ([self, name]) => {
    const n = String(name);
    const members = ["_parameters", "_buffers", "_modules"].map(k =>
      self instanceof PyInstance ? self.attrs?.get(k) : undefined,
    );
    for (const d of members) {
      const v = d instanceof PyDict ? d.get(n) : undefined;
      if (v !== undefined) return v;
    }
    // what asks for these looks for wrappers to take off
    if (n.startsWith("_") || n === "module")
      return vm.raise("AttributeError", `'AssumedModule' object has no attribute '${n}'`);
    const v = plainValue(ctx, h, guessByName(n));
    const note = `${h.name}.${n} is ${vm.repr(v)}`;
    if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    return v;
  });
  const made = vm.call(cls, []);
  return made instanceof PyInstance ? made : new PyInstance(cls);
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
    else if (h.rest) continue;
    else kwargs.set(h.name, v);
  }
  return { args, kwargs };
}
