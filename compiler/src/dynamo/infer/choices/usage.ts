// What a function does with one of its parameters. In: statements and a test for "this expression is the value". Out: facts
// that tell a number from a list, a string, a class, a config object or a tensor of some rank.
import type * as ast from "../../../python/ast";
import { walk } from "../../../python/walk";
import { dotted, intOf, stringOf } from "../syntax";
import { givesEachToLayer, readsItemAsList } from "./nested";
import { notePattern, noteRanks } from "./rank_usage";

export interface Usage {
  /** it is called */
  called: boolean;
  /** only methods other than the constructor call it: it is a module or a function, not a class */
  calledLater: boolean;
  /** what its calls give it, those with * and ** aside: how many arguments by position, and names */
  readonly calls: { readonly positional: number; readonly keywords: readonly string[] }[];
  /** what its call gives is entered by `with` */
  entered: boolean;
  /** it bounds a slice or a range: it is a whole number */
  bound: boolean;
  /** attributes that are read, in order */
  readonly attributes: Set<string>;
  /** string keys that it is indexed with */
  readonly keys: Set<string>;
  /** iterated, measured with len(), unpacked or indexed by numbers */
  sequence: boolean;
  /** items that an unpacking or an index needs */
  length: number | undefined;
  /** indexed by slices or tuples, as tensors are */
  sliced: boolean;
  /** strings that it is compared with */
  readonly strings: Set<string>;
  /** strings that are looked for in it: parts of it where it is one, else items or keys */
  readonly contains: Set<string>;
  /** names of constants that it is compared with */
  readonly constants: Set<string>;
  /** names whose keys or items it is looked up in */
  readonly lookedUpIn: Set<string>;
  /** operand of arithmetic */
  arithmetic: boolean;
  /** operand of a subtraction, which no truth values are */
  subtracted: boolean;
  /** stands alone as a condition */
  condition: boolean;
  /** classes of isinstance() tests */
  readonly types: Set<string>;
  /** compared with None */
  optional: boolean;
  /** attributes of it that are compared with None, and keys that it is asked for and may lack */
  readonly noneTested: Set<string>;
  /** calls that receive it: dotted name, position or keyword */
  readonly passed: { readonly func: string; readonly position: number | string }[];
  /** names that `a, b, c = x.shape` gives the sizes */
  dimNames: readonly string[] | undefined;
  rank: number | undefined;
  /** its shape as a docstring or a comment has it: names and numbers */
  written: readonly string[] | undefined;
  /** the largest dimension that is asked for */
  rankAtLeast: number;
  /** ** before it, or what it is gone through by is a key of it */
  mapping: boolean;
  /** each of its items goes to a layer of its own */
  eachToLayer: boolean;
  /** its items are lists themselves */
  nested: boolean;
  /** `for item in x`: what is done with an item */
  items: Usage | undefined;
  /** what is done with an item of another list that a loop goes through with it, and names the sizes of */
  beside: Usage | undefined;
  /** what loops call an item */
  readonly itemNames: Set<string>;
  /** `x = x[0]` whatever x is: one of several is taken */
  oneOf: boolean;
  /** `a, b = x`: the names that its items get, with what is done with them */
  parts: readonly { readonly name: string; readonly usage: Usage }[] | undefined;
}

export function emptyUsage(): Usage {
  return {
    called: false,
    calledLater: false,
    calls: [],
    entered: false,
    bound: false,
    attributes: new Set(),
    keys: new Set(),
    sequence: false,
    length: undefined,
    sliced: false,
    strings: new Set(),
    contains: new Set(),
    constants: new Set(),
    lookedUpIn: new Set(),
    arithmetic: false,
    subtracted: false,
    condition: false,
    types: new Set(),
    optional: false,
    noneTested: new Set(),
    passed: [],
    dimNames: undefined,
    rank: undefined,
    written: undefined,
    rankAtLeast: 0,
    mapping: false,
    eachToLayer: false,
    nested: false,
    items: undefined,
    itemNames: new Set(),
    beside: undefined,
    oneOf: false,
    parts: undefined,
  };
}

const SEQUENCE_FUNCTIONS =
  /^(len|list|tuple|enumerate|zip|reversed|sum|max|min|sorted|map|set|iter|np\.cumsum|np\.sum|itertools\.\w+)$/;

export type IsValue = (e: ast.Expr) => boolean;

