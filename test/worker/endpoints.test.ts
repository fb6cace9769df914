// Endpoints: who may bind what, and who gets an answer.
import { mkdtempSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { curveKeyPair, Dealer } from "zeromq";
import { pairClient } from "../../gpu-worker/src/broker/curve";
import { encodeHeader, PROTOCOL_VERSION } from "../../gpu-worker/src/protocol";
import { WorkerPool } from "../../server/src/worker/pool";
import { addOne, valuesJob } from "./fixtures";
import { type StartedWorker, startWorker } from "./process";

const started: StartedWorker[] = [];
afterEach(async () => {
  for (const w of started.splice(0)) await w.stop();
});
const start = async (args: readonly string[], bind?: string): Promise<StartedWorker> => {
  const w = await startWorker(args, bind === undefined ? {} : { bind });
  started.push(w);
  return w;
};
const said = (args: readonly string[], bind: string): Promise<string> =>
  start(args, bind).then(
    () => "it serves",
    (e: Error) => e.message,
  );

describe("an endpoint", () => {
  it.each([
    ["tcp://127.0.0.1:*", /needs --keys DIR; 'fuselens worker pair --keys DIR' makes keys/],
    ["tipc://{1,2,3}", /takes ipc:\/\/PATH or tcp:/],
    ["ipc://@fuselens", /open to every user/],
    ["ipc:///nonexistent/folder/w.sock", /no folder .* make it with mode 0700/],
    [`ipc:///tmp/${"x".repeat(120)}`, /more than 103; name a shorter one/],
  ])("%s is refused with what to do", async (bind, message) => {
    expect(await said([], bind)).toMatch(message);
  });

  it("that another worker serves is not taken from it", async () => {
    const first = await start(["--no-cache"]);
    expect(await said(["--no-cache"], first.endpoint)).toMatch(/another worker serves .* stop it or name another path/);
  });

  it("whose port is taken is named, with what to do", async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as { port: number };
    const keys = mkdtempSync(join(tmpdir(), "fuselens-keys-"));
    expect(await said(["--no-cache", "--keys", keys], `tcp://127.0.0.1:${port}`)).toMatch(
      /can't bind .*another program has it/,
    );
    server.close();
  });

  it("has a socket that its user alone may open", async () => {
    const w = await start(["--no-cache"]);
    const path = w.endpoint.replace("ipc://", "");
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  });
});

describe("a worker with keys", () => {
  async function answer(endpoint: string, keys: object): Promise<boolean> {
    const socket = new Dealer({ linger: 0, receiveTimeout: 1_000, sendTimeout: 1_000, ...keys });
    socket.connect(endpoint);
    await socket.send([encodeHeader({ v: PROTOCOL_VERSION, id: "x", type: "ping" })]).catch(() => undefined);
    const got = await socket.receive().catch(() => null);
    socket.close();
    return got !== null;
  }

  it("answers a listed client, and nobody else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fuselens-keys-"));
    const listed = pairClient(folder, "editor");
    const w = await start(["--no-cache", "--keys", folder], "tcp://127.0.0.1:*");
    const mine = {
      curveServerKey: listed.serverKey,
      curvePublicKey: listed.publicKey,
      curveSecretKey: listed.secretKey,
    };
    const other = curveKeyPair();
    const unknown = {
      curveServerKey: listed.serverKey,
      curvePublicKey: other.publicKey,
      curveSecretKey: other.secretKey,
    };
    expect(await answer(w.endpoint, {})).toBe(false);
    expect(await answer(w.endpoint, unknown)).toBe(false);
    expect(await answer(w.endpoint, { ...mine, curveServerKey: other.publicKey })).toBe(false);
    expect(await answer(w.endpoint, mine)).toBe(true);
  });
});

describe("a client", () => {
  it("sends no job over TCP without keys, and says where they come from", async () => {
    const pool = new WorkerPool({ workerFile: "", log: () => undefined });
    pool.configure({ endpoint: "tcp://127.0.0.1:1", trusted: true });
    await expect(pool.submit(valuesJob(addOne(8)))).rejects.toThrow(/reached with keys only; 'fuselens worker pair'/);
  });

  it("says that an endpoint is none", async () => {
    const pool = new WorkerPool({ workerFile: "", log: () => undefined });
    pool.configure({ endpoint: "nowhere", trusted: true });
    await expect(pool.submit(valuesJob(addOne(8)))).rejects.toThrow(/'nowhere' is no endpoint/);
  });
});
