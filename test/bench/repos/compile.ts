// A traced root through the whole compiler. In: file, class. Out: its result; what breaks on the way is a failure too.
import { Session } from "../../../compiler/src/session";
import { defaultSessionOptions } from "../../../compiler/src/session_options";
import type { RootResult } from "./measure";

export function compiled(
  path: string,
  name: string,
  traced: RootResult,
  read: (path: string) => string | undefined,
  secondsPerFile: number,
): RootResult {
  const started = Date.now();
  const seconds = (): number => (Date.now() - started) / 1000;
  try {
    const options = {
      ...defaultSessionOptions(),
      preset: "torch-2.11" as const,
      stepBudget: 400_000_000,
      roots: [name],
    };
    const program = new Session(read, options).run(path, { shouldStop: () => seconds() > secondsPerFile });
    const error = program.diagnostics.find(d => d.severity === "error" && d.code !== "python-error");
    if (error) return { ...traced, outcome: "failed", reason: `compiling: ${error.message}`, seconds: seconds() };
    return { ...traced, seconds: seconds() };
  } catch (e) {
    const reason = `compiling threw: ${e instanceof Error ? e.message : String(e)}`;
    return { ...traced, outcome: "failed", reason, seconds: seconds() };
  }
}
