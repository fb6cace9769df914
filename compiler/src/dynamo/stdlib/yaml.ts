// YAML as configuration files use it: block and flow collections, plain and quoted scalars, literal and folded text,
// anchors, aliases, merge keys, comments; of several documents the first. In: a text. Out: JSON-like data whose floats
// are PyFloat, or YamlError. YAML 1.1's scalars, as PyYAML reads them.
import { PyFloat } from "../../aten/types";

export type Yaml = null | boolean | number | string | PyFloat | Yaml[] | Map<string, Yaml>;

export class YamlError extends Error {}

interface Line {
  readonly indent: number;
  readonly text: string;
  /** as it stands in the file: block scalars keep it */
  readonly raw: string;
}

export function parseYaml(text: string): Yaml {
  return new Parser(text).document();
}

/** all documents of a text, those that hold something */
export function parseYamlDocuments(text: string): Yaml[] {
  return text
    .split(/^(?:---|\.\.\.)[^\S\n]*(?:#.*)?$/m)
    .map(parseYaml)
    .filter(d => d !== null);
}

/** nested collections deeper than this are refused */
const DEEPEST = 60;

class Parser {
  private readonly lines: Line[] = [];
  private at = 0;
  private depth = 0;
  private readonly anchors = new Map<string, Yaml>();

  constructor(text: string) {
    for (const raw of text.split(/\r?\n/)) {
      if (/^(---|\.\.\.)/.test(raw) && this.lines.some(l => l.text !== "")) break;
      if (/^(---|%|\.\.\.)/.test(raw)) continue;
      const text = stripped(raw);
      this.lines.push({ indent: raw.search(/\S|$/), text, raw });
    }
  }

  document(): Yaml {
    this.skip();
    const first = this.peek();
    return first ? this.block(first.indent) : null;
  }

  private peek(): Line | undefined {
    return this.lines[this.at];
  }

  private skip(): void {
    while (this.peek()?.text === "") this.at++;
  }

  /** the collection or scalar that starts at this line; its lines are indented by `indent` at least */
  private block(indent: number): Yaml {
    if (++this.depth > DEEPEST) throw new YamlError("too deeply nested");
    const line = this.peek();
    let made: Yaml = null;
    if (line && line.indent >= indent) {
      if (/^-(\s|$)/.test(line.text)) made = this.sequence(line.indent);
      else if (keyOf(line.text)) made = this.mapping(line.indent);
      else {
        this.at++;
        made = this.value(line.text, line.indent);
      }
    }
    this.depth--;
    return made;
  }

  private sequence(indent: number): Yaml[] {
    const out: Yaml[] = [];
    for (;;) {
      this.skip();
      const line = this.peek();
      if (!line || line.indent !== indent || !/^-(\s|$)/.test(line.text)) return out;
      const rest = line.text.slice(1).trimStart();
      if (rest === "") {
        this.at++;
        this.skip();
        const next = this.peek();
        out.push(next && next.indent > indent ? this.block(next.indent) : null);
        continue;
      }
      // what follows the dash is a line of its own, further in
      const inner = indent + (line.text.length - rest.length);
      this.lines[this.at] = { indent: inner, text: rest, raw: line.raw };
      out.push(keyOf(rest) || /^-(\s|$)/.test(rest) ? this.block(inner) : this.scalarLine(indent));
    }
  }

  private scalarLine(indent: number): Yaml {
    const line = this.peek();
    this.at++;
    return line ? this.value(line.text, indent) : null;
  }

  private mapping(indent: number): Map<string, Yaml> {
    const out = new Map<string, Yaml>();
    for (;;) {
      this.skip();
      const line = this.peek();
      const key = line && line.indent === indent ? keyOf(line.text) : undefined;
      if (!line || !key) {
        if (line && line.indent > indent) throw new YamlError(`unexpected indentation: ${line.text}`);
        return out;
      }
      this.at++;
      const value = this.value(key.rest, indent, true);
      if (key.name !== "<<") {
        out.set(key.name, value);
        continue;
      }
      for (const from of Array.isArray(value) ? value : [value])
        if (from instanceof Map) for (const [k, v] of from) if (!out.has(k)) out.set(k, v);
    }
  }

  /** what follows a key or a dash: on its line, or in the lines below that are further in */
  private value(text: string, indent: number, ofKey = false): Yaml {
    const named = /^&(\S+)\s*(.*)$/.exec(text);
    if (named?.[1] !== undefined) {
      const made = this.value(named[2] ?? "", indent, ofKey);
      this.anchors.set(named[1], made);
      return made;
    }
    const tagged = /^!\S*\s*(.*)$/.exec(text);
    if (tagged) return this.value(tagged[1] ?? "", indent, ofKey);
    if (text.startsWith("*")) {
      const found = this.anchors.get(text.slice(1).trim());
      if (found === undefined) throw new YamlError(`unknown alias ${text}`);
      return found;
    }
    if (text === "") {
      this.skip();
      const next = this.peek();
      if (!next) return null;
      // a list may stand under its key without being further in
      if (next.indent > indent || (ofKey && next.indent === indent && /^-(\s|$)/.test(next.text)))
        return this.block(next.indent);
      return null;
    }
    if (/^[|>][-+]?\d?$/.test(text)) return this.lettered(text, indent);
    if (/^[[{]/.test(text)) return this.flow(text);
    return scalar(this.continued(text, indent));
  }

  /** a plain or quoted scalar may go on in lines that are further in */
  private continued(text: string, indent: number): string {
    const quote = /^["']/.exec(text)?.[0];
    const closed = (t: string): boolean => quote === undefined || (t.length > 1 && t.endsWith(quote));
    let all = text;
    for (let next = this.peek(); next && next.text !== "" && next.indent > indent; next = this.peek()) {
      if (quote === undefined ? keyOf(next.text) !== undefined : closed(all)) break;
      all += ` ${next.text}`;
      this.at++;
    }
    return all;
  }

  /** literal (|) and folded (>) text */
  private lettered(mark: string, indent: number): string {
    const rows: string[] = [];
    let margin = -1;
    for (let l = this.peek(); l && (l.raw.trim() === "" || l.indent > indent); l = this.peek()) {
      if (margin < 0 && l.raw.trim() !== "") margin = l.indent;
      rows.push(l.raw.slice(Math.max(0, margin)));
      this.at++;
    }
    const body = rows.join(mark.startsWith("|") ? "\n" : " ").trimEnd();
    return mark.includes("-") ? body : `${body}\n`;
  }

  private flow(text: string): Yaml {
    let all = text;
    while (!balanced(all)) {
      const next = this.peek();
      if (!next) throw new YamlError("a bracket is not closed");
      all += ` ${next.text}`;
      this.at++;
    }
    return new Flow(all, this.anchors).read();
  }
}

/** collections in brackets */
class Flow {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly anchors: ReadonlyMap<string, Yaml>,
  ) {}

  read(depth = 0): Yaml {
    if (depth > DEEPEST) throw new YamlError("too deeply nested");
    this.space();
    const c = this.text[this.at];
    if (c === "[") return this.list(depth);
    if (c === "{") return this.map(depth);
    const word = this.word(/[,\]}]/);
    return word.startsWith("*") ? (this.anchors.get(word.slice(1)) ?? null) : scalar(word);
  }

  private list(depth: number): Yaml[] {
    const out: Yaml[] = [];
    this.at++;
    for (;;) {
      this.space();
      if (this.end("]")) return out;
      out.push(this.read(depth + 1));
    }
  }

  private map(depth: number): Map<string, Yaml> {
    const out = new Map<string, Yaml>();
    this.at++;
    for (;;) {
      this.space();
      if (this.end("}")) return out;
      const key = String(scalar(this.word(/[:,}]/)));
      this.space();
      const has = this.text[this.at] === ":";
      if (has) this.at++;
      out.set(key, has ? this.read(depth + 1) : null);
    }
  }

  /** whether the collection ends here; a comma before is passed over */
  private end(bracket: string): boolean {
    if (this.text[this.at] === ",") {
      this.at++;
      this.space();
    }
    if (this.at >= this.text.length) throw new YamlError(`${bracket} is missing`);
    if (this.text[this.at] !== bracket) return false;
    this.at++;
    return true;
  }

  private word(stop: RegExp): string {
    const quote = /["']/.exec(this.text[this.at] ?? "")?.[0];
    const from = this.at;
    if (quote !== undefined) {
      const close = this.text.indexOf(quote, this.at + 1);
      this.at = close < 0 ? this.text.length : close + 1;
    } else while (this.at < this.text.length && !stop.test(this.text[this.at] ?? "")) this.at++;
    // a stray bracket would never be passed
    if (this.at === from) this.at++;
    return this.text.slice(from, this.at).trim();
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++;
  }
}

/** the key that a line of a mapping begins with, and what follows its colon */
function keyOf(text: string): { readonly name: string; readonly rest: string } | undefined {
  const m = /^("[^"]*"|'[^']*'|[^\s#[\]{},"'&*!|>%@`-][^#]*?|-[^\s:][^:]*?|<<)\s*:(?:\s+(.*))?$/.exec(text);
  if (m?.[1] === undefined) return undefined;
  return { name: m[1].replace(/^(["'])(.*)\1$/, "$2"), rest: (m[2] ?? "").trim() };
}

/** a line without its comment and outer space */
function stripped(raw: string): string {
  let quote = "";
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i] ?? "";
    if (quote !== "") quote = c === quote ? "" : quote;
    else if ((c === '"' || c === "'") && /^$|[\s[{,:-]/.test(raw[i - 1] ?? "")) quote = c;
    else if (c === "#" && /^$|\s/.test(raw[i - 1] ?? "")) return raw.slice(0, i).trim();
  }
  return raw.trim();
}

function balanced(text: string): boolean {
  let depth = 0;
  let quote = "";
  for (const c of text) {
    if (quote !== "") quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") depth--;
  }
  return depth <= 0;
}

/** what a backslash makes of a character in double quotes */
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\", "/": "/" };

/** a plain or quoted scalar in the type that YAML 1.1 gives it */
function scalar(text: string): Yaml {
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  if (quoted?.[1] === "'") return (quoted[2] ?? "").replace(/''/g, "'");
  if (quoted) return (quoted[2] ?? "").replace(/\\(.)/g, (whole, c: string) => ESCAPES[c] ?? whole);
  if (/^(null|Null|NULL|~|)$/.test(text)) return null;
  if (/^(true|yes|on)$/i.test(text)) return true;
  if (/^(false|no|off)$/i.test(text)) return false;
  if (/^[-+]?0x[\da-f]+$/i.test(text)) return Number(text);
  if (/^[-+]?\d[\d_]*$/.test(text)) return Number(text.replace(/_/g, ""));
  if (/^[-+]?(\d[\d_]*\.\d*|\.\d+)([eE][-+]\d+)?$/.test(text)) return new PyFloat(Number(text.replace(/_/g, "")));
  if (/^[-+]?\.(inf|nan)$/i.test(text))
    return new PyFloat(/nan/i.test(text) ? Number.NaN : text.startsWith("-") ? -Infinity : Infinity);
  return text;
}
