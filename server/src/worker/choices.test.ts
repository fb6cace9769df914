// The search for the fastest ways, against made-up times.
import type { Compilation, ReportChoice } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { measureWays } from "./choices";

/** times by way of each product, and what the graph takes: their sum */
type Times = readonly Readonly<Record<string, number>>[];

function choiceOf(times: Times): ReportChoice {
  const products = times.map(t => Object.keys(t));
  const ways = [...new Set(products.flat())];
  return { key: "k", ways, products, operations: [], estimates: [], chosen: "library", measured: null, where: null };
}

async function measured(times: Times, blocked: readonly string[] = []) {
  const asked: string[] = [];
  const compile = async (way: string): Promise<Compilation | null> => {
    const each = times.map((_, i) => way.split(",")[way.includes(",") ? i : 0] ?? "");
    const plan = { blockers: blocked.includes(way) ? ["no"] : [], kernels: [] };
    return {
      plan,
      wat: [],
      graph: { name: "f", bytes: 0 },
      outputCode: { standalone: each.join(), eager: null },
    } as never;
  };
  const submit = async (job: { readonly graph: { readonly standalone: string } }) => {
    asked.push(job.graph.standalone);
    const each = job.graph.standalone.split(",");
    // a product that does not have the way is left to the library
    const medianUs = times.reduce((sum, t, i) => sum + (t[each[i] ?? ""] ?? t["library"] ?? 0), 0);
    return { result: { kind: "benchmark", where: "here", graph: { medianUs } } };
  };
  const found = await measureWays({ submit } as never, [{ choice: choiceOf(times), compile }], false, {});
  const { microseconds = {} } = found.get("k") ?? {};
  const [best] = Object.entries(microseconds).sort(([, a], [, b]) => a - b);
  return { best: best?.[0], us: best?.[1], asked };
}

describe("ways to compute a graph's products", () => {
  it("are measured once each where there is one product", async () => {
    const { best, asked } = await measured([{ library: 5, flattened: 4, pointers: 6 }]);
    expect(best).toBe("flattened");
    expect(asked).toEqual(["library", "flattened", "pointers"]);
  });

  it("are found for each product on its own", async () => {
    const times = [
      { library: 5, flattened: 4, pointers: 6 },
      { library: 5, flattened: 9, pointers: 3 },
      { library: 1, flattened: 2, pointers: 2 },
    ];
    expect(await measured(times)).toMatchObject({ best: "flattened,pointers,library", us: 8 });
  });

  it("that come to the same code are measured once", async () => {
    const { asked } = await measured([{ library: 5, pointers: 4 }, { library: 3 }]);
    expect(asked).toHaveLength(new Set(asked).size);
  });

  it("without a plan that runs are left out", async () => {
    const { best } = await measured([{ library: 5, flattened: 1, pointers: 4 }], ["flattened"]);
    expect(best).toBe("pointers");
  });

  it("stay with the common one where none does better alone", async () => {
    const times = [
      { library: 5, flattened: 4 },
      { library: 5, flattened: 4 },
    ];
    expect((await measured(times)).best).toBe("flattened");
  });
});
