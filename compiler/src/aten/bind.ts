// Binding of a call's arguments to a schema. In: a schema, positional and keyword values. Out: values by parameter name,
// or the TypeError text that PyTorch's argument parser gives. Promises: an overload binds only if every value fits its
// type, so the first record that binds is the overload that PyTorch takes.
import { inSchemaForm } from "./old_forms";
import { outVariant } from "./out_variants";
import { parseSchema, pythonTypeText, type Schema, type SchemaParameter, type SchemaType } from "./schema";
import {
  type ArgValue,
  DeviceArg,
  type Dim,
  DTypeArg,
  LayoutArg,
  MemoryFormatArg,
  type OpRecord,
  PyComplex,
  PyFloat,
} from "./types";

/** What binding must know of a stage's values. */
export interface BindHost<T> {
  isTensor(x: unknown): x is T;
  isDim(x: unknown): x is Dim;
}

export interface Bound<T> {
  readonly schema: Schema;
  /** given arguments by parameter name; defaults are not filled in */
  readonly values: ReadonlyMap<string, ArgValue<T>>;
}

export type BindResult<T> =
  | { readonly ok: true; readonly bound: Bound<T> }
  | { readonly ok: false; readonly message: string };

/** Keywords that PyTorch takes for others (numpy's names and the Python names of `self`). */
const KEYWORD_ALIASES: Readonly<Record<string, readonly string[]>> = {
  input: ["self"],
  axis: ["dim"],
  keepdims: ["keepdim"],
  x: ["self"],
  x1: ["self"],
  x2: ["other"],
  a: ["self"],
  dims: ["dim"],
  dim: ["dims"],
  split_size_or_sections: ["split_size", "split_sizes"],
  indices_or_sections: ["sections", "indices"],
};

/** Operators whose Tensor parameters take Python numbers (the number is wrapped, its type only decides by category). */
const NUMBERS_AS_TENSORS =
  /^(add|sub|mul|div|true_divide|floor_divide|divide|multiply|subtract|_add_relu|copy|where)_?$/;

/**
 * Binds a call. Method calls put the receiver first in `args`. `display` is the name shown in messages ("linear").
 */
export function bindArguments<T>(
  schema: Schema,
  args: readonly ArgValue<T>[],
  kwargs: ReadonlyMap<string, ArgValue<T>>,
  host: BindHost<T>,
  display = schema.packet,
): BindResult<T> {
  const fail = (message: string): BindResult<T> => ({ ok: false, message: `${display}()${message}` });
  const { positional, required, numbersAsTensors } = factsOf(schema);
  const given = gatherVarargs(positional, args, host);
  if (given.length > positional.length) {
    const last = positional[positional.length - 1];
    const at = last && last.type.list !== false ? given.findIndex(x => !fits(x, itemOf(last.type), host, false)) : -1;
    // sizes that are given one by one
    if (last && positional.length === 1 && at >= 0)
      return fail(
        `: argument '${shownName(last)}' must be ${pythonTypeText(last.type)}, but found element of type ${typeName(given[at] as ArgValue<T>, host)} at pos ${at + 1}`,
      );
    return fail(
      ` takes ${positional.length} positional argument${positional.length === 1 ? "" : "s"} but ${given.length} were given`,
    );
  }
  const values = new Map<string, ArgValue<T>>();
  for (let i = 0; i < given.length; i++) {
    const value = given[i] as ArgValue<T>;
    const p = positional[i] as SchemaParameter;
    if (!fits(value, p.type, host, numbersAsTensors)) {
      return fail(
        `: argument '${shownName(p)}' (position ${i + 1}) must be ${pythonTypeText(p.type)}, not ${typeName(value, host)}`,
      );
    }
    values.set(p.name, value);
  }
  for (const [key, value] of kwargs) {
    const p = findParameter(schema, key);
    if (p === undefined) {
      if (IGNORED_KEYWORDS.has(key) && (value === null || value === false)) continue;
      return fail(` got an unexpected keyword argument '${key}'`);
    }
    if (values.has(p.name)) return fail(` got multiple values for argument '${key}'`);
    if (!fits(value, p.type, host, numbersAsTensors)) {
      return fail(`: argument '${key}' must be ${pythonTypeText(p.type)}, not ${typeName(value, host)}`);
    }
    values.set(p.name, value);
  }
  const missing = required.filter(p => !values.has(p.name));
  if (missing.length > 0) {
    return fail(
      ` missing ${missing.length} required positional argument${missing.length === 1 ? "" : "s"}: ${missing.map(p => `"${shownName(p)}"`).join(", ")}`,
    );
  }
  return { ok: true, bound: { schema, values } };
}

