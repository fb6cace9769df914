// Commands that speak to an editor or a worker, or are one.
import { runCommand } from "./command_line";

runCommand({
  values: () => import("./commands/values"),
  bench: () => import("./commands/bench"),
  worker: () => import("./commands/worker"),
  lsp: () => import("./commands/lsp"),
  doctor: () => import("./commands/doctor"),
});