/** tests for a parameter and for the attributes of self that it was stored under */
export function valueTest(name: string, selves: ReadonlySet<string>): IsValue {
  return e =>
    (e.kind === "Name" && e.id === name) ||
    (e.kind === "Attribute" && e.value.kind === "Name" && e.value.id === "self" && selves.has(e.attr));
}

/** tests for what `**mapping` holds under a key, and for the attributes of self that it was stored under */
export function entryTest(mapping: string, key: string, selves: ReadonlySet<string>): IsValue {
  const stored = valueTest("", selves);
  return e => stored(e) || entryOf(e, mapping) === key;
}

/** the key of `mapping["key"]` and `mapping.pop("key")`, which have to be there */
export function entryOf(e: ast.Node, mapping: string): string | undefined {
  const isMapping = (x: ast.Expr): boolean => x.kind === "Name" && x.id === mapping;
  if (e.kind === "Subscript") return isMapping(e.value) ? stringOf(e.slice) : undefined;
  const pops = e.kind === "Call" && e.func.kind === "Attribute" && e.func.attr === "pop" && e.args.length === 1;
  return pops && e.func.kind === "Attribute" && isMapping(e.func.value) ? stringOf(e.args[0]) : undefined;
}

/** attributes of self that a parameter is stored under as it is */
export const storedAs = (name: string, body: readonly ast.Stmt[]): Set<string> =>
  storedWhere(e => e.kind === "Name" && e.id === name, body);

/** attributes of self that a value is stored under as it is */
export function storedWhere(is: IsValue, body: readonly ast.Stmt[]): Set<string> {
  const out = new Set<string>();
  walk(body, n => {
    // self.register_buffer("mean", mean)
    const [name, registered] = n.kind === "Call" && /^self\.register_/.test(dotted(n.func) ?? "") ? n.args : [];
    const buffer = registered && is(itself(registered)) ? stringOf(name) : undefined;
    if (buffer !== undefined) out.add(buffer);
    if (n.kind !== "Assign" && n.kind !== "AnnAssign") return;
    for (const [target, value] of n.kind === "Assign" ? pairsOf(n) : [[n.target, n.value] as const]) {
      const own = target.kind === "Attribute" && target.value.kind === "Name" && target.value.id === "self";
      if (own && value && is(itself(value))) out.add(target.attr);
    }
  });
  return out;
}

/** what is assigned to what: `a, b = x, y` assigns twice */
function pairsOf({ targets, value }: ast.Assign): (readonly [ast.Expr, ast.Expr])[] {
  return targets.flatMap(t => {
    if (t.kind !== "Tuple" || value.kind !== "Tuple" || t.elts.length !== value.elts.length)
      return [[t, value] as const];
    return t.elts.map((e, i) => [e, value.elts[i] ?? value] as const);
  });
}

/** methods that give back what they are called on, in another place or writing */
const SAME = /^(to|cuda|cpu|eval|train|float|half|requires_grad_|lower|upper|strip|casefold)$/;

/** what copy.deepcopy(x), x.eval().to(device), x.lower(), nn.ModuleList(x) and the like are of */
function itself(e: ast.Expr): ast.Expr {
  if (e.kind !== "Call") return e;
  if (/^(copy\.)?(deep)?copy$/.test(dotted(e.func) ?? "") && e.args[0]) return itself(e.args[0]);
  if (/^((torch\.)?nn\.)?ModuleList$|^(list|tuple)$/.test(dotted(e.func) ?? "") && e.args[0]) return itself(e.args[0]);
  const same = e.func.kind === "Attribute" && SAME.test(e.func.attr);
  return same && e.func.kind === "Attribute" ? itself(e.func.value) : e;
}

export function addUsage(usage: Usage, body: unknown, is: IsValue): void {
  if (Array.isArray(body)) usage.oneOf ||= body.some((s: ast.Stmt) => takesOne(s, is));
  walk(body, n => {
    note(usage, n, is);
    usage.nested ||= readsItemAsList(n, is);
    usage.eachToLayer ||= givesEachToLayer(n, is);
    if (n.kind === "Subscript" && is(n.slice)) noteLookup(usage, n.value, body);
    if (n.kind === "Assign" && is(n.value)) noteParts(usage, n.targets[0], body);
    if (n.kind === "For") noteItems(usage, n.target, n.iter, n.body, is);
    if (n.kind === "ListComp" || n.kind === "SetComp" || n.kind === "GeneratorExp")
      for (const g of n.generators) noteItems(usage, g.target, g.iter, [n.elt, ...g.ifs], is);
  });
}