/** keyword arguments as binding takes them */
export function keywords<T>(given: Readonly<Record<string, ArgValue<T>>>): ReadonlyMap<string, ArgValue<T>> {
  return new Map(Object.entries(given));
}

/** what every call of a schema asks of it */
interface SchemaFacts {
  readonly positional: readonly SchemaParameter[];
  /** those without a default */
  readonly required: readonly SchemaParameter[];
  readonly numbersAsTensors: boolean;
}
const schemaFacts = new WeakMap<Schema, SchemaFacts>();

function factsOf(schema: Schema): SchemaFacts {
  let facts = schemaFacts.get(schema);
  if (!facts) {
    const positional = schema.parameters.filter(p => !p.keywordOnly);
    const required = schema.parameters.filter(p => p.defaultValue === undefined);
    facts = { positional, required, numbersAsTensors: NUMBERS_AS_TENSORS.test(schema.packet) };
    schemaFacts.set(schema, facts);
  }
  return facts;
}

/** the type of a list's items */
function itemOf(type: SchemaType): SchemaType {
  let item = itemTypes.get(type);
  if (!item) {
    item = { ...type, list: false, optional: type.optionalItems };
    itemTypes.set(type, item);
  }
  return item;
}
const itemTypes = new WeakMap<SchemaType, SchemaType>();

const IGNORED_KEYWORDS: ReadonlySet<string> = new Set(["out", "names", "requires_grad", "pin_memory", "as_tuple"]);

const shownName = (p: SchemaParameter): string => (p.name === "self" ? "input" : p.name);

function findParameter(schema: Schema, key: string): SchemaParameter | undefined {
  const direct = schema.parameters.find(p => p.name === key);
  if (direct !== undefined) return direct;
  for (const other of Object.hasOwn(KEYWORD_ALIASES, key) ? (KEYWORD_ALIASES[key] ?? []) : []) {
    const p = schema.parameters.find(q => q.name === other);
    if (p !== undefined) return p;
  }
  return undefined;
}

/** x.view(2, 3) for x.view((2, 3)): the last positional parameter is a list and its items stand one by one */
function gatherVarargs<T>(
  positional: readonly SchemaParameter[],
  args: readonly ArgValue<T>[],
  host: BindHost<T>,
): readonly ArgValue<T>[] {
  const last = positional.length - 1;
  const p = positional[last];
  if (p === undefined || p.type.list === false || args.length <= last || last > 1) return args;
  const rest = args.slice(last);
  const item = itemOf(p.type);
  const first = rest[0] as ArgValue<T>;
  if (Array.isArray(first) || first === null || !rest.every(x => fits(x, item, host, false))) return args;
  // einsum("ij,jk", x, y) alone takes its tensors one by one after another parameter
  if (p.type.base === "Tensor" && positional.length > 1 && positional[0]?.type.base !== "str") return args;
  return [...args.slice(0, last), rest];
}

