// What could stand in a parameter of a constructor. In: its name, annotation and use. Out: choices, most plausible first;
// the tail holds anything that might be worth a trial once an error blames the parameter.
import { PROTOCOL } from "../../interp/classes";
import { PyClass, PyDict, PyModule, PyNamed } from "../../objects/values";
import { type InferContext, isEnum, lookup } from "../context";
import { alternatives, splitTop } from "../syntax";
import {
  bool,
  type Choice,
  type Draft,
  distinct,
  IDENTITY,
  instance,
  MODULE,
  NONE,
  named,
  number,
  OBJECT,
  str,
  tensor,
} from "../types";
import { calledModules, classes, configs, derived, itemObjects, modules, namesake, objects, presets } from "./classes";
import * as names from "./names";
import { spaces } from "./spaces";
import { emptyUsage } from "./usage";

export function constructorChoices(ctx: InferContext, h: Draft): Choice[] {
  const out: Choice[] = spaces(ctx, h.name, h.annotation);
  if (h.annotation !== "") out.push(...byAnnotation(ctx, h, h.annotation));
  out.push(...byUse(ctx, h));
  out.push(...anything(h));
  return distinct(out);
}

/** sizes that other sizes divide */
export const LADDER = [224, 256, 240, 192, 288, 384, 128, 64, 96, 336, 512, 32, 48, 120] as const;

/** what a backbone of detectron2 says of its maps: channels and strides by stage */
const BACKBONE_SHAPES: Choice = {
  kind: "dict",
  entries: [2, 3, 4, 5].map((stage): [string, Choice] => {
    const given: [string, Choice][] = [
      ["channels", number(64 * 2 ** stage)],
      ["height", NONE],
      ["width", NONE],
      ["stride", number(2 ** stage)],
    ];
    return [`res${stage}`, { kind: "object", given }];
  }),
};

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
  if (/^(Dict|dict|Mapping|MutableMapping|OrderedDict)$/.test(head))
    return /ShapeSpec$/.test(inner) ? [BACKBONE_SHAPES] : dictionaries(ctx, h);
  if (/^(Callable|Type|type|partial)$/.test(head)) return [...classes(ctx, h), IDENTITY];
  if (/^(LayerType|ModuleType)$/.test(head)) return classes(ctx, h);
  const path = pathOf(ctx, h, head);
  const v = lookup(ctx, h.globals, path);
  // what makes configurations stands for one
  if (head === "OmegaConf")
    return h.usage.keys.size > 0 ? dictionaries(ctx, h) : [{ kind: "dict", entries: [] }, OBJECT];
  if (v instanceof PyClass) {
    if (v.dict.get(PROTOCOL) === true) return [];
    if (v === ctx.vm.types.int) return [number(integer(h))];
    if (v.isSubclassOf(ctx.vm.types.str) && !isEnum(v)) return strings(ctx, h);
    // a dictionary that answers attributes holds what a file gives it
    if (v.place !== null && v.isSubclassOf(ctx.vm.types.dict)) return [OBJECT, instance(path)];
    return [...derived(ctx, h, v), instance(path)];
  }
  // a name for Literal[...]
  const literal = v instanceof PyNamed ? v.text.replace(/^\w+\./, "").replace(/\s+/g, "") : "";
  return literal.startsWith("Literal[") ? ofType(ctx, h, literal) : [];
}

/** whether an annotation names a class of the program whose own methods are used: what only holds tensors may be any object */
export function isOwnClass(ctx: InferContext, h: Draft, name: string): boolean {
  const v = lookup(ctx, h.globals, pathOf(ctx, h, name));
  if (!(v instanceof PyClass) || v.place === null || v.isSubclassOf(ctx.torch.tensorClass)) return false;
  return [...h.usage.attributes].some(a => v.lookup(a) !== undefined);
}

/** an annotation's last name as the code reaches it: its module may stand before it */
function pathOf(ctx: InferContext, h: Draft, name: string): string {
  if (lookup(ctx, h.globals, name) !== undefined) return name;
  const module = h.globals.entries().find(([, v]) => v instanceof PyModule && v.dict.get(name) instanceof PyClass);
  return module ? `${String(module[0])}.${name}` : name;
}

function integer(h: Draft): number {
  return numberOf(h) ?? (counts(h) ? 2 : 64);
}

