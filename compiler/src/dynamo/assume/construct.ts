// Builds a root module whose constructor wants arguments that the file never gives. In: the class. Out: an instance, or
// why there is none. Arguments are, best first: written in a comment, a config object of the file, what the constructor
// does with the parameter (calls it, indexes it, reads attributes of it), a number by its name. All of it is said.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";
import { method } from "../builtins/define";
import type { Spec } from "../infer/evidence/written";
import { PyError } from "../interp/api";
import { Frame } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { PyClass, PyFloat, PyInstance, type PyModule, type Value } from "../objects/values";
import { libraryCode } from "../stdlib/modules";
import type { Torch } from "../torch/context";
import { floatFor, numberFor, sequenceFor } from "./guess";
import { annotationText, methodOf, parametersOf } from "./tree";
import { type Usage, usageOf } from "./usage";

export interface Builder {
  readonly vm: Machine;
  readonly torch: Torch;
  readonly main: PyModule;
  readonly module: ast.Module;
  /** shapes and numbers of the `# fuselens:` comment */
  readonly written: ReadonlyMap<string, Spec> | undefined;
}

/** thrown where nothing can stand for a parameter */
class NothingKnown extends Error {}

const CONFIGS = /^(config|cfg|args|params|conf|hparams|hps|opt|model_args|model_config|configuration)$/;
/** a module nobody says more of */
const ANY_MODULE =
  /^(fn|func|net|module|layer|sublayer|block|inner|model|encoder|decoder|backbone|submodule|body|head)$/;

export function construct(b: Builder, def: ast.ClassDef, cls: PyClass, assumed: string[]): PyInstance | string {
  try {
    return build(b, def, cls, assumed, 0);
  } catch (e) {
    if (e instanceof NothingKnown) return e.message;
    if (e instanceof PyError) return `${e.value.cls.name}: ${b.vm.str(e.value)}`;
    throw e;
  }
}

function build(b: Builder, def: ast.ClassDef, cls: PyClass, assumed: string[], depth: number): PyInstance {
  const { vm } = b;
  const found = initOf(b, def, cls);
  const args: Value[] = [];
  const kwargs = new Map<string, Value>();
  const notes: string[] = [];
  if (found) {
    const { init, owner } = found;
    const others = owner.body.flatMap(s => (s.kind === "FunctionDef" && s !== init ? [s.body] : []));
    for (const p of parametersOf(init, true)) {
      const { arg } = p;
      const spec = b.written?.get(arg.arg);
      const given = spec ? plainSpec(spec) : undefined;
      if (!p.required && given === undefined) continue;
      const inInit = usageOf(arg.arg, [init.body]);
      const anywhere = usageOf(arg.arg, [init.body, ...others]);
      const v = given ?? argument(b, arg, inInit, anywhere, notes, depth);
      if (p.keywordOnly || !p.required) kwargs.set(arg.arg, v);
      else args.push(v);
    }
  }
  const made = vm.call(cls, args, kwargs);
  if (!(made instanceof PyInstance)) throw new NothingKnown("its constructor makes no module");
  assumed.push(...notes);
  return made;
}

/** the constructor that a class has or inherits from a class of the file */
function initOf(
  b: Builder,
  def: ast.ClassDef,
  cls: PyClass,
): { init: ast.FunctionDef; owner: ast.ClassDef } | undefined {
  const own = methodOf(def, "__init__");
  if (own) return { init: own, owner: def };
  for (const base of cls.mro.slice(1)) {
    const owner = b.module.body.find(s => s.kind === "ClassDef" && s.name === base.name);
    const init = owner?.kind === "ClassDef" ? methodOf(owner, "__init__") : undefined;
    if (init && owner?.kind === "ClassDef") return { init, owner };
  }
  return undefined;
}

