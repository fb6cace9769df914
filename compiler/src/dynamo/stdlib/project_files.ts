// Text files that a program reads: configurations that lie in its project. In: a name as the program writes it. Out: the
// file's text. A relative name is looked for in the main file's folder and those above it, as programs are started from
// there; then, for open() alone, among the project's files of that name. Nothing outside of the project is read.
import { func } from "../builtins/define";
import type { Machine } from "../interp/machine";
import { plain } from "../interp/operators";
import { type PyModule, PyObject, type Value } from "../objects/values";
import { parseYaml, parseYamlDocuments, type Yaml, YamlError } from "./yaml";

/** configurations, and the sources of kernels that a program builds; weights and data are not read */
const TEXTS = /\.(json|ya?ml|toml|cfg|ini|txt|csv|md|cpp|cu|cuh|h|hpp|c)$/i;
/** folders above the main file's that a program may have been started in */
const FOLDERS_UP = 5;

export class ProjectFiles {
  constructor(
    private readonly files: (path: string) => string | undefined,
    private readonly main: string,
    private readonly project: () => readonly string[],
  ) {}

  /** whether a program that is started in the main file's folder or one above it finds this file */
  exists(name: string): boolean {
    return this.direct(name) !== undefined;
  }

  /** the text of a file; undefined: there is none, or it is no text */
  read(name: string): string | undefined {
    const direct = this.direct(name);
    if (direct !== undefined || !TEXTS.test(name)) return direct;
    const parts = name.split("/").filter(p => p !== "" && p !== "." && p !== "..");
    for (let from = 0; from < parts.length; from++) {
      const ending = `/${parts.slice(from).join("/")}`;
      const found = this.project().find(p => p.endsWith(ending));
      const text = found === undefined ? undefined : this.files(found);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /**
   * The names of text files and of folders with such in a folder of the project, sorted; none: there is no such folder.
   * Python files are left out, since what lists them imports them all.
   */
  list(name: string): string[] {
    for (const folder of this.folders()) {
      const path = `${normal(name.startsWith("/") ? name : `${folder}/${name}`)}/`;
      const found = this.project().filter(p => p.startsWith(path) && TEXTS.test(p));
      if (found.length > 0) return [...new Set(found.map(p => p.slice(path.length).split("/")[0] ?? ""))].sort();
    }
    return [];
  }

  /** text files of the project that a pattern with *, ** and ? finds: below the folder that it starts in by their names from there */
  glob(pattern: string): string[] {
    for (const folder of this.folders()) {
      const absolute = pattern.startsWith("/");
      const path = normal(absolute ? pattern : `${folder}/${pattern}`);
      const test = new RegExp(`^${path.split("/").map(inPattern).join("/").replaceAll("(?:.*)?/", "(?:.*/)?")}$`);
      const found = this.project().filter(p => TEXTS.test(p) && test.test(p));
      if (found.length > 0)
        return found.map(p => (inside(p, folder) && !absolute ? p.slice(folder.length + 1) : p)).sort();
    }
    return [];
  }

  /** folders that the program may have been started in, the main file's first */
  private folders(): string[] {
    const out: string[] = [];
    let folder = this.main;
    for (let up = 0; up <= FOLDERS_UP && folder.includes("/"); up++) {
      folder = folder.slice(0, folder.lastIndexOf("/"));
      if (folder === "") break;
      out.push(folder);
    }
    return out;
  }

  /** the Python file of a module that lies elsewhere in the project, the nearest to `from`: sys.path can lead there */
  module(name: string, from: string): string | undefined {
    const path = name.split(".").join("/");
    const endings = [`/${path}.py`, `/${path}/__init__.py`];
    const found = this.project().filter(p => endings.some(e => p.endsWith(e)));
    const shared = (p: string): number => {
      let n = 0;
      while (n < p.length && p[n] === from[n]) n++;
      return n;
    };
    return found.sort((a, b) => shared(b) - shared(a) || a.length - b.length)[0];
  }

  /** the folder of Python files that a package's name says, below one that `from` lies in */
  folder(name: string, from: string): string | undefined {
    const path = name.split(".").join("/");
    const python = this.project().filter(p => p.endsWith(".py") && p.includes(`${path}/`));
    for (let above = from.lastIndexOf("/"); above >= 0; above = from.lastIndexOf("/", above - 1)) {
      const folder = `${from.slice(0, above)}/${path}`;
      if (python.some(p => p.startsWith(`${folder}/`))) return folder;
      if (above === 0) return undefined;
    }
    return python.some(p => p.startsWith(`${path}/`)) ? path : undefined;
  }

  private direct(name: string): string | undefined {
    if (!TEXTS.test(name)) return undefined;
    for (const folder of this.folders()) {
      // a path made from __file__ is absolute
      const path = normal(name.startsWith("/") ? name : `${folder}/${name}`);
      const text = path.startsWith(`${folder}/`) ? this.files(path) : undefined;
      if (text !== undefined) return text;
    }
    return undefined;
  }
}

const inside = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

/** a part of a path pattern as a regular expression */
function inPattern(part: string): string {
  if (part === "**") return "(?:.*)?";
  return part
    .replace(/[\\^$.|+(){}]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
}

/** without ".", ".." and doubled slashes */
function normal(path: string): string {
  const out: string[] = [];
  for (const p of path.split("/")) {
    if (p === "..") out.pop();
    else if (p !== "." && (p !== "" || out.length === 0)) out.push(p);
  }
  return out.join("/");
}

/** the text that a loader is given: a string, or what an open file's read() gives; undefined for anything else */
export function textOf(vm: Machine, v: Value): string | undefined {
  const p = plain(v);
  if (typeof p === "string") return p;
  const read = p instanceof PyObject ? vm.getattrOrUndefined(p, "read") : undefined;
  const text = read === undefined ? undefined : vm.call(read, []);
  return typeof text === "string" ? text : undefined;
}

/** PyYAML: what is loaded is data, whichever loader is named */
export function yamlModule(vm: Machine): PyModule {
  const m = vm.newModule("yaml");
  const error = vm.exceptionClass("ValueError");
  m.dict.set("YAMLError", error);
  const loader = (n: string, read: (text: string) => Yaml): void => {
    func(vm, m, n, ([stream], kw) => {
      const text = textOf(vm, stream ?? kw.get("stream") ?? null);
      if (text === undefined) return vm.unknown(`yaml.${n}(...)`);
      try {
        return value(vm, read(text));
      } catch (e) {
        if (e instanceof YamlError) return vm.raise("ValueError", e.message);
        throw e;
      }
    });
  };
  for (const n of ["load", "safe_load", "full_load", "unsafe_load"]) {
    loader(n, parseYaml);
    loader(`${n}_all`, parseYamlDocuments);
  }
  for (const n of ["dump", "safe_dump", "add_constructor", "add_representer", "add_implicit_resolver"])
    func(vm, m, n, () => "");
  m.lazy = n => (n.startsWith("__") ? undefined : vm.unknown(`yaml.${n}`));
  return m;
}

function value(vm: Machine, y: Yaml): Value {
  if (y instanceof Map) return vm.dict([...y].map(([k, v]) => [k, value(vm, v)] as const));
  if (Array.isArray(y)) return vm.list(y.map(v => value(vm, v)));
  return y;
}
