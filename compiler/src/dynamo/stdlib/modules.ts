// Import: the standard library as modelled here, torch and friends, the user's own files, and a policy for the rest.
// In: a module name and the importing file. Out: a module object. A library that is not known raises ImportError where
// the code is prepared for that (inside try), and is an unknown value elsewhere.
import type { Stmt } from "../../python/ast";
import { PythonFile } from "../../python/file";
import { func } from "../builtins/define";
import { compileModule } from "../code/compiler";
import type { Code, SourceFile } from "../code/instructions";
import { allAfter, definitionsAfter, importedAt, independentAfter } from "../code/rest";
import { PyError } from "../interp/api";
import { Frame, PyFunction } from "../interp/frame";
import type { Machine } from "../interp/machine";
import { isPrepared } from "../interp/prepared";
import { unrecorded } from "../objects/journal";
import { type PyDict, PyModule, PyNamed, type Value } from "../objects/values";
import { abstractCollections } from "./abstract";
import { itertoolsModule } from "./itertools";
import { jsonModule } from "./json";
import { mathModule } from "./math";
import { collectionsNatives, copyNatives } from "./natives";
import { operatorModule } from "./operator";
import { PRELUDE } from "./prelude/index";
import { hasOwnKernels } from "./prelude_attention";
import { yamlModule } from "./project_files";
import { inspectModule, typingModule } from "./reflection";
import { reModule } from "./regex";
import { nameAlone, smallModule } from "./small";
import { hashlibModule, osModule, randomModule, sysModule, timeModule } from "./system";

/** code of the prelude never changes: compiled once per process */
const preludeCode = new Map<string, Code>();

export function libraryCode(name: string, text: string, library: SourceFile["library"], shown: string): Code {
  const key = `${shown}:${name}`;
  let code = preludeCode.get(key);
  if (!code) {
    const file: SourceFile = { name: shown, lines: text.split("\n"), library };
    const parsed = new PythonFile(text);
    if (parsed.problems.length > 0) throw new Error(`prelude ${name}: ${parsed.problems[0]?.message}`);
    code = compileModule(parsed.module, file, text);
    preludeCode.set(key, code);
  }
  return code;
}

export type Factory = (name: string) => PyModule | undefined;

/** after a statement that fails: definitions alone, or all that needs nothing of it */
type GoingOn = "definitions" | "all";

/** failures of one script after which all that follows is gone on with; then what needs nothing of what failed */
const MOST_FAILURES = 12;

/** libraries of models and layers that are modelled */
const MODELLED =
  /^(timm|torchvision|torchaudio|diffusers|transformers|detectron2|mmcv|mmengine|fairscale|einops|lpips|taming)$/;
const BUILD_FILES = ["setup.py", "pyproject.toml", "setup.cfg"] as const;

export class Modules {
  readonly loaded = new Map<string, Value>();
  readonly sysModules: PyDict;
  readonly environment: PyDict;
  /** whether imports that code is prepared to miss fail */
  guardedFail = true;
  /** libraries whose guarded import failed */
  readonly missed = new Set<string>();
  /** names that an import asked a module for before the module had come to them: it was being imported itself */
  readonly circular = new Set<string>();
  private readonly running = new Set<PyModule>();
  private readonly factories: Factory[] = [];
  private readonly abstracts;
  /** parses a user file; a session that runs it again and again keeps what it can */
  parseFile: (path: string, text: string) => PythonFile = (_path, text) => new PythonFile(text);
  onProblems: (file: string, parsed: PythonFile) => void = () => {};
  /** an import of the user's own file failed half-way */
  onFailure: (e: PyError) => void = () => {};

  constructor(
    private readonly vm: Machine,
    private readonly files: (path: string) => string | undefined,
  ) {
    this.sysModules = vm.dict();
    this.environment = vm.dict();
    this.abstracts = abstractCollections(vm);
  }

  /** libraries modelled elsewhere (torch, einops, numpy) */
  register(f: Factory): void {
    this.factories.push(f);
  }

  import(name: string, fromFile: string | null): Value {
    return unrecorded(() => this.load(name, fromFile));
  }

