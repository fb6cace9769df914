// Test helper. In: index text as a log (sympy's str) or a Triton kernel shows it. Out: the expression.
// Promises: a form that the printers give parses back to the node that printed it; undefined for anything else.
// In logs an extra pair of parentheses where none is needed stands for Identity. Triton text has one pair only, so there
// a parenthesised symbol, a sum after a number, and a sum with a negative number are taken for Identity.

import { type Expr, floorDiv, identity, int, modularIndexing, mul, product, type SymExpr, sum, sym } from "./expr";

export function parseSymbol(name: string): SymExpr {
  if (/^s\d+$/.test(name)) return sym(name, { kind: "size" });
  if (/^u\d+$/.test(name)) return sym(name, { kind: "unbacked" });
  if (/^(indirect|tmp)\d+$/.test(name)) return sym(name, { kind: "indirect" });
  return sym(name);
}

interface Piece {
  readonly e: Expr;
  readonly kind: "atom" | "group" | "floordiv" | "modular" | "compound";
  /** Of a division: its operands as written. */
  readonly division?: readonly [Expr, Expr];
}

class Parser {
  #at = 0;
  readonly #tokens: readonly string[];

  constructor(
    text: string,
    readonly triton: boolean,
  ) {
    this.#tokens = text.match(/\/\/|[A-Za-z_]\w*|\d+|[-+*%(),]|\S/g) ?? [];
  }

  parseAll(): Expr | undefined {
    const e = this.#whole();
    return e !== undefined && this.#at === this.#tokens.length ? e : undefined;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  /** An expression that stands alone: inside parentheses, as an argument, or as the whole text. */
  #whole(): Expr | undefined {
    const p = this.#inside();
    if (p === undefined) return undefined;
    return p.kind === "group" ? identity(p.e) : p.e;
  }

  /** What is divided: in Triton text a sum with a negative number is hidden by an Identity. */
  #operand(p: Piece): Expr {
    const first = p.e.args[0];
    const hidden = p.e.kind === "sym" || (p.e.kind === "add" && first?.kind === "int" && first.value < 0);
    return this.triton && p.kind === "group" && hidden ? identity(p.e) : p.e;
  }

  #inside(): Piece | undefined {
    const left = this.#sum();
    if (left === undefined) return undefined;
    if (this.#take("//")) {
      const right = this.#factor();
      const division = [this.#operand(left), right?.e ?? int(1)] as const;
      return right && { e: floorDiv(...division), kind: "floordiv", division };
    }
    if (this.#take("%")) {
      const right = this.#factor();
      if (right === undefined) return undefined;
      const inner = left.division ?? ([this.#operand(left), int(1)] as const);
      return { e: modularIndexing(inner[0], inner[1], right.e), kind: "modular" };
    }
    return left;
  }

  #sum(): Piece | undefined {
    let negative = this.#take("-");
    let first = this.#term();
    if (first === undefined) return undefined;
    if (negative) first = { e: mul(-1, first.e), kind: "compound" };
    const terms = [first.e];
    for (;;) {
      negative = this.#take("-");
      if (!negative && !this.#take("+")) break;
      const t = this.#term();
      if (t === undefined) return undefined;
      terms.push(negative ? mul(-1, t.e) : t.e);
    }
    return terms.length === 1 ? first : { e: sum(terms), kind: "compound" };
  }

  #term(): Piece | undefined {
    const first = this.#factor();
    if (first === undefined) return undefined;
    if (this.triton && first.kind === "group" && (first.e.kind === "sym" || first.e.kind === "add")) {
      const next = this.#tokens[this.#at];
      if (next !== "//" && next !== "%") return { e: identity(first.e), kind: "compound" };
    }
    const factors = [first.e];
    while (this.#take("*")) {
      const f = this.#factor();
      if (f === undefined) return undefined;
      const hidden = this.triton && f.kind === "group" && first.e.kind === "int";
      factors.push(hidden ? identity(f.e) : f.e);
    }
    return factors.length === 1 ? first : { e: product(factors), kind: "compound" };
  }

  #factor(): Piece | undefined {
    if (this.#take("(")) {
      const p = this.#inside();
      if (p === undefined || !this.#take(")")) return undefined;
      if (p.kind === "floordiv" || p.kind === "modular") return p;
      return { e: p.kind === "group" ? identity(p.e) : p.e, kind: "group" };
    }
    const token = this.#tokens[this.#at];
    if (token === undefined) return undefined;
    if (/^\d+$/.test(token)) {
      this.#at++;
      return { e: int(Number(token)), kind: "atom" };
    }
    if (token === "ModularIndexing") {
      this.#at++;
      if (!this.#take("(")) return undefined;
      const args: Expr[] = [];
      do {
        const a = this.#whole();
        if (a === undefined) return undefined;
        args.push(a);
      } while (this.#take(","));
      if (!this.#take(")") || args.length !== 3) return undefined;
      return { e: modularIndexing(args[0] as Expr, args[1] as Expr, args[2] as Expr), kind: "atom" };
    }
    if (/^[A-Za-z_]\w*$/.test(token)) {
      this.#at++;
      return { e: parseSymbol(token), kind: "atom" };
    }
    return undefined;
  }
}

/** The expression that `text` stands for. */
export function parseIndex(text: string, form: "log" | "triton" = "log"): Expr | undefined {
  return new Parser(text, form === "triton").parseAll();
}
