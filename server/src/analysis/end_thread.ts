// Ends a compile thread. In: the thread, told to stop what it does. Out: a promise of its end.
import type { Worker } from "node:worker_threads";
import type { CompileRequest } from "./messages";

/** ms after which a thread that does not stop is terminated */
const STOP_MS = 5_000;

/**
 * The thread ends itself between two requests. To terminate one is the last resort: where it happens while the parser's
 * native code calls back into JavaScript, the whole process aborts.
 */
export async function endThread(thread: Worker): Promise<void> {
  const ended = new Promise<void>(resolve => thread.once("exit", () => resolve()));
  const request: CompileRequest = { kind: "end" };
  thread.postMessage(request);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => {
    timer = setTimeout(() => resolve(thread.terminate().then(() => undefined)), STOP_MS).unref();
  });
  await Promise.race([ended, late]);
  clearTimeout(timer);
}
