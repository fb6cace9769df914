// Output code of recorded programs: from the recorded pre-grad graphs through all stages to text, which must be torch
// 2.11's own, line for line; and output code of the walkthrough's cells from their dumps, which must be the nightly's.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { frameOf } from "../../aot/testing/replay";
import { parseLog } from "../../fx/testing/parse_printed";
import { logNames, readLog, truthFolder } from "../../fx/testing/truth";
import { compileFrame } from "../../pipeline";
import { defaultBehaviours, defaultConfig } from "../../presets";
import { targetByName } from "../ir/target";
import { buildPlan } from "../plan/build_plan";
import { verifyPlan } from "../plan/verify";
import { InternTable, withInternTable } from "../symbolic/intern";
import { replayLog } from "./testing/replay_log";
import { inductorCode } from "./wrapper/inductor";

/** what cannot be the same anywhere: cache paths and the hash of the Triton build */
function normal(text: string): string[] {
  return text
    .replace(/\n+$/, "")
    .split("\n")
    .map(l =>
      l
        .replace(/'backend_hash': '[0-9A-F]+'/, "HASH")
        .replace(/^# kernel path: .*/, "# kernel path")
        .replace(/os\.path\.join\(cache_dir\(\), '[^']*', '[^']*'\)/, "PATH"),
    );
}

const outputCodes = (log: string): string[] =>
  [...log.matchAll(/\[DEBUG\]:Output code: ?\n([\s\S]*?)\n\[DEBUG\]:Output code written/g)].map(m => m[1] ?? "");

/** example values of symbols: `call` names the symbol of an argument, `get_args` its value */
function hintsOf(codes: readonly string[]): Map<string, number> {
  const hints = new Map<string, number>();
  for (const code of codes) {
    const bound = new Map([...code.matchAll(/^ {8}(s\d+|u\d+) = (\w+)$/gm)].map(m => [m[2] ?? "", m[1] ?? ""]));
    for (const m of code.matchAll(/^ {4}(\w+) = (\d+)$/gm)) {
      const symbol = bound.get(m[1] ?? "");
      if (symbol) hints.set(symbol, Number(m[2]));
    }
  }
  return hints;
}

describe.skipIf(logNames().length === 0)("output code of recorded programs", () => {
  it.each(logNames())("is what torch 2.11 wrote: %s", name => {
    withInternTable(new InternTable(), () => {
      const log = readLog(name);
      const wanted = outputCodes(log);
      const hints = hintsOf(wanted);
      const config = defaultConfig("torch-2.11", [["force_disable_caches", true]]);
      const target = targetByName("h200");
      const behaviours = defaultBehaviours("torch-2.11");
      let at = 0;
      let aotId = 0;
      for (const printed of parseLog(log)) {
        const frame = { ...frameOf(printed, hints), config };
        const options = {
          aotId,
          preset: "torch-2.11",
          behaviours,
          target,
          path: "",
          logs: new Set<string>(),
          wat: false,
          unfused: false,
          choices: new Map(),
          backward: true,
        };
        const result = compileFrame(frame, options);
        aotId += result.aotIds;
        for (const g of result.graphs) {
          expect(verifyPlan(g.plan)).toEqual([]);
          const want = wanted[at++];
          if (want === undefined) continue;
          expect(normal(g.outputCode.inductor)).toEqual(normal(want));
        }
      }
    });
  });
});

const cells = truthFolder === undefined ? "" : join(truthFolder, "notebook", "cells");

describe.skipIf(!existsSync(cells))("output code of the walkthrough", () => {
  it.each([7, 8, 9, 10])("is the nightly's but for comments: cell %i", cell => {
    withInternTable(new InternTable(), () => {
      for (const g of replayLog(readFileSync(join(cells, `out${cell}.txt`), "utf8"), "nightly-2026-11")) {
        const options = {
          config: defaultConfig("nightly-2026-11", [["force_disable_caches", true]]),
          behaviours: defaultBehaviours("nightly-2026-11"),
          target: targetByName("h100"),
        };
        const plan = buildPlan(g.schedule, {
          ...options,
          name: "f",
          aotId: 0,
          originOf: () => ({ lines: [], at: [], nodes: [] }),
        });
        expect(verifyPlan(plan)).toEqual([]);
        // a dump does not tell which operators a kernel came from, on which its name and comments rest
        const bare = (text: string): string[] =>
          normal(text)
            .filter(l => !/^\s*#/.test(l))
            .map(l => l.replace(/triton_(poi|per|red|for)_\w+?_?(\d+)(?=\W)/g, "kernel_$2"));
        expect(
          bare(
            inductorCode(plan, options)
              .map(l => l.text)
              .join("\n"),
          ),
        ).toEqual(bare(g.outputCode));
      }
    });
  });
});
