// Recorded graphs, replayed from their own dumps: every fusion, refusal and dump must be what torch 2.11 logged.
import { readdirSync, readFileSync } from "node:fs";
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
/** example sizes that decide in graphs with symbols */
const HINTS = new Map([
  ["s77", 1000],
  ["s27", 128],
  ["s94", 256],
  ["s53", 32],
]);

describe.skipIf(truth === null)("recorded graphs", () => {
  const folder = join(truth ?? "", "recorded", "logs");
  for (const file of truth === null ? [] : readdirSync(folder).sort()) {
    it(`${file} schedules as torch 2.11 did`, () => {
      for (const g of splitLog(readFileSync(join(folder, file), "utf8"))) {
        withInternTable(new InternTable(), () => {
          const r = schedule(loweredGraphOf(g, HINTS), {
            config: defaultConfig("torch-2.11"),
            behaviours: defaultBehaviours("torch-2.11"),
            target: targetByName("h200"),
            wantDumps: true,
          });
          const log = printFusionLog(r.events, { anchors: false }).map(m => m.text.trimEnd());
          expect(r.preFusionDump?.trimEnd()).toBe(g.before.trimEnd());
          expect(log.filter(l => !l.startsWith("  ")).join("\n")).toBe(g.fusion.join("\n"));
          expect(r.postFusionDump?.trimEnd()).toBe(g.after.trimEnd());
          expect(verifySchedule(r)).toEqual([]);
        });
      }
    });
  }
});
