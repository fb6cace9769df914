// The values that a project's files give to names: JSON and YAML configs, keyword arguments, defaults of options, assigned
// literals. In: texts by path. Out: for a set of names that belong together, the file that knows most of them; for a name,
// the literal it gets there.
import type * as ast from "../../python/ast";
import { PythonFile } from "../../python/file";
import { walk } from "../../python/walk";
import type { Choice } from "./types";
import { NONE, number } from "./types";

type Names = ReadonlyMap<string, Choice>;

export interface ProjectText {
  readonly path: string;
  readonly text: string;
}

/** files that are parsed for one set of names */
const MOST_PARSED = 12;
const LONGEST = 200_000;

export class ProjectConstants {
  private readonly tables = new Map<string, Names>();

  constructor(private readonly texts: () => readonly ProjectText[]) {}

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
      .map(x => this.table(x.f));
    const known = (t: Names): number => names.filter(n => t.has(n)).length;
    const ranked = likely.filter(t => known(t) >= least).sort((a, b) => known(b) - known(a));
    return name => ranked.find(t => t.has(name))?.get(name);
  }

  private table(f: ProjectText): Names {
    let t = this.tables.get(f.path);
    if (!t) {
      t = tableOf(f);
      this.tables.set(f.path, t);
    }
    return t;
  }
}

function tableOf({ path, text }: ProjectText): Names {
  const out = new Map<string, Choice>();
  const note = (name: string, c: Choice | undefined): void => {
    if (c !== undefined && !out.has(name)) out.set(name, c);
  };
  if (/\.json$/i.test(path)) noteJson(text, note);
  else if (/\.ya?ml$/i.test(path)) noteYaml(text, note);
  else if (/\.py$/i.test(path)) notePython(text, note);
  return out;
}

type Note = (name: string, c: Choice | undefined) => void;

// ---- JSON

function noteJson(text: string, note: Note): void {
  let all: unknown;
  try {
    all = JSON.parse(text);
  } catch {
    return;
  }
  const visit = (v: unknown): void => {
    if (typeof v !== "object" || v === null) return;
    for (const [k, x] of Object.entries(v)) {
      note(k, fromJson(x, text.includes(`${k}": ${String(x)}.0`)));
      visit(x);
    }
  };
  visit(all);
}

function fromJson(v: unknown, float = false): Choice | undefined {
  if (v === null) return NONE;
  if (typeof v === "number") return number(v, float || !Number.isInteger(v));
  if (typeof v === "string") return { kind: "str", value: v };
  if (typeof v === "boolean") return { kind: "bool", value: v };
  if (!Array.isArray(v)) return undefined;
  const items = v.map(x => fromJson(x));
  return items.some(x => x === undefined) ? undefined : { kind: "seq", items: items as Choice[], tuple: false };
}

// ---- YAML: plain scalars, flow lists, and lists of scalars that follow their key

function noteYaml(text: string, note: Note): void {
  const lines = text.split(/\r?\n/);
  lines.forEach((line, i) => {
    const m = /^\s*(?:- )?["']?([A-Za-z_][\w.-]*)["']?\s*:\s*(.*?)\s*(?:#.*)?$/.exec(line);
    if (!m?.[1]) return;
    const value = m[2] ?? "";
    if (value !== "") note(m[1], scalar(value));
    else {
      const items: Choice[] = [];
      for (let k = i + 1; k < lines.length; k++) {
        const item = /^\s*- ([^:]+?)\s*(?:#.*)?$/.exec(lines[k] ?? "");
        const c = item?.[1] === undefined ? undefined : scalar(item[1]);
        if (c === undefined) break;
        items.push(c);
      }
      if (items.length > 0) note(m[1], { kind: "seq", items, tuple: false });
    }
  });
}

function scalar(text: string): Choice | undefined {
  if (/^(null|none|~)$/i.test(text)) return NONE;
  if (/^(true|yes|on)$/i.test(text)) return { kind: "bool", value: true };
  if (/^(false|no|off)$/i.test(text)) return { kind: "bool", value: false };
  if (/^[-+]?\d[\d_]*$/.test(text)) return number(Number(text.replace(/_/g, "")));
  if (/^[-+]?(\d+\.\d*|\.\d+|\d+)(e[-+]?\d+)?$/i.test(text)) return number(Number(text), true);
  if (/^\[.*\]$/.test(text)) {
    const inner = text.slice(1, -1).trim();
    if (inner.includes("[")) return fromFlow(text);
    const items = inner === "" ? [] : inner.split(",").map(x => scalar(x.trim()));
    return items.some(x => x === undefined) ? undefined : { kind: "seq", items: items as Choice[], tuple: false };
  }
  if (/^[{&*!|>]/.test(text)) return undefined;
  return { kind: "str", value: text.replace(/^(["'])(.*)\1$/, "$2") };
}

function fromFlow(text: string): Choice | undefined {
  try {
    return fromJson(JSON.parse(text.replace(/'/g, '"')));
  } catch {
    return undefined;
  }
}

// ---- Python: keywords of calls, string keys, assigned literals, defaults of parameters and of options

function notePython(text: string, note: Note): void {
  const later: (() => void)[] = [];
  walk(new PythonFile(text).module.body, n => {
    switch (n.kind) {
      case "Call": {
        for (const k of n.keywords) if (k.arg !== null) note(k.arg, literal(k.value));
        const option = n.func.kind === "Attribute" && n.func.attr === "add_argument" ? n : undefined;
        if (option) noteOption(option, note);
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
      case "FunctionDef": {
        // what a signature falls back to is the weakest word of all
        const { args, defaults, kwonlyargs, kwDefaults } = n.args;
        later.push(() => {
          defaults.forEach((d, i) => {
            const a = args[args.length - defaults.length + i];
            if (a) note(a.arg, literal(d));
          });
          kwonlyargs.forEach((a, i) => {
            const d = kwDefaults[i];
            if (d) note(a.arg, literal(d));
          });
        });
        return;
      }
      default:
    }
  });
  for (const f of later) f();
}

/** add_argument("--depth", default=12) */
function noteOption(call: ast.Call, note: Note): void {
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
    note(name, given ? literal(given) : flag ? { kind: "bool", value: false } : undefined);
  }
}

function literal(e: ast.Expr): Choice | undefined {
  if (e.kind === "UnaryOp" && e.op === "-") {
    const c = literal(e.operand);
    return c?.kind === "number" ? number(-c.value, c.float) : undefined;
  }
  if (e.kind === "Tuple" || e.kind === "List") {
    const items = e.elts.map(literal);
    if (items.length === 0 || items.some(x => x === undefined)) return undefined;
    return { kind: "seq", items: items as Choice[], tuple: e.kind === "Tuple" };
  }
  if (e.kind !== "Constant") return undefined;
  switch (e.value.type) {
    case "int":
      return number(Number(e.value.value));
    case "float":
      return number(Number(e.value.value), true);
    case "bool":
      return { kind: "bool", value: e.value.value };
    case "str":
      return e.value.value.length < 80 ? { kind: "str", value: e.value.value } : undefined;
    default:
      return undefined;
  }
}
