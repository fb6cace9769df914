// What math answers, and what it refuses.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

test("math refuses what no double holds, and what it has no value for", () => {
  const r = analysed(`
import math
def ask(f, *args):
    try:
        return f(*args)
    except (ValueError, OverflowError) as e:
        return type(e).__name__
print([ask(math.exp, 1000), ask(math.sin, math.inf), ask(math.acos, 2), ask(math.atanh, 1), ask(math.fmod, 1, 0)])
print([ask(math.pow, 0, -1), ask(math.gamma, 0), ask(math.factorial, -1), ask(math.comb, -1, 2), ask(math.log1p, -1)])
print(math.exp(-1000), math.fmod(math.inf, math.inf) if False else 0, math.isnan(math.acos(math.nan)))
print(math.comb(60, 30), math.comb(5, 7), math.perm(5, 2), math.factorial(20), round(math.lgamma(200), 6))
`);
  expect(printed(r)).toBe(
    [
      "['OverflowError', 'ValueError', 'ValueError', 'ValueError', 'ValueError']",
      "['ValueError', 'ValueError', 'ValueError', 'ValueError', 'ValueError']",
      "0.0 0 True",
      "118264581564861424 0 20 2432902008176640000 857.93367",
      "",
    ].join("\n"),
  );
});
