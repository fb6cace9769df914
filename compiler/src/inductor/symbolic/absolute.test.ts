import { expect, test } from "vitest";
import { abs } from "./absolute";
import { evaluateNumber } from "./evaluate";
import { add, type Expr, int, mul, sub, sym } from "./expr";
import { printLog } from "./print_log";
import { printTriton } from "./print_triton";

const p = sym("p0");
const q = sym("p1");
const reflected = (x: Expr, last: number): Expr => sub(int(last), abs(sub(int(last), abs(sub(x, int(1))))));

test("absolute values are canonical as sympy's are", () => {
  const cases: [Expr, string][] = [
    [abs(int(-3)), "3"],
    [abs(p), "p0"],
    [abs(mul(-2, p)), "2*p0"],
    [abs(sub(int(1), p)), "Abs(p0 - 1)"],
    [abs(sub(p, q)), "Abs(p0 - p1)"],
    [abs(sub(q, p)), "Abs(p0 - p1)"],
    [abs(mul(3, sub(p, q))), "Abs(3*p0 - 3*p1)"],
    [abs(mul(p, sub(int(1), q))), "p0*Abs(p1 - 1)"],
    [abs(mul(3, abs(sub(p, int(1))))), "3*Abs(Abs(p0 - 1))"],
    [reflected(p, 7), "7 - Abs(Abs(p0 - 1) - 7)"],
    [add(mul(96, p), mul(8, reflected(q, 3))), "96*p0 - 8*Abs(Abs(p1 - 1) - 3) + 24"],
  ];
  for (const [e, text] of cases) expect(printLog(e)).toBe(text);
});

test("absolute values print as tl_math.abs and evaluate", () => {
  const e = reflected(p, 7);
  expect(printTriton(e)).toBe("7 + ((-1)*tl_math.abs((-7) + tl_math.abs((-1) + p0)))");
  expect([0, 1, 5, 8, 9].map(v => evaluateNumber(e, () => v))).toEqual([1, 0, 4, 7, 6]);
});
