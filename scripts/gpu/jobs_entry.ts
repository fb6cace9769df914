// In: a preset, an output folder, programs. Out: one JSON job per compiled graph, as the Python executor takes it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defaultSessionOptions, isPresetName, Session } from "@fuselens/compiler";

const [preset, folder, against, ...files] = process.argv.slice(2);
if (!preset || !folder || !isPresetName(preset)) throw new Error("usage: jobs PRESET FOLDER AGAINST FILE...");
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
    const rivals = c.graph.kind === "inference" && against && against !== "none" ? against.split(",") : [];
    const job = {
      kind: "benchmark",
      name,
      graph: c.graph.kind,
      standalone: c.outputCode.standalone,
      eager: c.graph.kind === "inference" ? c.outputCode.eager : null,
      kernels: c.plan.kernels.map(k => ({ name: k.name, bytes: k.bytes, estimateUs: k.estimateUs })),
      bytes: c.graph.bytes,
      seconds: 0.05,
      min_runs: 5,
      per_kernel: true,
      against: rivals,
    };
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(job));
    jobs++;
  });
}
console.log(`${jobs} jobs of ${files.length} programs`);
