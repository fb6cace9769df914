// In: a preset, an output folder, programs. Out: one JSON job per compiled graph, as the Python executor takes it; a forward
// graph with the backward graph that follows it is one job of kind "step" (scripts/gpu/training.py).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Compilation, defaultSessionOptions, isPresetName, Session } from "@fuselens/compiler";

const [preset, folder, ...files] = process.argv.slice(2);
if (!preset || !folder || !isPresetName(preset)) throw new Error("usage: jobs PRESET FOLDER FILE...");

const WRITES_BY_INDEX = /index_put|index_copy|scatter/;
const RANDOM = /rand|bernoulli|dropout|multinomial|normal_|uniform|exponential/;
/** what depends on a generator's state, which eager PyTorch steps in other ways */
const drawsRandom = (c: Compilation): boolean => c.graph.aten.some(a => RANDOM.test(a.target));
mkdirSync(folder, { recursive: true });
const read = (p: string): string | undefined => {
  try {
    return readFileSync(p, "utf8");
  } catch {
    return undefined;
  }
};
let jobs = 0;
for (const file of files) {
  const program = new Session(read, { ...defaultSessionOptions(), preset, target: "h200" }).run(file);
  program.compilations.forEach((c, i) => {
    if (c.plan.blockers.length) {
      console.log(`${basename(file)} graph ${i}: ${c.plan.blockers[0]}`);
      return;
    }
    const name = `${basename(file, ".py")}.${i}.${preset}`;
    const next = program.compilations[i + 1];
    if (c.graph.kind === "forward" && next?.graph.kind === "backward" && next.plan.blockers.length === 0) {
      const saved = next.graph.inputs.filter(t => t.saved).length;
      const step = {
        kind: "step",
        name: `${basename(file, ".py")}.${i}+${i + 1}.${preset}`,
        forward: { code: c.outputCode.standalone },
        backward: { code: next.outputCode.standalone },
        eager: c.outputCode.eager,
        saved,
        random: drawsRandom(c) || drawsRandom(next),
      };
      writeFileSync(join(folder, `${step.name}.json`), JSON.stringify(step));
      jobs++;
      return;
    }
    if (c.graph.kind === "backward" && program.compilations[i - 1]?.graph.kind === "forward") return;
    const job = {
      kind: "benchmark",
      name,
      graph: c.graph.kind,
      standalone: c.outputCode.standalone,
      eager: c.graph.kind === "inference" ? c.outputCode.eager : null,
      distinct: c.graph.aten.some(a => WRITES_BY_INDEX.test(a.target)),
      random: drawsRandom(c),
    };
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(job));
    jobs++;
  });
}
console.log(`${jobs} jobs of ${files.length} programs`);
