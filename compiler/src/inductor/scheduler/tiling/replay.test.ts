// Tilings of recorded kernels: what selectTiling gives must be what torch 2.11 printed in size_hints and tiling_scores.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultBehaviours, defaultConfig } from "../../../presets";
import { targetByName } from "../../ir/target";
import { InternTable, withInternTable } from "../../symbolic";
import { schedule } from "../schedule";
import { membersOf } from "../state";
import { loweredGraphOf, splitLog } from "../testing/recorded";
import { truthFolder } from "../testing/truth";
import { selectTiling } from "./select";

const truth = truthFolder();
const config = defaultConfig("torch-2.11");
const parse = (text: string | undefined): Record<string, number> | null =>
  text ? JSON.parse(text.replaceAll("'", '"')) : null;
const powerOf2 = (n: number): number => 2 ** Math.ceil(Math.log2(n));

describe.skipIf(truth === null)("tilings of recorded kernels", () => {
  const folder = join(truth ?? "", "recorded", "logs");
  // kernels of symbolic graphs print scores of example sizes that a dump does not hold
  const files = truth === null ? [] : readdirSync(folder).filter(f => !f.startsWith("dynamic"));
  for (const file of files.sort()) {
    it(`${file} is tiled as torch 2.11 did`, () => {
      const text = readFileSync(join(folder, file), "utf8");
      const codes = text.split(/^\[DEBUG\]:Output code: /m).slice(1);
      splitLog(text).forEach((g, i) => {
        withInternTable(new InternTable(), () => compare(g, codes[i] ?? ""));
      });
    });
  }
});

function compare(g: ReturnType<typeof splitLog>[number], code: string): void {
  const kernels = new Map<string, { hints: Record<string, number>; scores: Record<string, number> | null }>();
  for (const m of code.matchAll(/^(\w+) = async_compile\.triton\('\w+', '''([\s\S]*?)'''/gm)) {
    const source = m[2] ?? "";
    kernels.set(m[1] ?? "", {
      hints: parse(/size_hints=(\{[^}]*\})/.exec(source)?.[1]) ?? {},
      scores: parse(/'tiling_scores': (\{[^}]*\})/.exec(source)?.[1]),
    });
  }
  const calls = [...code.matchAll(/^\s+(\w+)\.run\(/gm)].flatMap(m => (m[1] && kernels.has(m[1]) ? [m[1]] : []));
  const r = schedule(loweredGraphOf(g), {
    config,
    behaviours: defaultBehaviours("torch-2.11"),
    target: targetByName("h200"),
    wantDumps: false,
  });
  // mix-order and foreach kernels print no scores of their own
  if (r.nodes.some(n => n.type === "FusedMixOrderReductions" || n.type === "ForeachKernelSchedulerNode")) return;
  const nodes = r.nodes.filter(n => n.type === "SchedulerNode" || n.type === "FusedSchedulerNode");
  expect(nodes.length).toBe(calls.length);
  nodes.forEach((n, k) => {
    const name = calls[k] ?? "";
    const { tiling, scores } = selectTiling(membersOf(n), n.group[0], n.group[1], { ...r, config });
    const pointwise = name.startsWith("triton_poi");
    const hints = [...tiling]
      .filter(([p]) => !(pointwise && p === "r0_"))
      .map(([p, e]) => [p, powerOf2(r.graph.sizevars.sizeHint(e, 1))]);
    expect(Object.fromEntries(hints)).toEqual(kernels.get(name)?.hints);
    expect(scores?.size ? Object.fromEntries(scores) : null).toEqual(kernels.get(name)?.scores);
  });
}
