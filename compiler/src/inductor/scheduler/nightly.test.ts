// The walkthrough's own graphs under the nightly preset: dumps and fusion logs, switch off and on.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultBehaviours, defaultConfig } from "../../presets";
import { printFusionLog } from "../../report/fusion_log";
import { targetByName } from "../ir/target";
import { InternTable, withInternTable } from "../symbolic";
import { schedule } from "./schedule";
import { loweredGraphOf, splitLog } from "./testing/recorded";
import { truthFolder } from "./testing/truth";
import { verifySchedule } from "./verify";

const truth = truthFolder();
const folder = join(truth ?? "", "notebook", "expected");
const CASES: readonly (readonly [name: string, config: readonly (readonly [string, unknown])[]])[] = [
  ["combo_kernels.off", []],
  ["combo_kernels.on", [["combo_kernels", true]]],
  ["dynamic_sums_mismatch", []],
  ["loop_reorder.off", [["loop_ordering_after_fusion", false]]],
  ["loop_reorder.on", []],
  ["mix_order.off", [["triton.mix_order_reduction", false]]],
  ["mix_order.on", []],
  ["nested_reduction.off", [["triton.nested_reduction", false]]],
  ["nested_reduction.on", []],
  ["gelu", []],
];

const read = (name: string): string => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
const strip = (text: string | null): string =>
  (text ?? "")
    .split("\n")
    .map(l => l.trimEnd())
    .join("\n")
    .trimEnd();

describe.skipIf(truth === null)("walkthrough graphs", () => {
  for (const [name, config] of CASES) {
    it(`${name} schedules as the nightly did`, () => {
      const [g] = splitLog(
        `${read(`${name}.ir_pre_fusion.txt`)}\n${read(`${name}.fusion.txt`)}\n${read(`${name}.ir_post_fusion.txt`)}`,
      );
      if (!g) throw new Error(`no graph in ${name}`);
      withInternTable(new InternTable(), () => {
        const r = schedule(
          loweredGraphOf(
            g,
            new Map([
              ["s77", 10],
              ["s27", 20],
              ["s94", 20],
            ]),
          ),
          {
            config: defaultConfig("nightly-2026-11", config),
            behaviours: defaultBehaviours("nightly-2026-11"),
            target: targetByName("h100"),
            wantDumps: true,
          },
        );
        const log = printFusionLog(r.events, { anchors: true }).map(m => m.text.trimEnd());
        expect(strip(r.preFusionDump)).toBe(strip(g.before));
        if (g.fusion.length) expect(log.filter(l => !l.startsWith("  ")).join("\n")).toBe(g.fusion.join("\n"));
        expect(strip(r.postFusionDump)).toBe(strip(g.after));
        expect(verifySchedule(r)).toEqual([]);
      });
    });
  }
});
