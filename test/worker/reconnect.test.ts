// A connection whose worker is killed and started anew gets its answer, however its first connection was made.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { Dealer } from "zeromq";
import { WorkerConnection } from "../../server/src/worker/connection";
import { addOne, benchmarkJob } from "./fixtures";
import { startWorker } from "./process";

const args = ["--no-cache", "--python", join(__dirname, "stand_in_python")];

/** connects as on a machine where the thread loses its turn right after it */
function slowConnect(): void {
  const { connect } = Dealer.prototype;
  vi.spyOn(Dealer.prototype, "connect").mockImplementation(function (this: Dealer, endpoint) {
    connect.call(this, endpoint);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  });
}

describe("a connection", () => {
  it.each([
    ["as it is", () => undefined],
    ["whose first handshake is over before connect() returns", slowConnect],
  ])("%s gets its answer from the worker that comes after its own", { timeout: 120_000 }, async (_, prepare) => {
    prepare();
    const bind = `ipc://${join(mkdtempSync(join(tmpdir(), "fuselens-test-")), "w.sock")}`;
    const first = await startWorker(args, { bind });
    const connection = new WorkerConnection(bind, null, () => undefined);
    vi.restoreAllMocks();
    const job = benchmarkJob(addOne(8));
    if (job.kind !== "benchmark") throw new Error("no benchmark");
    const sleep = { ...job, graph: { ...job.graph, standalone: "# do: sleep 2\n" } };
    let started = (): void => undefined;
    const running = new Promise<void>(resolve => {
      started = resolve;
    });
    const answer = connection.submit(sleep, { fresh: true, onProgress: () => started() });
    await running;
    await first.stop();
    const second = await startWorker(args, { bind });
    expect((await answer).result.kind).toBe("benchmark");
    connection.close();
    await second.stop();
  });
});
