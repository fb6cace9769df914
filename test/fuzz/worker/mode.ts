// Fuzzing the worker: frames that are cut, swapped, repeated, too large, of another version or no frames at all, and jobs
// whose content lies about itself, thrown at a spawned worker; clients without keys and with unknown ones at another.
// Between the throws an honest client asks for a result, which must come, once, and be right.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "@msgpack/msgpack";
import { curveKeyPair, Dealer } from "zeromq";
import {
  decodeResponse,
  encodeHeader,
  encodeJob,
  jobId,
  PROTOCOL_VERSION,
  type Response,
} from "../../../gpu-worker/src/protocol";
import { addOne, benchmarkJob, valuesJob } from "../../worker/fixtures";
import { type StartedWorker, startWorker } from "../../worker/process";
import type { Context, Counts } from "../mode";
import { cpuMs } from "../python/compiler_process";
import { Random } from "../random";

const THROWS = 40;
/** ms of the worker's CPU time (its own and what waits in line) that an honest answer may cost; wall time is the machine's */
const ANSWER_CPU_MS = 10_000;
const ANSWER_WALL_MS = 120_000;
const GROWTH_KB = 400_000;

type Throw = readonly (Uint8Array | string)[];

export async function fuzzWorker(context: Context): Promise<Counts> {
  const counts = { rounds: 0, throws: 0, answers: 0, tcpThrows: 0, residentMb: 0 };
  const folder = mkdtempSync(join(tmpdir(), "fuselens-fuzz-"));
  const file = join(context.root, "gpu-worker", "dist", "main.cjs");
  const open = await startWorker(["--cache", join(folder, "cache")], { file });
  const locked = await startWorker(["--no-cache", "--keys", join(folder, "keys")], { file, bind: "tcp://127.0.0.1:*" });
  let resident = 0;
  try {
    for (let i = context.firstCase; context.more(); i++) {
      const r = new Random(context.seed).fork(i);
      const throws = r.many(THROWS, THROWS, () => makeThrow(r));
      const report = (kind: string, detail: string): void => {
        if (context.findings.known(kind, detail)) return;
        const input = JSON.stringify(throws.map(t => t.map(f => (typeof f === "string" ? f : Buffer.from(f).toString("base64")))), null, 1); // biome-ignore format: one line
        context.findings.add({ mode: "worker", kind, signature: detail, detail, seed: context.seed, case: i, input });
      };
      await throwAll(open.endpoint, throws, counts);
      await throwAtTcp(locked.endpoint, r, counts);
      for (const w of [open, locked]) if (ended(w)) report("crash", `the worker ended: ${w.said().slice(-2000)}`);
      if (ended(open) || ended(locked)) break;
      const wrong = await honest(open, i);
      if (wrong) report("no-answer", wrong);
      else counts.answers += 1;
      counts.rounds += 1;
      const now = residentKb(open.child.pid);
      if (resident === 0 && counts.rounds >= 5) resident = now;
      if (resident > 0 && now > resident + GROWTH_KB)
        report("growth", `the worker holds ${now} kB, ${resident} kB at first`);
      counts.residentMb = Math.round(now / 1000);
    }
  } finally {
    await open.stop();
    await locked.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return counts;
}

const ended = (w: StartedWorker): boolean => w.child.exitCode !== null || w.child.signalCode !== null;

function residentKb(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** What one throw is made of; a job that fits its id goes through to the executor. */
function makeThrow(r: Random): Throw {
  const job = r.pick([benchmarkJob(addOne(8)), valuesJob(addOne(8))]);
  const { bytes, id } = encodeJob(job);
  const header = (over: Record<string, unknown> = {}): Uint8Array =>
    encode({ v: PROTOCOL_VERSION, id, type: "submit", device: null, fresh: true, payload: 0, ...over });
  return r.weighted<Throw>([
    [2, () => [header().slice(0, r.below(40)), bytes]],
    [2, () => [header(), bytes.slice(0, r.below(bytes.length))]],
    [2, () => [bytes, header()]],
    [1, () => [header(), bytes, bytes, bytes]],
    [2, () => [header({ v: r.pick([0, 2, "1", null, 1e9]) }), bytes]],
    [2, () => [header({ type: r.pick(["result", "accepted", "", null, "__proto__", "constructor", 7]) }), bytes]],
    [2, () => [header({ id: r.pick(["", "?", "x".repeat(200), 7, null, "__proto__"]) }), bytes]],
    [2, () => [header({ payload: r.pick([1, -1, 1e9, 0.5, "0"]) }), bytes]],
    [1, () => [header({ extra: "x".repeat(r.pick([1, 100_000])) }), bytes]],
    [1, () => [encode("x".repeat(5_000_000)), bytes]],
    [2, () => [flip(header(), r), flip(bytes, r)]],
    [1, () => [randomBytes(r.below(2000)), randomBytes(r.below(2000))]],
    [1, () => r.many(0, 50, () => randomBytes(r.below(20)))],
    [1, () => ["", "", ""]],
    [1, () => [Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])]], // an array of 4 billion
    [1, () => [Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff])]], // a map of 4 billion
    [1, () => [Buffer.alloc(200_000, 0x91)]], // arrays in arrays
    [1, () => [encode({ v: 1, id: "a", type: r.pick(["cancel", "fetch", "ping", "hello"]), client: "x" })]],
    [1, () => [encode({ v: 1, id, type: "cancel" })]],
    [6, () => lie(job as unknown as Record<string, unknown>, r)],
  ]);
}

