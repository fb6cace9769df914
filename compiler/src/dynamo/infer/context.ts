// What inference needs of the running program, and how it finds things in it by name.

import { walk } from "../../python/walk";
import { PyFunction } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { PyClass, PyDict, PyInstance, PyMethod, type PyModule, PyStaticMethod, type Value } from "../objects/values";
import type { Torch } from "../torch/context";
import type { ProjectConstants } from "./evidence/constants";

export interface InferContext {
  readonly vm: Machine;
  readonly torch: Torch;
  /** parameters that are being built, outermost first: a class that needs itself is given up */
  readonly building: string[];
  /** what was taken for granted so far */
  readonly assumed: string[];
  /** where the usual sizes take too long: depths, counts and lengths that have a default are small */
  small: boolean;
  /** what took too long was a `while` loop, which small sizes end seldom */
  looped: boolean;
  /** where that does not help either: one construction, or one run, may take many more steps, as tables that Python computes and long loops do */
  patient: boolean;
  /** where nothing else helps: what an error blames may be a value that nobody knows, whose calls are opaque operators */
  opaque: boolean;
  /** a run has failed because its code takes gradients where none are kept, or of an input that keeps none */
  wantsGrad: "here" | "of inputs" | null;
  /** tensors that stand in for inputs keep gradients */
  inputGrad: boolean;
  /** what inputs of floats are, where the code wants it of them and of the module's weights */
  half: "float16" | "bfloat16" | null;
  /** where inputs and modules are: on the GPU, or on the CPU where the code makes tensors there itself */
  device: "cuda" | "cpu";
  /** attributes and items that stand-ins for configurations were asked for */
  readonly asked: Map<string, Value>;
  /** what the project's files give to names */
  readonly constants: ProjectConstants;
  /** modules of the user's files, the package of the analysed one first; found when they are first needed */
  readonly elsewhere: () => readonly PyModule[];
  /** the module of a file of the project, imported when it is not yet; undefined: it can't be */
  readonly load: (path: string) => PyModule | undefined;
}

/** a value by the dotted name that code of these globals would use; "torch. ...", "torchvision. ...", "file.py::Name" and "pack.file:Name" always work */
export function lookup(ctx: InferContext, globals: PyDict, path: string): Value | undefined {
  const file = /^(.*)::(\w+)$/.exec(path);
  if (file) {
    const m = ctx.elsewhere().find(x => x.file === file[1]) ?? ctx.load(file[1] ?? "");
    return m?.dict.get(file[2] ?? "");
  }
  const imported = /^([\w.]+):(\w+)$/.exec(path);
  if (imported) {
    const from = globals.get("__file__");
    const m = ctx.vm.importModule(imported[1] ?? "", typeof from === "string" ? from : null);
    return ctx.vm.getattrOrUndefined(m, imported[2] ?? "");
  }
  const item = /^(\w+)\[(?:'([^']*)'|(\d+))\]$/.exec(path);
  if (item) {
    const d = globals.get(item[1] ?? "");
    if (!(d instanceof PyDict)) return undefined;
    return item[2] === undefined ? d.getKey(Number(item[3])) : d.get(item[2]);
  }
  const parts = path.split(".");
  const [head, ...rest] = parts;
  let v: Value | undefined =
    head === undefined
      ? undefined
      : (globals.get(head) ?? (/^torch(vision)?$/.test(head) ? ctx.vm.importModule(head, null) : undefined));
  for (const p of rest) {
    if (v === undefined) return undefined;
    v = ctx.vm.getattrOrUndefined(v, p);
  }
  return v;
}

/** the function behind a method of a class, with decorators that wrap looked through */
export function methodOf(cls: PyClass, name: string): PyFunction | undefined {
  return functionOf(cls.lookup(name));
}

