// What JSON and YAML files of a project say: values by their keys, and the arguments of classes that they name. In: a file's
// path and text. Out: plain data, read as choices. What a file leaves open (`???`) or refers to elsewhere is no value of its own.
import { PyFloat } from "../../../aten/types";
import { parseYamlDocuments, YamlError } from "../../stdlib/yaml";
import { bool, type Choice, NONE, number, str } from "../types";

/** the data of a file; undefined: it is not in a form that is read */
export function dataOf(path: string, text: string): unknown {
  try {
    if (/\.json$/i.test(path)) return jsonIn(text);
    if (!/\.ya?ml$/i.test(path)) return undefined;
    const documents = parseYamlDocuments(text);
    return documents.length > 1 ? documents : documents[0];
  } catch (e) {
    if (e instanceof YamlError || e instanceof SyntaxError) return undefined;
    throw e;
  }
}

const REMARK = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** JSON; with remarks and commas too many, which programs take out before they read it */
function jsonIn(text: string): unknown {
  const read = (t: string): unknown =>
    JSON.parse(t, (_k, v: unknown, c?: { source?: string }) => floating(v, c?.source));
  try {
    return read(text);
  } catch (e) {
    if (!(e instanceof SyntaxError) || !/\/[/*]|,\s*[}\]]/.test(text)) throw e;
    const bare = text.replace(REMARK, (_m, quoted: string | undefined) => quoted ?? "");
    return read(bare.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_m, quoted: string | undefined) => quoted ?? ""));
  }
}

/** 1.0 is no integer, where the reader says how a number is written */
function floating(v: unknown, source: string | undefined): unknown {
  return typeof v === "number" && source !== undefined && /[.e]/i.test(source) ? new PyFloat(v) : v;
}

/** a value as a configuration spells it */
export const valueIn = (text: string): Choice | undefined => fromData(dataOf("value.yaml", text));

const entriesOf = (v: unknown): (readonly [string, unknown])[] =>
  v instanceof Map
    ? [...v].map(([k, x]) => [String(k), x] as const)
    : typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof PyFloat)
      ? Object.entries(v)
      : [];

/** every key of the data with its value, outer ones first; one of a section under `section.key` too */
export function namesOf(v: unknown, section?: string): (readonly [string, Choice])[] {
  if (Array.isArray(v)) return v.flatMap(x => namesOf(x));
  return entriesOf(v).flatMap(([k, x]) => {
    const c = fromData(x);
    const names = section === undefined ? [k] : [k, `${section}.${k}`];
    const own = c === undefined || isReference(c) !== undefined ? [] : names.map(n => [n, c] as const);
    return [...own, ...namesOf(x, k)];
  });
}

/** a number to OmegaConf and to people, a text to YAML 1.1 */
const EXPONENT = /^[-+]?\d+e[-+]?\d+$/i;

/** `built`: objects that it describes are built; else they are no values of their own */
function fromData(v: unknown, built = false): Choice | undefined {
  if (v === null) return NONE;
  if (v instanceof PyFloat) return number(v.value, true);
  if (typeof v === "number") return number(v, !Number.isInteger(v));
  if (typeof v === "string") return v === "???" ? undefined : EXPONENT.test(v) ? number(Number(v), true) : str(v);
  if (typeof v === "boolean") return bool(v);
  if (Array.isArray(v)) {
    const items = v.map(x => fromData(x, built));
    return items.some(x => x === undefined) ? undefined : { kind: "seq", items: items as Choice[], tuple: false };
  }
  const entries = entriesOf(v);
  const target = entries.find(([k]) => /^(_target_|class_path)$/.test(k))?.[1];
  if (target !== undefined) return built ? objectOf(target, entries) : undefined;
  return dictionary(entries.map(([k, x]) => [k, fromData(x, built)] as const));
}

/** an object of the class that the data names, with what stands beside the name or in `init_args` */
function objectOf(target: unknown, entries: readonly (readonly [string, unknown])[]): Choice | undefined {
  const [, module, name] = typeof target === "string" ? (/^([\w.]+)\.(\w+)$/.exec(target) ?? []) : [];
  if (module === undefined || entries.some(([k, x]) => k === "_partial_" && x === true)) return undefined;
  const held = entries.find(([k]) => k === "init_args")?.[1];
  const own = held === undefined ? entries.filter(([k]) => !/^_\w+_$|^class_path$/.test(k)) : entriesOf(held);
  const given = own.flatMap(([k, x]): [string, Choice][] => {
    const c = fromData(x, true);
    return c === undefined || isReference(c) !== undefined ? [] : [[k, c]];
  });
  return { kind: "instance", path: `${module}:${name}`, given };
}

/** a dictionary of what is known of its entries; undefined: nothing is */
export function dictionary(entries: readonly (readonly [string, Choice | undefined])[]): Choice | undefined {
  const known = entries.flatMap(([k, c]): [string, Choice][] => (c === undefined ? [] : [[k, c]]));
  return known.length === 0 ? undefined : { kind: "dict", entries: known };
}

/** the last name of what `${model.width}` refers to; undefined: it is a value */
export const isReference = (c: Choice): string | undefined =>
  c.kind === "str" ? /^\$\{.*?(\w+)\}$/.exec(c.value)?.[1] : undefined;

const NAMING = /^(_target_|target|class_path|type|name|class|class_name|cls|_class_name)$/;
const HOLDING = /^(params|init_args|args|kwargs|config|options)$/;

/** Arguments that the data gives to a class that it names (`_target_: pack.Net`): what stands beside the name, or in `params` there. */
export function argumentsIn(v: unknown, cls: string): ReadonlyMap<string, Choice>[] {
  if (Array.isArray(v)) return v.flatMap(x => argumentsIn(x, cls));
  const entries = entriesOf(v);
  // "Net", "pack.Net", ["pack", "Net"]
  const last = (x: unknown): unknown => (Array.isArray(x) ? x[x.length - 1] : x);
  const names = entries.some(([k, x]) => {
    const name = NAMING.test(k) ? last(x) : undefined;
    return typeof name === "string" && name.split(".").pop() === cls;
  });
  const inside = entries.flatMap(([, x]) => argumentsIn(x, cls));
  if (!names) return inside;
  const held = entries.find(([k, x]) => HOLDING.test(k) && entriesOf(x).length > 0)?.[1];
  const given = (held === undefined ? entries.filter(([k]) => !NAMING.test(k)) : entriesOf(held)).flatMap(([k, x]) => {
    const c = fromData(x, true);
    return c === undefined ? [] : [[k, c] as const];
  });
  return given.length > 0 ? [new Map(given), ...inside] : inside;
}
