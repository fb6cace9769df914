// Stand-ins for configuration objects. In: the parameter that one stands in, and what is known of its attributes. Out: an
// object whose attributes and items are found by their names when they are first asked for: in the project's files, else
// by what the project's code does with them (`cfg.model.width`: an object; `for d in cfg.dims`: a list), else guessed.
import { method } from "../builtins/define";
import { GET_OR } from "../interp/attributes";
import { STANDS_FOR } from "../interp/measures";
import { PyClass, PyFloat, PyInstance, type Value } from "../objects/values";
import { guessByName, sequences } from "./choices/constructor";
import { ASSUMED } from "./choices/plain";
import { smaller } from "./choices/smaller";
import { spaces } from "./choices/spaces";
import { emptyUsage } from "./choices/usage";
import { type InferContext, lookup } from "./context";
import type { Choice, Hole } from "./types";

/** names that configurations go by where they are handed on */
const COMMON_NAMES = ["config", "cfg", "args", "opt", "conf", "hparams", "hps", "params"];

/** what a configuration only has where it was put there, but for the one that transformers always sets */
const isPrivate = (name: string): boolean => /^_(?!attn_implementation$)/.test(name);

/** classes that libraries have for configurations */
const CONFIGURATION = /^_?(CfgNode|DictConfig|ConfigDict|AttributeDict|Namespace)$/;

type Given = readonly (readonly [string, Choice])[];

export function assumedObject(ctx: InferContext, h: Hole, given: Given): PyInstance {
  // mol_dictionary is handed on as a dictionary
  const last = h.name.split("_").pop() ?? h.name;
  return objectCalled(ctx, h, h.name, [...new Set([h.name, ...h.selves, last, ...COMMON_NAMES])], given);
}

/** what is given of an object holds for its parts too: an error names an attribute without the way to it */
const inherited = (given: Given): Given => given.filter(([, c]) => c.kind !== "object");

