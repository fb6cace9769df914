// Entry of the command line: starts the bundle that the command is in. What is compiled differs by command, so each service
// keeps its own code.
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { type CompileThread, startCompileThread } from "../analysis/compile_thread";
import { loadBundle } from "./load_bundle";
import { asAtStart, tuneFor } from "./tuning";

const SERVICES = new Set(["values", "bench", "worker", "doctor"]);
/** for processes that live half a second: code that soon ends is not worth optimising, nor a small heap collecting often */
const BRIEF = ["--no-parallel-scavenge", "--semi-space-growth-factor=32"];
/** MB: a compile thread's young generation has its size from the beginning, the server's own stays small */
const COMPILING = "--min-semi-space-size=16";
/** ms after which a server has given its first answers, most likely, and so has compiled what a start needs */
const SETTLED_MS = 20_000;

const command = process.argv[2] ?? "";
if (command === "lsp") startServer();
else runOnce();

function startServer(): void {
  tuneFor("first");
  setFlagsFromString(COMPILING);
  // the thread reads its bundle while this one reads the server's
  const thread = startCompileThread(join(__dirname, "compile_thread.cjs"));
  const { exports, keep } = loadBundle(__dirname, "language_server", command);
  (exports as { start(compileThread: CompileThread): void }).start(thread);
  setTimeout(asAtStart(keep), SETTLED_MS).unref(); // an editor may end it without a word
  keepAtEnd(asAtStart(keep));
}

function runOnce(): void {
  const service = SERVICES.has(command);
  if (!service) {
    tuneFor("first");
    for (const flag of BRIEF) setFlagsFromString(flag);
  }
  const { keep } = service ? loadBundle(__dirname, "services", command) : loadBundle(__dirname, "cli", "compile");
  keepAtEnd(keep);
}

function keepAtEnd(keep: () => void): void {
  process.on("exit", status => {
    if (status === 0) keep();
  });
}
