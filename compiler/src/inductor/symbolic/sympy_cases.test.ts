import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type Expr,
  expand,
  floorDiv,
  identity,
  int,
  max,
  min,
  mod,
  modularIndexing,
  pow,
  product,
  type RelationOp,
  relation,
  type SymExpr,
  sub,
  sum,
} from "./expr";
import { Facts } from "./facts";
import { printLog } from "./print_log";
import { printPython } from "./print_python";
import { printTriton } from "./print_triton";
import { simplifyLoops, simplifyWithRanges, strideVars } from "./simplify";
import { SizeVars } from "./size_vars";
import { parseSymbol } from "./test_parser";

const OPERATIONS: Record<string, (...args: Expr[]) => Expr> = {
  add: (...xs) => sum(xs),
  sub: (a, b) => sub(a as Expr, b as Expr),
  mul: (...xs) => product(xs),
  pow: (a, b) => pow(a as Expr, b as Expr),
  floordiv: (a, b) => floorDiv(a as Expr, b as Expr),
  modular: (x, d, m) => modularIndexing(x as Expr, d as Expr, m as Expr),
  mod: (a, b) => mod(a as Expr, b as Expr),
  identity: e => identity(e as Expr),
  min,
  max,
};

/** (add p0 (mul 4 x1)) */
function build(text: string): Expr {
  const tokens = text.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const next = (): Expr => {
    const token = tokens[at++] ?? "";
    if (token !== "(") return /^-?\d+$/.test(token) ? int(Number(token)) : parseSymbol(token);
    const operation = OPERATIONS[tokens[at++] ?? ""];
    const args: Expr[] = [];
    while (tokens[at] !== ")") args.push(next());
    at++;
    if (operation === undefined) throw new Error(`unknown operation in ${text}`);
    return operation(...args);
  };
  return next();
}

interface Case {
  readonly e: Expr;
  readonly columns: readonly string[];
}

function rows(file: string): string[][] {
  const text = readFileSync(new URL(`testdata/${file}`, import.meta.url), "utf8");
  const lines = text.split("\n").filter(line => line !== "" && !line.startsWith("#"));
  return lines.map(line => line.split(" | ").map(c => c.trim()));
}

const cases: Case[] = rows("sympy_cases.txt").map(columns => ({ e: build(columns[0] ?? ""), columns }));

function check(column: number, print: (c: Case) => string): void {
  for (const c of cases) expect(print(c), c.columns[0]).toBe(c.columns[column]);
}

function ranges(text = ""): Map<SymExpr, Expr> {
  const result = new Map<SymExpr, Expr>();
  for (const part of text.split(" ").filter(p => p !== "")) {
    const [name, size] = part.split("=") as [string, string];
    result.set(parseSymbol(name), build(size));
  }
  return result;
}

test("expressions print as sympy's str", () => check(1, c => printLog(c.e)));
test("expressions print as Inductor's Triton printer", () => check(2, c => printTriton(c.e)));
test("expressions print as Inductor's Python printer", () => check(3, c => printPython(c.e)));
test("expressions multiply out as sympy's expand", () => check(4, c => printLog(expand(c.e))));

test("indices simplify under ranges as Inductor's do", () => {
  const sizevars = new SizeVars();
  for (const c of cases) {
    if (c.columns[6] === "") continue;
    expect(printLog(simplifyWithRanges(c.e, ranges(c.columns[5]), sizevars)), c.columns[0]).toBe(c.columns[6]);
  }
});

test("strides and merged loops are Inductor's", () => {
  const sizevars = new SizeVars();
  for (const c of cases) {
    const formulas = c.columns[8] ?? "";
    if (formulas === "") continue;
    const r = ranges(c.columns[5]);
    const vars = [...r.keys()];
    const simplified = simplifyWithRanges(c.e, r, sizevars);
    expect(strideVars(simplified, vars, sizevars).map(printLog).join("; "), c.columns[0]).toBe(c.columns[7]);
    const loops = simplifyLoops(vars, [...r.values()], formulas.split(" ; ").map(build), sizevars);
    expect(loops.sizes.map(printLog).join("; "), c.columns[0]).toBe(c.columns[9] ?? "");
  }
});

test("comparisons are decided, or left open, as torch does", () => {
  for (const [op, left, right, guard, range, expected] of rows("decisions.txt") as [RelationOp, ...string[]][]) {
    const sizevars = new SizeVars();
    const r = ranges(range);
    const facts = new Facts();
    const assume = (e: Expr): void => {
      if (e.kind === "relation") facts.add(e);
    };
    for (const [v, size] of r) assume(relation("lt", v, size));
    const [, guardOp, a, b] = guard?.match(/^(\w+) (.*) , (.*)$/) ?? [];
    if (a !== undefined && b !== undefined) assume(relation(guardOp as RelationOp, build(a), build(b)));
    const decided = sizevars.evaluateStatic(relation(op, build(left ?? ""), build(right ?? "")), r, facts);
    expect(String(decided ?? "unknown"), `${op} | ${left} | ${right} | ${guard} | ${range}`).toBe(expected);
  }
});
