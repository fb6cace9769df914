// Entry of a compile thread: starts compile_thread.main.cjs. Such a thread is ended from outside, so what it compiled is
// kept when it has answered a few requests and nothing is typed, most likely.
import { parentPort } from "node:worker_threads";
import { loadBundle } from "./load_bundle";

const REQUESTS = 2;
const SETTLED_MS = Number(process.env["FUSELENS_CODE_CACHE_AFTER"] ?? 8000);

const keep = loadBundle(__dirname, "compile_thread", "edit");
let requests = 0;
// the bundle's own listener came first, so a request is done when it is counted
parentPort?.on("message", () => {
  if (++requests === REQUESTS) setTimeout(keep, SETTLED_MS).unref();
});
