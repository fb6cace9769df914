// Where else a project shows how a class is used: READMEs, scripts, tests, other modules. In: the project's paths and a class
// name. Out: pieces of Python to run for what they build and call, the likeliest first. Text only: nothing is run here.
import type * as ast from "../../../python/ast";
import { PythonFile } from "../../../python/file";
import { walk } from "../../../python/walk";
import { parametersOf } from "../syntax";

export interface Example {
  /** the file that it stands in; imports start there */
  readonly path: string;
  readonly text: string;
  /** "README.md", "train.py": said where its arguments are used */
  readonly shown: string;
}

/** files that are opened to see whether they name the class, and examples that come of them */
const READ = 1500;
const MOST = 6;
const LONGEST = 400_000;

export function examplesOf(
  name: string,
  own: string,
  paths: readonly string[],
  read: (path: string) => string | undefined,
): Example[] {
  const found = new Map<string, { readonly example: Example; readonly rank: number }>();
  const parsed = new Map<string, ast.Module>();
  const moduleOf = (path: string, text: string): ast.Module => {
    const module = parsed.get(path) ?? new PythonFile(text).module;
    parsed.set(path, module);
    return module;
  };
  const sources = paths.slice(0, READ).flatMap(path => {
    const text = /\.(py|md)$/i.test(path) ? read(path) : undefined;
    return text === undefined || text.length > LONGEST ? [] : [{ path, text, shown: path.split("/").pop() ?? path }];
  });
  // who builds it, then who calls the functions that build it
  let names: readonly string[] = [name];
  const asked = new Set(names);
  for (let round = 0; round < 3 && names.length > 0; round++) {
    const built = new RegExp(`\\b(?:${names.join("|")})\\s*\\(`);
    const next = new Set<string>();
    for (const { path, text, shown } of sources) {
      if (!built.test(text)) continue;
      if (path.endsWith(".md")) {
        fences(text).forEach((block, i) => {
          if (built.test(block)) found.set(`${path}:${i}`, { example: { path, text: block, shown }, rank: round });
        });
        continue;
      }
      for (const f of functionsReaching(moduleOf(path, text), names)) if (!needsNothing(f)) next.add(f.name);
      if (path === own || found.has(path) || defines(text, name)) continue;
      found.set(path, { example: { path, text, shown }, rank: rankOf(path, own) + round });
    }
    names = [...next].filter(n => !asked.has(n) && !COMMON.test(n)).slice(0, 8);
    for (const n of names) asked.add(n);
  }
  return [...found.values()]
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(f => f.example);
}

const defines = (text: string, name: string): boolean => new RegExp(`^class ${name}\\b`, "m").test(text);

/** names that say nothing of what a function builds */
const COMMON = /^(main|run|train|test|forward|__\w+__|get|make|build|create|load|setup|init|wrapper|inner|fn|f)$/;

/** tests and demos show whole calls; what lies in the same folder belongs together */
function rankOf(path: string, own: string): number {
  const file = path.split("/").pop() ?? path;
  if (/test|demo|example|sample|infer|generate|predict/i.test(file)) return 1;
  if (/train|main|run|build|model|factory|script/i.test(path)) return 2;
  return path.replace(/[^/]*$/, "") === own.replace(/[^/]*$/, "") ? 3 : 4;
}

