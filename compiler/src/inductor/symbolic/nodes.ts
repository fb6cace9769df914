// In: already canonical parts. Out: interned nodes.
// Promises: no simplification happens here; `make*` only interns. Everything else builds through the constructors of
// arith.ts, divide.ts and choice.ts, which hand canonical parts to these.

import { internTable } from "./intern";

export type RelationOp = "eq" | "ne" | "lt" | "le" | "gt" | "ge";
export type SymKind = "size" | "unbacked" | "loop" | "indirect" | "float";

/** Facts about a node that are found out lazily and kept with it. */
export interface NodeCache {
  free?: ReadonlySet<SymExpr>;
  /** Sign bits, see assumptions.ts. */
  sign?: number;
  integer?: boolean;
  /** Product without its number. */
  rest?: Expr;
  expanded?: Expr;
}

interface Node<K extends string, A extends readonly Expr[]> {
  readonly kind: K;
  /** Creation order within the intern table. */
  readonly id: number;
  /** Arguments in sympy's canonical order. */
  readonly args: A;
  /** Internal to this folder. */
  readonly cache: NodeCache;
}

export interface IntExpr extends Node<"int", readonly []> {
  readonly value: number;
}
export interface FloatExpr extends Node<"float", readonly []> {
  readonly value: number;
}
export interface SymExpr extends Node<"sym", readonly []> {
  readonly name: string;
  readonly symKind: SymKind;
  readonly positive: boolean;
  readonly nonnegative: boolean;
}
/** Sum of two or more terms, its number (if any) first. */
export interface AddExpr extends Node<"add", readonly Expr[]> {}
/** Product of two or more factors, its number (if any) first. */
export interface MulExpr extends Node<"mul", readonly Expr[]> {}
export interface PowExpr extends Node<"pow", readonly [base: Expr, exponent: Expr]> {}
export interface FloorDivExpr extends Node<"floordiv", readonly [base: Expr, divisor: Expr]> {}
/** ModularIndexing(x, divisor, modulus) = (x // divisor) % modulus. */
export interface ModularExpr extends Node<"modular", readonly [x: Expr, divisor: Expr, modulus: Expr]> {}
/** Python's %, whose sign is the divisor's. */
export interface ModExpr extends Node<"mod", readonly [x: Expr, modulus: Expr]> {}
export interface MinExpr extends Node<"min", readonly Expr[]> {}
export interface MaxExpr extends Node<"max", readonly Expr[]> {}
export interface WhereExpr extends Node<"where", readonly [condition: Expr, then: Expr, otherwise: Expr]> {}
/** Keeps an index opaque to simplification (torch's Identity). */
export interface IdentityExpr extends Node<"identity", readonly [Expr]> {}
export interface TrueDivExpr extends Node<"truediv", readonly [Expr, Expr]> {}
export interface RelationExpr extends Node<"relation", readonly [lhs: Expr, rhs: Expr]> {
  readonly op: RelationOp;
}
export interface AndExpr extends Node<"and", readonly Expr[]> {}
export interface OrExpr extends Node<"or", readonly Expr[]> {}
export interface NotExpr extends Node<"not", readonly [Expr]> {}

export type Expr =
  | IntExpr
  | FloatExpr
  | SymExpr
  | AddExpr
  | MulExpr
  | PowExpr
  | FloorDivExpr
  | ModularExpr
  | ModExpr
  | MinExpr
  | MaxExpr
  | WhereExpr
  | IdentityExpr
  | TrueDivExpr
  | RelationExpr
  | AndExpr
  | OrExpr
  | NotExpr;

export type ExprKind = Expr["kind"];
/** What every constructor accepts. A number that is an integer means int, any other float. */
export type ExprLike = Expr | number;

const NO_ARGS = [] as const;

/** Integer constant. @throws RangeError for a number that is no integer (a bug in the caller). */
export function int(value: number): IntExpr {
  const table = internTable();
  const n = value === 0 ? 0 : value; // -0 and 0 are one node
  let node = table.ints.get(n) as IntExpr | undefined;
  if (node === undefined) {
    if (!Number.isInteger(n)) throw new RangeError(`not an integer: ${value}`);
    node = { kind: "int", id: table.nextId(), args: NO_ARGS, cache: {}, value: n };
    table.ints.set(n, node);
  }
  return node;
}

