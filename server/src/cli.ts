// Commands that compile, print and end. They are a bundle of their own, as each of their starts loads all of it.
import { runCommand } from "./command_line";

runCommand({
  run: () => import("./commands/run"),
  explain: () => import("./commands/explain"),
  emit: () => import("./commands/emit"),
  diff: () => import("./commands/diff"),
  check: () => import("./commands/check"),
  report: () => import("./commands/report"),
});
