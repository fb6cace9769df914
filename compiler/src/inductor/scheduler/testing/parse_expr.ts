// Test only. In: an index or size as sympy prints it in a log. Out: the expression.
// Promises: what the log printer writes reads back as the same node; throws on anything else.
import {
  abs,
  add,
  type Expr,
  floorDiv,
  identity,
  int,
  max,
  min,
  mod,
  modularIndexing,
  mul,
  neg,
  pow,
  type SymExpr,
  sub,
  sym,
} from "../../symbolic/expr";

export function parseSymbol(name: string): SymExpr {
  if (/^(indirect|tmp)\d+$/.test(name)) return sym(name, { kind: "indirect" });
  if (/^s\d+$/.test(name)) return sym(name, { kind: "size" });
  if (/^u\d+$/.test(name)) return sym(name, { kind: "unbacked" });
  return sym(name);
}

export function parseExpr(text: string): Expr {
  const tokens = text.match(/\d+|[A-Za-z_]\w*|\/\/|\*\*|[-+*%(),]/g) ?? [];
  let at = 0;
  const peek = (): string | undefined => tokens[at];
  const take = (t: string): void => {
    if (tokens[at] !== t) throw new Error(`expected ${t} at ${at} of ${text}`);
    at++;
  };
  const parseSum = (): Expr => {
    let e: Expr;
    if (peek() === "-") {
      at++;
      e = neg(parseTerm());
    } else e = parseTerm();
    while (peek() === "+" || peek() === "-") {
      const op = tokens[at++];
      const t = parseTerm();
      e = op === "+" ? add(e, t) : sub(e, t);
    }
    return e;
  };
  /** an argument or the whole text: a single pair of parentheses around all of it is Identity's own */
  const parseWhole = (): Expr => {
    const start = at;
    const e = parseSum();
    const wrapped = tokens[start] === "(" && closes(tokens, start) === at - 1 && !divides(tokens, start);
    return wrapped && e.kind !== "identity" ? identity(e) : e;
  };
  const parseTerm = (): Expr => {
    let e = parsePower();
    for (;;) {
      const op = peek();
      if (op === "*") {
        at++;
        e = mul(e, parsePower());
      } else if (op === "//") {
        at++;
        e = floorDiv(e, parsePower());
      } else if (op === "%") {
        at++;
        e = mod(e, parsePower());
      } else return e;
    }
  };
  const parsePower = (): Expr => {
    const base = parseAtom();
    if (peek() !== "**") return base;
    at++;
    return pow(base, parseAtom());
  };
  const parseAtom = (): Expr => {
    const t = tokens[at++];
    if (t === undefined) throw new Error(`unexpected end of ${text}`);
    if (t === "(") {
      const start = at;
      const e = parseSum();
      take(")");
      // Identity prints its own parentheses; inside a sum or product the printer adds another pair.
      const inner = tokens[start] === "(" && closes(tokens, start) === at - 2;
      return inner && !divides(tokens, start) && e.kind !== "identity" ? identity(e) : e;
    }
    if (t === "-") return neg(parseAtom());
    if (/^\d/.test(t)) return int(Number(t));
    if (peek() === "(") {
      at++;
      const args = [parseWhole()];
      while (peek() === ",") {
        at++;
        args.push(parseWhole());
      }
      take(")");
      return call(t, args);
    }
    return parseSymbol(t);
  };
  const e = parseWhole();
  if (at !== tokens.length) throw new Error(`trailing text in ${text}`);
  return e;
}

function closes(tokens: readonly string[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i] === "(") depth++;
    else if (tokens[i] === ")" && --depth === 0) return i;
  }
  return -1;
}

/** whether the parenthesised group that starts at `open` is a division, whose own parentheses these are */
function divides(tokens: readonly string[], open: number): boolean {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i] === "(") depth++;
    else if (tokens[i] === ")") {
      if (--depth === 0) return false;
    } else if (depth === 1 && tokens[i] === "//") return true;
  }
  return false;
}

function call(name: string, args: readonly Expr[]): Expr {
  const [a, b, c] = args;
  if (name === "ModularIndexing" && a && b && c) return modularIndexing(a, b, c);
  if (name === "FloorDiv" && a && b) return floorDiv(a, b);
  if (name === "Mod" && a && b) return mod(a, b);
  if (name === "PythonMod" && a && b) return mod(a, b);
  if (name === "Max") return max(...args);
  if (name === "Min") return min(...args);
  if (name === "Identity" && a) return identity(a);
  if (name === "Abs" && a) return abs(a);
  throw new Error(`unknown function ${name}`);
}