/** `{"relu": nn.ReLU, ...}[name]`, `layers[name]`: the keys of a dictionary that is written there, or the name of one */
function noteLookup(u: Usage, table: ast.Expr, body: unknown): void {
  if (table.kind === "Dict") {
    for (const k of table.keys) {
      const key = stringOf(k ?? undefined);
      if (key !== undefined) u.strings.add(key);
    }
    return;
  }
  const name = dotted(table);
  if (name === undefined) return;
  let local: ast.Expr | undefined;
  walk(body, n => {
    if (n.kind === "Assign" && n.value.kind === "Dict" && n.targets.some(t => dotted(t) === name)) local = n.value;
  });
  if (local) noteLookup(u, local, body);
}

function takesOne(s: ast.Stmt, is: IsValue): boolean {
  if (s.kind !== "Assign" || s.value.kind !== "Subscript") return false;
  const [target] = s.targets;
  return target?.kind === "Name" && is(target) && is(s.value.value) && intOf(s.value.slice) !== undefined;
}

/** `for item in x`, `for i, item in enumerate(x)`, `for item, other in zip(x, y)` */
function noteItems(u: Usage, target: ast.Expr, iter: ast.Expr, body: unknown, is: IsValue): void {
  if (iter.kind === "Call" && dotted(iter.func) === "zip" && target.kind === "Tuple") {
    iter.args.forEach((a, i) => {
      const t = target.elts[i];
      if (!t || !is(a)) return;
      noteItems(u, t, a, body, is);
      u.beside ??= rankedAmong(target.elts, t, body);
    });
    return;
  }
  const [over] = iter.kind === "Call" && dotted(iter.func) === "enumerate" ? iter.args : [];
  const numbered = over?.kind === "Call" && target.kind === "Tuple" ? target.elts[1] : undefined;
  if (over && numbered) {
    noteItems(u, numbered, over, body, is);
    return;
  }
  const counted = over !== undefined && is(over);
  if (!counted && !is(iter)) return;
  if (counted) u.sequence = true;
  const item = counted && target.kind === "Tuple" ? target.elts[1] : target;
  if (item?.kind === "Tuple") {
    u.items ??= emptyUsage();
    noteParts(u.items, item, body);
  }
  if (item?.kind !== "Name") return;
  u.items ??= emptyUsage();
  u.itemNames.add(item.id);
  const usage = u.items;
  walk(body, n => {
    note(usage, n, e => e.kind === "Name" && e.id === item.id);
    if (n.kind === "Subscript" && !counted && is(n.value) && n.slice.kind === "Name" && n.slice.id === item.id)
      u.mapping = true;
  });
}

/** of the others that a loop takes from lists at the same time, the first whose sizes it names */
function rankedAmong(targets: readonly ast.Expr[], own: ast.Expr, body: unknown): Usage | undefined {
  for (const t of targets) {
    if (t === own || t.kind !== "Name") continue;
    const usage = emptyUsage();
    walk(body, n => note(usage, n, e => e.kind === "Name" && e.id === t.id));
    if (usage.dimNames) return usage;
  }
  return undefined;
}

function noteParts(u: Usage, target: ast.Expr | undefined, body: unknown): void {
  if (target?.kind !== "Tuple" || u.parts) return;
  const names = target.elts.flatMap(e => (e.kind === "Name" ? [e.id] : []));
  if (names.length !== target.elts.length) return;
  u.parts = names.map(name => {
    const usage = emptyUsage();
    walk(body, n => note(usage, n, e => e.kind === "Name" && e.id === name));
    return { name, usage };
  });
}