/** the Python of a Markdown text; a block that imports nothing goes on with the one before it */
function fences(text: string): string[] {
  const out: string[] = [];
  let language: string | null = null;
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const fence = /^\s*(?:```+|~~~+)\s*\{?\.?([\w+-]*)/.exec(line);
    if (!fence) {
      if (language !== null) lines.push(line);
      continue;
    }
    if (language === null) {
      language = (fence[1] ?? "").toLowerCase();
      lines = [];
      continue;
    }
    if (/^(|py|python3?|pycon|ipython)$/.test(language)) {
      const block = unprompted(dedented(lines));
      const before = out[out.length - 1];
      out.push(/^\s*(from|import) /m.test(block) || before === undefined ? block : `${before}\n${block}`);
    }
    language = null;
  }
  return out;
}

function dedented(lines: readonly string[]): string {
  const least = Math.min(...lines.filter(l => l.trim() !== "").map(l => l.length - l.trimStart().length));
  return Number.isFinite(least) && least > 0 ? lines.map(l => l.slice(least)).join("\n") : lines.join("\n");
}

/** without the prompts of an interactive session, and without what it printed */
function unprompted(text: string): string {
  if (!/^>>> /m.test(text)) return text;
  return text
    .split("\n")
    .flatMap(l => (/^(>>>|\.\.\.)( |$)/.test(l) ? [l.slice(4)] : []))
    .join("\n");
}

/** functions of a file that need no arguments and name the class, themselves or through what they call in the file */
export function buildersIn(module: ast.Module, name: string): string[] {
  return functionsReaching(module, [name]).flatMap(f => (needsNothing(f) ? [f.name] : []));
}

/**
 * Scripts that show the class: bodies of functions that need nothing, of tests with their first parameters, of test methods
 * with an object of their class; to be run after the text that they are from.
 */
export function driversIn(module: ast.Module, text: string, name: string): string[] {
  const lines = text.split(/\r?\n/);
  const reaching = functionsReaching(module, [name]);
  const names = new Set([name, ...reaching.map(f => f.name)]);
  const out = reaching.flatMap(f => {
    const given = assignmentsFor(f, lines);
    return given === undefined ? [] : [[...given, ...bodyOf(f, lines)].join("\n")];
  });
  for (const cls of module.body) {
    if (cls.kind !== "ClassDef" || !/^Test|Test(s|Case)?$/.test(cls.name)) continue;
    const methods = cls.body.filter((s): s is ast.FunctionDef => s.kind === "FunctionDef");
    const setUp = methods.filter(m => m.name === "setUp");
    for (const m of methods) {
      const given = assignmentsFor(m, lines, 1);
      if (!/^test/.test(m.name) || given === undefined || ![m, ...setUp].some(f => mentions(f, names))) continue;
      const prepared = setUp.flatMap(f => bodyOf(f, lines));
      out.push([`self = ${cls.name}()`, ...prepared, ...given, ...bodyOf(m, lines)].join("\n"));
    }
  }
  return out;
}

function mentions(f: ast.FunctionDef, names: ReadonlySet<string>): boolean {
  let found = false;
  walk(f.body, n => {
    if (n.kind === "Name" && names.has(n.id)) found = true;
    return !found;
  });
  return found;
}

/** assignments that give a function's parameters their defaults and first values; undefined: some have none */
function assignmentsFor(f: ast.FunctionDef, lines: readonly string[], skip = 0): string[] | undefined {
  if (f.isAsync || !yieldsNothing(f)) return undefined;
  const out: string[] = [];
  const given = new Set<string>();
  for (const d of f.decorators) {
    if (d.kind !== "Call" || d.func.kind !== "Attribute" || d.func.attr !== "parametrize") continue;
    const [named, values] = d.args;
    const names = named === undefined ? [] : namesIn(named);
    if (values === undefined || names.length === 0) return undefined;
    const first = `next(iter(${textOf(values, lines)}))`;
    out.push(names.length === 1 ? `${names[0]} = ${first}` : `${names.join(", ")} = ${first}`);
    for (const n of names) given.add(n);
  }
  for (const { name, fallback } of parametersOf(f.args).slice(skip)) {
    if (given.has(name)) continue;
    if (fallback === null) return undefined;
    out.push(`${name} = ${textOf(fallback, lines)}`);
  }
  return out;
}

/** "a,b" or ["a", "b"] */
function namesIn(e: ast.Expr): string[] {
  if (e.kind === "Constant") return e.value.type === "str" ? e.value.value.split(",").map(n => n.trim()) : [];
  return e.kind === "Tuple" || e.kind === "List" ? e.elts.flatMap(namesIn) : [];
}

/** the statements of a function at the margin; it ends without a value */
function bodyOf(f: ast.FunctionDef, lines: readonly string[]): string[] {
  return f.body.flatMap(s => {
    if (s.kind === "Return") return s.value === null ? [] : [textOf(s.value, lines)];
    return [dedented(lines.slice(s.span.line - 1, s.span.endLine))];
  });
}

/** an expression in one piece, whatever lines it stands on */
function textOf(e: ast.Expr, lines: readonly string[]): string {
  const { line, column, endLine, endColumn } = e.span;
  const part = lines.slice(line - 1, endLine);
  part[part.length - 1] = part[part.length - 1]?.slice(0, endColumn) ?? "";
  part[0] = part[0]?.slice(column) ?? "";
  return `(${part.join("\n")})`;
}

function functionsReaching(module: ast.Module, names: readonly string[]): ast.FunctionDef[] {
  const functions = module.body.filter((s): s is ast.FunctionDef => s.kind === "FunctionDef");
  const reaching = new Set(names);
  for (let grew = true; grew; ) {
    grew = false;
    for (const f of functions) {
      if (reaching.has(f.name)) continue;
      walk(f.body, n => {
        if (n.kind === "Name" && reaching.has(n.id) && !reaching.has(f.name)) {
          reaching.add(f.name);
          grew = true;
        }
      });
    }
  }
  return functions.filter(f => reaching.has(f.name) && !names.includes(f.name));
}

export function needsNothing(f: ast.FunctionDef): boolean {
  return !f.isAsync && parametersOf(f.args).every(p => p.fallback !== null) && yieldsNothing(f);
}

function yieldsNothing(f: ast.FunctionDef): boolean {
  let fine = true;
  walk(f.body, n => {
    if (n.kind === "FunctionDef" || n.kind === "ClassDef" || n.kind === "Lambda") return false;
    if (n.kind === "Yield" || n.kind === "YieldFrom") fine = false;
    return true;
  });
  return fine;
}
