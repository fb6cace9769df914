// Entry of a compile thread: starts compile_thread.main.cjs. Such a thread is ended from outside, so what it compiled is
// kept when it has answered a few requests and nothing is typed, most likely.
import { parentPort } from "node:worker_threads";
import type { CompileRequest } from "../analysis/messages";
import { idleCollection } from "./idle_collection";
import { loadBundle } from "./load_bundle";
import { asAtStart, tuneFor } from "./tuning";

const REQUESTS = 2;
const SETTLED_MS = Number(process.env["FUSELENS_CODE_CACHE_AFTER"] ?? 8000);

tuneFor("first");
const { keep } = loadBundle(__dirname, "compile_thread", "edit");
const garbage = idleCollection();
let requests = 0;
// the bundle's own listener came first, so a request is done when it is counted
parentPort?.on("message", ({ kind }: CompileRequest) => {
  if (kind !== "compile" && kind !== "side") return;
  tuneFor("lasting");
  garbage.answered();
  if (++requests === REQUESTS) setTimeout(asAtStart(keep), SETTLED_MS).unref();
});