function note(u: Usage, n: ast.Node, is: IsValue): void {
  switch (n.kind) {
    case "Call":
      noteCall(u, n, is);
      return;
    case "Attribute":
      if (is(n.value)) u.attributes.add(n.attr);
      return;
    case "Subscript":
      noteSubscript(u, n, is);
      return;
    case "For":
      if (is(n.iter)) u.sequence = true;
      return;
    case "ListComp":
    case "SetComp":
    case "DictComp":
    case "GeneratorExp":
      for (const g of n.generators) if (is(g.iter)) u.sequence = true;
      return;
    case "Starred":
      if (is(n.value)) u.sequence = true;
      return;
    case "With":
      u.entered ||= n.items.some(i => i.context.kind === "Call" && is(i.context.func));
      return;
    case "Assign":
      noteAssign(u, n, is);
      return;
    case "Compare":
      noteCompare(u, n, is);
      return;
    case "BinOp":
      if (!is(n.left) && !is(n.right)) return;
      u.arithmetic = true;
      u.subtracted ||= n.op === "-";
      return;
    case "Assert":
      noteRank(u, n.test, "==", is);
      return;
    case "If":
      if (n.body[n.body.length - 1]?.kind === "Raise") noteRank(u, n.test, "!=", is);
      if (tests(n.test, is)) u.condition = true;
      return;
    case "While":
    case "IfExp":
      if (tests(n.test, is)) u.condition = true;
      return;
    case "BoolOp":
      if (n.values.some(v => is(v))) u.condition = true;
      return;
    default:
  }
}

const tests = (e: ast.Expr, is: IsValue): boolean => is(e) || (e.kind === "UnaryOp" && e.op === "not" && is(e.operand));

/** `assert x.dim() == 3`, `if x.ndim != 3 or ...: raise`: the rank without which the code does not go on */
function noteRank(u: Usage, test: ast.Expr, op: "==" | "!=", is: IsValue): void {
  if (test.kind === "BoolOp") for (const v of test.values) noteRank(u, v, op, is);
  const rank = test.kind === "Compare" && test.ops.length === 1 && test.ops[0] === op && isRankOf(test.left, is);
  if (rank && test.comparators[0]) u.rank ??= intOf(test.comparators[0]);
}

/** x.ndim, x.dim(), len(x.shape), len(x.size()) */
function isRankOf(e: ast.Expr, is: IsValue): boolean {
  if (e.kind === "Attribute") return e.attr === "ndim" && is(e.value);
  if (e.kind !== "Call") return false;
  if (e.func.kind === "Attribute") return /^(dim|ndimension)$/.test(e.func.attr) && is(e.func.value);
  return dotted(e.func) === "len" && e.args[0] !== undefined && isShapeOf(e.args[0], is);
}

const isShapeOf = (e: ast.Expr, is: IsValue): boolean =>
  (e.kind === "Attribute" && e.attr === "shape" && is(e.value)) ||
  (e.kind === "Call" &&
    e.func.kind === "Attribute" &&
    e.func.attr === "size" &&
    e.args.length === 0 &&
    is(e.func.value));

function noteCall(u: Usage, n: ast.Call, is: IsValue): void {
  if (is(n.func)) {
    u.called = true;
    if (n.args.every(a => a.kind !== "Starred") && n.keywords.every(k => k.arg !== null))
      u.calls.push({ positional: n.args.length, keywords: n.keywords.flatMap(k => (k.arg === null ? [] : [k.arg])) });
  }
  const func = dotted(n.func) ?? (n.func.kind === "Attribute" ? `.${n.func.attr}` : "");
  if (func === "isinstance" && n.args[0] && is(n.args[0])) {
    const types = n.args[1];
    for (const t of types?.kind === "Tuple" ? types.elts : types ? [types] : []) u.types.add(dotted(t) ?? "");
    return;
  }
  if (func === "range" && n.args.some(a => is(a) || countsWith(a, is))) u.bound = true;
  n.args.forEach((a, position) => {
    if (!is(a)) return;
    u.passed.push({ func, position });
    if (SEQUENCE_FUNCTIONS.test(func) && func !== "max" && func !== "min") u.sequence = true;
    notePattern(u, n, func, position);
  });
  for (const k of n.keywords) {
    if (!is(k.value)) continue;
    if (k.arg === null) u.mapping = true;
    else u.passed.push({ func, position: k.arg });
  }
  noteRanks(u, n, func, is);
}

/** `n + 1`, `-n` */
function countsWith(e: ast.Expr | null, is: IsValue): boolean {
  if (e?.kind === "UnaryOp") return is(e.operand);
  return e?.kind === "BinOp" && (is(e.left) || is(e.right)) && [e.left, e.right].some(s => intOf(s) !== undefined);
}

const slicesOf = (e: ast.Expr): readonly ast.Expr[] => (e.kind === "Tuple" ? e.elts : [e]);

