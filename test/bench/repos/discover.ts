// The root modules of a repository. In: its Python files. Out: module classes that no other module class of it builds, each
// with its file. A class builds those that its body names, and those that are handed to its constructor as values. A class
// is a module if one of its bases leads to torch.nn's Module, by names and imports; a base that no file
// defines counts as one where the class has a forward(self, ...) of its own. Classes that have no forward at all (bases
// that only say what others must define, namespaces) can't be traced and are no roots.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { dotted } from "../../../compiler/src/dynamo/infer/syntax";
import type * as ast from "../../../compiler/src/python/ast";
import { PythonFile } from "../../../compiler/src/python/file";
import { walk } from "../../../compiler/src/python/walk";

export interface RootModule {
  /** relative to the repository */
  readonly file: string;
  readonly name: string;
  readonly line: number;
}

interface ModuleFile {
  readonly path: string;
  readonly classes: ReadonlyMap<string, ast.ClassDef>;
  /** local name → file and name that it was imported as; name null for modules */
  readonly imports: ReadonlyMap<
    string,
    { readonly module: string; readonly level: number; readonly name: string | null }
  >;
  readonly body: readonly ast.Stmt[];
}

const SKIPPED_FOLDERS = /^(\.git|\.venv|venv|node_modules|__pycache__|tests?|docs?|build|dist|site-packages)$/;
const IGNORED_CALLS = /^(isinstance|issubclass|super|print|len|type|getattr|setattr|hasattr)$/;
const SKIPPED_FILES = /^(test_.*|.*_test|setup|conftest)\.py$/;

export function pythonFiles(root: string): string[] {
  const out: string[] = [];
  const visit = (folder: string): void => {
    for (const e of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (e.isDirectory()) {
        if (!SKIPPED_FOLDERS.test(e.name)) visit(join(folder, e.name));
      } else if (e.name.endsWith(".py") && !SKIPPED_FILES.test(e.name)) out.push(relative(root, join(folder, e.name)));
    }
  };
  visit(root);
  return out;
}

/** READMEs first, then Python files, tests included, configs and shell scripts; absolute paths */
export function projectFiles(root: string): string[] {
  const out: string[] = [];
  const visit = (folder: string): void => {
    for (const e of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (e.isDirectory()) {
        if (!HIDDEN.test(e.name)) visit(join(folder, e.name));
      } else if (/\.(py|md|sh|json|ya?ml)$/i.test(e.name)) out.push(join(folder, e.name));
    }
  };
  visit(root);
  return out.sort((a, b) => Number(b.endsWith(".md")) - Number(a.endsWith(".md")));
}

const HIDDEN = /^(\..*|venv|node_modules|__pycache__|build|dist|site-packages)$/;

export function findRoots(root: string): RootModule[] {
  const files = new Map<string, ModuleFile>();
  for (const path of pythonFiles(root)) {
    const made = readModule(path, readFileSync(join(root, path), "utf8"));
    if (made) files.set(path, made);
  }
  const repository = new Repository(files);
  return repository.roots();
}

function readModule(path: string, text: string): ModuleFile | undefined {
  let body: readonly ast.Stmt[];
  try {
    body = new PythonFile(text).module.body;
  } catch {
    return undefined;
  }
  const classes = new Map<string, ast.ClassDef>();
  const imports = new Map<string, { module: string; level: number; name: string | null }>();
  // definitions under if and try at module level count as well
  const visit = (list: readonly ast.Stmt[]): void => {
    for (const s of list) {
      if (s.kind === "ClassDef") classes.set(s.name, s);
      else if (s.kind === "If") for (const b of [s.body, s.orelse]) visit(b);
      else if (s.kind === "Try")
        for (const b of [s.body, ...s.handlers.map(h => h.body), s.orelse, s.finalbody]) visit(b);
    }
  };
  visit(body);
  walk(body, n => {
    if (n.kind === "Import") {
      for (const a of n.names) {
        if (a.asname !== null) imports.set(a.asname, { module: a.name, level: 0, name: null });
        else
          imports.set(a.name.split(".")[0] ?? a.name, { module: a.name.split(".")[0] ?? a.name, level: 0, name: null });
      }
    }
    if (n.kind === "ImportFrom") {
      for (const a of n.names)
        imports.set(a.name === "*" ? `*${n.module}` : (a.asname ?? a.name), {
          module: n.module,
          level: n.level,
          name: a.name,
        });
    }
  });
  return { path, classes, imports, body };
}

interface Found {
  readonly file: ModuleFile;
  readonly cls: ast.ClassDef;
}

class Repository {
  constructor(private readonly files: ReadonlyMap<string, ModuleFile>) {}

