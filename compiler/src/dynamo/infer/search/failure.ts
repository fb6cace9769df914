// A Python error as search sees it. In: the error and how far the run had got. Out: Failure, with the words of the lines
// that were running.

import { codeOf } from "../../../python/text_lines";
import type { PyError } from "../../interp/api";
import type { InferContext } from "../context";
import { bool, type Choice, type Decision, type Failure, type Hole, NONE, number, str } from "../types";

/** why a run that ends well is no answer */
export const NO_OPERATORS = "it runs no tensor operators";

export interface Progress {
  readonly steps: number;
  readonly operators: number;
  readonly decisions: readonly Decision[];
  readonly touched: readonly string[];
}

export function messageOf(ctx: InferContext, e: PyError): string {
  try {
    return e.text ?? ctx.vm.str(e.value);
  } catch {
    return ""; // an exception whose text fails has none
  }
}

const EQUALITY = /^assert\s*\(?\s*(?:\w+\.)*(\w+)\s*(?:==|is|in)\s*[([]?\s*(-?\d+|True|False|None|"[^"]*"|'[^']*')/;

const INSTANCE = /^assert\s*\(?\s*isinstance\(\s*(?:self\.)?(\w+)\s*,\s*\(?\s*([\w.]+)/;
const KINDS: readonly (readonly [RegExp, Choice["kind"]])[] = [
  [/^(int|float|numbers\.Number|Number)$/, "number"],
  [/^(list|tuple|collections\.abc\.Sequence|Sequence|Iterable)$/, "seq"],
  [/^(dict|Mapping)$/, "dict"],
  [/^str$/, "str"],
  [/^bool$/, "bool"],
  [/(^|\.)Tensor$/, "tensor"],
  [/(^|\.)Module$/, "instance"],
];

/** the name and the kind of value that the failing line asserts it to be by isinstance() */
export function assertedKind(f: Failure): readonly [string, Choice["kind"]] | undefined {
  const [, name, type] = f.type === "AssertionError" ? (INSTANCE.exec(f.line) ?? []) : [];
  const kind = KINDS.find(([re]) => re.test(type ?? ""))?.[1];
  return name === undefined || kind === undefined ? undefined : [name, kind];
}

/** the name and the class that the failing line asserts it to be an instance of */
export function assertedClass(f: Failure): readonly [string, string] | undefined {
  const [, name, type] = f.type === "AssertionError" ? (INSTANCE.exec(f.line) ?? []) : [];
  return name === undefined || type === undefined ? undefined : [name, type];
}

/** an assertion about a list of numbers, or several of them */
const LISTED = /^assert\s*\(?\s*(?:self\.)?(\w+)\s*(?:==\s*|in\s*[([]\s*)([[(])([-\d, ]+)[\])]/;

/** what the failing line asserts a name to be: the number, text or constant it is compared with, the first of several */
function assertedBy(e: PyError): readonly [string, Choice] | null {
  if (e.value.cls.name !== "AssertionError") return null;
  const list = LISTED.exec(lineOf(e));
  if (list?.[1] !== undefined) {
    const items = (list[3] ?? "").split(",").filter(n => n.trim() !== "");
    return [list[1], { kind: "seq", items: items.map(n => number(Number(n))), tuple: list[2] === "(" }];
  }
  const [, name, value] = EQUALITY.exec(lineOf(e)) ?? [];
  if (name === undefined || value === undefined) return null;
  if (value === "None") return [name, NONE];
  if (value === "True" || value === "False") return [name, bool(value === "True")];
  return [name, /^-?\d/.test(value) ? number(Number(value)) : str(value.slice(1, -1))];
}

const SAME = /^assert\s*\(?\s*(?:self\.)?([A-Za-z_]\w*)\s*==\s*(?:self\.)?([A-Za-z_]\w*)\b(?![.([])/;
const DIVISIBLE = /^assert\s*\(?\s*(?:self\.)?([A-Za-z_]\w*)\s*%\s*(?:self\.)?([A-Za-z_]\w*)\s*==\s*0/;

/** the two names that the failing line compares in this way */
function comparedIn(e: PyError, way: RegExp): readonly [string, string] | null {
  const [, a, b] = e.value.cls.name === "AssertionError" ? (way.exec(lineOf(e)) ?? []) : [];
  return a === undefined || b === undefined ? null : [a, b];
}

/** lines of a statement that are read as one */
const LONGEST_STATEMENT = 5;
/** lines of an unpacking, each of which may be one name */
const LONGEST_UNPACKING = 24;

/** the innermost line that failed, without its indentation; an assertion or unpacking that goes on over several lines in one */
function lineOf(e: PyError): string {
  const at = e.trace[e.trace.length - 1];
  const first = at?.file.lines[at.span.line - 1]?.trim() ?? "";
  const most = first === "(" ? LONGEST_UNPACKING : /^assert\b.*[([,]$/.test(first) ? LONGEST_STATEMENT : 0;
  if (!at || most === 0) return first;
  const rest = at.file.lines.slice(at.span.line, Math.min(at.span.endLine, at.span.line + most));
  return first + rest.map(l => codeOf(l).trim()).join(" ");
}

function ownLineOf(e: PyError): string {
  const at = [...e.trace].reverse().find(t => t.file.library === "user");
  return at?.file.lines[at.span.line - 1]?.trim() ?? "";
}

export function failureOf(e: PyError, message: string, p: Progress): Failure {
  const lines = [...e.trace].reverse().map(t => {
    const code = t.file.lines.slice(t.span.line - 1, t.span.endLine).map(codeOf);
    const text = code
      .filter(l => l !== "")
      .slice(0, 7)
      .join("\n");
    return new Set(text.match(/[A-Za-z_]\w*/g) ?? []);
  });
  // what the message names is nearest to the cause
  lines.unshift(new Set(message.match(/[A-Za-z_]\w*/g) ?? []));
  return {
    type: e.value.cls.name,
    message,
    at: placeOf(e),
    line: lineOf(e),
    ownLine: ownLineOf(e),
    asserted: assertedBy(e),
    equal: comparedIn(e, SAME),
    divisible: comparedIn(e, DIVISIBLE),
    progress: p.operators * 1_000_000 + p.steps,
    operators: p.operators,
    decisions: p.decisions,
    touched: p.touched,
    places: [...e.trace].reverse().map(t => ({ file: t.file, line: t.span.line })),
    lines,
  };
}

/** "model.py:12" of the innermost line of the user's */
function placeOf(e: PyError): string | null {
  const at = [...e.trace].reverse().find(t => t.file.library === "user");
  return at ? `${at.file.name.split("/").pop() ?? ""}:${at.span.line}` : null;
}

/** a failure in one line, with its place */
export function whyOf(f: Failure): string {
  return `${f.type}: ${f.message.split("\n")[0] ?? ""}${f.at === null ? "" : ` (${f.at})`}`;
}

/** the text key that a dictionary had not */
export const missingKey = (f: Failure): string | undefined =>
  f.type === "KeyError" ? /^'(\w+)'$/.exec(f.message)?.[1] : undefined;

/** the required arguments that a call left out */
export const missingArguments = (f: Failure): string[] =>
  quotedNames(/missing \d+ required (?:positional|keyword-only) arguments?: (.*)$/.exec(f.message)?.[1] ?? "");

export const quotedNames = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(m => m[1] ?? "");

/** holes named by the running lines, those of inner lines first */
export function blamed(holes: readonly Pick<Hole, "name" | "selves" | "fills">[], f: Failure): string[] {
  const out: string[] = [];
  for (const words of f.lines) {
    for (const h of holes) {
      if (out.includes(h.name)) continue;
      if (words.has(h.name) || [...h.selves].some(s => words.has(s))) out.push(h.name);
    }
  }
  // what is made of one is named after it: levels_tensor
  const inner = f.lines.slice(1, 4).flatMap(words => [...words]);
  for (const h of holes) if (!out.includes(h.name) && inner.some(w => h.fills?.has(w))) out.push(h.name);
  for (const h of holes)
    if (h.name.length > 3 && !out.includes(h.name) && inner.some(w => w.startsWith(`${h.name}_`))) out.push(h.name);
  return out;
}

const CANT_GO_ON = /^(NameError|ModuleNotFoundError|ImportError|FileNotFoundError|OSError)$/;

/** whether no other value of an argument mends this, but another way through the code may: what it needs is not there */
export const needsAnotherWay = (f: Failure): boolean =>
  CANT_GO_ON.test(f.type) || /^'unknown' object cannot be interpreted/.test(f.message);

/** whether a run ended because it would not have ended: other sizes change nothing of that */
export const endless = (f: Failure): boolean => f.type === "TimeoutError" || f.type === "RecursionError";

/** whether code takes gradients where none are kept, or of tensors that keep none */
export function wantsGrad(message: string): "here" | "of inputs" | undefined {
  if (/differentiated Tensors (does not require grad|appears to not)/.test(message)) return "of inputs";
  return /does not require grad|does not have a grad_fn/.test(message) ? "here" : undefined;
}

/** whether tensors that met are on different devices */
export const onTwoDevices = (f: Pick<Failure, "message">): boolean => /to be on the same device/.test(f.message);

const APART = /size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)/;

/** the two sizes that a message says don't fit, and the dimension that they are of */
export function sizesApart({ message }: Pick<Failure, "message">): readonly [number, number, number] | undefined {
  const m = APART.exec(message);
  return m ? [Number(m[1]), Number(m[2]), Number(m[3])] : undefined;
}
