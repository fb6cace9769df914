// The values that a file gives to names. In: its path and text. Out: literals by name: of JSON and YAML their keys, of Python
// keywords of calls, string keys, assigned literals, defaults of parameters and of options.
import type * as ast from "../../../python/ast";
import { PythonFile } from "../../../python/file";
import { walk } from "../../../python/walk";
import { dotted, parametersOf } from "../syntax";
import { bool, type Choice, number, str } from "../types";
import { dataOf, dictionary, namesOf, valueIn } from "./data_files";

export type Names = ReadonlyMap<string, Choice>;

export type Constant = (name: string) => Choice | undefined;

/** what a file gives to names; to `section.name` too where the name is one of a section's */
export function tableOf(path: string, text: string, elsewhere: Constant): Names {
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
  const presets = new Presets();
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
          if (presets.areOthers(t, n.value)) continue;
          if (name !== undefined) note(name, literal(n.value));
          const section = t.kind === "Attribute" ? sectionOf(t.value) : undefined;
          if (t.kind === "Attribute" && section !== undefined) note(`${section}.${t.attr}`, literal(n.value));
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

/** `model.width = 3` and `cfg.model.width = 3`: the name that the object goes by */
const sectionOf = (e: ast.Expr): string | undefined =>
  e.kind === "Attribute" ? e.attr : e.kind === "Name" && e.id !== "self" ? e.id : undefined;

/**
 * Objects of one class that the same attributes are assigned to one after another (`small = Params()`, `large = Params()`):
 * alternatives, of which the first is the one that counts.
 */
class Presets {
  private readonly made = new Map<string, string>();
  private readonly first = new Map<string, string>();
  private readonly attributes = new Set<string>();
  private readonly others = new Set<string>();

  /** notes the assignment; whether it is one to another object than the first */
  areOthers(target: ast.Expr, value: ast.Expr): boolean {
    if (target.kind === "Name") {
      const callee = value.kind === "Call" && value.args.length === 0 ? dotted(value.func) : undefined;
      if (callee !== undefined) this.made.set(target.id, callee);
      return false;
    }
    if (target.kind !== "Attribute" || target.value.kind !== "Name") return false;
    const { id } = target.value;
    const cls = this.made.get(id);
    if (cls === undefined) return false;
    const first = this.first.get(cls) ?? id;
    this.first.set(cls, first);
    const key = `${cls}.${target.attr}`;
    if (first === id) this.attributes.add(key);
    else if (this.attributes.has(key)) this.others.add(id);
    return this.others.has(id);
  }
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
export function literalOf(e: ast.Expr, named: Constant, any = false): Choice | undefined {
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
  const repeated = repeatedItem(e, named);
  if (repeated) return repeated;
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

const MOST_REPEATED = 64;

/** `tuple(512 for _ in range(8))`, `[512 for _ in range(8)]` */
function repeatedItem(e: ast.Expr, named: Constant): Choice | undefined {
  const tuple = e.kind === "Call" && e.func.kind === "Name" && e.func.id === "tuple";
  const inner = tuple ? e.args[0] : e;
  if (inner?.kind !== "ListComp" && inner?.kind !== "GeneratorExp") return undefined;
  const [over, ...more] = inner.generators;
  const range = over?.iter.kind === "Call" && dotted(over.iter.func) === "range" && over.iter.args.length === 1;
  if (!over || more.length > 0 || over.ifs.length > 0 || !range || over.iter.kind !== "Call") return undefined;
  const count = over.iter.args[0] && literalOf(over.iter.args[0], named);
  const item = literalOf(inner.elt, named);
  if (count?.kind !== "number" || item === undefined || !(count.value >= 1 && count.value <= MOST_REPEATED))
    return undefined;
  return { kind: "seq", items: new Array<Choice>(count.value).fill(item), tuple };
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
