// Products in every way that they may be computed, of random sizes: sums in pieces and operands computed on the way in give
// what their operations give one by one, on the CPU executor.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadable } from "../../server/src/worker/values";
import { sourceOf } from "../values/sources";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor, type Pair } from "../worker/executor";

const run = cpuExecutor();

const CASES = 12;
const SEED = 20262;

type Sizes = Readonly<Record<"m" | "n" | "k", number>>;

const randn = (rows: number, columns: number, dtype: string): string =>
  `torch.randn(${rows}, ${columns}, device="cuda", dtype=torch.${dtype})`;

/** body and arguments, by what is computed before and after the product */
const PRODUCTS: readonly ((s: Sizes, dtype: string) => readonly [string, readonly string[]])[] = [
  ({ m, n, k }, d) => ["F.gelu(F.linear(a, b))", [randn(m, k, d), randn(n, k, d)]],
  ({ m, n, k }, d) => ["torch.addmm(c, a, b, alpha=0.5, beta=2.0)", [randn(m, k, d), randn(k, n, d), randn(1, n, d)]],
  ({ m, n, k }, d) => [
    `F.linear(a, b.to(torch.${d}) * c)`,
    [randn(m, k, d), `(${randn(n, k, "float32")} * 9).to(torch.int8)`, randn(n, 1, d)],
  ],
  ({ m, n, k }, d) => ["(F.silu(a) * b) @ c", [randn(m, k, d), randn(m, k, d), randn(k, n, d)]],
  ({ m, n, k }) => ["(a.half() @ b.half()).relu()", [randn(m, k, "float32"), randn(k, n, "float32")]],
  ({ m, n, k }, d) => ["a.relu().t() @ (b * 2)", [randn(k, m, d), randn(k, n, d)]],
];

function compiled(source: string, way: string | null) {
  const config = new Map<string, unknown>([["max_autotune", true]]);
  if (way !== null) config.set("triton.template_form", way);
  const program = runSource("/random/model.py", source, {
    wat: true,
    unfused: way === null,
    preset: "fuselens",
    config,
  });
  const [c] = program.compilations;
  if (!c) throw new Error(`nothing was compiled\n${source}`);
  expect(c.plan.blockers, `${way}\n${source}`).toEqual([]);
  return c;
}

/** every way of one product beside its operations one by one */
function pairsOf(source: string): { readonly way: string; readonly pair: Pair }[] {
  const plain = loadable(compiled(source, null));
  const ways = (compiled(source, "library").graph.choice?.ways ?? []).filter(w => /^split_|_prologue$/.test(w));
  return ways.map(way => ({ way, pair: { fused: loadable(compiled(source, way)), unfused: plain } }));
}

describe("matrix products of random sizes", () => {
  it("give in pieces and with computed operands what their operations give", async () => {
    const size = fc.record({
      m: fc.integer({ min: 1, max: 70 }),
      n: fc.integer({ min: 2, max: 70 }),
      k: fc.integer({ min: 1, max: 2100 }),
    });
    const cases = fc.sample(
      fc.tuple(size, fc.constantFrom("float32", "float16", "bfloat16"), fc.constantFrom(...PRODUCTS)),
      { numRuns: CASES, seed: SEED },
    );
    const tried: { source: string; way: string; pair: Pair }[] = [];
    for (const [sizes, dtype, product] of cases) {
      const source = sourceOf(...product(sizes, dtype));
      for (const p of pairsOf(source)) tried.push({ source, ...p });
    }
    expect(tried.length).toBeGreaterThan(CASES);
    const result = await run({ kind: "verify", pairs: tried.map(t => t.pair) });
    const wrong = result.pairs.flatMap((p, i) =>
      p.outputs
        .filter(o => o.maxRel > (o.dtype === "float32" ? 1e-4 : 5e-2))
        .map(o => `${tried[i]?.way} ${o.maxRel}\n${tried[i]?.source}`),
    );
    expect(wrong).toEqual([]);
  }, 180_000);
});
