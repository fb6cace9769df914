// Entry of the command line: starts cli.main.cjs. Long-running commands compile other code than those that end.
import { setFlagsFromString } from "node:v8";
import { loadBundle } from "./load_bundle";

/** for processes that live half a second: code that soon ends is not worth optimising, nor a small heap several threads */
const BRIEF = ["--interrupt-budget=500000", "--no-parallel-scavenge"];
const LASTING = new Set(["lsp", "worker"]);

const command = process.argv[2] ?? "";
const lasts = LASTING.has(command);
if (!lasts) for (const flag of BRIEF) setFlagsFromString(flag);
const keep = loadBundle(__dirname, "cli", lasts ? command : "compile");
process.on("exit", status => {
  if (status === 0) keep();
});
