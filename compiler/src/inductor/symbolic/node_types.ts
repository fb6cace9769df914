// The shapes of expression nodes (sympy's classes as a discriminated union). Nodes are made by nodes.ts alone.

export type RelationOp = "eq" | "ne" | "lt" | "le" | "gt" | "ge";
export type SymKind = "size" | "unbacked" | "loop" | "indirect" | "float";

/** Facts about a node that are kept with it, most of them found out lazily. */
export interface NodeCache {
  /** Which kinds occur in the node and below it: an or of `kindBit`. */
  readonly kinds: number;
  free?: ReadonlySet<SymExpr>;
  /** Sign bits, see assumptions.ts. */
  sign?: number;
  integer?: boolean;
  /** Product without its number. */
  rest?: Expr;
  expanded?: Expr;
  /** Whether all symbols are loop or indirect variables. */
  sizeFree?: boolean;
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
export interface AbsExpr extends Node<"abs", readonly [Expr]> {}
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
  | AbsExpr
  | TrueDivExpr
  | RelationExpr
  | AndExpr
  | OrExpr
  | NotExpr;

export type ExprKind = Expr["kind"];
/** What every constructor accepts. A number that is an integer means int, any other float. */
export type ExprLike = Expr | number;