/** what a loop counts to builds so many parts */
const counts = (h: Draft): boolean => h.usage.passed.some(p => p.func === "range");
const MOST_PARTS = 64;

/** a number by the name, unless that is a width and a loop counts to it */
function numberOf(h: Draft): number | undefined {
  const n = names.numberFor(h.name);
  return n !== undefined && n > MOST_PARTS && counts(h) ? undefined : n;
}

function byUse(ctx: InferContext, h: Draft): Choice[] {
  const { usage, name } = h;
  if (usage.entered) return [named("torch.no_grad")];
  const out: Choice[] = [];
  if (names.isAdjacency(name) && h.required && h.annotation === "" && !usage.called) out.push(...adjacencies(h));
  if (/(^|_)dtype$/.test(name) && usage.strings.size === 0) out.push(named("torch.float32"));
  if (name === "device") out.push(str("cuda"));
  if (usage.strings.size > 0 || usage.lookedUpIn.size > 0 || namedTexts(ctx, h).length > 0)
    out.push(...strings(ctx, h));
  if (names.isConfigName(name) && !usage.called) out.push(...presets(ctx, h).whole);
  if (isPartlyNamed(h)) out.push(...[...usage.contains].map(str));
  if (usage.keys.size > 0 || usage.mapping) out.push(...dictionaries(ctx, h));
  const attributes = [...usage.attributes].filter(a => !TENSOR_LIKE.has(a) && !TENSOR_METHODS.test(a));
  if (names.isConfigName(name) && !usage.called) out.push(...configs(ctx, h));
  // the constructor builds its parts with it
  if (usage.called && !usage.calledLater && names.isClassName(name)) out.push(...classes(ctx, h));
  if (usage.called && [...usage.attributes].some(a => !a.startsWith("__"))) {
    if (/loss|criterion|fcn/.test(name)) out.push(instance("torch.nn.BCEWithLogitsLoss"));
    out.push(...modules(ctx, h).slice(0, 2));
  }
  // what is refused unless it is an object of a class is one
  for (const t of usage.types) {
    const cls = usage.sequence || PLAIN_TYPES.test(t) ? undefined : lookup(ctx, h.globals, t);
    if (h.required && cls instanceof PyClass && cls.place !== null && !ctx.torch.isModuleClass(cls))
      out.push(instance(t));
  }
  const used = usage.called || attributes.length > 0;
  if (used && h.annotation === "" && !usage.arithmetic && !names.isConfigName(name)) out.push(...namesake(ctx, h));
  // a module that forward calls, where nobody gives one
  if (usage.called && h.selves.size > 0 && h.fallback === null) out.push(instance("torch.nn.Identity"));
  if (usage.calledLater) out.push(...calledModules(ctx, h));
  if (usage.called) out.push(...classes(ctx, h));
  if (names.isModuleName(name) && !usage.arithmetic && !usage.sequence) out.push(...modules(ctx, h));
  if (names.isClassName(name) && !usage.arithmetic) out.push(...classes(ctx, h));
  const asTensor = [...usage.attributes].some(a => a === "shape" || TENSOR_METHODS.test(a));
  if (h.annotation === "" && attributes.length === 0 && asTensor && !names.isAdjacency(name))
    out.push(
      ...(/(^|_)labels?$/.test(name) ? [tensor("int64", [64])] : []),
      tensor("float32", [64, 64]),
      tensor("float32", [64]),
    );
  if (attributes.length > 1 && !usage.arithmetic && !names.isConfigName(name)) out.push(...objects(ctx, h));
  if (attributes.length > 0 && !usage.arithmetic) out.push(...configs(ctx, h), ...modules(ctx, h));
  // what a buffer or a parameter is made of
  if (usage.passed.some(p => /^self\.register_(buffer|parameter)$/.test(p.func)))
    out.push(tensor("float32", [64, 64]), tensor("float32", [64]));
  if (h.required && !usage.arithmetic) out.push(...heldTensors(h));
  if (usage.sequence) out.push(...sequences(ctx, h, "", false));
  if (names.isBoolName(name) && !usage.arithmetic) out.push(bool(false), bool(true));
  if (names.isFloatName(name)) out.push(number(names.floatFor(name) ?? 0, true));
  const n = numberOf(h) ?? (counts(h) ? 2 : undefined);
  if (names.isModeName(name) && !usage.arithmetic) out.push(...strings(ctx, h));
  if (n !== undefined) out.push(number(n));
  if (usage.condition && !usage.arithmetic && n === undefined) out.push(bool(false));
  return out;
}

