// The values that a project's files give to names: JSON and YAML configs, keyword arguments, defaults of options, assigned
// literals. In: texts by path. Out: for a set of names that belong together, the file that knows most of them; for a name,
// the literal it gets there.

import { bool, type Choice, named, number, str } from "../types";
import { Commands } from "./commands";
import { groupFiles } from "./config_groups";
import { callsIn, mentionsCall, namesIn } from "./constructor_calls";
import { argumentsIn, dataOf, isReference } from "./data_files";
import { literalOf, type Names, tableOf } from "./names_of";
import { type Use, Uses } from "./uses";

export interface ProjectText {
  readonly path: string;
  readonly text: string;
}

/** files that are parsed for one set of names */
const MOST_PARSED = 12;
const LONGEST = 200_000;
/** a data file of more names is a vocabulary or a table, no configuration */
const MOST_NAMES = 1000;
/** how much more a file is worth that names the class */
const NAMED = 0.5;
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

  private all(): readonly ProjectText[] {
    this.read ??= this.load();
    return this.read;
  }

  private values: readonly ProjectText[] | null = null;

  /** code and data files, which give values to names */
  private texts(): readonly ProjectText[] {
    this.values ??= this.all().filter(f => !/\.(md|sh)$/i.test(f.path));
    return this.values;
  }

  /**
   * The literals that the best file, and then others, give to names; `names` are those that belong together, of the object
   * that goes by `section` where it is a part of another one. `cls`: data files that name it speak of it.
   */
  about(names: readonly string[], section?: string, cls?: string): (name: string) => Choice | undefined {
    if (names.length === 0) return () => undefined;
    const mentioned = (t: string): number => names.filter(n => t.includes(n)).length;
    const least = Math.min(names.length, Math.max(2, names.length / 3));
    const likely = this.texts()
      .filter(f => f.text.length <= LONGEST)
      .map(f => ({ f, hits: mentioned(f.text) }))
      .filter(x => x.hits >= least)
      .sort((a, b) => b.hits - a.hits)
      .slice(0, MOST_PARSED)
      .map(({ f }) => ({
        table: this.table(f),
        code: f.path.endsWith(".py"),
        far: distance(this.own, f.path),
        named: speaksOf(f, cls),
      }));
    const known = (t: Names): number => names.filter(n => t.has(n)).length;
    // a file of another folder has to know more
    const worth = (x: (typeof likely)[number]): number =>
      known(x.table) / names.length - Math.min(5, x.far) * 0.06 + (x.named ? NAMED : 0);
    const ranked = likely
      .filter(x => x.code || x.table.size <= MOST_NAMES)
      .filter(x => known(x.table) >= least)
      .sort((a, b) => worth(b) - worth(a));
    const told = this.commands().choosing([this.stem(), cls], names);
    const plain = (name: string): Choice | undefined => {
      const c = told?.get(name) ?? ranked.find(x => x.table.has(name))?.table.get(name);
      return c === undefined || c.kind === "none" ? (this.commands().numberFor(name) ?? c) : c;
    };
    return section === undefined ? plain : name => this.inSection(section, name, cls) ?? plain(name);
  }

  private lines: Commands | null = null;

  private commands(): Commands {
    const near = (f: ProjectText): number => distance(this.own, f.path);
    this.lines ??= new Commands(
      [...this.all()]
        .filter(f => /\.(py|md|sh)$/i.test(f.path) && f.text.length <= LONGEST)
        .sort((x, y) => near(x) - near(y))
        .map(f => f.text),
    );
    return this.lines;
  }

  /** the analysed file's name without its ending */
  private stem(): string {
    const name = this.own.split("/").pop() ?? "";
    return name.replace(/\.\w+$/, "");
  }

  private readonly sections = new Map<string, Choice | undefined>();

  /** what files give to `cfg.section.name`: those that name the class, then code, which has all that there is, then others */
  private inSection(section: string, name: string, cls: string | undefined): Choice | undefined {
    const key = `${section}.${name}`;
    if (this.sections.has(key)) return this.sections.get(key);
    const names = this.chosenBy(cls);
    const rank = (f: ProjectText): number =>
      speaksOf(f, cls) ? 0 : f.path.endsWith(".py") ? (names.some(n => quotes(f, n)) ? 1 : 2) : 3;
    const found = this.texts()
      .filter(f => f.text.length <= LONGEST && f.text.includes(section) && f.text.includes(name))
      .sort((a, b) => rank(a) - rank(b) || distance(this.own, a.path) - distance(this.own, b.path))
      .slice(0, MOST_PARSED)
      .map(f => this.table(f).get(key))
      .find(c => c !== undefined);
    const said = found ?? this.inGroup(section, name);
    this.sections.set(key, said);
    return said;
  }

  private readonly groups = new Map<string, readonly ProjectText[]>();

  /** what a file of the folder that is called like the section gives to the name */
  private inGroup(section: string, name: string): Choice | undefined {
    const files = this.groups.get(section) ?? groupFiles(this.texts(), section).slice(0, MOST_PARSED);
    this.groups.set(section, files);
    return files.map(f => this.table(f).get(name)).find(c => c !== undefined);
  }

  /** names that configurations choose a class by (`model.name = "ddpm"`): what its file registers it as, else its file's own */
  private chosenBy(cls: string | undefined): readonly string[] {
    const decorator = new RegExp(`^@.*['"](\\w+)['"].*\\n(?:@.*\\n)*class ${cls ?? ""}\\b`, "m");
    const registered = cls === undefined ? undefined : decorator.exec(this.ownText())?.[1];
    const stem = this.stem();
    return registered !== undefined ? [registered] : stem.length > 2 ? [stem] : [];
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

  /** the first literal that code sets an attribute of this name to, of an object that it was handed: `opt.image_size = 32` */
  assigned(name: string): Choice | undefined {
    if (!/^\w+$/.test(name)) return undefined;
    const test = new RegExp(
      `^\\s+(?!self\\.|cls\\.)\\w+\\.${name}\\s*=\\s*(?:(\\d+)|(['"])([\\w.-]{1,40})\\2|(True|False))\\s*(?:#.*)?$`,
      "m",
    );
    for (const { text } of this.code()) {
      const m = text.includes(name) ? test.exec(text) : null;
      if (m) return m[1] !== undefined ? number(Number(m[1])) : m[3] !== undefined ? str(m[3]) : bool(m[4] === "True");
    }
    return undefined;
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
      m => new RegExp(`\\bself\\.${m}\\s*[:=](?!=)|\\bdef ${m}\\b|^(?: {2}| {4}|\\t)${m}\\s*[:=](?!=)`, "m"),
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

  /** other files that define a class or function of this name under a decorator, or register it by that name, the nearest first */
  registering(name: string): readonly string[] {
    const test = new RegExp(
      `^@[\\w.]+.*\\n(?:@.*\\n)*(?:class|def) ${name}\\b|^@[\\w.]*regist\\w*\\(.*['"]${name}['"]`,
      "m",
    );
    return this.code()
      .filter(f => f.path !== this.own && f.text.includes(name) && test.test(f.text))
      .map(f => f.path)
      .sort((a, b) => distance(this.own, a) - distance(this.own, b));
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
      t = tableOf(f.path, f.text, name => (/^[A-Z][A-Z\d_]{2,}$/.test(name) ? this.constant(name) : undefined));
      this.tables.set(f.path, t);
    }
    return t;
  }
}

/** a data file in which the class is a value */
const speaksOf = ({ path, text }: ProjectText, cls: string | undefined): boolean =>
  cls !== undefined &&
  /\.(ya?ml|json)$/i.test(path) &&
  text.includes(cls) &&
  new RegExp(`:\\s*['"]?${cls}['"]?\\s*(?:[,}#]|$)`, "m").test(text);

/** code in which the name is a text */
const quotes = ({ text }: ProjectText, name: string): boolean =>
  text.includes(`'${name}'`) || text.includes(`"${name}"`);

/** steps from folder to folder */
function distance(a: string, b: string): number {
  const [x, y] = [a, b].map(p => p.split("/").slice(0, -1));
  if (!x || !y) return 0;
  let same = 0;
  while (same < x.length && same < y.length && x[same] === y[same]) same++;
  return x.length + y.length - 2 * same;
}
