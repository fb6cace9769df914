// Entry of the command line: starts cli.main.cjs. Long-running commands compile other code than those that end.
import { loadBundle } from "./load_bundle";

const LASTING = new Set(["lsp", "worker"]);
const command = process.argv[2] ?? "";
const keep = loadBundle(__dirname, "cli", LASTING.has(command) ? command : "compile");
process.on("exit", status => {
  if (status === 0) keep();
});
