// Every kernel of the recorded graphs: it must assemble, and where it is small enough give what its loop bodies mean.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UnsupportedOnCpu } from "@fuselens/compiler/inductor/codegen/wat/index";
import { truthFolder } from "@fuselens/compiler/inductor/scheduler/testing/truth";
import { InternTable, withInternTable } from "@fuselens/compiler/inductor/symbolic/index";
import { describe, expect, it } from "vitest";
import { KernelChecker } from "./check_kernel";
import { recordedSchedules } from "./recorded_schedules";

const truth = truthFolder();
const only = process.env.FUSELENS_ONLY;

describe.skipIf(truth === null)("kernels of recorded graphs", () => {
  const folder = join(truth ?? "", "recorded", "logs");
  const files =
    truth === null ? [] : readdirSync(folder).filter(f => f.endsWith(".log") && (!only || f.startsWith(only)));
  for (const file of files.sort()) {
    it(`${file} computes on the CPU what its bodies say`, () => {
      withInternTable(new InternTable(), () => {
        for (const schedule of recordedSchedules(readFileSync(join(folder, file), "utf8"))) {
          const checker = new KernelChecker(schedule, { limit: Number(process.env.FUSELENS_LIMIT ?? 100_000) });
          for (const node of schedule.nodes) {
            try {
              const result = checker.runNode(node);
              if (result) expect(result.differences, `${node.name}\n${result.kernel.text}`).toEqual([]);
            } catch (e) {
              // a dump does not hold what a scan combines with
              if (!(e instanceof UnsupportedOnCpu && /combine function/.test(e.message))) throw e;
            }
          }
        }
      });
    });
  }
});