  private load(name: string, fromFile: string | null): Value {
    if (name.startsWith(".")) return this.relative(name, fromFile);
    const known = this.loaded.get(name);
    if (known !== undefined) return known;
    const made =
      (this.isOwnPackage(name, fromFile) ? this.userModule(name, fromFile) : undefined) ??
      (hasOwnKernels(name) ? this.kernelLibrary(name, fromFile) : this.library(name)) ??
      this.userModule(name, fromFile) ??
      this.namespacePackage(name) ??
      nameAlone(this.vm, name);
    if (made !== undefined) {
      this.keep(name, made);
      return made;
    }
    // a submodule that its package only knows as an attribute (os.path, torch.nn.functional)
    const dot = name.lastIndexOf(".");
    if (dot > 0) {
      const parent = this.import(name.slice(0, dot), fromFile);
      const attr = this.vm.getattrOrUndefined(parent, name.slice(dot + 1));
      if (attr !== undefined) return attr;
    }
    return this.missing(name);
  }

  /** whether a file lies in the package that it imports from, which its project builds: a library that is modelled, in its own repository */
  private isOwnPackage(name: string, fromFile: string | null): boolean {
    const [head = ""] = name.split(".");
    const at = MODELLED.test(head) ? (fromFile?.lastIndexOf(`/${head}/`) ?? -1) : -1;
    const folder = at < 0 ? "" : (fromFile ?? "").slice(0, at).replace(/(^|\/)src$/, "");
    const has = (f: string): boolean => this.files(join(folder, f)) !== undefined;
    // a copy of it in the project's own folder, where programs are started, comes before what is installed
    return at >= 0 && (BUILD_FILES.some(has) || (has("README.md") && has(`${head}/__init__.py`)));
  }

  /** what the project brings itself comes first; code that is prepared to miss the library misses it */
  private kernelLibrary(name: string, fromFile: string | null): PyModule | undefined {
    const own = this.userModule(name, fromFile);
    return own ?? (this.guardedFail && isPrepared(this.vm) ? undefined : this.library(name));
  }

  private keep(name: string, m: Value): void {
    this.loaded.set(name, m);
    this.sysModules.set(name, m);
    const dot = name.lastIndexOf(".");
    if (dot > 0) {
      const parent = this.loaded.get(name.slice(0, dot));
      const leaf = name.slice(dot + 1);
      // torch.nn.utils.weight_norm is the function of the module of that name
      if (parent instanceof PyModule && !(parent.lazy?.(leaf) instanceof PyFunction)) parent.dict.set(leaf, m);
    }
  }

  /** whether code that is prepared to miss a library that nobody knows misses it */
  private isMissed(name: string): boolean {
    if (this.guardedFail) this.missed.add(name);
    return this.guardedFail;
  }

  private missing(name: string): Value {
    if ([...this.running].some(m => name.startsWith(`${m.name}.`))) this.circular.add(name);
    if (isPrepared(this.vm) && this.isMissed(name))
      return this.vm.raise("ModuleNotFoundError", `No module named '${name}'`);
    this.vm.report(
      "unknown-module",
      `the module '${name}' is not known here; what comes from it is unknown`,
      "information",
    );
    const u = this.vm.unknown(name);
    u.attrs = this.vm.dict([["__version__", "9.9.9"]]);
    this.loaded.set(name, u);
    return u;
  }

  private library(name: string): PyModule | undefined {
    for (const f of this.factories) {
      const m = f(name);
      if (m) return m;
    }
    const m = this.standard(name);
    if (!m || name === "builtins") return m;
    // what is not modelled of it is unknown, not absent
    const own = m.lazy;
    m.lazy = n => own?.(n) ?? (n.startsWith("__") ? undefined : this.vm.unknown(`${name}.${n}`));
    return m;
  }

  private standard(name: string): PyModule | undefined {
    const vm = this.vm;
    switch (name) {
      case "builtins":
        return new PyModule(vm.types.module, name, vm.builtins);
      case "math":
        return mathModule(vm);
      case "operator":
        return operatorModule(vm);
      case "itertools":
        return itertoolsModule(vm);
      case "os":
        return osModule(vm, this.environment);
      case "os.path":
      case "collections.abc":
        break;
      case "sys":
        return sysModule(vm, this.sysModules);
      case "time":
        return timeModule(vm);
      case "random":
        return randomModule(vm);
      case "hashlib":
        return hashlibModule(vm);
      case "json":
        return jsonModule(vm);
      case "yaml":
        return yamlModule(vm);
      case "re":
        return reModule(vm);
      case "inspect":
        return inspectModule(vm);
      case "typing":
      case "typing_extensions":
        return typingModule(vm, this.abstracts, name);
      case "__future__": {
        const m = vm.newModule(name);
        m.lazy = n => new PyNamed(vm.types.object, n);
        return m;
      }
      default:
    }
    if (name === "collections.abc") {
      const m = vm.newModule(name);
      for (const [k, v] of this.abstracts) m.dict.set(k, v);
      return m;
    }
    return this.prelude(name) ?? smallModule(vm, name, library => this.isMissed(library));
  }

