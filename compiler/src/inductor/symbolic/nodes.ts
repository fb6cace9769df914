// In: already canonical parts. Out: interned nodes.
// Promises: no simplification happens here; `make*` only interns. Everything else builds through the constructors of
// arith.ts, divide.ts and choice.ts, which hand canonical parts to these.

import { internTable } from "./intern";
import type {
  Expr,
  ExprKind,
  ExprLike,
  FloatExpr,
  IntExpr,
  NodeCache,
  RelationExpr,
  RelationOp,
  SymExpr,
  SymKind,
} from "./node_types";

export type * from "./node_types";

const KINDS: readonly ExprKind[] = [
  "int",
  "float",
  "sym",
  "add",
  "mul",
  "pow",
  "floordiv",
  "modular",
  "mod",
  "min",
  "max",
  "where",
  "identity",
  "truediv",
  "relation",
  "and",
  "or",
  "not",
  "abs",
];
const KIND_BITS = new Map(KINDS.map((k, i) => [k, 1 << i]));

/** The bit of a kind in NodeCache.kinds. */
export function kindBit(kind: ExprKind): number {
  return KIND_BITS.get(kind) ?? 0;
}

const NO_ARGS = [] as const;

/** Integer constant. @throws RangeError for a number that is no integer (a bug in the caller). */
export function int(value: number): IntExpr {
  const table = internTable();
  const n = value === 0 ? 0 : value; // -0 and 0 are one node
  let node = table.ints.get(n) as IntExpr | undefined;
  if (node === undefined) {
    if (!Number.isInteger(n)) throw new RangeError(`not an integer: ${value}`);
    node = { kind: "int", id: table.nextId(), args: NO_ARGS, cache: { kinds: kindBit("int") }, value: n };
    table.ints.set(n, node);
  }
  return node;
}

/** Floating-point constant (stays a float even when its value is integral, as sympy's Float). */
export function float(value: number): FloatExpr {
  const table = internTable();
  const key = Object.is(value, -0) ? "-0" : String(value);
  let node = table.floats.get(key) as FloatExpr | undefined;
  if (node === undefined) {
    node = { kind: "float", id: table.nextId(), args: NO_ARGS, cache: { kinds: kindBit("float") }, value };
    table.floats.set(key, node);
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
    cache: { kinds: kindBit("sym") },
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

/** Whether two lists hold the same nodes in the same order. */
export function sameArgs(a: readonly Expr[], b: readonly Expr[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function isNode(e: Expr, kind: ExprKind, op: RelationOp | undefined, args: readonly Expr[]): boolean {
  return e.kind === kind && (e.kind !== "relation" || e.op === op) && sameArgs(e.args, args);
}

/** The node of this kind (and, for relations, operator) over these arguments. */
function intern(kind: ExprKind, op: RelationOp | undefined, args: readonly Expr[]): Expr {
  let hash = kindBit(kind) + (op === undefined ? 0 : op.charCodeAt(0) * 31 + op.charCodeAt(1));
  let kinds = kindBit(kind);
  for (const a of args) {
    hash = (Math.imul(hash, 0x01000193) ^ a.id) | 0;
    hash ^= hash >>> 15;
    kinds |= a.cache.kinds;
  }
  const table = internTable();
  const found = table.nodes.get(hash);
  if (found !== undefined) {
    if (!Array.isArray(found)) {
      if (isNode(found, kind, op, args)) return found;
    } else {
      const hit = found.find(e => isNode(e, kind, op, args));
      if (hit !== undefined) return hit;
    }
  }
  const id = table.nextId();
  const cache: NodeCache = { kinds };
  const node = (op === undefined ? { kind, id, args, cache } : { kind, id, args, cache, op }) as unknown as Expr;
  if (found === undefined) table.nodes.set(hash, node);
  else if (Array.isArray(found)) found.push(node);
  else table.nodes.set(hash, [found, node]);
  return node;
}

/** Interns a node whose arguments are already canonical. */
export function makeNode<K extends PlainKind>(
  kind: K,
  args: Extract<Expr, { kind: K }>["args"],
): Extract<Expr, { kind: K }> {
  return intern(kind, undefined, args) as Extract<Expr, { kind: K }>;
}

/** Interns a relation whose sides are already canonical. */
export function makeRelation(op: RelationOp, lhs: Expr, rhs: Expr): RelationExpr {
  return intern("relation", op, [lhs, rhs]) as RelationExpr;
}

export function isInt(e: Expr): e is IntExpr {
  return e.kind === "int";
}

/** The value of an integer constant, undefined for everything else. */
export function intValue(e: ExprLike): number | undefined {
  if (typeof e === "number") return Number.isInteger(e) ? e : undefined;
  return e.kind === "int" ? e.value : undefined;
}

/** Whether two lists hold the very same expressions; expressions that are written alike are one object. */
export function sameExprs(a: readonly Expr[], b: readonly Expr[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function isNumber(e: Expr): e is IntExpr | FloatExpr {
  return e.kind === "int" || e.kind === "float";
}