/** a job that is another one than it says, under the id that its bytes have */
function lie(job: Record<string, unknown>, r: Random): Throw {
  const copy = structuredClone(job);
  for (let n = r.between(1, 3); n > 0; n--) change(copy, r);
  const bytes = encode(copy, { ignoreUndefined: true });
  const id = jobId(bytes, []);
  return [encodeHeader({ v: PROTOCOL_VERSION, id, type: "submit", device: null, fresh: true, payload: 0 }), bytes];
}

const LIES: readonly unknown[] = [null, -1, 0, 1e15, 2 ** 31, Number.NaN, "", "x", "../../etc/passwd", [], {}, true, [[[[]]]], { toString: 1 }, "(module", "(module (func (export \"run\")))", "9".repeat(400)]; // biome-ignore format: a table

function change(value: unknown, r: Random): void {
  let at = value;
  for (let depth = 0; depth < 8; depth++) {
    if (typeof at !== "object" || at === null) return;
    const keys = Object.keys(at);
    if (!keys.length) return;
    const key = r.pick(keys);
    const record = at as Record<string, unknown>;
    if (r.chance(0.3) || typeof record[key] !== "object" || record[key] === null) {
      if (r.chance(0.2)) delete record[key];
      else record[key] = structuredClone(r.pick(LIES));
      return;
    }
    at = record[key];
  }
}

function flip(bytes: Uint8Array, r: Random): Uint8Array {
  const out = Uint8Array.from(bytes);
  for (let n = r.between(1, 8); n > 0; n--) out[r.below(out.length)] = r.below(256);
  return out;
}

async function throwAll(endpoint: string, throws: readonly Throw[], counts: { throws: number }): Promise<void> {
  const socket = new Dealer({ linger: 200, sendTimeout: 2_000 });
  socket.connect(endpoint);
  for (const t of throws) {
    counts.throws += 1;
    await socket.send(t.length ? (t as Uint8Array[]) : [""]).catch(() => undefined);
  }
  socket.close();
}

/** no keys, unknown keys, another server's key, and bytes that are no ZeroMQ at all: none may get an answer */
async function throwAtTcp(endpoint: string, r: Random, counts: { tcpThrows: number }): Promise<void> {
  counts.tcpThrows += 1;
  const port = Number(/:(\d+)$/.exec(endpoint)?.[1]);
  await new Promise<void>(resolve => {
    const s = connect(port, "127.0.0.1", () => s.end(r.chance(0.3) ? Buffer.concat([Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1]), randomBytes(52)]) : randomBytes(r.pick([1, 64, 5000])))); // biome-ignore format: one line
    s.once("close", () => resolve());
    s.once("error", () => resolve());
    s.setTimeout(500, () => s.destroy());
  });
  const pair = curveKeyPair();
  const keys = r.chance(0.5) ? {} : { curveServerKey: curveKeyPair().publicKey, curvePublicKey: pair.publicKey, curveSecretKey: pair.secretKey }; // biome-ignore format: one line
  const socket = new Dealer({ linger: 0, sendTimeout: 200, receiveTimeout: 100, ...keys });
  socket.connect(endpoint);
  await socket.send([encodeHeader({ v: PROTOCOL_VERSION, id: "x", type: "ping" })]).catch(() => undefined);
  const got = await socket.receive().catch(() => null);
  socket.close();
  if (got) throw new Error("a client without a listed key got an answer");
}

/** what is wrong with the answers that an honest client gets; null if nothing is */
async function honest(worker: StartedWorker, round: number): Promise<string | null> {
  const job = valuesJob(addOne(1000 + (round % 7)));
  const { bytes, id } = encodeJob(job);
  const socket = new Dealer({ linger: 0, receiveTimeout: 1_000 });
  socket.connect(worker.endpoint);
  const began = cpuMs(worker.child.pid);
  const start = Date.now();
  await socket.send([encodeHeader({ v: PROTOCOL_VERSION, id, type: "submit", device: null, fresh: true, payload: 0 }), bytes]); // biome-ignore format: one line
  const terminal: Response[] = [];
  let late = 0;
  try {
    while (late < 2) {
      const frames = await socket.receive().catch(() => null);
      if (!frames) {
        if (terminal.length) late += 1; // a second terminal answer would come now
        if (cpuMs(worker.child.pid) - began > ANSWER_CPU_MS || Date.now() - start > ANSWER_WALL_MS) break;
        if (ended(worker)) break;
        continue;
      }
      const decoded = decodeResponse(frames[0] as Buffer);
      if (!decoded.ok) return `an answer that is no message: ${decoded.error}`;
      if (decoded.value.id !== id) return `an answer to somebody else's question ${decoded.value.id}`;
      if (decoded.value.type === "result" || decoded.value.type === "error") terminal.push(decoded.value);
    }
  } finally {
    socket.close();
  }
  const [first] = terminal;
  if (!first) return "no terminal answer to an honest job";
  if (terminal.length > 1) return `${terminal.length} terminal answers to one job`;
  if (first.type !== "result") return `an honest job failed: ${first.type === "error" ? first.code : first.type}`;
  const row = (first.result as { rows?: { row: { sum: number } }[] }).rows?.[0]?.row;
  const expected = 3 * (1000 + (round % 7));
  return row?.sum === expected ? null : `a wrong result: ${JSON.stringify(row)} instead of ${expected}`;
}