/** `path`: "cfg.model"; `names`: what code calls the object by, before the attribute that it reads */
function objectCalled(ctx: InferContext, h: Hole, path: string, names: readonly string[], given: Given): PyInstance {
  const { vm } = ctx;
  const cls = vm.klass(ASSUMED, [], "fuselens");
  const o = new PyInstance(cls);
  // what was asked for, and what the program has set, by attribute or by item
  const known = vm.dict();
  o.attrs = known;
  // the more is asked for, the better it is known which file of the project speaks of it
  const read = path === h.name ? [...h.usage.attributes, ...h.usage.keys].filter(n => !n.startsWith("_")) : [];
  const section = path === h.name ? undefined : path.split(".").pop();
  const root = ctx.building[0]?.split(".").pop();
  let about: ((name: string) => Choice | undefined) | null = null;
  const constantOf = (name: string): Choice | undefined => {
    const asked = [...new Set([...read, ...known.keys().map(String), name])];
    if (about === null || known.size === 3 || known.size === 10) about = ctx.constants.about(asked, section, root);
    return about(name);
  };
  const cut = (name: string, c: Choice | undefined): Choice | undefined =>
    ctx.small && c !== undefined ? (smaller(name, c) ?? c) : c;
  const made = (name: string): Value => {
    const told = given.find(([k]) => k === name)?.[1] ?? spaces(ctx, name)[0];
    const constant = told ?? cut(name, constantOf(name));
    const use = told?.kind === "object" ? "object" : ctx.constants.usedAs(names, name);
    // what an error asked for stands, whatever other code does with an attribute of this name
    if (use === "object" && (told === undefined || told.kind === "object" || told.kind === "dict")) {
      const parts = constant?.kind === "object" ? constant.given : constant?.kind === "dict" ? constant.entries : [];
      const part = objectCalled(ctx, h, `${path}.${name}`, [name], [...inherited(given), ...parts]);
      // what an error asked for is there where all of it is handed on
      if (told?.kind === "dict") for (const [k] of parts) vm.getattr(part, k);
      return part;
    }
    if (use === "method" && told === undefined) {
      const result = plainValue(ctx, h, guessByName(name.replace(/^get_/, "")));
      counted();
      return vm.builtin(name, () => result);
    }
    if (constant !== undefined) return plainValue(ctx, h, constant);
    const list = use === "list" ? sequences(ctx, { ...h, name, usage: emptyUsage() }, "", false)[0] : undefined;
    return plainValue(
      ctx,
      h,
      list ??
        ctx.constants.option(name) ??
        ctx.constants.assigned(name) ??
        ctx.constants.comparedWith(name) ??
        guessByName(name),
    );
  };
  // what has methods and a length knows so many words
  const counted = (): void => {
    if (cls.dict.get("__len__") !== undefined) return;
    own("__len__", () => plainValue(ctx, h, guessByName("vocab_size")));
    own("__bool__", () => true);
  };
  const answer = (name: string): Value => {
    const had = known.get(name);
    if (had !== undefined) return had;
    const v = made(name);
    ctx.asked.set(name, v);
    known.set(name, v);
    if (!(v instanceof PyInstance) || v.cls.name !== ASSUMED) {
      const note = `${path}.${name} is ${vm.repr(v)}`;
      if (!ctx.assumed.includes(note)) ctx.assumed.push(note);
    }
    return v;
  };
  const own = (name: string, fn: (args: readonly Value[]) => Value): void =>
    method(vm, cls, name, ([, ...args]) => fn(args));
  own("__getattr__", ([name]) => {
    const n = String(name);
    if (n.startsWith("__") || (isPrivate(n) && known.get(n) === undefined && !given.some(([k]) => k === n)))
      return vm.raise("AttributeError", `'${ASSUMED}' object has no attribute '${n}'`);
    return answer(n);
  });
  // getattr(cfg, "x", 3): what the code falls back to, unless the project knows better
  own(GET_OR, ([name, fallback]) => {
    const n = String(name);
    const told = known.has(n) || given.some(([k]) => k === n) || constantOf(n) !== undefined;
    if (n.startsWith("__") || told || ctx.constants.usedAs(names, n) !== undefined) return answer(n);
    ctx.asked.set(n, fallback ?? null);
    known.set(n, fallback ?? null);
    return fallback ?? null;
  });
  const held = (key: Value | undefined): Value | undefined => known.getKey(vm.hash(key ?? null));
  own(
    "__getitem__",
    ([key]) => held(key) ?? (typeof key === "string" ? answer(key) : vm.raise("KeyError", vm.repr(key ?? null))),
  );
  own("get", ([key, fallback]) => {
    const v = held(key);
    if (v !== undefined) return v;
    return fallback === undefined && typeof key === "string" ? answer(key) : (fallback ?? null);
  });
  cls.dict.set(
    STANDS_FOR,
    vm.builtin(STANDS_FOR, ([c]) => c instanceof PyClass && c.mro.some(m => CONFIGURATION.test(m.name))),
  );
  own("__contains__", ([key]) => held(key) !== undefined);
  own("__setitem__", ([key, value]) => {
    known.setKey(vm.hash(key ?? null), key ?? null, value ?? null);
    return null;
  });
  own("_get_kwargs", () => vm.list(known.entries().map(pair => vm.tuple(pair))));
  own("keys", () => vm.list(known.keys()));
  own("items", () => vm.list(known.entries().map(pair => vm.tuple(pair))));
  return o;
}

function spaceOf({ vm }: InferContext, c: Extract<Choice, { readonly kind: "space" }>): Value {
  const spaces = vm.importModule("gymnasium.spaces", null);
  if (c.shape === null) return vm.call(vm.getattr(spaces, "Discrete"), [c.actions]);
  const limits = [new PyFloat(-1), new PyFloat(1)];
  return vm.call(vm.getattr(spaces, "Box"), [...limits, vm.tuple([...c.shape])]);
}

/** a choice that needs nothing built; a name is looked up where the parameter's function stands */
export function plainValue(ctx: InferContext, h: Hole, c: Choice): Value {
  switch (c.kind) {
    case "number":
      return c.float || !Number.isInteger(c.value) ? new PyFloat(c.value) : c.value;
    case "bool":
    case "str":
      return c.value;
    case "seq":
      return ctx.vm.list(c.items.map(i => plainValue(ctx, h, i)));
    case "dict":
      return ctx.vm.dict(c.entries.map(([k, v]) => [k, plainValue(ctx, h, v)] as const));
    case "object":
      return objectCalled(ctx, h, h.name, [h.name], c.given);
    case "named":
      return lookup(ctx, h.globals, c.path) ?? null;
    case "space":
      return spaceOf(ctx, c);
    case "unknown":
      return ctx.vm.unknown(h.name);
    default:
      return null;
  }
}