function plainSpec(s: Spec): Value | undefined {
  switch (s.kind) {
    case "number":
      return s.float ? new PyFloat(s.value) : s.value;
    case "bool":
    case "str":
      return s.value;
    case "none":
      return null;
    case "tensor":
      return undefined;
    default:
      return s satisfies never;
  }
}

function argument(b: Builder, a: ast.Arg, init: Usage, all: Usage, notes: string[], depth: number): Value {
  const { vm } = b;
  const annotation = annotationText(a.annotation);
  const config = configObject(b, a, annotation, notes);
  if (config !== undefined) return config;
  const module = moduleObject(b, a, annotation, init, all, notes, depth);
  if (module !== undefined) return module;
  if (annotation === "bool" || (annotation === "" && /^(is|has|use|do|with|no|add|enable|return)_/.test(a.arg))) {
    notes.push(`${a.arg} is False`);
    return false;
  }
  if (annotation === "str" || (annotation === "" && all.strings.size > 0 && !all.arithmetic)) {
    const s = [...all.strings][0];
    if (s === undefined) throw new NothingKnown(`nothing is known of its constructor's parameter '${a.arg}'`);
    notes.push(`${a.arg} is '${s}'`);
    return s;
  }
  const listed = /^(Optional\[)?(list|List|tuple|Tuple|Sequence|Iterable)\b/.test(annotation);
  if (listed || (all.sequence && annotation === "")) {
    const pair = /^(Optional\[)?(tuple|Tuple)\[(int,int|float,float)\]/.test(annotation);
    const n = pair ? 2 : Math.max(all.unpacked, all.maxIndex + 1);
    const items = sequenceFor(a.arg, n);
    notes.push(`${a.arg} is (${items.join(", ")})`);
    const list = annotation === "" ? !pair : /list/i.test(annotation);
    return list ? vm.list(items) : vm.tuple(items);
  }
  if (annotation === "float" || (annotation === "" && floatFor(a.arg) !== undefined)) {
    const f = floatFor(a.arg) ?? 1;
    notes.push(`${a.arg} is ${f}`);
    return new PyFloat(f);
  }
  if (all.flag && !all.arithmetic && annotation !== "int" && numberFor(a.arg) === undefined) {
    notes.push(`${a.arg} is False`);
    return false;
  }
  if (annotation === "" || annotation === "int" || /^(Optional|Union)\[int|^int\|/.test(annotation)) {
    const n = numberFor(a.arg) ?? 8;
    notes.push(`${a.arg} is ${n}`);
    return Number.isInteger(n) ? n : new PyFloat(n);
  }
  throw new NothingKnown(`nothing is known of its constructor's parameter '${a.arg}'`);
}

// ---- configs

/** a config object of the file, or one that answers by the names it is asked for */
function configObject(b: Builder, a: ast.Arg, annotation: string, notes: string[]): Value | undefined {
  const { main, torch } = b;
  const bare = annotation.replace(/^Optional\[(.*)\]$/, "$1");
  const looksSo = CONFIGS.test(a.arg) || /(Config|Args|Arguments|Params|Options)$/.test(bare);
  const names = bare !== "" && main.dict.get(bare) !== undefined ? [bare] : looksSo ? configNames(b.module) : [];
  for (const name of names) {
    const c = main.dict.get(name);
    if (c instanceof PyInstance) return c;
    if (!(c instanceof PyClass) || (torch.moduleClass && c.isSubclassOf(torch.moduleClass))) continue;
    if (["int", "float", "str", "bool", "object"].includes(c.name)) continue;
    const made = configOf(b, c, name, notes);
    if (made !== undefined) return made;
  }
  if (!looksSo || /^(int|float|bool|str|dict|Dict)\b/.test(bare)) return undefined;
  notes.push(`${a.arg} answers by the names it is asked for`);
  return guessedConfig(b);
}

function configOf(b: Builder, c: PyClass, name: string, notes: string[]): Value | undefined {
  const { vm } = b;
  try {
    const made = vm.call(c, []);
    notes.push(`${name}()`);
    return made;
  } catch (e) {
    if (!(e instanceof PyError)) throw e;
  }
  // a dataclass with required fields: each by its name
  const def = b.module.body.find(s => s.kind === "ClassDef" && s.name === c.name);
  if (def?.kind !== "ClassDef") return undefined;
  const kwargs = new Map<string, Value>();
  const init = methodOf(def, "__init__");
  if (init) {
    for (const p of parametersOf(init, true)) {
      if (p.required) kwargs.set(p.arg.arg, guessByName(b, p.arg.arg, annotationText(p.arg.annotation)));
    }
  } else {
    for (const s of def.body) {
      if (s.kind !== "AnnAssign" || s.value !== null || s.target.kind !== "Name") continue;
      kwargs.set(s.target.id, guessByName(b, s.target.id, annotationText(s.annotation)));
    }
  }
  try {
    const made = vm.call(c, [], kwargs);
    notes.push(`${name}(${[...kwargs].map(([k, v]) => `${k}=${vm.repr(v)}`).join(", ")})`);
    return made;
  } catch (e) {
    if (!(e instanceof PyError)) throw e;
    return undefined;
  }
}

function guessByName(b: Builder, name: string, annotation = ""): Value {
  if (annotation === "bool") return false;
  if (/^Optional\[|\|None$/.test(annotation)) return null;
  if (/^(list|List|tuple|Tuple|Sequence)\b/.test(annotation)) return b.vm.list(sequenceFor(name, 0));
  const f = floatFor(name);
  if (annotation === "float" || (annotation === "" && f !== undefined)) return new PyFloat(f ?? 1);
  const s = stringsComparedWith(b.module, name)[0];
  if (annotation === "str" || (annotation === "" && s !== undefined)) return s ?? "";
  const n = numberFor(name);
  if (n !== undefined) return Number.isInteger(n) ? n : new PyFloat(n);
  return annotation === "int" || /^(n|num|max|min)_|_(size|dim|len|num|n)$/.test(name) ? 8 : false;
}

/** the strings that the file compares an attribute of this name with */
function stringsComparedWith(module: ast.Module, name: string): string[] {
  const out: string[] = [];
  const isIt = (e: ast.Expr): boolean => e.kind === "Attribute" && e.attr === name;
  walk(module.body, n => {
    if (n.kind !== "Compare" || ![n.left, ...n.comparators].some(isIt)) return;
    for (const e of [n.left, ...n.comparators]) {
      walk(e, c => {
        if (c.kind === "Constant" && c.value.type === "str") out.push(c.value.value);
      });
    }
  });
  return out;
}

function guessedConfig(b: Builder): Value {
  const { vm } = b;
  const cls = vm.klass("config", []);
  const o = new PyInstance(cls);
  o.attrs = vm.dict();
  const answer = (name: Value | undefined): Value => {
    const n = typeof name === "string" ? name : "";
    if (n.startsWith("__")) return vm.raise("AttributeError", n);
    const known = o.attrs?.get(n);
    if (known !== undefined) return known;
    const v = guessByName(b, n);
    o.attrs?.set(n, v);
    return v;
  };
  method(vm, cls, "__getattr__", ([, name]) => answer(name));
  method(vm, cls, "__getitem__", ([, name]) => answer(name));
  method(vm, cls, "get", ([, name, d]) => d ?? answer(name));
  method(vm, cls, "__contains__", () => true);
  return o;
}

function configNames(module: ast.Module): string[] {
  return module.body.flatMap(s =>
    s.kind === "ClassDef" && /(Config|Args|Cfg|Params|Arguments|Options)$/i.test(s.name) ? [s.name] : [],
  );
}

// ---- modules and classes as arguments

function moduleObject(
  b: Builder,
  a: ast.Arg,
  annotation: string,
  init: Usage,
  all: Usage,
  notes: string[],
  depth: number,
): Value | undefined {
  const { vm, torch, main } = b;
  const annotated = main.dict.get(annotation.replace(/^(?:Optional|Type|type)\[(.*)\]$/, "$1"));
  const wantsClass = /^(Type|type)\[|^type$/.test(annotation);
  if (annotated instanceof PyClass && torch.moduleClass && annotated.isSubclassOf(torch.moduleClass)) {
    if (wantsClass) return annotated;
    const def = b.module.body.find(s => s.kind === "ClassDef" && s.name === annotated.name);
    if (def?.kind === "ClassDef" && depth < 3) {
      notes.push(`${a.arg} is a ${annotated.name}`);
      return build(b, def, annotated, notes, depth + 1);
    }
  }
  if (init.called || wantsClass || (all.called && /block|layer_type|cell|norm_layer|act_layer/.test(a.arg))) {
    const c = classFor(b, a.arg, init.callArguments);
    if (c === undefined) throw new NothingKnown(`nothing is known of its constructor's parameter '${a.arg}'`);
    notes.push(`${a.arg} is ${c instanceof PyClass ? c.name : "a module"}`);
    return c;
  }
  const moduleLike =
    all.called ||
    /^(nn\.)?Module$/.test(annotation) ||
    (ANY_MODULE.test(a.arg) && !all.arithmetic && !all.sequence) ||
    ["parameters", "modules", "children", "state_dict", "forward"].some(n => all.attributes.has(n));
  if (!moduleLike) return undefined;
  if ([...all.attributes].some(n => !["parameters", "modules", "children", "state_dict", "forward"].includes(n))) {
    throw new NothingKnown(`nothing is known of its constructor's parameter '${a.arg}'`);
  }
  notes.push(`${a.arg} hands its input on`);
  return vm.call(passThrough(b), []);
}

/** a layer class for a parameter that the constructor calls */
function classFor(b: Builder, name: string, args: number): Value | undefined {
  const { vm, main, torch } = b;
  const nn = (layer: string): Value => vm.getattr(vm.importModule("torch.nn", null), layer);
  const usesConv = mentions(b.module, /^Conv\dd$/);
  if (/norm/i.test(name)) return nn(usesConv ? "BatchNorm2d" : "LayerNorm");
  if (/act|nonlin/i.test(name)) return nn(usesConv ? "ReLU" : "GELU");
  if (/conv/i.test(name)) return nn("Conv2d");
  if (/drop/i.test(name)) return nn("Dropout");
  if (/linear/i.test(name)) return nn("Linear");
  const own = b.module.body.flatMap(s => {
    const v = s.kind === "ClassDef" ? main.dict.get(s.name) : undefined;
    return v instanceof PyClass && torch.moduleClass && v.isSubclassOf(torch.moduleClass) ? [v] : [];
  });
  const stem = /block|cell|bottleneck|layer|unit/i.exec(name)?.[0] ?? "block";
  const named = own.find(c => new RegExp(stem, "i").test(c.name) || c.lookup("expansion") !== undefined);
  if (named) return named;
  return args <= 1 ? passThrough(b) : undefined;
}

function mentions(module: ast.Module, name: RegExp): boolean {
  let found = false;
  walk(module.body, n => {
    if (n.kind === "Attribute" && name.test(n.attr)) found = true;
    return !found;
  });
  return found;
}

const PASS_THROUGH = `
class Inner(nn.Module):
    def forward(self, x, *args, **kwargs):
        return x
`;

/** a module class whose instances return their first input */
function passThrough(b: Builder): Value {
  const { vm } = b;
  const dict = vm.dict([
    ["__name__", "inner"],
    ["nn", vm.importModule("torch.nn", null)],
  ]);
  const frame = new Frame(libraryCode("inner", PASS_THROUGH, "nn_modules", "inner.py"), dict, null, []);
  frame.names = dict;
  vm.run(frame);
  return dict.get("Inner") ?? null;
}
