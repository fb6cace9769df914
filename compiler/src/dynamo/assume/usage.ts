// What a body does with one of its parameters, and so what the parameter must be. In: a parameter's name and statements.
// Out: its uses. A parameter that only fills an attribute of self is followed there.
import type * as ast from "../../python/ast";
import { walk } from "../../python/walk";

export interface Usage {
  /** p(...) */
  called: boolean;
  /** how many positional arguments the fullest call has */
  callArguments: number;
  /** for x in p, zip(p, ...), *p, tuple(p), len(p), p[i] */
  sequence: boolean;
  /** the largest constant index into it */
  maxIndex: number;
  /** unpacked into this many names: `a, b = p` */
  unpacked: number;
  /** p.name, getattr(p, "name") */
  readonly attributes: Set<string>;
  /** p["name"] */
  readonly keys: Set<string>;
  /** operand of arithmetic or of a comparison with a number */
  arithmetic: boolean;
  /** compared with, or looked up by, these strings */
  readonly strings: Set<string>;
  /** only asked for its truth */
  flag: boolean;
}

export function usageOf(name: string, bodies: readonly (readonly ast.Stmt[])[]): Usage {
  const u: Usage = {
    called: false,
    callArguments: 0,
    sequence: false,
    maxIndex: -1,
    unpacked: 0,
    attributes: new Set(),
    keys: new Set(),
    arithmetic: false,
    strings: new Set(),
    flag: false,
  };
  const aliases = new Set<string>();
  for (const body of bodies) {
    walk(body, n => {
      if (n.kind !== "Assign" || n.value.kind !== "Name" || n.value.id !== name) return;
      for (const t of n.targets) {
        if (t.kind === "Attribute" && t.value.kind === "Name" && t.value.id === "self") aliases.add(t.attr);
      }
    });
  }
  const isIt = (e: ast.Node | null | undefined): boolean =>
    (e?.kind === "Name" && e.id === name) ||
    (e?.kind === "Attribute" && e.value.kind === "Name" && e.value.id === "self" && aliases.has(e.attr));
  for (const body of bodies) walk(body, n => note(n, isIt, u));
  return u;
}

const SEQUENCE_CALLS = new Set([
  "len",
  "zip",
  "tuple",
  "list",
  "enumerate",
  "iter",
  "map",
  "sum",
  "reversed",
  "sorted",
]);

function note(n: ast.Node, isIt: (e: ast.Node | null | undefined) => boolean, u: Usage): void {
  switch (n.kind) {
    case "Call":
      if (isIt(n.func)) {
        u.called = true;
        u.callArguments = Math.max(u.callArguments, n.args.length + n.keywords.length);
      }
      if (n.func.kind === "Name" && SEQUENCE_CALLS.has(n.func.id) && n.args.some(a => isIt(a))) u.sequence = true;
      if (n.func.kind === "Name" && n.func.id === "getattr" && isIt(n.args[0])) {
        const key = n.args[1];
        if (key?.kind === "Constant" && key.value.type === "str") u.attributes.add(key.value.value);
      }
      break;
    case "Starred":
      if (isIt(n.value)) u.sequence = true;
      break;
    case "For":
      if (isIt(n.iter)) u.sequence = true;
      break;
    case "Attribute":
      if (isIt(n.value)) u.attributes.add(n.attr);
      break;
    case "Subscript": {
      if (!isIt(n.value)) break;
      const key = n.slice.kind === "UnaryOp" ? n.slice.operand : n.slice;
      if (key.kind === "Constant" && key.value.type === "str") {
        u.keys.add(key.value.value);
        break;
      }
      u.sequence = true;
      if (key.kind === "Constant" && key.value.type === "int")
        u.maxIndex = Math.max(u.maxIndex, Number(key.value.value));
      break;
    }
    case "Assign": {
      const t = n.targets[0];
      if (isIt(n.value) && t?.kind === "Tuple") {
        u.unpacked = t.elts.length;
        u.sequence = true;
      }
      break;
    }
    case "BinOp":
      if (isIt(n.left) || isIt(n.right)) u.arithmetic = true;
      break;
    case "Compare": {
      if (![n.left, ...n.comparators].some(e => isIt(e))) break;
      for (const e of [n.left, ...n.comparators]) {
        walk(e, c => {
          if (c.kind !== "Constant") return;
          if (c.value.type === "str") u.strings.add(c.value.value);
          if (c.value.type === "int" || c.value.type === "float") u.arithmetic = true;
        });
      }
      break;
    }
    case "If":
    case "IfExp":
    case "While":
      if (isIt(n.test) || (n.test.kind === "UnaryOp" && isIt(n.test.operand))) u.flag = true;
      break;
    default:
      comprehension(n, isIt, u);
  }
}

function comprehension(n: ast.Node, isIt: (e: ast.Node | null | undefined) => boolean, u: Usage): void {
  if (n.kind !== "ListComp" && n.kind !== "SetComp" && n.kind !== "GeneratorExp" && n.kind !== "DictComp") return;
  for (const g of n.generators) if (isIt(g.iter)) u.sequence = true;
}
