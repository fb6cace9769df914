// A client's CURVE keys, as `fuselens worker pair` writes them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CurveClient, NoWorker } from "./job";

/** Reads client.key, client.pub and server.pub; NoWorker names the file that is missing. */
export function readClientKeys(folder: string): CurveClient {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), "utf8").trim();
    } catch {
      throw new NoWorker(`no ${name} in ${folder}; 'fuselens worker pair' makes it`);
    }
  };
  return { serverKey: read("server.pub"), publicKey: read("client.pub"), secretKey: read("client.key") };
}
