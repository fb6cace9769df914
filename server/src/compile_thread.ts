// The compile thread: owns the Session, answers one compile after another. In: CompileRequest. Out: CompileAnswer.
// A request is cancelled by writing its successor's generation into the shared flag, which the Session polls.
import { parentPort, workerData } from "node:worker_threads";
import { Session, type SessionOptions } from "@fuselens/compiler";
import type { CompileAnswer, CompileRequest, ThreadStart } from "./analysis/messages";
import { readSource } from "./options";

const port = parentPort;
if (!port) throw new Error("compile_thread runs as a worker thread only");
const start = workerData as ThreadStart;
const generation = new Int32Array(start.generation);
let session = newSession(start.options);

function newSession(options: ThreadStart["options"]): Session {
  const full: SessionOptions = { ...options, config: new Map(options.config), artifacts: null, unfused: false };
  return new Session(readSource, full);
}

port.on("message", (request: CompileRequest) => {
  if (request.kind === "configure") {
    session = newSession(request.options);
    return;
  }
  if (request.kind === "close") {
    session.update(request.path, undefined);
    return;
  }
  session.update(request.path, request.text);
  const stale = () => Atomics.load(generation, 0) !== request.generation;
  if (stale()) {
    port.postMessage({ id: request.id, version: request.version, program: null } satisfies CompileAnswer);
    return;
  }
  const program = session.run(request.path, { shouldStop: stale });
  port.postMessage({
    id: request.id,
    version: request.version,
    program: stale() ? null : program,
  } satisfies CompileAnswer);
});