function noteSubscript(u: Usage, n: ast.Subscript, is: IsValue): void {
  for (const s of slicesOf(n.slice))
    if (s.kind === "Slice" && [s.lower, s.upper].some(b => b !== null && (is(b) || countsWith(b, is)))) u.bound = true;
  if (isShapeOf(n.value, is)) {
    const i = intOf(n.slice);
    if (i !== undefined && i >= 0) u.rankAtLeast = Math.max(u.rankAtLeast, i + 1);
    return;
  }
  if (!is(n.value)) return;
  const key = stringOf(n.slice);
  const index = intOf(n.slice);
  if (key !== undefined) u.keys.add(key);
  else if (n.slice.kind === "Tuple" || n.slice.kind === "Slice") {
    u.sliced = true;
    if (n.slice.kind === "Tuple" && !n.slice.elts.some(e => e.kind === "Constant" && e.value.type !== "int"))
      u.rankAtLeast = Math.max(u.rankAtLeast, n.slice.elts.length);
  } else {
    u.sequence = true;
    if (index !== undefined) u.length = Math.max(u.length ?? 0, index < 0 ? -index : index + 1);
  }
}

function noteAssign(u: Usage, n: ast.Assign, is: IsValue): void {
  const target = n.targets[0];
  if (target?.kind !== "Tuple" && target?.kind !== "List") return;
  const starred = target.elts.some(e => e.kind === "Starred");
  if (is(n.value)) {
    u.sequence = true;
    if (!starred) u.length = target.elts.length;
    return;
  }
  if (isShapeOf(n.value, is)) {
    if (starred) u.rankAtLeast = Math.max(u.rankAtLeast, target.elts.length - 1);
    else if (u.rank === undefined) {
      u.rank = target.elts.length;
      u.dimNames = target.elts.map(e => (e.kind === "Name" ? e.id : "_"));
    }
    return;
  }
  // b, t = *x.shape[:2], and the like
  if (n.value.kind === "Subscript" && isShapeOf(n.value.value, is) && !starred) {
    const slice = n.value.slice;
    const upper = slice.kind === "Slice" ? intOf(slice.upper ?? undefined) : undefined;
    if (slice.kind === "Slice" && slice.lower === null && upper !== undefined && upper < 0) {
      u.rank ??= target.elts.length - upper;
    } else u.rankAtLeast = Math.max(u.rankAtLeast, target.elts.length);
  }
}

function noteConstant(u: Usage, e: ast.Expr): void {
  const name = dotted(e);
  if (name !== undefined && /(^|\.)[A-Z][A-Z\d_]+$/.test(name)) u.constants.add(name);
}

/** the key of `x.get("key", ...)` */
function keyGot(e: ast.Expr, is: IsValue): string | undefined {
  const get = e.kind === "Call" && e.func.kind === "Attribute" && e.func.attr === "get" && is(e.func.value);
  return get && e.args[0] ? stringOf(e.args[0]) : undefined;
}

function noteCompare(u: Usage, n: ast.Compare, is: IsValue): void {
  const sides = [n.left, ...n.comparators];
  n.ops.forEach((op, i) => {
    const [a, b] = [sides[i], sides[i + 1]];
    if (!a || !b) return;
    if ((op === "is" || op === "is not") && a.kind === "Attribute" && is(a.value)) u.noneTested.add(a.attr);
    const lacking = op === "is" ? keyGot(a, is) : undefined;
    if (lacking !== undefined) u.noneTested.add(lacking);
    const [own, other] = is(itself(a)) ? [a, b] : is(itself(b)) ? [b, a] : [undefined, undefined];
    if (!own || !other) return;
    if (op === "is" || op === "is not") {
      if (other.kind === "Constant" && other.value.type === "None") u.optional = true;
      return;
    }
    if (op === "in" || op === "not in") {
      if (own !== a) {
        u.sequence = true;
        const part = stringOf(a);
        if (part !== undefined) u.contains.add(part);
        return;
      }
      const items = other.kind === "Tuple" || other.kind === "List" || other.kind === "Set" ? other.elts : [];
      for (const e of items) {
        const s = stringOf(e);
        if (s !== undefined) u.strings.add(s);
        noteConstant(u, e);
      }
      const name = dotted(other.kind === "Call" && other.func.kind === "Attribute" ? other.func.value : other);
      if (name !== undefined && items.length === 0) u.lookedUpIn.add(name);
      return;
    }
    const s = stringOf(other);
    noteConstant(u, other);
    if (s !== undefined) u.strings.add(s);
    else if (other.kind === "Constant" && (other.value.type === "int" || other.value.type === "float"))
      u.arithmetic = true;
  });
}