export function functionOf(v: Value | undefined): PyFunction | undefined {
  let f = v;
  for (let i = 0; i < 8 && f !== undefined; i++) {
    if (f instanceof PyStaticMethod) f = f.func;
    if (f instanceof PyMethod) f = f.func;
    if (!(f instanceof PyFunction)) break;
    const wrapped = f.attrs?.get("__wrapped__");
    if (wrapped === undefined) return f;
    f = wrapped;
  }
  if (f instanceof PyInstance) {
    const wrapped = f.attrs?.get("__wrapped__");
    return wrapped instanceof PyFunction ? wrapped : undefined;
  }
  return f instanceof PyFunction ? f : undefined;
}

export const isEnum = (c: PyClass): boolean => c.mro.some(b => b.name === "Enum");

/** classes of the user's files among the globals, in the order of their names' definition */
export function userClasses(globals: PyDict): { readonly name: string; readonly cls: PyClass }[] {
  return globals
    .entries()
    .flatMap(([name, v]) =>
      typeof name === "string" && v instanceof PyClass && v.place !== null ? [{ name, cls: v }] : [],
    );
}

/** classes of other files, under paths that lookup() takes */
export function classesElsewhere(
  ctx: InferContext,
  except: PyDict,
): { readonly name: string; readonly cls: PyClass }[] {
  const own = new Set(userClasses(except).map(c => c.name));
  return ctx
    .elsewhere()
    .flatMap(m =>
      userClasses(m.dict).flatMap(({ name, cls }) =>
        own.has(name) ? [] : [{ name: `${m.file ?? ""}::${name}`, cls }],
      ),
    );
}

/** a class, or a copy of it that another file has imported */
export function sameClass(v: Value, cls: PyClass): boolean {
  return (
    v === cls || (v instanceof PyClass && v.name === cls.name && v.place !== null && v.place.file === cls.place?.file)
  );
}

interface Subclass {
  readonly cls: PyClass;
  /** of the module that defines it */
  readonly globals: PyDict;
}

/** subclasses of a class in these globals and in imported modules; `everywhere`: else in the project's files that name it as a base */
export function subclassesOf(ctx: InferContext, cls: PyClass, around: PyDict, everywhere: boolean): Subclass[] {
  const seen = new Set<string>();
  const among = (globals: PyDict): Subclass[] =>
    userClasses(globals).flatMap(({ cls: c }) => {
      const key = `${c.place?.file}:${c.name}`;
      const derived = !sameClass(c, cls) && c.mro.some(b => sameClass(b, cls)) && !seen.has(key);
      if (derived) seen.add(key);
      return derived ? [{ cls: c, globals }] : [];
    });
  const known = [around, ...ctx.elsewhere().map(m => m.dict)].flatMap(among);
  if (known.length > 0 || !everywhere) return known;
  return ctx.constants.filesWithBase(cls.name).flatMap(path => {
    const m = ctx.load(path);
    return m ? among(m.dict) : [];
  });
}

/** names that the methods of a class store in self, those of its bases too */
export function assignedAttributes(cls: PyClass): ReadonlySet<string> {
  let known = assigned.get(cls);
  if (known) return known;
  const out = new Set<string>();
  for (const c of cls.mro) {
    for (const v of c.dict.values()) {
      if (!(v instanceof PyFunction) || v.code.file.library !== "user" || !v.code.body) continue;
      walk(v.code.body, n => {
        const targets = n.kind === "Assign" ? n.targets : n.kind === "AnnAssign" ? [n.target] : [];
        for (const t of targets.flatMap(x => (x.kind === "Tuple" ? x.elts : [x])))
          if (t.kind === "Attribute" && t.value.kind === "Name" && t.value.id === "self") out.add(t.attr);
      });
    }
  }
  known = out;
  assigned.set(cls, known);
  return known;
}
const assigned = new WeakMap<PyClass, ReadonlySet<string>>();

/** a method of the module's class, which an attribute of the same name (`self.cuda = use_cuda`) hides */
export function moduleMethod(vm: Machine, target: Value, name: string, args: readonly Value[] = []): void {
  const method = target instanceof PyInstance ? target.cls.lookup(name) : undefined;
  if (method === undefined) vm.call(vm.getattr(target, name), args);
  else vm.call(method, [target, ...args]);
}