/** whether a value may stand for a parameter of this type */
export function fits<T>(x: ArgValue<T>, type: SchemaType, host: BindHost<T>, numbersAsTensors: boolean): boolean {
  if (x === null) return type.optional || type.base === "Generator" || type.base === "Any";
  if (type.list !== false) {
    const item = itemOf(type);
    if (Array.isArray(x)) return (x as readonly ArgValue<T>[]).every(y => fits(y, item, host, false));
    // one value stands for a list of known length; a tensor never stands for a list of tensors
    return typeof type.list === "number" && type.base !== "Tensor" && fits(x, item, host, false);
  }
  const tensor = host.isTensor(x);
  const dim = !tensor && host.isDim(x);
  switch (type.base) {
    case "Tensor":
      return tensor || (numbersAsTensors && (isNumber(x) || dim));
    case "Scalar":
      return isNumber(x) || dim;
    case "int":
    case "SymInt":
      return typeof x === "number" || typeof x === "bigint" || dim;
    case "float":
      return typeof x === "number" || typeof x === "bigint" || typeof x === "boolean" || x instanceof PyFloat || dim;
    case "bool":
      return typeof x === "boolean";
    case "str":
      return typeof x === "string";
    case "ScalarType":
      return x instanceof DTypeArg;
    case "Device":
      return x instanceof DeviceArg || typeof x === "string" || typeof x === "number";
    case "Layout":
      return x instanceof LayoutArg;
    case "MemoryFormat":
      return x instanceof MemoryFormatArg;
    case "Generator":
    case "Any":
      return true;
    case "Dimname":
      return false;
    default: {
      const never: never = type.base;
      return never;
    }
  }
}

function isNumber(x: unknown): boolean {
  return (
    typeof x === "number" ||
    typeof x === "bigint" ||
    typeof x === "boolean" ||
    x instanceof PyFloat ||
    x instanceof PyComplex
  );
}

/** Python's name of a value's type, as PyTorch's messages show it */
export function typeName<T>(x: ArgValue<T>, host: BindHost<T>): string {
  if (x === null) return "NoneType";
  if (host.isTensor(x)) return "Tensor";
  if (host.isDim(x)) return "SymInt";
  if (Array.isArray(x)) return "list";
  if (typeof x === "number" || typeof x === "bigint") return "int";
  if (typeof x === "boolean") return "bool";
  if (typeof x === "string") return "str";
  if (x instanceof PyFloat) return "float";
  if (x instanceof PyComplex) return "complex";
  if (x instanceof DTypeArg) return "torch.dtype";
  if (x instanceof DeviceArg) return "torch.device";
  if (x instanceof LayoutArg) return "torch.layout";
  if (x instanceof MemoryFormatArg) return "torch.memory_format";
  return "object";
}

/** The records' first overload that binds, with a tensor as `out=` their forms that write it, or PyTorch's message for none. */
export function resolveOverload<T>(
  records: readonly OpRecord[],
  args: readonly ArgValue<T>[],
  kwargs: ReadonlyMap<string, ArgValue<T>>,
  host: BindHost<T>,
  display: string,
):
  | { readonly ok: true; readonly record: OpRecord; readonly bound: Bound<T> }
  | { readonly ok: false; readonly message: string } {
  let only = "";
  const candidates = host.isTensor(kwargs.get("out")) ? records.map(r => outVariant(r) ?? r) : records;
  for (const record of candidates) {
    const r = bindArguments(parseSchema(record.schema), args, kwargs, host, display);
    if (r.ok) return { ok: true, record, bound: r.bound };
    only = r.message;
  }
  const old = inSchemaForm<T>(display, args, x => host.isTensor(x));
  if (old) return resolveOverload(records, old.args, new Map([...old.factors, ...kwargs]), host, display);
  if (records.length === 1) return { ok: false, message: only };
  const got = [...args.map(a => typeName(a, host)), ...[...kwargs].map(([k, v]) => `${k}=${typeName(v, host)}`)].join(
    ", ",
  );
  const choices = records.map(r => ` * ${candidate(parseSchema(r.schema))}\n`).join("");
  return {
    ok: false,
    message: `${display}() received an invalid combination of arguments - got (${got}), but expected one of:\n${choices}`,
  };
}

function candidate(schema: Schema): string {
  const keyword = schema.parameters.findIndex(p => p.keywordOnly);
  const parts = schema.parameters.map(p => `${pythonTypeText(p.type)} ${shownName(p)}`);
  if (keyword >= 0) parts.splice(keyword, 0, "*");
  return `(${parts.join(", ")})`;
}
