// Operator schemas. In: text like "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". Out: its
// parameters and results as data. Promises: one parse per text; a malformed schema is a bug of the table and throws.
import { type ArgValue, PyFloat } from "./types";

export type BaseType =
  | "Tensor"
  | "Scalar"
  | "int"
  | "SymInt"
  | "float"
  | "bool"
  | "str"
  | "ScalarType"
  | "Device"
  | "Layout"
  | "MemoryFormat"
  | "Generator"
  | "Dimname"
  | "Any";

export interface SchemaType {
  readonly base: BaseType;
  /** false: one value; true: a list of any length; a number: a list that a single value may stand for */
  readonly list: boolean | number;
  readonly optional: boolean;
  /** list elements may be None: Tensor?[] */
  readonly optionalItems: boolean;
}

export interface SchemaParameter {
  readonly name: string;
  readonly type: SchemaType;
  readonly keywordOnly: boolean;
  /** undefined: required */
  readonly defaultValue: ArgValue<never> | undefined;
  /** alias set of Tensor(a!), "a" */
  readonly alias: string | null;
  /** written to by the operator: Tensor(a!) */
  readonly mutated: boolean;
}

export interface Schema {
  readonly text: string;
  /** "add.Tensor"; the part before the dot is the packet, the one after it the overload ("default" if none) */
  readonly name: string;
  readonly packet: string;
  readonly overload: string;
  readonly parameters: readonly SchemaParameter[];
  readonly returns: readonly {
    readonly type: SchemaType;
    readonly name: string | null;
    readonly alias: string | null;
  }[];
}

const BASES: ReadonlySet<string> = new Set<BaseType>([
  "Tensor",
  "Scalar",
  "int",
  "SymInt",
  "float",
  "bool",
  "str",
  "ScalarType",
  "Device",
  "Layout",
  "MemoryFormat",
  "Generator",
  "Dimname",
  "Any",
]);

const parsed = new Map<string, Schema>();

/** @throws Error for text that is no schema */
export function parseSchema(text: string): Schema {
  let schema = parsed.get(text);
  if (schema === undefined) {
    schema = parse(text);
    parsed.set(text, schema);
  }
  return schema;
}

function parse(text: string): Schema {
  const open = text.indexOf("(");
  const arrow = text.lastIndexOf("->");
  const close = text.lastIndexOf(")", arrow < 0 ? text.length : arrow);
  if (open < 0 || close < open) throw new Error(`malformed schema: ${text}`);
  const name = text
    .slice(0, open)
    .trim()
    .replace(/^[a-z_]+::/, "");
  const dot = name.indexOf(".");
  const parameters: SchemaParameter[] = [];
  let keywordOnly = false;
  for (const part of splitTop(text.slice(open + 1, close))) {
    if (part === "*") keywordOnly = true;
    else parameters.push(parseParameter(part, keywordOnly, text));
  }
  const result = arrow < 0 ? "()" : text.slice(arrow + 2).trim();
  const returned = result.startsWith("(") ? splitTop(result.slice(1, -1)) : [result];
  return {
    text,
    name,
    packet: dot < 0 ? name : name.slice(0, dot),
    overload: dot < 0 ? "default" : name.slice(dot + 1),
    parameters,
    returns: returned.map(r => {
      const t = takeType(r, text);
      return { type: t.type, alias: t.alias, name: t.rest || null };
    }),
  };
}

/** splits at commas outside brackets and quotes */
function splitTop(s: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s[i] as string;
    if (quote) {
      if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") depth--;
    else if (c === "," && depth === 0) {
      parts.push(s.slice(start, i).trim());
      start = i + 1;
    }
  }
  const last = s.slice(start).trim();
  if (last) parts.push(last);
  return parts;
}

function takeType(s: string, text: string): { type: SchemaType; alias: string | null; mutated: boolean; rest: string } {
  const m = /^([A-Za-z]+)(\(([^)]*)\))?/.exec(s);
  if (!m || !BASES.has(m[1] ?? "")) throw new Error(`malformed schema: unknown type in '${s}' of ${text}`);
  let rest = s.slice(m[0].length);
  let list: boolean | number = false;
  let optional = false;
  let optionalItems = false;
  for (;;) {
    const l = /^\[(\d*)\]/.exec(rest);
    if (l) {
      optionalItems = optional;
      optional = false;
      list = l[1] ? Number(l[1]) : true;
      rest = rest.slice(l[0].length);
    } else if (rest.startsWith("?")) {
      optional = true;
      rest = rest.slice(1);
    } else if (rest.startsWith("(")) {
      rest = rest.slice(rest.indexOf(")") + 1);
    } else break;
  }
  const alias = m[3] === undefined ? null : (/^[a-z]+/.exec(m[3])?.[0] ?? null);
  return {
    type: { base: m[1] as BaseType, list, optional, optionalItems },
    alias,
    mutated: m[3]?.includes("!") ?? false,
    rest: rest.trim(),
  };
}

function parseParameter(part: string, keywordOnly: boolean, text: string): SchemaParameter {
  const { type, alias, mutated, rest } = takeType(part, text);
  const equals = rest.indexOf("=");
  const name = (equals < 0 ? rest : rest.slice(0, equals)).trim();
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`malformed schema: parameter '${part}' of ${text}`);
  const defaultValue = equals < 0 ? undefined : parseDefault(rest.slice(equals + 1).trim(), type, text);
  return { name, type, keywordOnly, defaultValue, alias, mutated };
}

function parseDefault(s: string, type: SchemaType, text: string): ArgValue<never> {
  if (s === "None") return null;
  if (s === "True") return true;
  if (s === "False") return false;
  if (s.startsWith("[")) return splitTop(s.slice(1, -1)).map(x => parseDefault(x, type, text));
  if (/^["']/.test(s)) return s.slice(1, -1);
  const n = Number(s);
  if (!Number.isNaN(n)) {
    if (type.base === "float" || /[.eE]/.test(s)) return new PyFloat(n);
    return Number.isSafeInteger(n) ? n : BigInt(s);
  }
  if (s === "inf" || s === "-inf") return new PyFloat(s === "inf" ? Infinity : -Infinity);
  if (s === "Mean") return 1;
  if (s === "Sum") return 2;
  // long, strided, contiguous_format: names that only a reader of the schema sees
  if (/^\w+$/.test(s)) return null;
  throw new Error(`malformed schema: default '${s}' of ${text}`);
}

/** the type as PyTorch's messages name it: "tuple of ints", "Tensor" */
export function pythonTypeText(t: SchemaType): string {
  const base: Record<BaseType, string> = {
    Tensor: "Tensor",
    Scalar: "Number",
    int: "int",
    SymInt: "int",
    float: "float",
    bool: "bool",
    str: "str",
    ScalarType: "torch.dtype",
    Device: "torch.device",
    Layout: "torch.layout",
    MemoryFormat: "torch.memory_format",
    Generator: "torch.Generator",
    Dimname: "name",
    Any: "object",
  };
  return t.list === false ? base[t.base] : `tuple of ${base[t.base]}s`;
}
