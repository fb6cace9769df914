// Other choices for a hole that an error blames. In: the hole, what stands in it, the error. Out: choices to try, those
// that the error's words ask for first.
import { PyClass, PyDict } from "../../objects/values";
import { type InferContext, isEnum, lookup } from "../context";
import { BACKBONE } from "../make";
import { buildersOf } from "../makers";
import { assertedClass, assertedKind, missingArguments, missingKey } from "../search/failure";
import {
  ABSENT,
  bool,
  type Choice,
  type Failure,
  type Hole,
  instance,
  MODULE,
  NONE,
  named,
  number,
  OBJECT,
  str,
  tensor,
} from "../types";
import { asAsserted } from "./asserted_parts";
import { layersNamed } from "./classes";
import { guessByName, isTensorAttribute, isTensorMethod, LADDER, sequences } from "./constructor";
import { mayBeNone } from "./holes";
import { isModuleName } from "./names";
import { plainChoice } from "./plain";
import { otherSpaces, spaces } from "./spaces";
import { unknowable } from "./unknowable";
import { emptyUsage } from "./usage";

/** errors of code that looks for layers in a network it is handed */
const LAYERS_ASKED =
  /^(IndexError: list|StopIteration|KeyError: '?(layer|features|fc|avgpool)|(AssertionError|ValueError): .*layer|AttributeError: .*'(fc|layer\d|avgpool|features|classifier|conv1)')/;

type Kind = Choice["kind"];

/** attributes that are a tensor's before they are anything else's */
const TENSOR_FIRST = /^(chunk|view|permute|transpose|unsqueeze|float|detach|size|dim|t)$/;

/** whether a number was asked for what a tensor does */
function methodOfNumber(message: string): boolean {
  const read = /^'(?:int|float|complex)' object has no attribute '(\w+)'/.exec(message)?.[1];
  return read !== undefined && isTensorMethod(read);
}

/** whether a list was asked for what a tensor does, under a name whose words the parameter's has: `matrix.to(device)` of weight_matrix=[] */
export function isUsedAsTensor({ name }: Pick<Hole, "name">, f: Failure): boolean {
  const read = /^'(?:list|tuple)' object has no attribute '(\w+)'/.exec(f.message)?.[1];
  if (read === undefined || !isTensorAttribute(read)) return false;
  const own = new Set(name.split("_"));
  return [...(f.lines[1] ?? [])].some(w => w.length > 1 && w.split("_").every(part => own.has(part)));
}

/** kinds of choices that an error message asks for */
function wantedKinds(message: string): readonly Kind[] {
  if (
    /not iterable|has no len|not subscriptable|object is not a mapping|cannot unpack|argument after \*|must be an iterable|can only concatenate (list|tuple)|in <string>/.test(
      message,
    )
  )
    return ["seq", "dict", "tensor"];
  if (/must be tuple of Tensors|for \+: ('\w+' and )?'(tuple|list)'/.test(message)) return ["seq"];
  if (/must be Tensor, not|got \((int|float|bool|NoneType|str|list|tuple|dict)\b/.test(message)) return ["tensor"];
  if (
    /^(arange|linspace|range|zeros|ones)\(\).* got \(Tensor\b/.test(message) ||
    /found element of type Tensor/.test(message)
  )
    return ["number"];
  if (/not callable/.test(message)) return ["named", "identity", "instance"];
  if (/^only integers, slices/.test(message)) return ["number"];
  if (/not a mapping|indices must be|must be integers or slices/.test(message)) return ["dict", "object", "number"];
  const read = /has no attribute '(\w+)'/.exec(message)?.[1];
  if (read !== undefined && !TENSOR_FIRST.test(read) && !methodOfNumber(message))
    return ["instance", "object", "module", "named", "tensor", "seq", "dict", "str"];
  if (read !== undefined) return ["tensor", "instance", "object", "module", "named", "seq", "dict", "str"];
  if (/is not a Module subclass/.test(message)) return ["instance", "module", "named"];
  if (/NoneType/.test(message))
    return ["number", "seq", "bool", "named", "instance", "str", "dict", "object", "tensor"];
  if (/cannot be interpreted as an integer|list indices|int\(\)|integer is required/.test(message)) return ["number"];
  if (/unsupported operand|not supported between|bad operand/.test(message)) return ["number", "seq", "tensor"];
  return [];
}

const PART_REFUSED = /^'(int|float|str|bool|NoneType)' object|is not a valid \w+$|must be torch\.dtype/;

/** `beside`: numbers that the defaults of its neighbours give, which sizes often have to fit */
export function alternativeChoices(
  ctx: InferContext,
  h: Hole,
  now: Choice,
  f: Failure,
  beside: readonly number[] = [],
): Choice[] {
  const out: Choice[] = ctx.opaque ? unknowable(h, now, f) : [];
  const [name, kind] = assertedKind(f) ?? [];
  if (name !== undefined && now.kind !== kind && (h.name === name || h.selves.has(name)))
    out.push(...h.choices.filter(c => c.kind === kind).slice(0, 3));
  const [asserted, path] = assertedClass(f) ?? [];
  if (
    path !== undefined &&
    (h.name === asserted || h.selves.has(asserted ?? "")) &&
    lookup(ctx, h.globals, path) instanceof PyClass
  )
    out.push(instance(path));
  if (now.kind === "number" && methodOfNumber(f.message)) out.push(tensor("float32", [64]));
  if (now.kind === "absent" && isUsedAsTensor(h, f)) out.push(tensor("float32", [64, 64]), tensor("float32", [64]));
  out.push(...resized(now, f), ...resizedWithin(now, f), ...completed(now, f), ...completedWithin(ctx, now, f));
  // next(net.parameters()) of a module that has none
  const isModule = /^(module|scale|named|instance|identity)$/.test(now.kind) && isModuleName(h.name);
  if (f.type === "StopIteration" && isModule) out.push({ kind: "scale" });
  // what gives back one input as it is takes no others
  if (isModule && /^Identity\.forward\(\) (takes|got an unexpected)/.test(f.message)) out.push(MODULE);
  if (isModule && LAYERS_ASKED.test(`${f.type}: ${f.message}`)) out.push(instance(BACKBONE));
  // a part of a configuration is of another kind than it was taken to be
  const partial = now.kind === "object" && PART_REFUSED.test(f.message);
  if (partial) out.push(...varied(ctx, h, now, f));
  out.push(
    ...offered(f.message)
      .filter(c => now.kind !== "str" || (c.kind === "str" && c.value !== now.value))
      .slice(0, 4),
  );
  if (
    f.type === "KeyError" ||
    f.type === "AssertionError" ||
    /unknown|unsupported|invalid|not (recognized|implemented|supported|found)|should be|must be/i.test(f.message)
  ) {
    if (now.kind === "str")
      out.push(
        ...enumValues(ctx, h, f),
        ...namedIn(f.message, now.value),
        ...h.choices.filter(c => c.kind === "str"),
        ...keysNearby(ctx, h, f),
      );
  }
  // a part that is described by the path of its class
  if (f.type === "KeyError" && /key [`'"]target[`'"]/.test(f.message))
    out.push({ kind: "dict", entries: [["target", str("torch.nn.Identity")]] });
  if (f.type === "KeyError" && now.kind === "object") out.push(...quoted(ctx, h, now, f));
  if (f.type === "KeyError" && now.kind === "number") out.push(...numbersIn(ctx, h, now.value, f));
  if (/must be torch\.dtype/.test(f.message)) out.push(named("torch.float32"));
  if (
    now.kind === "instance" &&
    now.by === undefined &&
    (/^(Assertion|Value|NotImplemented|Attribute)Error$/.test(f.type) || /NoneType/.test(f.message))
  )
    out.push(...asAsserted(ctx, h, now, f), ...otherwiseMade(ctx, h, now.path));
  // a file that is not there: those that the program names are
  if (f.type === "FileNotFoundError" && (now.kind === "str" || now.kind === "number"))
    out.push(...ctx.constants.filesNamed().map(str));
  // what is called is no configuration
  const wanted = wantedKinds(f.message).filter(k => k !== "object" || !h.usage.called);
  if (now.kind === "seq" && /'(tuple|list)' and '(tuple|list)'|concatenate (tuple|list)/.test(f.message))
    out.push({ ...now, tuple: !now.tuple });
  out.push(...nested(now, f));
  // what the message asks for comes before other values of the kind that it refuses
  if (wanted.length > 0 && !wanted.includes(now.kind))
    for (const kind of wanted) out.push(...h.choices.filter(c => c.kind === kind).slice(0, 3));
  if (/must be tuple of Tensors/.test(f.message)) out.push(...listed(now));
  // nn.Sequential(*layers) of what is no list of modules
  if (/is not a Module subclass/.test(f.message)) out.push(...layersIn(now));
  if (now.kind === "number" && /^(AssertionError|ValueError)$|divisible|Error$/.test(f.type)) {
    const n = now.value;
    if (!now.float && n > 1) out.push(...beside.filter(v => v > 8).map(v => number(v)));
    if (!now.float)
      for (const v of n >= 32 ? [...LADDER, n * 2, n / 2, 1, 16] : [n * 2, n / 2, 1, 2, 4, 8, 3, 16, 64])
        if (Number.isInteger(v)) out.push(number(v));
  }
  if (now.kind === "object") {
    for (const a of h.usage.noneTested)
      if (!now.given.some(([k]) => k === a)) out.push({ kind: "object", given: [...now.given, [a, NONE]] });
  }
  if (!partial) out.push(...varied(ctx, h, now, f));
  for (const kind of wanted) out.push(...h.choices.filter(c => c.kind === kind && c.kind !== now.kind));
  out.push(...h.choices.filter(c => c.kind === now.kind), ...h.choices);
  if (!h.required) out.push(ABSENT);
  else if (mayBeNone(h)) out.push(NONE);
  return out;
}

/** the same class as the program's functions and classmethods make it: presets, mostly */
function otherwiseMade(ctx: InferContext, h: Hole, path: string): Choice[] {
  const cls = lookup(ctx, h.globals, path);
  if (!(cls instanceof PyClass) || cls.place === null) return [];
  return buildersOf(ctx, cls, h.globals).flatMap(m =>
    m.name === null ? [] : [{ kind: "instance", path, by: m.name }],
  );
}

/** layers instead of the items of a list */
const layersIn = (now: Choice): Choice[] =>
  now.kind === "seq" ? [{ ...now, items: now.items.slice(0, 2).map(() => instance("torch.nn.Linear")) }] : [];

/** numbers of a list as lists, where the code goes through them */
function nested(now: Choice, f: Failure): Choice[] {
  const asked = /'(int|float)' object is not (iterable|subscriptable)|object of type '(int|float)' has no len/;
  if (now.kind !== "seq" || !asked.test(f.message) || !now.items.every(i => i.kind === "number")) return [];
  return [4, 2, 3].map(n => ({
    ...now,
    items: now.items.map(i => ({ kind: "seq", items: new Array<Choice>(n).fill(i), tuple: now.tuple })),
  }));
}

/** a tensor, or the tensors of a list, as lists of themselves */
function listed(now: Choice): Choice[] {
  const pair = (c: Choice): Choice => ({ kind: "seq", items: [c, c], tuple: false });
  if (now.kind === "tensor") return [pair(now), pair(pair(now))];
  return now.kind === "seq" ? [{ ...now, items: now.items.map(pair) }] : [];
}

/** a sequence of the length that an unpacking or an index needs */
function resized(now: Choice, f: Failure): Choice[] {
  if (now.kind !== "seq") return [];
  const m = /expected (\d+)(?:, got (\d+))?\)?$/.exec(f.message);
  const lengths: number[] = [];
  if (m && /unpack/.test(f.message)) lengths.push(Number(m[1]));
  if (/index out of range/.test(f.message)) lengths.push(now.items.length + 1, now.items.length + 2);
  if (/AssertionError|ValueError/.test(f.type)) lengths.push(now.items.length + 1, now.items.length - 1, 1);
  const rising: Choice[] = /increasing|sorted|ascending|monoton|unique/.test(f.message)
    ? [(i: number) => 4 * 2 ** i, (i: number) => i + 1].map(at => ({
        ...now,
        items: now.items.map((_, i) => number(at(i))),
      }))
    : [];
  // counts of nothing and of one thing are the ones that are refused
  const few = (c: Choice): boolean => c.kind === "number" && !c.float && c.value <= 1;
  const more: Choice[] =
    f.type === "AssertionError" && now.items.some(few)
      ? [{ ...now, items: now.items.map(c => (c.kind === "number" && !c.float ? number(8) : c)) }]
      : [];
  return [
    ...rising,
    ...more,
    ...lengths
      .filter(n => n > 0 && n !== now.items.length)
      .map(n => ({
        ...now,
        items: Array.from({ length: n }, (_, i) => now.items[Math.min(i, now.items.length - 1)] as Choice),
      })),
  ];
}

/** lists that a dictionary or an object holds, of the lengths that the failing line needs: those that it names, else any */
function resizedWithin(now: Choice, f: Failure): Choice[] {
  if ((now.kind !== "dict" && now.kind !== "object") || !/unpack|index out of range/.test(f.message)) return [];
  const own = now.kind === "dict" ? now.entries : now.given;
  const lists = own.filter(([, c]) => c.kind === "seq");
  const named = lists.filter(([name]) => f.lines.slice(0, 3).some(words => words.has(name)));
  return (named.length > 0 ? named : lists).flatMap(([name, c]) =>
    resized(c, f).map(made => {
      const entries = own.map(([k, v]) => [k, k === name ? made : v] as const);
      return now.kind === "dict" ? { ...now, entries } : { ...now, given: entries };
    }),
  );
}

/** a dictionary with the arguments that the call it was unpacked into asks for */
function completed(now: Choice, f: Failure, value = guessByName): Choice[] {
  if (now.kind !== "dict") return [];
  const key = missingKey(f);
  const missing = key === undefined ? missingArguments(f) : [key];
  if (missing.length > 0)
    return [{ ...now, entries: [...now.entries, ...missing.map((n): [string, Choice] => [n, value(n)])] }];
  const extra = /unexpected keyword argument '(\w+)'/.exec(f.message)?.[1];
  return extra === undefined ? [] : [{ ...now, entries: now.entries.filter(([k]) => k !== extra) }];
}

const UNPACKED = /\*\*\s*\w[\w.]*(?:\.(\w+)|\[["'](\w+)["']\])/;

/** `Settings(**config.settings)`: a part of a configuration with the arguments that the call asks for, without those it refuses */
function completedWithin(ctx: InferContext, now: Choice, f: Failure): Choice[] {
  const m = now.kind === "object" && f.type === "TypeError" ? UNPACKED.exec(f.ownLine) : null;
  const name = m?.[1] ?? m?.[2];
  if (name === undefined || now.kind !== "object") return [];
  const given = now.given.find(([k]) => k === name)?.[1];
  const asked = given ?? plainChoice(ctx.asked.get(name));
  const part: Choice = asked?.kind === "dict" ? asked : { kind: "dict", entries: [] };
  const known = (n: string): Choice => ctx.constants.inData(n) ?? guessByName(n);
  return completed(part, f, known).map(c => ({ ...now, given: [...now.given.filter(([k]) => k !== name), [name, c]] }));
}

/** other values for the entries and attributes that the failing lines name */
function varied(ctx: InferContext, h: Hole, now: Choice, f: Failure): Choice[] {
  if ((now.kind !== "dict" && now.kind !== "object") || !/Error$/.test(f.type) || f.type === "KeyError") return [];
  const own = now.kind === "dict" ? now.entries : now.given;
  const named = enumValues(ctx, h, f);
  const out: Choice[] = now.kind === "object" ? quoted(ctx, h, now, f) : [];
  // what only the message names is not asked for
  for (const words of now.kind === "object" ? f.lines.slice(1, 6) : f.lines.slice(0, 2)) {
    for (const name of now.kind === "object" ? askedBy(ctx, words) : words) {
      const known = own.find(([k]) => k === name)?.[1];
      if (known === undefined && now.kind === "dict") continue;
      const value = known ?? spaces(ctx, name)[0] ?? guessByName(name);
      for (const v of named.length > 0 ? named : otherValues(ctx, h, name, value, f)) {
        const entries = [...own.filter(([k]) => k !== name), [name, v] as const];
        out.push(now.kind === "dict" ? { ...now, entries } : { ...now, given: entries });
      }
    }
  }
  // an entry that was taken out before it was indexed
  if (now.kind === "dict" && /not subscriptable/.test(f.message))
    for (const [name] of own)
      for (const v of listsFor(ctx, h, name))
        out.push({ ...now, entries: own.map(([k, x]) => [k, k === name ? v : x] as const) });
  return out.slice(0, 16);
}

/** what a configuration was asked for that a line names, then what it holds under the end of its name (`tower = cfg.mm_tower`) */
function askedBy(ctx: InferContext, words: ReadonlySet<string>): string[] {
  const own = [...words].filter(w => ctx.asked.has(w));
  const ends = [...ctx.asked.keys()].filter(k => /_\w{5,}/.test(k) && words.has(k.slice(k.indexOf("_") + 1)));
  return [...new Set([...own, ...ends])];
}

/** a configuration whose text the message quotes, whole or in part: with other texts that the project gives to that name */
function quoted(ctx: InferContext, h: Hole, now: Extract<Choice, { readonly kind: "object" }>, f: Failure): Choice[] {
  const words = f.message.split(/[^\w.-]+/).filter(w => w.length >= 4);
  // what the failing line wants a text to begin or end with
  const wanted = f.type === "AssertionError" ? /\.(?:starts|ends)with\(\s*['"](\w+)['"]/.exec(f.line)?.[1] : undefined;
  if (wanted !== undefined) return containing(ctx, now, wanted);
  return [...ctx.asked].flatMap(([name, v]) => {
    if (typeof v !== "string" || v.length < 4 || !words.some(w => v.includes(w))) return [];
    const keys = f.type === "KeyError" ? keysNearby(ctx, h, f).flatMap(c => (c.kind === "str" ? [c.value] : [])) : [];
    const others = [...keys, ...ctx.constants.textsOf(name)].filter(t => t !== v);
    return others.map((t): Choice => ({ ...now, given: [...now.given.filter(([k]) => k !== name), [name, str(t)]] }));
  });
}

/** a configuration whose texts do not hold the wanted one, with those that the project gives to the same names and that do */
function containing(ctx: InferContext, now: Extract<Choice, { readonly kind: "object" }>, wanted: string): Choice[] {
  return [...ctx.asked].flatMap(([name, v]) => {
    if (typeof v !== "string" || v.includes(wanted)) return [];
    const others = ctx.constants.textsOf(name).filter(t => t.includes(wanted));
    return others.map((t): Choice => ({ ...now, given: [...now.given.filter(([k]) => k !== name), [name, str(t)]] }));
  });
}

/** "'x' is not a valid Kind": the values of that enumeration */
function enumValues(ctx: InferContext, h: Hole, f: Failure): Choice[] {
  const name = / is not a valid (\w+)$/.exec(f.message)?.[1];
  if (name === undefined) return [];
  const modules = [h.globals, ...ctx.elsewhere().map(m => m.dict)];
  const cls = modules.map(d => d.get(name)).find((v): v is PyClass => v instanceof PyClass && isEnum(v));
  return cls === undefined
    ? []
    : ctx.vm.toArray(cls).flatMap((m): Choice[] => {
        const v = ctx.vm.getattrOrUndefined(m, "value");
        if (typeof v === "string") return [str(v)];
        return typeof v === "number" ? [number(v)] : [];
      });
}

/** numbers for what is named like several of them, and indexed */
const listsFor = (ctx: InferContext, h: Hole, name: string): Choice[] =>
  /[^s]s$|list$/.test(name) ? sequences(ctx, { ...h, name, usage: emptyUsage() }, "", false).slice(0, 1) : [];

function otherValues(ctx: InferContext, h: Hole, name: string, c: Choice, f: Failure): Choice[] {
  if (c.kind === "space") return otherSpaces(c);
  const sequence: Choice = { kind: "seq", items: [number(2), number(2), number(2), number(2)], tuple: false };
  if (/not callable/.test(f.message)) {
    const layers = layersNamed(name);
    // beside a convolution a normalisation is one of channels
    return layers.length > 0 ? [...layers].reverse() : [named("torch.nn.GELU")];
  }
  if (/ has no attribute '(split|lower|upper|startswith|endswith|strip|replace|format|join|encode)'/.test(f.message)) {
    // texts that the failing line asks for come first
    const asked = [...f.line.matchAll(/with\(\s*["']([\w./-]+)["']|["']([\w./-]+)["'] in\b/g)].map(
      m => m[1] ?? m[2] ?? "",
    );
    return c.kind === "str" ? [] : [...asked, ""].map(str);
  }
  // what has attributes of its own is a part of the configuration
  if (/^'(int|float|str|bool|NoneType)' object (has no attribute|is not subscriptable)|indices must be/.test(f.message))
    return c.kind === "object"
      ? []
      : [...(/subscriptable|indices/.test(f.message) ? listsFor(ctx, h, name) : []), OBJECT];
  if (/must be torch\.dtype/.test(f.message)) return [named("torch.float32")];
  if (wantedKinds(f.message).includes("seq")) return [sequence];
  if (c.kind === "number") return [64, 1, 2, 4, 3, 8, 128].filter(n => n !== c.value).map(n => number(n));
  if (c.kind === "str") return [number(64), number(2), bool(false), NONE];
  return c.kind === "bool" ? [bool(!c.value), NONE] : [];
}

/** strings that a message offers: quoted ones, and what stands behind "one of" */
function namedIn(message: string, now: string): Choice[] {
  const quoted = [...message.matchAll(/['"]([\w.-]+)['"]/g)].map(m => str(m[1] ?? ""));
  return [...offered(message), ...quoted].filter(c => c.kind === "str" && c.value !== now).slice(0, 8);
}

/** texts that a message says are taken */
export function offered(message: string): Choice[] {
  const listed = /(?:one of|choose from|options are|must be in|modes(?=:))\b:?\s*(.*)$/is.exec(message)?.[1] ?? "";
  if (/invalid combination of arguments|expected one of:/.test(message)) return [];
  const words = listed
    .split(/[\s,;|()[\]{}'"]+/)
    .filter(w => /^[A-Za-z][\w.-]*$/.test(w) && !/^(or|and|is|are|the|of)$/.test(w));
  return [...new Set(words)].map(str);
}

/**
 * Numbers that a lookup knows: keys of dictionaries that the failing lines name, and those in names of the module that are
 * the missing key but for its number, `net34` for `net2`.
 */
function numbersIn(ctx: InferContext, h: Hole, now: number, f: Failure): Choice[] {
  const out: number[] = [];
  for (const words of f.lines.slice(0, 3)) {
    for (const w of words) {
      const d = lookup(ctx, h.globals, w);
      if (d instanceof PyDict) out.push(...d.keys().filter(k => typeof k === "number"));
    }
  }
  const parts = missingKey(f)?.split(String(now));
  if (parts?.length === 2) {
    const [before = "", after = ""] = parts;
    for (const k of h.globals.keys()) {
      if (typeof k !== "string" || !k.startsWith(before) || !k.endsWith(after)) continue;
      const between = k.slice(before.length, k.length - after.length);
      if (/^\d+$/.test(between)) out.push(Number(between));
    }
  }
  return [...new Set(out)].slice(0, 6).map(n => number(n));
}

/** string keys of dictionaries and constants that the failing lines name */
function keysNearby(ctx: InferContext, h: Hole, f: Failure): Choice[] {
  const out: Choice[] = [];
  for (const words of f.lines.slice(0, 3)) {
    for (const w of words) {
      const d = lookup(ctx, h.globals, w);
      if (d instanceof PyDict) for (const k of d.keys()) if (typeof k === "string") out.push(str(k));
      if (typeof d === "string" && /^[A-Z][A-Z\d_]+$/.test(w)) out.push(str(d));
    }
  }
  return out.slice(0, 10);
}
