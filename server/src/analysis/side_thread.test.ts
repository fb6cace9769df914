import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Cancelled, type SideRequest, SideThread } from "./side_thread";

const folder = mkdtempSync(join(tmpdir(), "fuselens-side-thread-"));
/** a compile thread that answers with its number, and works on "slow" until it is told to stop */
const file = join(folder, "thread.cjs");
writeFileSync(
  file,
  `const { parentPort, threadId, workerData } = require("node:worker_threads");
const generation = new Int32Array(workerData.generation);
parentPort.on("message", m => {
  if (m.kind === "end") return parentPort.close();
  if (m.path === "slow") while (Atomics.load(generation, 0) === m.generation);
  const stopped = Atomics.load(generation, 0) !== m.generation;
  parentPort.postMessage({ kind: "side", id: m.id, result: stopped ? null : { want: "stage", text: String(threadId) } });
});`,
);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const request = (path: string): SideRequest => ({
  path,
  overlay: [],
  options: { preset: "torch-2.11", target: "h100", config: [], stepBudget: 1, examples: [], folders: [] },
});
const job = { want: "stage", stage: "output_code" } as const;

let side: SideThread;
afterEach(() => side.dispose());

describe("the side thread", () => {
  it("answers a cancelled job at once, stops it, and goes on in the same thread", async () => {
    side = new SideThread(file);
    const before = await side.run(request("quick"), job);
    let cancel = (): void => undefined;
    const slow = side.run(request("slow"), job, {
      isCancellationRequested: false,
      onCancellationRequested: listener => {
        cancel = listener;
      },
    });
    const next = side.run(request("quick"), job);
    cancel();
    await expect(slow).rejects.toThrow(Cancelled);
    // terminated threads are replaced; to terminate one that parses would end the process
    expect(await next).toEqual(before);
  });

  it("ends while a job runs", async () => {
    side = new SideThread(file);
    const slow = expect(side.run(request("slow"), job)).rejects.toThrow(Cancelled);
    await side.dispose();
    await slow;
  });
});
