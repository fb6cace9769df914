// CURVE keys and the ZAP authenticator. Keys live in a folder: server.key (secret, 0600), server.pub, and clients/*.pub,
// the allow-list. Whoever holds a listed key may run generated code here as this user (docs/security.md).
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { curveKeyPair, Router } from "zeromq";
import type { CurveServer } from "./router";

const ZAP_DOMAIN = "fuselens";
const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/** 32 key bytes as the 40 characters that curveKeyPair() gives */
function encodeZ85(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i + 3 < bytes.length; i += 4) {
    let value =
      (((bytes[i] ?? 0) << 24) | ((bytes[i + 1] ?? 0) << 16) | ((bytes[i + 2] ?? 0) << 8) | (bytes[i + 3] ?? 0)) >>> 0;
    let chunk = "";
    for (let j = 0; j < 5; j++) {
      chunk = (Z85[value % 85] ?? "") + chunk;
      value = Math.floor(value / 85);
    }
    out += chunk;
  }
  return out;
}

/** The server's keys in `folder`, made on first use. */
export function serverKeys(folder: string): CurveServer {
  mkdirSync(join(folder, "clients"), { recursive: true, mode: 0o700 });
  const secretFile = join(folder, "server.key");
  const publicFile = join(folder, "server.pub");
  if (!existsSync(secretFile) || !existsSync(publicFile)) {
    const pair = curveKeyPair();
    writeFileSync(secretFile, `${pair.secretKey}\n`, { mode: 0o600 });
    writeFileSync(publicFile, `${pair.publicKey}\n`);
  }
  return {
    publicKey: readFileSync(publicFile, "utf8").trim(),
    secretKey: readFileSync(secretFile, "utf8").trim(),
    domain: ZAP_DOMAIN,
  };
}

/** Makes a client's key pair and puts its public half on the allow-list. */
export function pairClient(
  folder: string,
  name: string,
): { readonly publicKey: string; readonly secretKey: string; readonly serverKey: string } {
  const server = serverKeys(folder);
  const pair = curveKeyPair();
  writeFileSync(join(folder, "clients", `${name.replace(/[^\w.-]/g, "_")}.pub`), `${pair.publicKey}\n`);
  return { ...pair, serverKey: server.publicKey };
}

export function allowedClients(folder: string): ReadonlySet<string> {
  const clients = join(folder, "clients");
  if (!existsSync(clients)) return new Set();
  return new Set(
    readdirSync(clients)
      .filter(f => f.endsWith(".pub"))
      .map(f => readFileSync(join(clients, f), "utf8").trim()),
  );
}

/** Answers libzmq's authentication requests: 200 for CURVE clients on the list, 400 for all else. Bind it first. */
export async function startAuthenticator(isAllowed: (publicKey: string) => boolean): Promise<{ close(): void }> {
  const zap = new Router({ linger: 0 });
  await zap.bind("inproc://zeromq.zap.01");
  const serve = async () => {
    for await (const frames of zap) {
      const delimiter = frames.findIndex(f => f.length === 0);
      const envelope = frames.slice(0, delimiter + 1);
      const [version, request, , , , mechanism, key] = frames.slice(delimiter + 1);
      const ok = mechanism?.toString() === "CURVE" && key?.length === 32 && isAllowed(encodeZ85(key));
      await zap.send([
        ...envelope,
        version ?? "1.0",
        request ?? "",
        ok ? "200" : "400",
        ok ? "OK" : "not allowed",
        ok ? "client" : "",
        "",
      ]);
    }
  };
  void serve().catch(() => undefined);
  return { close: () => zap.close() };
}