  roots(): RootModule[] {
    const built = new Set<ast.ClassDef>();
    for (const file of this.files.values()) {
      for (const cls of file.classes.values())
        if (this.isModule({ file, cls }, new Set())) this.noteBuilt(file, cls, built);
      this.noteHandedOver(file, built);
    }
    const out: RootModule[] = [];
    for (const file of this.files.values()) {
      for (const cls of file.classes.values()) {
        if (built.has(cls) || !this.isModule({ file, cls }, new Set()) || !this.hasForward({ file, cls }, new Set()))
          continue;
        out.push({ file: file.path, name: cls.name, line: cls.nameSpan.line });
      }
    }
    return out;
  }

  /** classes named in the body of another class: called, stored, default arguments; not annotations and isinstance */
  private noteBuilt(file: ModuleFile, cls: ast.ClassDef, built: Set<ast.ClassDef>): void {
    const visit = (x: unknown): void => {
      if (Array.isArray(x)) {
        for (const y of x) visit(y);
        return;
      }
      if (x === null || typeof x !== "object" || x instanceof Uint8Array) return;
      const n = x as ast.Node & { readonly annotation?: unknown; readonly returns?: unknown };
      if (n.kind === "Call" && /^(isinstance|issubclass|super)$/.test(dotted(n.func) ?? "")) {
        visit(n.args[0]);
        return;
      }
      const name = n.kind === "Name" || n.kind === "Attribute" ? dotted(n) : undefined;
      if (name !== undefined) {
        const found = this.resolve(file, name, new Set());
        if (found && found.cls !== cls) built.add(found.cls);
        return;
      }
      for (const [k, v] of Object.entries(n)) {
        if (k === "span" || k === "nameSpan" || k === "annotation" || k === "returns" || k === "bases") continue;
        if (typeof v === "object" && v !== null) visit(v);
      }
    };
    visit(cls.body);
  }

  /**
   * Classes that a module class gets as values and builds: `ResNet(Bottleneck, [3, 4, 6, 3])`, also by way of a function
   * that passes them on, and by a keyword that a constructor has (`dict(block=Bottleneck)`). A function that builds what it
   * is handed is no class.
   */
  private noteHandedOver(file: ModuleFile, built: Set<ast.ClassDef>): void {
    const keywords = this.constructorKeywords(file);
    walk(file.body, n => {
      if (n.kind !== "Call" || IGNORED_CALLS.test(lastPart(dotted(n.func)))) return;
      const callee = dotted(n.func);
      const target = callee === undefined ? undefined : this.resolve(file, callee, new Set());
      const isClass = target !== undefined && this.isModule(target, new Set());
      n.args.forEach((a, position) => {
        const handed = this.classValue(file, a);
        if (!handed) return;
        if (isClass || (callee !== undefined && this.passesOn(file, callee, position))) built.add(handed);
      });
      for (const k of n.keywords) {
        const handed = this.classValue(file, k.value);
        if (handed && k.arg !== null && (isClass || keywords.has(k.arg))) built.add(handed);
      }
    });
  }

  /** the class that an expression hands over: its name, or partial(name, ...) */
  private classValue(file: ModuleFile, e: ast.Expr): ast.ClassDef | undefined {
    const inner = e.kind === "Call" && lastPart(dotted(e.func)) === "partial" ? e.args[0] : e;
    const name = inner === undefined ? undefined : dotted(inner);
    return name === undefined ? undefined : this.resolve(file, name, new Set())?.cls;
  }

  /** whether a function of the file hands its parameter at `position` to another call as it is */
  private passesOn(file: ModuleFile, callee: string, position: number): boolean {
    const f = file.body.find(s => s.kind === "FunctionDef" && s.name === callee);
    if (f?.kind !== "FunctionDef") return false;
    const name = [...f.args.posonlyargs, ...f.args.args][position]?.arg;
    let passes = false;
    walk(f.body, n => {
      if (n.kind !== "Call" || name === undefined) return;
      const target = this.resolve(file, dotted(n.func) ?? "", new Set());
      if (target && [...n.args, ...n.keywords.map(k => k.value)].some(a => a.kind === "Name" && a.id === name))
        passes = true;
    });
    return passes;
  }

  private constructorKeywords(file: ModuleFile): Set<string> {
    const out = new Set<string>();
    for (const cls of file.classes.values()) {
      for (const s of cls.body) {
        if (s.kind !== "FunctionDef" || s.name !== "__init__") continue;
        for (const a of [...s.args.args, ...s.args.kwonlyargs]) out.add(a.arg);
      }
    }
    return out;
  }

