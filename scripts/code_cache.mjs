// Bundles that start from compiled code (server/src/start): their banner, their build's name in it, and a first run of
// each, whose code is kept beside the bundle for the V8 that made it.
import { execFile, spawn } from "node:child_process";
import * as crypto from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const UNNAMED = "/*build 0000000000000000*/";
/** small, and of most of what model files are made of */
const EXAMPLE = join(root, "scripts", "warm_up.py");

/** esbuild plugin: node:crypto is loaded when something is first asked of it, as most starts ask nothing */
export const lazyCrypto = {
  name: "lazy-crypto",
  setup(b) {
    b.onResolve({ filter: /^(node:)?crypto$/ }, args =>
      args.namespace === "lazy" ? { path: args.path, external: true } : { path: args.path, namespace: "lazy" },
    );
    b.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({
      contents: Object.keys(crypto)
        .filter(n => n !== "default")
        .map(
          n => `Object.defineProperty(exports, "${n}", { enumerable: true, get: () => require("node:crypto").${n} });`,
        )
        .join("\n"),
    }));
  },
};

/** what esbuild puts first into a bundle; as long as what takes its place, so that source maps stay right */
export const BANNER = { js: UNNAMED };

/** Bundles and what starts them, by name: NAME.main.cjs is server/src/NAME.ts, NAME.cjs server/src/start/NAME.ts */
export const STARTED = { cli: "cli", services: "cli", language_server: "cli", compile_thread: "compile_thread" };

/** Names the build in the banner of NAME.main.cjs by its content and by that of what starts it. */
export function nameBuild(folder, name) {
  const file = join(folder, `${name}.main.cjs`);
  const starter = readFileSync(join(folder, `${STARTED[name]}.cjs`));
  const text = readFileSync(file, "latin1");
  if (!text.startsWith(UNNAMED)) throw new Error(`${file} has no banner`);
  // load_bundle.ts reads a byte as a character
  if (Buffer.byteLength(text) !== text.length) throw new Error(`${file} is not ASCII`);
  const build = crypto.createHash("sha256").update(starter).update(text).digest("hex").slice(0, 16);
  writeFileSync(file, text.replace(UNNAMED, `/*build ${build}*/`), "latin1");
  return build;
}

/** Runs the bundles of `folder` once where the code of `builds` is not there yet. */
export async function warmUp(folder, builds) {
  const code = join(folder, "code");
  const known = list(code);
  for (const file of known) if (!builds.some(b => file.includes(b))) rmSync(join(code, file));
  const missing = start => !known.some(f => f.startsWith(start) && builds.some(b => f.includes(b)));
  const env = { ...process.env, FUSELENS_CODE_CACHE: code };
  const jobs = [];
  if (missing("cli-compile")) {
    const args = [join(folder, "cli.cjs"), "explain", EXAMPLE, "--json"];
    jobs.push(promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 26 }));
  }
  if (missing("language_server") || missing("compile_thread"))
    jobs.push(warmServer(join(folder, "cli.cjs"), env, () => list(code).some(f => /^compile_thread.*\.code$/.test(f))));
  await Promise.all(jobs);
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** one file opened in the language server, with what an editor asks of it at once; `kept`: its compile thread has kept its code */
async function warmServer(file, env, kept) {
  const server = spawn(process.execPath, [file, "lsp", "--stdio"], {
    env: { ...env, FUSELENS_CODE_CACHE_AFTER: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map();
  let rest = Buffer.alloc(0);
  server.stdout.on("data", data => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(rest.toString("latin1", 0, end))?.[1]);
      if (rest.length < end + 4 + length) return;
      const message = JSON.parse(rest.toString("utf8", end + 4, end + 4 + length));
      rest = rest.subarray(end + 4 + length);
      if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: null });
      else waiting.get(message.id)?.(message);
    }
  });
  const send = message => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  let id = 0;
  const ask = (method, params) =>
    new Promise(resolve => {
      waiting.set(++id, resolve);
      send({ id, method, params });
    });
  const text = readFileSync(EXAMPLE, "utf8");
  const textDocument = { uri: pathToFileURL(EXAMPLE).href };
  const ended = new Promise(resolve => server.on("exit", resolve));
  await ask("initialize", { processId: null, rootUri: null, capabilities: { textDocument: { hover: {} } } });
  send({ method: "initialized", params: {} });
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { ...textDocument, languageId: "python", version: 1, text } },
  });
  const lenses = await ask("textDocument/codeLens", { textDocument });
  for (const lens of lenses.result?.slice(0, 2) ?? []) await ask("codeLens/resolve", lens);
  await ask("textDocument/diagnostic", { textDocument });
  const line = text.split("\n").findIndex(l => l.includes("x = x + self.proj"));
  await ask("textDocument/hover", { textDocument, position: { line, character: 12 } });
  const edited = text.replace("1e-6", "1e-5");
  send({
    method: "textDocument/didChange",
    params: { textDocument: { ...textDocument, version: 2 }, contentChanges: [{ text: edited }] },
  });
  await ask("textDocument/codeLens", { textDocument });
  for (const until = performance.now() + 60_000; !kept() && performance.now() < until; ) await setTimeout(20);
  await ask("shutdown");
  send({ method: "exit" });
  await ended;
}
