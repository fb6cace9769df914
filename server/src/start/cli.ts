// Entry of the command line: starts the bundle that the command is in. What is compiled differs by command, so each service
// keeps its own code.
import { setFlagsFromString } from "node:v8";
import { loadBundle } from "./load_bundle";

const SERVICES = new Set(["values", "bench", "worker", "lsp", "doctor"]);
/** for processes that live half a second: code that soon ends is not worth optimising, nor a small heap collecting often */
const BRIEF = ["--interrupt-budget=500000", "--no-parallel-scavenge", "--semi-space-growth-factor=32"];

const command = process.argv[2] ?? "";
const service = SERVICES.has(command);
if (!service) for (const flag of BRIEF) setFlagsFromString(flag);
const keep = service ? loadBundle(__dirname, "services", command) : loadBundle(__dirname, "cli", "compile");
process.on("exit", status => {
  if (status === 0) keep();
});
