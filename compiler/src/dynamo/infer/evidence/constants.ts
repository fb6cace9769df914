// The values that a project's files give to names: JSON and YAML configs, keyword arguments, defaults of options, assigned
// literals. In: texts by path. Out: for a set of names that belong together, the file that knows most of them; for a name,
// the literal it gets there.

import type * as ast from "../../../python/ast";
import { PythonFile } from "../../../python/file";
import { walk } from "../../../python/walk";
import { parametersOf } from "../syntax";
import { bool, type Choice, named, number, str } from "../types";
import { callsIn, mentionsCall, namesIn } from "./constructor_calls";
import { argumentsIn, dataOf, dictionary, isReference, namesOf, valueIn } from "./data_files";
import { type Use, Uses } from "./uses";

type Names = ReadonlyMap<string, Choice>;

export interface ProjectText {
  readonly path: string;
  readonly text: string;
}

/** files that are parsed for one set of names */
const MOST_PARSED = 12;
const LONGEST = 200_000;
/** a data file of more names is a vocabulary or a table, no configuration */
const MOST_NAMES = 1000;
/** files that are parsed for calls of one class */
const MOST_CALLING = 4;
/** text files that are tried as configurations */
const MOST_FILES = 6;
const CONFIGURATION = /['"\s=]((?:[\w.-]+\/)*[\w.-]+\.(?:cfg|ya?ml|json|toml|ini))(?=['"\s])/g;
const OPTION_FILE =
  /(^|[/_])(opts?|options?|args?|arguments?|config|configs|cfg|params?|settings?|hparams|parser)(_\w+)?\.py$/i;
/** files that are imported for the subclasses that they hold */
const MOST_BASES = 2;
/** files whose code is read for what it does with configurations */
const NEAREST = 80;

export class ProjectConstants {
  private readonly tables = new Map<string, Names>();

  private read: readonly ProjectText[] | null = null;

  /** `own`: the analysed file; what lies near it speaks of it more likely */
  constructor(
    private readonly load: () => readonly ProjectText[],
    private readonly own = "",
  ) {}

  private texts(): readonly ProjectText[] {
    this.read ??= this.load();
    return this.read;
  }

  /** the literals that the best file, and then others, give to names; `names` are those that belong together */
  about(names: readonly string[]): (name: string) => Choice | undefined {
    if (names.length === 0) return () => undefined;
    const mentioned = (t: string): number => names.filter(n => t.includes(n)).length;
    const least = Math.min(names.length, Math.max(2, names.length / 3));
    const likely = this.texts()
      .filter(f => f.text.length <= LONGEST)
      .map(f => ({ f, hits: mentioned(f.text) }))
      .filter(x => x.hits >= least)
      .sort((a, b) => b.hits - a.hits)
      .slice(0, MOST_PARSED)
      .map(({ f }) => ({ table: this.table(f), code: f.path.endsWith(".py"), far: distance(this.own, f.path) }));
    const known = (t: Names): number => names.filter(n => t.has(n)).length;
    // a file of another folder has to know more
    const worth = (x: (typeof likely)[number]): number => known(x.table) / names.length - Math.min(5, x.far) * 0.06;
    const ranked = likely
      .filter(x => x.code || x.table.size <= MOST_NAMES)
      .filter(x => known(x.table) >= least)
      .sort((a, b) => worth(b) - worth(a));
    return name => ranked.find(x => x.table.has(name))?.table.get(name);
  }

  /** what the nearest data file that has the name, whatever else it has, gives to it */
  inData(name: string): Choice | undefined {
    return this.texts()
      .filter(f => /\.(ya?ml|json)$/i.test(f.path) && f.text.length <= LONGEST && f.text.includes(name))
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .slice(0, MOST_PARSED)
      .map(f => this.table(f))
      .find(t => t.size <= MOST_NAMES && t.has(name))
      ?.get(name);
  }

  /** what an option of this name falls back to, where the nearest file that declares one says it */
  option(name: string): Choice | undefined {
    return this.declaring(name)
      .map(f => this.table(f).get(name))
      .find(c => c !== undefined);
  }

  /** strings that files give to a name, what a file with an option of the name gives it first */
  textsOf(name: string): readonly string[] {
    const given = new RegExp(`\\b${name}\\s*=\\s*(['"])([\\w./-]{1,40})\\1`, "g");
    const defaults = this.declaring(name).flatMap(f => this.table(f).get(name) ?? []);
    const others = this.texts()
      .filter(f => f.text.length <= LONGEST && f.text.includes(name))
      .flatMap(f => [...f.text.matchAll(given)].map(m => m[2] ?? ""));
    return [...new Set([...defaults.flatMap(c => (c.kind === "str" ? [c.value] : [])), ...others])];
  }

  /** files with `add_argument("--name", ...)`, the nearest first */
  private declaring(name: string): readonly ProjectText[] {
    if (!/^\w+$/.test(name)) return [];
    const test = new RegExp(`add_argument\\(\\s*(?:['"]-\\w+['"],\\s*)?['"]--?${name.replace(/_/g, "[-_]")}['"]`);
    return this.code()
      .filter(f => test.test(f.text))
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .slice(0, MOST_CALLING);
  }

  /** "options.py::args": options that files for nothing else parse when they are imported, the nearest of those with such names */
  parsedOptions(names: readonly string[]): readonly string[] {
    return this.code()
      .filter(f => OPTION_FILE.test(f.path) && names.filter(n => f.text.includes(n)).length * 2 >= names.length)
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .flatMap(f => {
        const name = /^(\w+)(?:\s*,\s*\w+)?\s*=\s*\w+\.parse(?:_known)?_args\(/m.exec(f.text)?.[1];
        return name === undefined ? [] : [`${f.path}::${name}`];
      })
      .slice(0, MOST_BASES);
  }

  /** texts of Python files, the analysed one first */
  private code(): readonly ProjectText[] {
    const texts = this.texts().filter(f => f.path.endsWith(".py") && f.text.length <= LONGEST);
    return [...texts.filter(f => f.path === this.own), ...texts.filter(f => f.path !== this.own)];
  }

  /** the first literal or constant that code compares an attribute or item of this name with */
  comparedWith(name: string): Choice | undefined {
    if (!/^\w+$/.test(name)) return undefined;
    const is = `(?:\\.${name}|\\[['"]${name}['"]\\])\\s*(?:==|in)\\s*[([{]?\\s*`;
    const test = new RegExp(`${is}(?:(['"])([^'"\\n]{1,40})\\1|(\\d+)\\b|([A-Za-z_][\\w.]*\\.[A-Z][A-Z\\d_]+)\\b)`);
    for (const { text } of this.code()) {
      const m = text.includes(name) ? test.exec(text) : null;
      if (m?.[4] !== undefined) return named(m[4]);
      if (m) return m[3] === undefined ? str(m[2] ?? "") : number(Number(m[3]));
    }
    return undefined;
  }

  /** attributes that the analysed file reads of attributes and variables of this name */
  readOf(name: string): ReadonlySet<string> {
    const text = this.ownText();
    return new Set([...text.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(m => m[1] ?? ""));
  }

  /** the text of the analysed file; "" where it is none of the project's */
  ownText(): string {
    return this.texts().find(f => f.path === this.own)?.text ?? "";
  }

  private uses: Uses | null = null;

  /** what the code of near files does with an attribute of this name, of an object that goes by one of `owners` */
  usedAs(owners: readonly string[], name: string): Use | undefined {
    const near = (f: ProjectText): number => distance(this.own, f.path);
    this.uses ??= new Uses(
      [...this.code()]
        .sort((a, b) => near(a) - near(b))
        .slice(0, NEAREST)
        .map(f => f.text),
    );
    return this.uses.of(owners, name);
  }

  /**
   * Classes of other files that have all of these members: methods, attributes that they store in self, fields. Those named
   * like `like` first, then the nearest.
   */
  classesWith(members: readonly string[], like: RegExp): { readonly path: string; readonly name: string }[] {
    const tests = members.map(
      m => new RegExp(`\\bself\\.${m}\\s*[:=](?!=)|\\bdef ${m}\\b|^\\s+${m}\\s*[:=](?!=)`, "m"),
    );
    const found: { path: string; name: string; rank: number }[] = [];
    for (const { path, text } of this.code()) {
      if (path === this.own || !members.every(m => text.includes(m))) continue;
      for (const block of text.split(/^(?=class )/m)) {
        const name = /^class (\w+)/.exec(block)?.[1];
        const body = block.replace(/\n(?=[^\s#)\]}])[\s\S]*$/, "");
        if (name === undefined || !tests.every(t => t.test(body))) continue;
        found.push({ path, name, rank: distance(this.own, path) - (like.test(name) ? 10 : 0) });
      }
    }
    return found.sort((a, b) => a.rank - b.rank);
  }

  /** classes of other files that go by this name, written as parameters are, the nearest first */
  classesNamed(parameter: string): { readonly path: string; readonly name: string }[] {
    const test = new RegExp(`^class (${parameter.replace(/\W|_/g, "").split("").join("_?")})\\b`, "im");
    return this.code()
      .flatMap(({ path, text }) => {
        const name = path === this.own ? undefined : test.exec(text)?.[1];
        return name === undefined ? [] : [{ path, name }];
      })
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path));
  }

  private readonly given = new Map<string, Names>();

  /**
   * The values that calls of a class give to its parameters, of the call of which most is known: literals, and what the
   * project's files give to the names that are handed over. `positional`: the parameters in order.
   */
  givenTo(cls: string, positional: readonly string[]): Names {
    const key = `${cls}(${positional.join()})`;
    let best = this.given.get(key);
    if (best) return best;
    best = new Map();
    const names = [cls, ...this.importedAs(cls)];
    const calling = this.code()
      .filter(f => names.some(n => mentionsCall(f.text, n)))
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .slice(0, MOST_CALLING);
    for (const given of calling.flatMap(f => names.flatMap(n => callsIn(f.text, n, positional)))) {
      const about = this.about(namesIn(given));
      const known = new Map(
        [...given].flatMap(([name, e]) => {
          const c = literalOf(e, about, true);
          return c === undefined ? [] : [[name, c] as const];
        }),
      );
      if (known.size > best.size) best = known;
    }
    for (const known of this.configured(names)) if (known.size > best.size) best = known;
    this.given.set(key, best);
    return best;
  }

  /** arguments that data files give to a class that they name; what refers to another place is looked up by its name */
  private configured(names: readonly string[]): Names[] {
    return this.texts()
      .filter(f => /\.(ya?ml|json)$/i.test(f.path) && f.text.length <= LONGEST && names.some(n => f.text.includes(n)))
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .slice(0, MOST_CALLING)
      .flatMap(f => {
        const own = this.table(f);
        return names
          .flatMap(n => argumentsIn(dataOf(f.path, f.text), n))
          .map(given => {
            const referred = [...given.values()].flatMap(c => isReference(c) ?? []);
            const about = this.about(referred);
            return new Map(
              [...given].flatMap(([name, c]) => {
                const to = isReference(c);
                const found = to === undefined ? c : (own.get(to) ?? about(to));
                return found === undefined ? [] : [[name, found] as const];
              }),
            );
          });
      });
  }

  /** other names that files import a class by */
  private importedAs(cls: string): readonly string[] {
    const test = new RegExp(`\\b${cls}\\s+as\\s+(\\w+)`, "g");
    // the file that defines it imports another class of that name
    const others = this.code().filter(f => f.path !== this.own);
    return [...new Set(others.flatMap(f => [...f.text.matchAll(test)].map(m => m[1] ?? "")))].filter(n => n !== cls);
  }

  /** text files that the project's code and READMEs name as configurations, those of near files first */
  filesNamed(): readonly string[] {
    const out = [...this.texts()]
      .filter(f => /\.(py|md)$/.test(f.path) && f.text.length <= LONGEST)
      .sort((a, b) => distance(this.own, a.path) - distance(this.own, b.path))
      .flatMap(f => [...f.text.matchAll(CONFIGURATION)].map(m => m[1] ?? ""));
    return [...new Set(out)].slice(0, MOST_FILES);
  }

  /** other files in which a class derives from one of this name, the nearest first */
  filesWithBase(name: string): readonly string[] {
    const test = new RegExp(`^class \\w+\\([^)]*\\b${name}\\b`, "m");
    return this.code()
      .filter(f => f.path !== this.own && f.text.includes(name) && test.test(f.text))
      .map(f => f.path)
      .sort((a, b) => distance(this.own, a) - distance(this.own, b))
      .slice(0, MOST_BASES);
  }

  /** a number that some file of the project gives to a constant's name */
  private constant(name: string): Choice | undefined {
    const test = new RegExp(`^${name}\\s*(?::[^=\\n]*)?=\\s*(-?\\d+(?:\\.\\d*)?)\\s*(?:#.*)?$`, "m");
    for (const { text } of this.texts()) {
      const m = text.includes(name) ? test.exec(text) : null;
      if (m) return number(Number(m[1]), m[1]?.includes("."));
    }
    return undefined;
  }

  private table(f: ProjectText): Names {
    let t = this.tables.get(f.path);
    if (!t) {
      t = tableOf(f, name => (/^[A-Z][A-Z\d_]{2,}$/.test(name) ? this.constant(name) : undefined));
      this.tables.set(f.path, t);
    }
    return t;
  }
}

/** steps from folder to folder */
function distance(a: string, b: string): number {
  const [x, y] = [a, b].map(p => p.split("/").slice(0, -1));
  if (!x || !y) return 0;
  let same = 0;
  while (same < x.length && same < y.length && x[same] === y[same]) same++;
  return x.length + y.length - 2 * same;
}

type Constant = (name: string) => Choice | undefined;

function tableOf({ path, text }: ProjectText, elsewhere: Constant): Names {
  const out = new Map<string, Choice>();
  const note = (name: string, c: Choice | undefined): void => {
    if (c !== undefined && !out.has(name)) out.set(name, c);
  };
  if (/\.py$/i.test(path)) notePython(text, note, name => out.get(name) ?? elsewhere(name));
  else for (const [name, c] of namesOf(dataOf(path, text))) note(name, c);
  return out;
}

type Note = (name: string, c: Choice | undefined) => void;

// ---- Python: keywords of calls, string keys, assigned literals, defaults of parameters and of options

function notePython(text: string, note: Note, named: Constant): void {
  const literal = (e: ast.Expr): Choice | undefined => literalOf(e, named);
  const later: (() => void)[] = [];
  walk(new PythonFile(text).module.body, n => {
    switch (n.kind) {
      case "Call": {
        for (const k of n.keywords) if (k.arg !== null) note(k.arg, literal(k.value));
        const option = n.func.kind === "Attribute" && n.func.attr === "add_argument" ? n : undefined;
        if (option) noteOption(option, note, literal);
        return;
      }
      case "Dict":
        n.keys.forEach((k, i) => {
          const v = n.values[i];
          if (k?.kind === "Constant" && k.value.type === "str" && v) note(k.value.value, literal(v));
        });
        return;
      case "Assign":
        for (const t of n.targets) {
          const name = t.kind === "Name" ? t.id : t.kind === "Attribute" ? t.attr : undefined;
          if (name !== undefined) note(name, literal(n.value));
        }
        return;
      case "AnnAssign":
        if (n.target.kind === "Name" && n.value) note(n.target.id, literal(n.value));
        return;
      case "FunctionDef":
        // what a signature falls back to is the weakest word of all
        later.push(() => {
          for (const { name, fallback } of parametersOf(n.args)) if (fallback) note(name, literal(fallback));
        });
        return;
      default:
    }
  });
  for (const f of later) f();
}

/** add_argument("--depth", default=12) */
function noteOption(call: ast.Call, note: Note, literal: (e: ast.Expr) => Choice | undefined): void {
  for (const a of call.args) {
    if (a.kind !== "Constant" || a.value.type !== "str") continue;
    const name = a.value.value.replace(/^-+/, "").replace(/-/g, "_");
    const given = call.keywords.find(k => k.arg === "default")?.value;
    const flag = call.keywords.some(
      k =>
        k.arg === "action" &&
        k.value.kind === "Constant" &&
        k.value.value.type === "str" &&
        k.value.value.value === "store_true",
    );
    const several = call.keywords.some(k => k.arg === "nargs");
    note(name, given ? listed(several ? spaced(literal(given)) : literal(given)) : flag ? bool(false) : undefined);
  }
}

/** the text of an option that takes several numbers: `"0.9 0.8"` as a list of them */
const spaced = (c: Choice | undefined): Choice | undefined =>
  c?.kind === "str" && /^[-\d.]+(\s+[-\d.]+)*$/.test(c.value) ? str(`[${c.value.split(/\s+/).join(", ")}]`) : c;

/** an option's text that spells a list is read as one by its program */
function listed(c: Choice | undefined): Choice | undefined {
  return c?.kind === "str" && /^\[[-\d., ]+\]$/.test(c.value) ? (valueIn(c.value) ?? c) : c;
}

/** `any`: a name may stand for any literal, not numbers and words alone */
function literalOf(e: ast.Expr, named: Constant, any = false): Choice | undefined {
  if (e.kind === "UnaryOp" && e.op === "-") {
    const c = literalOf(e.operand, named);
    return c?.kind === "number" ? number(-c.value, c.float) : undefined;
  }
  if (e.kind === "Name") {
    const c = named(e.id);
    return any || c?.kind === "number" || c?.kind === "str" ? c : undefined;
  }
  // what the code works out of other values that it keeps: int(self.width / self.heads)
  if (e.kind === "Attribute" && e.value.kind === "Name") {
    const c = named(e.attr);
    return c?.kind === "number" ? c : undefined;
  }
  if (e.kind === "Call" && e.func.kind === "Name" && /^(int|round)$/.test(e.func.id) && e.args.length === 1) {
    const c = e.args[0] && literalOf(e.args[0], named);
    return c?.kind === "number" ? number(Math.trunc(c.value)) : undefined;
  }
  if (e.kind === "BinOp") return arithmetic(e.op, literalOf(e.left, named), literalOf(e.right, named));
  if (e.kind === "Tuple" || e.kind === "List") {
    const items = e.elts.map(x => literalOf(x, named));
    if (items.length === 0 || items.some(x => x === undefined)) return undefined;
    return { kind: "seq", items: items as Choice[], tuple: e.kind === "Tuple" };
  }
  if (e.kind === "Dict") {
    return dictionary(
      e.keys.flatMap((k, i) => {
        const v = e.values[i];
        return k?.kind === "Constant" && k.value.type === "str" && v ? [[k.value.value, literalOf(v, named)]] : [];
      }),
    );
  }
  if (e.kind === "Call" && e.func.kind === "Name" && e.func.id === "dict" && e.args.length === 0)
    return dictionary(e.keywords.flatMap(k => (k.arg === null ? [] : [[k.arg, literalOf(k.value, named)]])));
  if (e.kind !== "Constant") return undefined;
  switch (e.value.type) {
    case "int":
      return number(Number(e.value.value));
    case "float":
      return number(Number(e.value.value), true);
    case "bool":
      return bool(e.value.value);
    case "str":
      return e.value.value.length < 80 ? str(e.value.value) : undefined;
    default:
      return undefined;
  }
}

function arithmetic(op: string, a: Choice | undefined, b: Choice | undefined): Choice | undefined {
  if (a?.kind !== "number" || b?.kind !== "number") return undefined;
  const float = a.float || b.float;
  switch (op) {
    case "+":
      return number(a.value + b.value, float);
    case "-":
      return number(a.value - b.value, float);
    case "*":
      return number(a.value * b.value, float);
    case "/":
      return b.value === 0 || a.value % b.value !== 0 ? undefined : number(a.value / b.value, true);
    case "//":
      // what does not divide are numbers of different functions that have a name in common
      return b.value === 0 || a.value % b.value !== 0 || a.value === 0 ? undefined : number(a.value / b.value, float);
    default:
      return undefined;
  }
}