  private prelude(name: string): PyModule | undefined {
    const text = Object.hasOwn(PRELUDE, name) ? PRELUDE[name] : undefined;
    if (text === undefined) return undefined;
    const m = this.vm.newModule(name);
    if (name === "collections") {
      collectionsNatives(this.vm, m);
      m.lazy = n => (n === "abc" ? this.import("collections.abc", null) : undefined);
    }
    if (name === "six") m.lazy = n => (n === "moves" ? this.import("six.moves", null) : undefined);
    if (name === "copy") copyNatives(this.vm, m);
    if (name === "types") {
      const t = this.vm.types;
      m.dict.set("FunctionType", t.func);
      m.dict.set("LambdaType", t.func);
      m.dict.set("BuiltinFunctionType", t.builtin);
      m.dict.set("ModuleType", t.module);
      m.dict.set("GeneratorType", t.generator);
      m.dict.set("NoneType", t.none);
      m.dict.set("EllipsisType", t.ellipsis);
      func(this.vm, m, "_bind", ([f, o]) => this.vm.call(t.method, [f ?? null, o ?? null]));
    }
    m.dict.set("__module_object__", m);
    this.run(libraryCode(name, text, "hidden", `${name}.py`), m);
    return m;
  }

  run(code: Code, m: PyModule): void {
    const frame = new Frame(code, m.dict, null, []);
    frame.names = m.dict;
    if (code.file.library === "user" && !m.dict.has("__doc__")) m.dict.set("__doc__", code.docstring);
    this.vm.run(frame);
  }

  // ---- the user's files

  private userModule(name: string, fromFile: string | null): PyModule | undefined {
    if (fromFile === null) return undefined;
    const parts = name.split(".");
    let dir = directory(fromFile);
    for (let up = 0; up < 6; up++) {
      // a package's name is the package in its own files too, one of which may be called after it
      const inside = dir.split("/").pop() === parts[0] && this.files(join(dir, "__init__.py")) !== undefined;
      // packages may lie in a folder src, as installed ones do
      for (const place of inside ? [] : [join(dir, parts.join("/")), join(dir, `src/${parts.join("/")}`)]) {
        // a file that imports its own name means the library that it is called after
        const m = `${place}.py` === fromFile ? undefined : this.fileModule(name, place);
        if (m) return m;
      }
      if (dir === "" || dir === "/" || dir === ".") break;
      dir = directory(dir);
    }
    return this.folderModule(name, fromFile) ?? this.onChangedPath(name, fromFile);
  }

  /** a folder of Python files without __init__, the nearest above: `from nets import block` imports a file of it */
  private folderModule(name: string, fromFile: string): PyModule | undefined {
    const folder = this.vm.host.texts?.folder(name, fromFile);
    if (folder === undefined) return undefined;
    const m = this.vm.newModule(name);
    m.lazy = n => this.fileModule(`${name}.${n}`, join(folder, n)) ?? this.folderModule(`${name}.${n}`, fromFile);
    return m;
  }

  /** a folder without __init__ that modules were imported from: `import src.nets.block` binds src */
  private namespacePackage(name: string): PyModule | undefined {
    const inside = [...this.loaded].filter(
      ([k, v]) => k.startsWith(`${name}.`) && v instanceof PyModule && v.file !== null,
    );
    if (inside.length === 0) return undefined;
    const m = this.vm.newModule(name);
    for (const [k, v] of inside) {
      const rest = k.slice(name.length + 1);
      if (!rest.includes(".")) m.dict.set(rest, v);
    }
    m.lazy = n => this.loaded.get(`${name}.${n}`) ?? this.namespacePackage(`${name}.${n}`);
    return m;
  }

