// fuselens worker [--bind ENDPOINT] [--keys DIR] [--cache DIR] [--python PROGRAM [--gpus N] [--compile-processes N]]:
// a worker in the foreground.
// fuselens worker pair --keys DIR [--name NAME] [--out DIR]: a client's keys, put on the worker's allow-list.
import { spawn } from "node:child_process";
import { UsageError } from "../errors";
import { parseCommand } from "../options";
import { serverPaths } from "../paths";

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("worker", argv);
  const [verb] = line.positionals;
  if (verb !== undefined && verb !== "pair") throw new UsageError(`'fuselens worker' knows 'pair', not '${verb}'`);
  const { bind, keys } = line.values as Record<string, string | undefined>;
  if (verb === "pair" && !keys) throw new UsageError("pair needs --keys DIR, the worker's key folder");
  if (bind?.startsWith("tcp:") && !keys)
    throw new UsageError("a TCP endpoint needs --keys DIR; 'fuselens worker pair' makes keys");
  const child = spawn(process.execPath, [serverPaths().worker, ...argv], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return new Promise(resolve => child.once("exit", code => resolve(code ?? 0)));
}
