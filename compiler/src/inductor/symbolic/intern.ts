// In: the parts of an expression (a key). Out: the one node that stands for it in this table.
// Promises: within one table structurally equal expressions are the same object, so equality is `===` and any fact about
// an expression is computed once. Tables are entered by dynamic scope: a Session owns one and drops it with itself.

import type { Expr, SymExpr } from "./node_types";

/** What was made of two expressions, by the first and then the second. */
export type PairTable = Map<Expr, Map<Expr, Expr>>;

/** Everything that outlives one call of the expression library: the nodes and the memo maps over them. */
export class InternTable {
  /** Nodes by a hash of their kind and their arguments' ids; different nodes with one hash share a list. */
  readonly nodes = new Map<number, Expr | Expr[]>();
  readonly floats = new Map<string, Expr>();
  /** Small integers are looked up without building a key. */
  readonly ints = new Map<number, Expr>();
  /** Symbols by name, then by the assumptions that make two of one name differ. */
  readonly symbols = new Map<string, SymExpr[]>();
  /** Sums and products of two, which are asked for most. */
  readonly sums: PairTable = new Map();
  readonly products: PairTable = new Map();
  /** The connectives of nothing: true and false. */
  readonly empty: { and?: Expr; or?: Expr } = {};
  readonly #memos = new Map<string, Map<unknown, unknown>>();
  #nextId = 0;

  /** The next node id; ids grow in creation order and are never reused. */
  nextId(): number {
    return this.#nextId++;
  }

  /** A memo map that lives as long as the table. One name has one key and value type. */
  memo<K, V>(name: string): Map<K, V> {
    let map = this.#memos.get(name);
    if (map === undefined) {
      map = new Map();
      this.#memos.set(name, map);
    }
    return map as Map<K, V>;
  }
}

let current: InternTable | undefined;
let fallback: InternTable | undefined;

/** The table in scope; outside of any scope, one default table for the process (tests, tools). */
export function internTable(): InternTable {
  if (current !== undefined) return current;
  fallback ??= new InternTable();
  return fallback;
}

/** Runs `fn` with `table` in scope. Synchronous only: the scope ends when `fn` returns or throws. */
export function withInternTable<T>(table: InternTable, fn: () => T): T {
  const outer = current;
  current = table;
  try {
    return fn();
  } finally {
    current = outer;
  }
}