/** which nodes of a graph are joined: as many as other parameters count; a list of such matrices where it is gone through */
function adjacencies(h: Draft): Choice[] {
  const nodes = names.numberFor("num_nodes") ?? 4;
  const one = tensor("float32", [nodes, nodes]);
  const several: Choice = { kind: "seq", items: [one, one], tuple: false };
  const tensorLike = [...h.usage.attributes].some(a => TENSOR_LIKE.has(a) || TENSOR_METHODS.test(a));
  return h.usage.sequence && !tensorLike && /s$/.test(h.name) ? [several, one] : [one, several];
}

/** tensors that an object holds together, such as padded images and their mask */
function heldTensors(h: Draft): Choice[] {
  if (!/^(tensors?|masks?|images?|features?|pixels)$/.test(h.name)) return [];
  return [/mask/.test(h.name) ? tensor("bool", [2, 64, 64]) : tensor("float32", [2, 3, 64, 64])];
}

/** methods that tensors have and modules, configs and containers have not */
const TENSOR_METHODS =
  /^(chunk|permute|transpose|unsqueeze|squeeze|detach|clone|reshape|t|T|contiguous|repeat|expand|flatten|numel|mean|sum|abs|sqrt|pow|unbind|masked_fill|requires_grad|ndimension|type_as|view_as|expand_as|index_select|gather|narrow|new_empty|new_ones|argmax|matmul|new_zeros|new_tensor|log|exp|item|tolist)$/;

export const isTensorMethod = (name: string): boolean => TENSOR_METHODS.test(name);

/** attributes that tensors have and plain values have not */
export const isTensorAttribute = (name: string): boolean => TENSOR_LIKE.has(name) || isTensorMethod(name);

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

/** texts of the constants that it is compared with */
const namedTexts = (ctx: InferContext, h: Draft): string[] =>
  [...h.usage.constants].map(n => lookup(ctx, h.globals, n)).filter(v => typeof v === "string");

/** `"large" in name`: a text by its own name, of which nothing is read as of a dictionary or a list */
const isPartlyNamed = ({ name, usage }: Draft): boolean =>
  usage.contains.size > 0 && names.isStringName(name) && usage.keys.size === 0 && !usage.mapping && !usage.items;