  /** a module that no folder above has, where the program puts folders on sys.path, as training scripts do */
  private onChangedPath(name: string, fromFile: string): PyModule | undefined {
    const changes = (file: string): boolean => /\bsys\.path\.(append|insert|extend)\b/.test(this.files(file) ?? "");
    const main = this.loaded.get("__main__");
    const mainFile = main instanceof PyModule ? main.dict.get("__file__") : undefined;
    if (!changes(fromFile) && !(typeof mainFile === "string" && changes(mainFile))) return undefined;
    const file = this.vm.host.texts?.module(name, fromFile);
    return file === undefined ? undefined : this.fileModule(name, file.replace(/(\/__init__)?\.py$/, ""));
  }

  private relative(name: string, fromFile: string | null): Value {
    const level = /^\.*/.exec(name)?.[0].length ?? 0;
    const rest = name.slice(level);
    if (fromFile === null) return this.missing(rest || name);
    let dir = directory(fromFile);
    for (let i = 1; i < level; i++) dir = directory(dir);
    if (rest === "") {
      const pack = this.fileModule(dir.split("/").pop() ?? "package", dir);
      if (pack) return pack;
      // `from . import x` where the package has no __init__: its files are the names
      const m = this.vm.newModule(dir);
      m.lazy = n => this.fileModule(n, join(dir, n)) ?? undefined;
      return m;
    }
    const path = join(dir, rest.split(".").join("/"));
    return this.fileModule(rest, path) ?? this.missing(rest);
  }

  /** the module of a Python file, under the file's name */
  importFile(file: string): PyModule | undefined {
    const path = file.replace(/(\/__init__)?\.py$/, "");
    return unrecorded(() => this.fileModule(path.split("/").pop() ?? path, path));
  }

  /** the module at path.py or path/__init__.py */
  private fileModule(name: string, path: string): PyModule | undefined {
    for (const file of [`${path}.py`, `${path}/__init__.py`]) {
      const known = this.loaded.get(`file:${file}`);
      if (known instanceof PyModule) return known;
      const text = this.files(file);
      if (text === undefined) continue;
      const m = this.vm.newModule(name);
      m.file = file;
      m.lazy = n => {
        const sub = this.fileModule(`${name}.${n}`, join(directory(file), n));
        return file.endsWith("__init__.py") ? sub : undefined;
      };
      this.loaded.set(`file:${file}`, m);
      if (this.sysModules.get(name) === undefined) this.sysModules.set(name, m);
      this.running.add(m);
      try {
        this.execute(m, file, text);
      } finally {
        this.running.delete(m);
      }
      return m;
    }
    return undefined;
  }

  /** `rest`: what is gone on with after a statement that fails */
  execute(m: PyModule, file: string, text: string, rest: GoingOn = "definitions"): void {
    const parsed = this.parseFile(file, text);
    this.onProblems(file, parsed);
    const source: SourceFile = { name: file, lines: text.split(/\r?\n/), library: "user" };
    m.dict.set("__file__", file);
    m.dict.set("__module_object__", m);
    this.runBody(m, source, text, parsed.module.body, rest, 0);
  }

  /**
   * An import of the user's own file that fails half-way is followed as far as it goes, as if the failing statement were not
   * there; where the importing code is prepared for a failure, it gets it.
   */
  private runBody(
    m: PyModule,
    file: SourceFile,
    text: string,
    body: readonly Stmt[],
    goOn: GoingOn,
    failures: number,
  ): void {
    const { vm } = this;
    const depth = vm.frames.length;
    try {
      this.run(compileModule({ kind: "Module", body }, file, text), m);
    } catch (e) {
      if (!(e instanceof PyError) || isPrepared(this.vm)) throw e;
      vm.frames.length = depth;
      const at = e.trace.find(t => t.file === file);
      if (!at) throw e;
      this.onFailure(e);
      for (const i of importedAt(body, at.span.line))
        if (m.dict.get(i.name) === undefined) m.dict.set(i.name, vm.unknown(i.from));
      if (goOn === "definitions" || e.value.cls.name === "SystemExit") {
        const rest = definitionsAfter(body, at.span.line);
        if (rest.length > 0) this.runBody(m, file, text, rest, goOn, 0);
        return;
      }
      const after = failures < MOST_FAILURES ? allAfter : independentAfter;
      const { rest, missing } = after(body, at.span.line);
      for (const name of missing) if (m.dict.get(name) === undefined) m.dict.set(name, vm.unknown(name));
      if (rest.length > 0) this.runBody(m, file, text, rest, goOn, failures + 1);
    }
  }
}

function directory(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "" : path.slice(0, at);
}

function join(dir: string, rest: string): string {
  return dir === "" ? rest : `${dir}/${rest}`;
}
