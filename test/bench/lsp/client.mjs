// A client that measures: the spawned server over stdio. Times are milliseconds of this process's clock.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const require = createRequire(join(root, "test", "package.json"));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-jsonrpc/node");

export async function startServer() {
  const began = performance.now();
  const child = spawn(process.execPath, [join(root, "server", "bin", "fuselens.cjs"), "lsp", "--stdio"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const published = new Map();
  const compiled = new Map();
  const waiting = new Set();
  const tell = () => {
    for (const w of waiting) {
      if (!w.done()) continue;
      waiting.delete(w);
      w.resolve();
    }
  };
  connection.onNotification("textDocument/publishDiagnostics", d => {
    published.set(d.uri, { version: d.version, when: performance.now() });
    tell();
  });
  connection.onNotification("fuselens/analysed", a => compiled.set(a.uri, a));
  connection.onRequest("workspace/codeLens/refresh", () => null);
  connection.listen();
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: { textDocument: { publishDiagnostics: { versionSupport: true } } },
    initializationOptions: { rich: true },
  });
  await connection.sendNotification("initialized", {});
  const versions = new Map();
  const client = {
    initializeMs: performance.now() - began,
    child,
    compiled,
    version: uri => versions.get(uri),
    open(uri, text) {
      versions.set(uri, 1);
      return connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "python", version: 1, text },
      });
    },
    /** replaces one character by the edit's */
    edit(uri, at) {
      const version = versions.get(uri) + 1;
      versions.set(uri, version);
      const { line, character } = at;
      const range = { start: { line, character }, end: { line, character: character + 1 } };
      return connection.sendNotification("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ range, text: at.text }],
      });
    },
    request: (method, params) => connection.sendRequest(method, params),
    diagnosed(uri, version = versions.get(uri)) {
      const done = () => published.get(uri)?.version === version;
      return done() ? Promise.resolve() : new Promise(resolve => waiting.add({ done, resolve }));
    },
    publishedVersion: uri => published.get(uri)?.version,
    /** lenses placed and named, and diagnostics, of the version that the document has now */
    async fresh(uri) {
      const lenses = connection.sendRequest("textDocument/codeLens", { textDocument: { uri } });
      const [places] = await Promise.all([lenses, client.diagnosed(uri)]);
      const resolved = await Promise.all(places.map(p => connection.sendRequest("codeLens/resolve", p)));
      return resolved.map(l => l.command.title);
    },
    /** processor time that the server has used, all its threads; a loaded machine stretches it far less than the clock */
    cpuMs() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    residentMb() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
    },
    async stop() {
      const exited = new Promise(resolve => child.once("exit", resolve));
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      await exited;
      connection.dispose();
    },
  };
  return client;
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? null;
}
