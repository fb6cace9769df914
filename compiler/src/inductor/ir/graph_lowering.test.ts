// Recorded post-grad graphs lowered anew: names, loops, indices, bodies, layouts and origins must be what torch 2.11 logged.
import { describe, expect, it } from "vitest";
import { logNames, readLog, truthFolder } from "../../fx/testing/truth";
import { defaultBehaviours, defaultConfig } from "../../presets";
import { schedule } from "../scheduler/schedule";
import { InternTable, withInternTable } from "../symbolic";
import { targetByName } from "./target";
import { recordedLowerings } from "./testing/recorded_lowering";
import { verifyLowered } from "./verify";

/** origins of single operations as the first candidates line after the dump prints them */
function recordedOrigins(log: string, before: string): Map<string, string> {
  const start = log.indexOf("fuse_nodes_once, candidates", log.indexOf(before.trimEnd()));
  const rest = log.slice(start);
  const text = rest.slice(0, rest.search(/\n\[DEBUG\]:(?:found|cannot)/));
  const out = new Map<string, string>();
  for (const m of text.matchAll(/SchedulerNode\(name='(op\d+)'\), \w+\(\[.*?origins=OrderedSet\(\[([^\]]*)\]\)/g))
    out.set(m[1] ?? "", m[2] ?? "");
  return out;
}

describe.skipIf(truthFolder === undefined)("recorded graphs", () => {
  for (const name of logNames()) {
    it(`${name} lowers as in torch 2.11`, () => {
      withInternTable(new InternTable(), () => {
        const log = readLog(name);
        for (const r of recordedLowerings(log)) {
          const g = r.lower();
          expect(verifyLowered(g)).toEqual([]);
          const s = schedule(g, {
            config: defaultConfig("torch-2.11"),
            behaviours: defaultBehaviours("torch-2.11"),
            target: targetByName("h200"),
            wantDumps: true,
          });
          expect(s.preFusionDump?.trimEnd()).toBe(r.recorded.before.trimEnd());
          const origins = recordedOrigins(log, r.recorded.before);
          for (const op of g.operations) {
            const recorded = origins.get(op.name);
            if (recorded !== undefined)
              expect(`${op.name}: ${op.origins.map(n => n.name).join(", ")}`).toBe(`${op.name}: ${recorded}`);
          }
        }
      });
    });
  }
});
