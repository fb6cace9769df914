import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Analyzer } from "./analyzer";

const folder = mkdtempSync(join(tmpdir(), "fuselens-analyzer-"));
/** a compile thread that answers at once, ends on "crash", and on "slow" waits until it is overtaken */
const thread = join(folder, "thread.cjs");
writeFileSync(
  thread,
  `const { parentPort, workerData } = require("node:worker_threads");
const generation = new Int32Array(workerData.generation);
parentPort.on("message", m => {
  if (m.kind === "end") parentPort.close();
  if (m.kind !== "compile") return;
  if (m.text === "crash") throw new Error("a bug");
  if (m.text === "slow") while (Atomics.load(generation, 0) === m.generation);
  const program = Atomics.load(generation, 0) === m.generation ? { text: m.text } : null;
  parentPort.postMessage({ kind: "compiled", id: m.id, version: m.version, program, files: [], milliseconds: 1 });
});`,
);
const options = { preset: "torch-2.11", target: "h100", config: [], stepBudget: 1, examples: [], folders: [] } as const;
const crashes: string[] = [];
let analyzer: Analyzer;
function start(): Analyzer {
  analyzer = new Analyzer(thread, options, {
    onAnalysis: () => undefined,
    onRunning: () => undefined,
    onError: () => undefined,
    onCrash: (path, version) => void crashes.push(`${path} ${version}`),
  });
  return analyzer;
}
afterEach(async () => {
  await analyzer.dispose();
  crashes.length = 0;
});
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

describe("the analyzer", () => {
  it("gives everyone who asked about an overtaken version the newer one", async () => {
    const a = start();
    const first = a.update("/m.py", "slow", 1, true);
    const second = a.update("/m.py", "new", 2, true);
    expect((await first)?.version).toBe(2);
    expect((await second)?.version).toBe(2);
  });

  it("joins those who ask for the same version", async () => {
    const a = start();
    const [x, y] = await Promise.all([a.update("/m.py", "same", 1), a.update("/m.py", "same", 1)]);
    expect(x).toBe(y);
  });

  it("lets an edit go before a document that was merely opened, which is done afterwards", async () => {
    const a = start();
    const opened = a.update("/opened.py", "slow", 1);
    const edited = a.update("/edited.py", "new", 2, true);
    expect((await edited)?.path).toBe("/edited.py");
    a.cancel("/opened.py");
    expect(await opened).toBeNull();
  });

  it("does not try a text again on which the compiler failed", async () => {
    const a = start();
    expect(await a.update("/m.py", "crash", 1)).toBeNull();
    expect(await a.update("/m.py", "crash", 1)).toBeNull();
    expect(crashes).toEqual(["/m.py 1"]);
    expect((await a.update("/m.py", "fixed", 2, true))?.version).toBe(2);
  });
});