/** Floating-point constant (stays a float even when its value is integral, as sympy's Float). */
export function float(value: number): FloatExpr {
  const table = internTable();
  const key = `f${Object.is(value, -0) ? "-0" : value}`;
  let node = table.nodes.get(key) as FloatExpr | undefined;
  if (node === undefined) {
    node = { kind: "float", id: table.nextId(), args: NO_ARGS, cache: {}, value };
    table.nodes.set(key, node);
  }
  return node;
}

export const ZERO = (): IntExpr => int(0);
export const ONE = (): IntExpr => int(1);
export const NEG_ONE = (): IntExpr => int(-1);

export function toExpr(e: ExprLike): Expr {
  if (typeof e !== "number") return e;
  return Number.isInteger(e) ? int(e) : float(e);
}

export interface SymOptions {
  readonly kind?: SymKind;
  readonly positive?: boolean;
  readonly nonnegative?: boolean;
}

/**
 * Symbol. Without options it is a loop variable (integer, >= 0). Defaults by kind are those torch gives: sizes are
 * positive; loop and indirect variables nonnegative; unbacked and float symbols have no sign.
 * Two symbols of one name with different assumptions are different, as in sympy.
 */
export function sym(name: string, options: SymOptions = {}): SymExpr {
  const symKind = options.kind ?? "loop";
  const positive = options.positive ?? symKind === "size";
  const nonnegative = positive || (options.nonnegative ?? (symKind === "loop" || symKind === "indirect"));
  const table = internTable();
  let list = table.symbols.get(name);
  if (list === undefined) {
    list = [];
    table.symbols.set(name, list);
  }
  for (const s of list) {
    if (s.symKind === symKind && s.positive === positive && s.nonnegative === nonnegative) return s;
  }
  const node: SymExpr = {
    kind: "sym",
    id: table.nextId(),
    args: NO_ARGS,
    cache: {},
    name,
    symKind,
    positive,
    nonnegative,
  };
  list.push(node);
  return node;
}

/** Symbols of this table that carry `name`, in creation order. */
export function symbolsByName(name: string): readonly SymExpr[] {
  return internTable().symbols.get(name) ?? [];
}

/** Kinds that are nothing but a list of arguments. */
type PlainKind = Exclude<ExprKind, "int" | "float" | "sym" | "relation">;

/** Interns a node whose arguments are already canonical. */
export function makeNode<K extends PlainKind>(
  kind: K,
  args: Extract<Expr, { kind: K }>["args"],
): Extract<Expr, { kind: K }> {
  let key: string = kind;
  for (const a of args as readonly Expr[]) key += `,${a.id}`;
  const table = internTable();
  let node = table.nodes.get(key);
  if (node === undefined) {
    node = { kind, id: table.nextId(), args, cache: {} } as unknown as Expr;
    table.nodes.set(key, node);
  }
  return node as Extract<Expr, { kind: K }>;
}

/** Interns a relation whose sides are already canonical. */
export function makeRelation(op: RelationOp, lhs: Expr, rhs: Expr): RelationExpr {
  const key = `${op},${lhs.id},${rhs.id}`;
  const table = internTable();
  let node = table.nodes.get(key) as RelationExpr | undefined;
  if (node === undefined) {
    node = { kind: "relation", id: table.nextId(), args: [lhs, rhs], cache: {}, op };
    table.nodes.set(key, node);
  }
  return node;
}

export function isInt(e: Expr): e is IntExpr {
  return e.kind === "int";
}

/** The value of an integer constant, undefined for everything else. */
export function intValue(e: ExprLike): number | undefined {
  if (typeof e === "number") return Number.isInteger(e) ? e : undefined;
  return e.kind === "int" ? e.value : undefined;
}

export function isNumber(e: Expr): e is IntExpr | FloatExpr {
  return e.kind === "int" || e.kind === "float";
}
