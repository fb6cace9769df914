// The module json. In: the machine. Out: its module object; objects keep the order of their keys, numbers their size and
// kind, as Python's do.
import { func } from "../builtins/define";
import { PyError } from "../interp/api";
import { NativeArgs } from "../interp/arguments";
import type { Machine } from "../interp/machine";
import { asInt, normal } from "../interp/numbers";
import { plain } from "../interp/operators";
import { floatText } from "../interp/text";
import {
  PyBytes,
  type PyClass,
  PyDict,
  PyFloat,
  PyInstance,
  PyList,
  type PyModule,
  PyTuple,
  type Value,
} from "../objects/values";
import { textOf } from "./project_files";

const DUMPS = [
  "obj",
  "*",
  "skipkeys?",
  "ensure_ascii?",
  "check_circular?",
  "allow_nan?",
  "cls?",
  "indent?",
  "separators?",
  "default?",
  "sort_keys?",
] as const;

export function jsonModule(vm: Machine): PyModule {
  const m = vm.newModule("json");
  const error = vm.klass("JSONDecodeError", [vm.exceptionClass("ValueError")], "json");
  m.dict.set("JSONDecodeError", error);
  const loads = (v: Value | undefined): Value => {
    const p = plain(v ?? null);
    const text = p instanceof PyBytes ? new TextDecoder().decode(p.data) : p;
    if (typeof text !== "string")
      return vm.raise("TypeError", `the JSON object must be str, bytes or bytearray, not ${vm.typeOf(p).name}`);
    return new Reader(vm, text, error).whole();
  };
  func(vm, m, "loads", ([s], kw) => loads(s ?? kw.get("s")));
  func(vm, m, "dumps", (args, kw) => {
    const a = new NativeArgs(vm, "dumps", DUMPS, args, kw);
    return new Writer(vm, a).text(a.need("obj"), "");
  });
  func(vm, m, "load", ([f]) => {
    const source = textOf(vm, f ?? null);
    return source === undefined ? vm.unknown("json.load(...)") : loads(source);
  });
  func(vm, m, "dump", () => null);
  return m;
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SPACE = /[ \t\n\r]*/y;
const WORDS: readonly (readonly [string, Value])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", new PyFloat(Number.NaN)],
  ["Infinity", new PyFloat(Infinity)],
  ["-Infinity", new PyFloat(-Infinity)],
];

class Reader {
  private at = 0;

  constructor(
    private readonly vm: Machine,
    private readonly source: string,
    private readonly error: PyClass,
  ) {}

  whole(): Value {
    const v = this.value();
    this.take(SPACE);
    return this.at === this.source.length ? v : this.fail("Extra data");
  }

  private value(): Value {
    this.vm.tick();
    this.take(SPACE);
    const first = this.source[this.at];
    if (first === '"') return this.string();
    if (first === "[") {
      const items: Value[] = [];
      this.list("]", () => items.push(this.value()));
      return this.vm.list(items);
    }
    if (first === "{") {
      const out = this.vm.dict();
      this.list("}", () => {
        this.take(SPACE);
        if (this.source[this.at] !== '"') this.fail("Expecting property name enclosed in double quotes");
        const key = this.string();
        this.take(SPACE);
        if (this.source[this.at] !== ":") this.fail("Expecting ':' delimiter");
        this.at++;
        out.set(key, this.value());
      });
      return out;
    }
    const word = WORDS.find(([w]) => this.source.startsWith(w, this.at));
    if (word) {
      this.at += word[0].length;
      return word[1];
    }
    const number = this.take(NUMBER);
    if (!number) return this.fail("Expecting value");
    const [text, fraction, exponent] = number;
    return fraction === undefined && exponent === undefined ? normal(BigInt(text)) : new PyFloat(Number(text));
  }

  /** items with commas between, from the bracket that opens them to behind `end` */
  private list(end: string, item: () => void): void {
    this.at++;
    this.take(SPACE);
    if (this.source[this.at] === end) {
      this.at++;
      return;
    }
    for (;;) {
      item();
      this.take(SPACE);
      const next = this.source[this.at];
      if (next !== end && next !== ",") this.fail("Expecting ',' delimiter");
      this.at++;
      if (next === end) return;
    }
  }

