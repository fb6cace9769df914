// What compile_thread.main.cjs does: answers one request after another.
import { parentPort, workerData } from "node:worker_threads";
import type { CompileRequest, ThreadStart } from "./analysis/messages";
import { ThreadMain } from "./analysis/thread_main";

const port = parentPort;
if (!port) throw new Error("compile_thread runs as a worker thread only");
const main = new ThreadMain(
  workerData as ThreadStart,
  answer => port.postMessage(answer),
  () => port.close(),
);
port.on("message", (request: CompileRequest) => main.receive(request));
