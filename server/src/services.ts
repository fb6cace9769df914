// Commands that speak to a worker, or are one.
import { runCommand } from "./command_line";

runCommand({
  values: () => import("./commands/values"),
  bench: () => import("./commands/bench"),
  worker: () => import("./commands/worker"),
  doctor: () => import("./commands/doctor"),
});