  private string(): string {
    const start = this.at;
    const found = this.take(STRING);
    if (!found) return this.fail("Unterminated string starting at");
    try {
      return JSON.parse(found[0]) as string;
    } catch {
      this.at = start;
      return this.fail([...found[0]].some(c => c < " ") ? "Invalid control character at" : "Invalid \\escape");
    }
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private fail(message: string): never {
    const before = this.source.slice(0, this.at);
    const line = before.split("\n").length;
    const column = this.at - before.lastIndexOf("\n");
    const where = `${message}: line ${line} column ${column} (char ${this.at})`;
    const made = this.vm.call(this.error, [where]);
    throw made instanceof PyInstance ? new PyError(made) : this.vm.makeError("ValueError", [where]);
  }
}

class Writer {
  private readonly indent: string | null;
  private readonly comma: string;
  private readonly colon: string;
  private readonly open = new Set<Value>();

  constructor(
    private readonly vm: Machine,
    private readonly given: NativeArgs,
  ) {
    const indent = given.get("indent") ?? null;
    this.indent = indent === null ? null : typeof indent === "string" ? indent : " ".repeat(vm.index(indent));
    const separators = given.get("separators") ?? null;
    const [comma, colon] =
      separators === null ? [this.indent === null ? ", " : ",", ": "] : vm.toArray(separators).map(s => vm.str(s));
    this.comma = comma ?? ", ";
    this.colon = colon ?? ": ";
  }

  text(v: Value, margin: string): string {
    const { vm } = this;
    vm.tick();
    const p = plain(v);
    if (p === null) return "null";
    if (typeof p === "string") return this.quoted(p);
    if (typeof p === "boolean") return String(p);
    if (p instanceof PyFloat) return numberText(p.value);
    if (asInt(p) !== undefined) return vm.repr(p);
    if (p instanceof PyList || p instanceof PyTuple)
      return this.within(p, margin, "[]", inner => p.items.map(x => this.text(x, inner)));
    if (p instanceof PyDict) return this.within(p, margin, "{}", inner => this.pairs(p, inner));
    const other = this.given.get("default") ?? null;
    if (other === null) return vm.raise("TypeError", `Object of type ${vm.typeOf(p).name} is not JSON serializable`);
    return this.text(vm.call(other, [v]), margin);
  }

  private pairs(d: PyDict, inner: string): string[] {
    const entries = d.entries().map(([k, v]) => [this.key(k), v] as const);
    if (this.vm.truthy(this.given.get("sort_keys") ?? false)) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return entries.map(([k, v]) => `${this.quoted(k)}${this.colon}${this.text(v, inner)}`);
  }

  private key(k: Value): string {
    const p = plain(k);
    if (typeof p === "string") return p;
    if (p === null || typeof p === "boolean") return String(p);
    if (p instanceof PyFloat) return numberText(p.value);
    if (asInt(p) !== undefined) return this.vm.repr(p);
    const kind = this.vm.typeOf(p).name;
    return this.vm.raise("TypeError", `keys must be str, int, float, bool or None, not ${kind}`);
  }

  private within(v: Value, margin: string, brackets: string, parts: (inner: string) => readonly string[]): string {
    if (this.open.has(v)) return this.vm.raise("ValueError", "Circular reference detected");
    this.open.add(v);
    const inner = this.indent === null ? margin : margin + this.indent;
    const made = parts(inner);
    this.open.delete(v);
    if (made.length === 0 || this.indent === null)
      return brackets.charAt(0) + made.join(this.comma) + brackets.charAt(1);
    return `${brackets.charAt(0)}\n${inner}${made.join(`${this.comma}\n${inner}`)}\n${margin}${brackets.charAt(1)}`;
  }

  private quoted(s: string): string {
    const text = JSON.stringify(s);
    if (!this.vm.truthy(this.given.get("ensure_ascii") ?? true)) return text;
    return text.replace(/[\u007f-\uffff]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
}

function numberText(x: number): string {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "-Infinity" : "Infinity";
  return floatText(x);
}