function strings(ctx: InferContext, h: Draft): Choice[] {
  const out = [...h.usage.strings, ...namedTexts(ctx, h), ...(isPartlyNamed(h) ? h.usage.contains : [])];
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
  const read = [...(items?.attributes ?? [])].filter(
    a => !TENSOR_LIKE.has(a) && !TENSOR_METHODS.test(a) && !OF_PLAIN.test(a),
  );
  // functions or modules that are applied one after the other
  if (items?.called && (inner === "" || /^Callable\b/.test(inner)))
    return [2, 1].map(k => ({ kind: "seq", items: new Array<Choice>(k).fill(MODULE), tuple }));
  if (read.length > 0 && inner === "" && items?.called === false)
    return itemObjects(ctx, h, read).map(one => ({ kind: "seq", items: [one], tuple }));
  const taken = h.usage.items?.parts?.map(p => p.name);
  if (taken && inner === "") {
    const item = taken.map(n => number(names.numberFor(n) ?? 8));
    return [2, 1].map(k => ({
      kind: "seq",
      items: new Array<Choice>(k).fill({ kind: "seq", items: item, tuple: true }),
      tuple,
    }));
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
  if (item === "" && (h.usage.nested || (items?.sequence && items.strings.size + items.keys.size === 0))) {
    const [list] = sequences(
      ctx,
      { ...h, name: one, usage: { ...emptyUsage(), length: items?.length ?? 2 } },
      "",
      tuple,
    );
    const flat = { ...h, usage: { ...h.usage, nested: false, items: undefined } };
    if (list) return [...lengths.map(k => seq(new Array<Choice>(k).fill(list))), ...sequences(ctx, flat, "", tuple)];
  }
  if (item === "str") return lengths.map(k => seq(new Array<Choice>(k).fill(str(names.stringFor(one)))));
  if (/^(Tuple|tuple|List|list|Sequence)\b/.test(item)) {
    const nested = sequences(ctx, h, /\[(.*)\]$/.exec(item)?.[1] ?? "", /uple/.test(item))[0];
    return nested ? lengths.map(k => seq(new Array<Choice>(k).fill(nested))) : [];
  }
  if (item === "float") return lengths.map(k => seq(new Array<Choice>(k).fill(number(names.floatFor(one) ?? 1, true))));
  if (item === "Module") {
    const found = modules(ctx, { ...h, name: one, usage: h.usage.items ?? h.usage });
    return found.slice(0, 3).map(m => seq([m, m]));
  }
  if (item !== "" && item !== "int" && item !== "...") {
    const v = lookup(ctx, h.globals, item.replace(/\[.*/, ""));
    if (v instanceof PyClass && v.place !== null) return [seq([instance(item)]), seq([instance(item), instance(item)])];
  }
  const value = (i: number): number => {
    if (/dims|channels|planes|widths|features|filters|hidden|chans|units|embed/.test(name))
      return 32 * 2 ** Math.min(i, 4);
    // which of several maps or layers: each of them
    if (/(^|_)(ind(ex|ices)|idxs?|ids|levels)$/.test(name)) return i;
    if (/stride|dilation/.test(name)) return name.includes("dilation") ? 1 : 2;
    if (/rates?$|upsample/.test(name)) return 2;
    return names.numberFor(one) ?? names.numberFor(h.name) ?? 2;
  };
  return lengths.map(k => seq(Array.from({ length: k }, (_, i) => number(value(i)))));
}

/** what texts, lists, arrays and modules have as well */
const OF_PLAIN =
  /^(split|lower|upper|strip|replace|format|join|startswith|endswith|append|items|keys|values|get|data|weight|bias|parameters|forward|cuda|cpu|out_channels|in_channels|out_features|in_features)$/;

const PLAIN_TYPES = /^(int|float|str|bool|list|tuple|dict|torch\.Tensor|Tensor)$/;

function singular(name: string): string {
  return name
    .replace(/_?list$/i, "")
    .replace(/ies$/, "y")
    .replace(/([^s])s$/, "$1");
}

/** a dictionary of the module that has the keys; else one made for them */
function dictionaries(ctx: InferContext, h: Draft): Choice[] {
  const keys = [...h.usage.keys];
  const out: Choice[] = [];
  if (keys.length > 0) {
    for (const [name, v] of h.globals.entries()) {
      if (typeof name === "string" && v instanceof PyDict && keys.every(k => v.get(k) !== undefined))
        out.push(named(name));
    }
  }
  // as the project's files have them; yacs' configurations are written in capitals
  const [asked, capitals] = [keys, keys.map(k => k.toUpperCase())].map(list => ctx.constants.about(list));
  const known = (k: string): Choice | undefined => asked?.(k) ?? capitals?.(k.toUpperCase()) ?? ctx.constants.inData(k);
  const guessed = keys.map((k): [string, Choice] => [k, guessByName(k)]);
  const told = keys.map((k, i): [string, Choice] => [k, known(k) ?? guessed[i]?.[1] ?? NONE]);
  if (keys.length > 1 && keys.filter(known).length >= keys.length * 0.6) out.push({ kind: "dict", entries: told });
  // one that is gone through by its keys holds something, by its own name
  if (keys.length === 0 && h.usage.sequence) out.push({ kind: "dict", entries: [[singular(h.name), number(4)]] });
  out.push({ kind: "dict", entries: guessed }, { kind: "dict", entries: told });
  return out;
}

/** a plain value by the name alone */
export function guessByName(name: string): Choice {
  if (/activation|hidden_act|^act$|act_fn|act_func/.test(name)) return str("gelu");
  if (/(^|_)(kwargs|kwds|extra_args)$/.test(name)) return { kind: "dict", entries: [] };
  // one number for each step of a diffusion
  if (/^(sqrt_)?(one_minus_)?alphas(_cumprod(_prev)?)?$/.test(name))
    return { kind: "seq", items: new Array<Choice>(1000).fill(number(0.5, true)), tuple: false };
  if (names.isBoolName(name)) return bool(false);
  if (names.isFloatName(name)) return number(names.floatFor(name) ?? 0, true);
  const n = names.numberFor(name);
  if (n !== undefined) return number(n);
  // most of what a config holds are numbers, and a count is the likeliest
  return names.isStringName(name) ? str(names.stringFor(name)) : number(4);
}
