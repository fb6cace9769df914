// The CPU executor child, a bundle of its own: what a cold start reads is what runs kernels, and nothing else.
import { runExecutor } from "./executor";

runExecutor().catch((e: unknown) => {
  process.stderr.write(`fuselens executor: ${e instanceof Error ? e.message : String(e)}\n`);
  process.exit(2);
});
