// What could stand in a parameter of a constructor. In: its name, annotation and use. Out: choices, most plausible first;
// the tail holds anything that might be worth a trial once an error blames the parameter.
import { PyClass, PyDict, PyModule, type Value } from "../../objects/values";
import {
  assignedAttributes,
  type InferContext,
  isEnum,
  isModuleClass,
  lookup,
  moduleClassesElsewhere,
  userClasses,
} from "../context";
import { alternatives, splitTop } from "../syntax";
import { type Choice, type Hole, NONE, number, tensor } from "../types";
import * as names from "./names";

type Draft = Omit<Hole, "choices">;

export function constructorChoices(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = [];
  if (h.annotation !== "") out.push(...byAnnotation(ctx, h, h.annotation));
  out.push(...byUse(ctx, h));
  out.push(...anything(h));
  return distinct(out);
}

export function distinct(choices: readonly Choice[]): Choice[] {
  const seen = new Set<string>();
  return choices.filter(c => {
    const key = JSON.stringify(c);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** sizes that other sizes divide */
export const LADDER = [224, 256, 240, 192, 288, 384, 128, 64, 96, 336, 512, 32, 48, 120] as const;

const bool = (value: boolean): Choice => ({ kind: "bool", value });
const str = (value: string): Choice => ({ kind: "str", value });
const named = (path: string): Choice => ({ kind: "named", path });
const instance = (path: string): Choice => ({ kind: "instance", path });
const OBJECT: Choice = { kind: "object", given: [] };
const MODULE: Choice = { kind: "module" };
const IDENTITY: Choice = { kind: "identity" };

function byAnnotation(ctx: InferContext, h: Draft, text: string): Choice[] {
  return alternatives(text).flatMap(t => ofType(ctx, h, t));
}

export function ofType(ctx: InferContext, h: Draft, t: string): Choice[] {
  switch (t) {
    case "int":
    case "PositiveInt":
      return [number(integer(h))];
    case "float":
      return [number(names.floatFor(h.name) ?? 0.5, true)];
    case "bool":
      return [bool(false), bool(true)];
    case "str":
      return strings(ctx, h);
    case "Tensor":
    case "FloatTensor":
    case "Parameter":
      return [...heldTensors(h), tensor("float32", [64, 64]), tensor("float32", [64])];
    case "LongTensor":
    case "IntTensor":
      return [tensor("int64", [64])];
    case "dtype":
      return [named("torch.float32")];
    case "device":
      return [str("cuda")];
    case "Module":
      return modules(ctx, h);
    case "Any":
    case "object":
    case "None":
      return [];
    default:
  }
  const generic = /^(\w+)\[(.*)\]$/.exec(t);
  const head = generic?.[1] ?? t;
  const inner = generic?.[2] ?? "";
  if (head === "Literal")
    return splitTop(inner, ",").map(x => (/^\d+$/.test(x) ? number(Number(x)) : str(x.replace(/^["']|["']$/g, ""))));
  if (/^(Tuple|tuple|List|list|Sequence|Iterable|Collection|ListConfig)$/.test(head))
    return sequences(ctx, h, inner, /uple/.test(head));
  if (/^(Dict|dict|Mapping|MutableMapping|OrderedDict)$/.test(head)) return dictionaries(h);
  if (/^(Callable|Type|type|partial)$/.test(head)) return [...classes(ctx, h), IDENTITY];
  if (/^(LayerType|ModuleType)$/.test(head)) return classes(ctx, h);
  const path = pathOf(ctx, h, head);
  const v = lookup(ctx, h.globals, path);
  if (v instanceof PyClass) {
    if (v === ctx.vm.types.int) return [number(integer(h))];
    if (v.isSubclassOf(ctx.vm.types.str) && !isEnum(v)) return strings(ctx, h);
    return [instance(path)];
  }
  return [];
}

/** an annotation's last name as the code reaches it: its module may stand before it */
function pathOf(ctx: InferContext, h: Draft, name: string): string {
  if (lookup(ctx, h.globals, name) !== undefined) return name;
  const module = h.globals.entries().find(([, v]) => v instanceof PyModule && v.dict.get(name) instanceof PyClass);
  return module ? `${String(module[0])}.${name}` : name;
}

function integer(h: Draft): number {
  return names.numberFor(h.name) ?? (h.usage.passed.some(p => p.func === "range") ? 2 : 64);
}

function byUse(ctx: InferContext, h: Draft): Choice[] {
  const { usage, name } = h;
  const out: Choice[] = [];
  if (/(^|_)dtype$/.test(name) && usage.strings.size === 0) out.push(named("torch.float32"));
  if (name === "device") out.push(str("cuda"));
  if (usage.strings.size > 0 || usage.lookedUpIn.size > 0) out.push(...strings(ctx, h));
  if (usage.keys.size > 0 || usage.mapping) out.push(...dictionaries(h));
  const attributes = [...usage.attributes].filter(a => !TENSOR_LIKE.has(a) && !TENSOR_METHODS.test(a));
  if (names.isConfigName(name) && !usage.called) out.push(...configs(ctx, h));
  // the constructor builds its parts with it
  if (usage.called && !usage.calledLater && names.isClassName(name)) out.push(...classes(ctx, h));
  if (usage.called && [...usage.attributes].some(a => !a.startsWith("__"))) {
    if (/loss|criterion|fcn/.test(name)) out.push(instance("torch.nn.BCEWithLogitsLoss"));
    out.push(...modules(ctx, h).slice(0, 2));
  }
  // a module that forward calls, where nobody gives one
  if (usage.called && h.selves.size > 0 && h.fallback === null) out.push(instance("torch.nn.Identity"));
  if (usage.calledLater) out.push(...calledModules(ctx, h));
  if (usage.called) out.push(...classes(ctx, h));
  if (names.isModuleName(name) && !usage.arithmetic && !usage.sequence) out.push(...modules(ctx, h));
  if (names.isClassName(name) && !usage.arithmetic) out.push(...classes(ctx, h));
  if (h.annotation === "" && attributes.length === 0 && [...usage.attributes].some(a => TENSOR_METHODS.test(a)))
    out.push(tensor("float32", [64, 64]), tensor("float32", [64]));
  if (attributes.length > 0 && !usage.arithmetic) out.push(...configs(ctx, h), ...modules(ctx, h));
  if (h.required && !usage.arithmetic) out.push(...heldTensors(h));
  if (usage.sequence) out.push(...sequences(ctx, h, "", false));
  if (names.isBoolName(name) && !usage.arithmetic) out.push(bool(false), bool(true));
  if (names.isFloatName(name)) out.push(number(names.floatFor(name) ?? 0, true));
  const n = names.numberFor(name);
  if (n !== undefined) out.push(number(n));
  if (usage.condition && !usage.arithmetic && n === undefined) out.push(bool(false));
  return out;
}

/** tensors that an object holds together, such as padded images and their mask */
function heldTensors(h: Draft): Choice[] {
  if (!/^(tensors?|masks?|images?|features?|pixels)$/.test(h.name)) return [];
  return [/mask/.test(h.name) ? tensor("bool", [2, 64, 64]) : tensor("float32", [2, 3, 64, 64])];
}

/** what a forward calls: an activation, a layer, a module of the project */
function calledModules(ctx: InferContext, h: Draft): Choice[] {
  const n = h.name.toLowerCase();
  const out: Choice[] = [];
  if (/act|nonlin|relu|gate/.test(n)) out.push(instance("torch.nn.ReLU"), named("torch.nn.functional.relu"));
  if (/drop/.test(n)) out.push(instance("torch.nn.Dropout"));
  out.push(...modules(ctx, h).slice(0, 3));
  return out;
}

/** methods that tensors have and modules, configs and containers have not */
const TENSOR_METHODS =
  /^(chunk|permute|transpose|unsqueeze|squeeze|detach|clone|reshape|t|T|contiguous|repeat|expand|flatten|numel|mean|sum|abs|sqrt|pow|unbind|masked_fill|requires_grad|new_zeros|new_tensor|log|exp|item|tolist)$/;

const TENSOR_LIKE = new Set(["shape", "size", "dim", "ndim", "dtype", "device", "view", "to"]);

/** the tail: what a parameter might be after all */
function anything(h: Draft): Choice[] {
  const n = integer(h);
  const numbers = [n, 64, 2, 1, 4, 8, 16, 32, 3, 128, 256, 512].map(v => number(v));
  return [
    ...numbers.slice(0, 1),
    { kind: "seq", items: [n, n, n, n].map(v => number(v)), tuple: false },
    { kind: "seq", items: [n, n].map(v => number(v)), tuple: true },
    ...numbers.slice(1),
    NONE,
    number(0.5, true),
    bool(true),
    bool(false),
    named("torch.nn.Identity"),
    MODULE,
    str(names.stringFor(h.name)),
    OBJECT,
    IDENTITY,
  ];
}

function strings(ctx: InferContext, h: Draft): Choice[] {
  const out = [...h.usage.strings];
  for (const path of h.usage.lookedUpIn) {
    const d = lookup(ctx, h.globals, path);
    if (d instanceof PyDict) for (const k of d.keys()) if (typeof k === "string") out.push(k);
  }
  const preferred = names.stringFor(h.name);
  if (out.includes(preferred)) out.unshift(preferred);
  else out.push(preferred);
  return out.slice(0, 8).map(str);
}

/** lengths and items by the name: widths grow, depths are small, pairs are sizes */
export function sequences(ctx: InferContext, h: Draft, inner: string, tuple: boolean): Choice[] {
  const parts = splitTop(inner, ",");
  const { items } = h.usage;
  // objects of the classes that its items are tested for
  const tested = [...(items?.types ?? [])].filter(
    t => lookup(ctx, h.globals, t) instanceof PyClass && !PLAIN_TYPES.test(t),
  );
  if (tested.length > 0) {
    const first = instance(tested[0] ?? "");
    return [1, 2].map(k => ({ kind: "seq", items: new Array<Choice>(k).fill(first), tuple }));
  }
  const fixed = parts.length > 1 && parts[1] !== "..." ? parts.length : undefined;
  const item = parts[0] ?? "";
  const name = h.name.toLowerCase();
  const one = singular(h.name);
  const lengths = [
    ...new Set([
      fixed ??
        h.usage.length ??
        (/size|shape|resolution|stride$|kernel$|padding$/.test(name) && !/sizes$/.test(name) ? 2 : 4),
      4,
      2,
      3,
      1,
      5,
    ]),
  ];
  const seq = (items: readonly Choice[]): Choice => ({ kind: "seq", items, tuple });
  if (item === "str") return lengths.map(k => seq(new Array<Choice>(k).fill(str(names.stringFor(one)))));
  if (/^(Tuple|tuple|List|list|Sequence)\b/.test(item)) {
    const nested = sequences(ctx, h, /\[(.*)\]$/.exec(item)?.[1] ?? "", /uple/.test(item))[0];
    return nested ? lengths.map(k => seq(new Array<Choice>(k).fill(nested))) : [];
  }
  if (item === "float") return lengths.map(k => seq(new Array<Choice>(k).fill(number(names.floatFor(one) ?? 1, true))));
  if (item === "Module") {
    const [m] = modules(ctx, h);
    return m ? [seq([m, m])] : [];
  }
  if (item !== "" && item !== "int" && item !== "...") {
    const v = lookup(ctx, h.globals, item.replace(/\[.*/, ""));
    if (v instanceof PyClass && v.place !== null) return [seq([instance(item)]), seq([instance(item), instance(item)])];
  }
  const value = (i: number): number => {
    if (/dims|channels|planes|widths|features|filters|hidden|chans|units|embed/.test(name))
      return 32 * 2 ** Math.min(i, 4);
    if (/stride|dilation/.test(name)) return name.includes("dilation") ? 1 : 2;
    if (/rates?$|upsample/.test(name)) return 2;
    return names.numberFor(one) ?? names.numberFor(h.name) ?? 2;
  };
  return lengths.map(k => seq(Array.from({ length: k }, (_, i) => number(value(i)))));
}

const PLAIN_TYPES = /^(int|float|str|bool|list|tuple|dict|torch\.Tensor|Tensor)$/;

function singular(name: string): string {
  return name
    .replace(/_?list$/i, "")
    .replace(/ies$/, "y")
    .replace(/([^s])s$/, "$1");
}

/** a dictionary of the module that has the keys; else one made for them */
function dictionaries(h: Draft): Choice[] {
  const keys = [...h.usage.keys];
  const out: Choice[] = [];
  if (keys.length > 0) {
    for (const [name, v] of h.globals.entries()) {
      if (typeof name === "string" && v instanceof PyDict && keys.every(k => v.get(k) !== undefined))
        out.push(named(name));
    }
  }
  const entries = keys.map((k): [string, Choice] => [k, guessByName(k)]);
  out.push({ kind: "dict", entries });
  return out;
}

/** a plain value by the name alone */
export function guessByName(name: string): Choice {
  if (/activation|hidden_act|^act$|act_fn|act_func/.test(name)) return str("gelu");
  if (names.isBoolName(name)) return bool(false);
  if (names.isFloatName(name)) return number(names.floatFor(name) ?? 0, true);
  const n = names.numberFor(name);
  if (n !== undefined) return number(n);
  // most of what a config holds are numbers, and a count is the likeliest
  return names.isStringName(name) ? str(names.stringFor(name)) : number(4);
}

/** config objects: classes of the file that are named so, instances that stand in the module, anything that answers */
function configs(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = [];
  const wanted = [...h.usage.attributes];
  const fits = (v: Value): number =>
    wanted.filter(a => ctx.vm.getattrOrUndefined(v, a) !== undefined || annotated(v, a)).length;
  const found = userClasses(h.globals)
    .filter(
      ({ name, cls }) =>
        /(config|cfg|args|params|hparams|arguments|options|settings)$/i.test(name) && !isModuleClass(ctx, cls),
    )
    .map(c => ({ ...c, fit: fits(c.cls) }))
    .sort((a, b) => b.fit - a.fit);
  for (const c of found) if (c.fit > 0 || wanted.length === 0) out.push(instance(c.name));
  const plain = wanted.filter(a => !/^(get|items|keys|values|pop|update|to_dict|copy)$/.test(a) && !a.startsWith("_"));
  if (out.length === 0 && plain.length > 2) {
    const like = /(config|cfg|args|params|hparams|arguments|options|settings)$/i;
    for (const { name, cls } of classesOfOtherFiles(ctx, plain, like))
      if (like.test(cls.name) && !isModuleClass(ctx, cls)) out.push(instance(name));
  }
  for (const [name, v] of h.globals.entries()) {
    if (typeof name !== "string" || !/^(config|cfg|args|hparams|opt|params)$/i.test(name)) continue;
    if (!(v instanceof PyClass) && wanted.every(a => ctx.vm.getattrOrUndefined(v, a) !== undefined))
      out.push(named(name));
  }
  out.push(OBJECT);
  return out;
}

/** a dataclass field without default is only an annotation of its class */
function annotated(v: Value, name: string): boolean {
  if (!(v instanceof PyClass)) return false;
  return v.mro.some(c => {
    const a = c.dict.get("__annotations__");
    return a instanceof PyDict && a.get(name) !== undefined;
  });
}

/** a module that fits: a class that has what is asked of it and is named like it, else one that changes nothing */
function modules(ctx: InferContext, h: Draft): Choice[] {
  const wanted = [...h.usage.attributes].filter(
    a => ctx.torch.moduleClass?.lookup(a) === undefined && !MODULE_STATE.test(a),
  );
  let whole = false;
  const rank = (list: readonly { readonly name: string; readonly cls: PyClass }[]): string[] =>
    list
      .filter(({ cls }) => isModuleClass(ctx, cls) && !ctx.building.includes(cls.qualname))
      .map(({ name, cls }) => {
        const has = wanted.filter(a => cls.lookup(a) !== undefined || assignedAttributes(cls).has(a)).length;
        whole ||= has === wanted.length;
        return { name, score: similarity(h.name, cls.name) + has * 3 - (wanted.length - has) * 2 };
      })
      .filter(c => c.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 4)
      .map(c => c.name);
  const near = rank(userClasses(h.globals));
  const far = near.length < 2 ? rank(moduleClassesElsewhere(ctx, h.globals)) : [];
  const unmet = wanted.length > 0 && !whole && !names.isConfigName(h.name);
  const distant = unmet
    ? classesOfOtherFiles(ctx, wanted, new RegExp(h.name.length > 2 ? h.name.replace(/\W|_/g, "") : "$^", "i"))
        .filter(c => isModuleClass(ctx, c.cls) && !ctx.building.includes(c.cls.qualname))
        .map(c => c.name)
    : [];
  const weighted = h.usage.attributes.has("weight") || h.usage.attributes.has("bias") ? ["torch.nn.Linear"] : [];
  const found = [...layersWith(h), ...distant, ...near, ...far, ...weighted].map(instance);
  return wanted.length > 0 ? [...found, MODULE] : [...found, instance("torch.nn.Identity"), MODULE];
}

const MOST_OF_OTHER_FILES = 2;

/** classes of files that are not imported, by their members */
function classesOfOtherFiles(
  ctx: InferContext,
  members: readonly string[],
  like: RegExp,
): { readonly name: string; readonly cls: PyClass }[] {
  return ctx.constants
    .classesWith(members, like)
    .slice(0, MOST_OF_OTHER_FILES)
    .flatMap(c => {
      const name = `${c.path}::${c.name}`;
      const cls = lookup(ctx, ctx.vm.dict(), name);
      return cls instanceof PyClass ? [{ name, cls }] : [];
    });
}

/** torch's own layers that have the attributes that are read */
function layersWith(h: Draft): string[] {
  const read = h.usage.attributes;
  const any = (...names: readonly string[]): boolean => names.some(n => read.has(n));
  const out: string[] = [];
  if (any("in_features", "out_features")) out.push("torch.nn.Linear");
  if (any("in_channels", "out_channels", "kernel_size", "groups")) out.push("torch.nn.Conv2d");
  if (any("num_features", "running_mean", "running_var")) out.push("torch.nn.BatchNorm2d");
  if (any("num_embeddings", "embedding_dim")) out.push("torch.nn.Embedding");
  if (any("normalized_shape")) out.push("torch.nn.LayerNorm");
  return out;
}

const MODULE_STATE = /^(training|weight|bias|shape|size|dim|ndim|device|dtype)$/;

/** common words of a parameter's and a class's name */
function similarity(parameter: string, cls: string): number {
  const a = parameter.toLowerCase().replace(/_/g, "");
  const b = cls.toLowerCase().replace(/_/g, "");
  if (a === b) return 10;
  if (b.endsWith(a)) return 6;
  if (b.startsWith(a)) return 5;
  if (b.includes(a) || (a.includes(b) && b.length > 3)) return 4;
  const words = parameter
    .toLowerCase()
    .split("_")
    .filter(w => w.length > 2);
  return words.filter(w => b.includes(w)).length;
}

/** classes handed over as values: layers by the name, classes of the file that have what is asked of them */
function classes(ctx: InferContext, h: Draft): Choice[] {
  const n = h.name.toLowerCase();
  const out: Choice[] = [];
  const wanted = [...h.usage.attributes].filter(a => !a.startsWith("__"));
  const own = userClasses(h.globals).filter(({ cls }) => isModuleClass(ctx, cls));
  if (wanted.length > 0)
    for (const { name, cls } of own) if (wanted.every(a => cls.lookup(a) !== undefined)) out.push(named(name));
  const alike = own
    .map(c => ({ ...c, score: similarity(n.replace(/_?(cls|class|type|layer|fn|func)$/, "") || n, c.name) }))
    .filter(c => c.score > 1)
    .sort((a, b) => b.score - a.score);
  for (const c of alike.slice(0, 3)) out.push(named(c.name));
  if (/norm/.test(n)) out.push(named("torch.nn.LayerNorm"), named("torch.nn.BatchNorm2d"));
  if (/act|nonlinear|gate/.test(n))
    out.push(named("torch.nn.GELU"), named("torch.nn.ReLU"), named("torch.nn.functional.gelu"));
  if (/conv/.test(n)) out.push(named("torch.nn.Conv2d"));
  if (/pool/.test(n)) out.push(named("torch.nn.MaxPool2d"));
  if (/linear|proj|fc/.test(n)) out.push(named("torch.nn.Linear"));
  if (/drop/.test(n)) out.push(named("torch.nn.Dropout"));
  if (/loss|criterion|fcn/.test(n)) out.push(named("torch.nn.functional.mse_loss"));
  out.push(named("torch.nn.Identity"), IDENTITY);
  return out;
}