  private isModule(c: Found, seen: Set<ast.ClassDef>): boolean {
    if (seen.has(c.cls)) return false;
    seen.add(c.cls);
    let unknown = false;
    for (const b of c.cls.bases) {
      const name = dotted(b.kind === "Subscript" ? b.value : b);
      if (name === undefined) continue;
      const found = this.resolve(c.file, name, new Set());
      if (found) {
        if (this.isModule(found, seen)) return true;
        continue;
      }
      const from = this.origin(c.file, name);
      if (/^torch\.nn(\.modules(\.\w+)?)?\.[A-Z]\w*$/.test(from) && !/\.Parameter$/.test(from)) return true;
      if (/(^|\.)(LightningModule|PreTrainedModel|ModelMixin|BaseModule)$/.test(from)) return true;
      if (
        !/^(object|Exception|ABC|Enum|str|int|dict|list|tuple|type|Protocol|Generic|NamedTuple|TypedDict)$|^(torch\.(autograd|utils|optim|distributions|Tensor|jit|onnx|fx)|abc|enum|typing|collections|argparse|json|numpy|unittest|threading|logging|dataclasses)\b/.test(
          from,
        )
      )
        unknown = true;
    }
    return unknown && this.ownForward(c) !== undefined;
  }

  private ownForward(c: Found): ast.FunctionDef | undefined {
    const f = c.cls.body.filter(s => s.kind === "FunctionDef" && s.name === "forward").pop();
    if (f?.kind !== "FunctionDef") return undefined;
    const first = f.args.posonlyargs[0] ?? f.args.args[0];
    return first?.arg === "self" ? f : undefined;
  }

  /** a forward that does something; library classes other than Module itself have theirs */
  private hasForward(c: Found, seen: Set<ast.ClassDef>): boolean {
    if (seen.has(c.cls)) return false;
    seen.add(c.cls);
    const own = this.ownForward(c);
    if (own) return !isAbstract(own);
    return c.cls.bases.some(b => {
      const name = dotted(b.kind === "Subscript" ? b.value : b);
      if (name === undefined) return false;
      const found = this.resolve(c.file, name, new Set());
      if (found) return this.hasForward(found, seen);
      const from = this.origin(c.file, name);
      return /^torch\.nn\.(modules\.\w+\.)?(?!Module$|ModuleList$|ModuleDict$|ParameterList$|ParameterDict$)[A-Z]\w*$/.test(
        from,
      );
    });
  }

  /** the full dotted name that a local one stands for */
  private origin(file: ModuleFile, name: string): string {
    const [head = "", ...rest] = name.split(".");
    const i = file.imports.get(head);
    if (!i) return name;
    return [i.module, ...(i.name === null ? [] : [i.name]), ...rest].filter(p => p !== "").join(".");
  }

  private resolve(file: ModuleFile, name: string, seen: Set<string>): Found | undefined {
    const key = `${file.path}:${name}`;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const [head = "", ...rest] = name.split(".");
    const own = rest.length === 0 ? file.classes.get(head) : undefined;
    if (own) return { file, cls: own };
    const i = file.imports.get(head);
    if (i) {
      if (i.name === null) {
        const target = this.moduleAt(file, [i.module, ...rest.slice(0, -1)].join("."), i.level);
        const last = rest[rest.length - 1];
        return target && last !== undefined ? this.resolve(target, last, seen) : undefined;
      }
      const target = this.moduleAt(file, i.module, i.level);
      const found = target ? this.resolve(target, [i.name, ...rest].join("."), seen) : undefined;
      if (found) return found;
      // the name is a module of the package
      const sub = this.moduleAt(file, i.module === "" ? i.name : `${i.module}.${i.name}`, i.level);
      return sub && rest.length > 0 ? this.resolve(sub, rest.join("."), seen) : undefined;
    }
    if (rest.length > 0) return undefined;
    for (const [k, star] of file.imports) {
      if (!k.startsWith("*")) continue;
      const target = this.moduleAt(file, star.module, star.level);
      const found = target ? this.resolve(target, head, seen) : undefined;
      if (found) return found;
    }
    return undefined;
  }

  private moduleAt(from: ModuleFile, module: string, level: number): ModuleFile | undefined {
    const parts = from.path.split("/").slice(0, -1);
    const tail = module === "" ? [] : module.split(".");
    const at = (dir: readonly string[]): ModuleFile | undefined => {
      const path = [...dir, ...tail].join("/");
      return this.files.get(`${path}.py`) ?? this.files.get(path === "" ? "__init__.py" : `${path}/__init__.py`);
    };
    if (level > 0) return at(parts.slice(0, parts.length - (level - 1)));
    for (let up = parts.length; up >= 0; up--) {
      const found = at(parts.slice(0, up));
      if (found && found !== from) return found;
    }
    return undefined;
  }
}

function lastPart(name: string | undefined): string {
  return name?.split(".").pop() ?? "";
}

/** only raises, or says nothing */
function isAbstract(f: ast.FunctionDef): boolean {
  return f.body.every(
    s =>
      s.kind === "Raise" ||
      s.kind === "Pass" ||
      (s.kind === "Return" && (s.value === null || (s.value.kind === "Constant" && s.value.value.type === "None"))) ||
      (s.kind === "Expr" && s.value.kind === "Constant"),
  );
}
