// `worker pair`: makes a client's CURVE keys, lists them with the worker, and writes them where they can be copied from.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pairClient } from "./broker/curve";

export async function pair(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: { keys: { type: "string" }, name: { type: "string", default: "client" }, out: { type: "string" } },
  });
  if (!values.keys) throw new Error("pair needs --keys DIR");
  const made = pairClient(values.keys, values.name);
  const folder = values.out ?? join(values.keys, "pairs", values.name.replace(/[^\w.-]/g, "_"));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "client.key"), `${made.secretKey}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "client.pub"), `${made.publicKey}\n`);
  writeFileSync(join(folder, "server.pub"), `${made.serverKey}\n`);
  process.stdout.write(
    `the keys of '${values.name}' are in ${folder}; copy that folder to the editor's machine and name it in the setting fuselens.worker.keys\n`,
  );
}
