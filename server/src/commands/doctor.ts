// fuselens doctor: what is there, what is missing, how to mend it. Starts nothing but the embedded worker; reads
// nothing from the environment but what it names.
import { existsSync } from "node:fs";
import { parseCommand } from "../options";
import { serverPaths } from "../paths";
import { WorkerPool } from "../worker/pool";

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand(argv, { worker: { type: "string" }, json: { type: "boolean" } }, false);
  const findings: Finding[] = [
    checkNode(),
    checkParser(),
    ...checkBundles(),
    await checkWorker(typeof line.values.worker === "string" ? line.values.worker : null),
  ];
  if (line.values.json) process.stdout.write(`${JSON.stringify(findings, null, 1)}\n`);
  else for (const f of findings) process.stdout.write(`${f.ok ? "ok      " : "missing "} ${f.what}: ${f.detail}\n`);
  return findings.every(f => f.ok) ? 0 : 1;
}

function checkNode(): Finding {
  const major = Number(process.versions.node.split(".")[0]);
  return {
    what: "Node",
    ok: major >= 20,
    detail: major >= 20 ? process.versions.node : `${process.versions.node}; install Node 20 or newer`,
  };
}

function checkParser(): Finding {
  try {
    require("tree-sitter");
    require("tree-sitter-python");
    return { what: "Python parser", ok: true, detail: "tree-sitter loads" };
  } catch (e) {
    return { what: "Python parser", ok: false, detail: `${firstLine(e)}; run npm ci` };
  }
}

function checkBundles(): Finding[] {
  const paths = serverPaths();
  return [
    ["compile thread", paths.compileThread],
    ["worker", paths.worker],
  ].map(([what = "", path = ""]) => ({
    what,
    ok: existsSync(path),
    detail: existsSync(path) ? "built" : "not built; run npm run build",
  }));
}

async function checkWorker(endpoint: string | null): Promise<Finding> {
  const workers = new WorkerPool({ workerFile: serverPaths().worker, log: () => undefined });
  workers.configure({ endpoint, trusted: true });
  try {
    const devices = await workers.describe();
    const text = devices
      .map(d => {
        const copy = d.copyBytesPerSecond ? `, copy ${(d.copyBytesPerSecond / 1e9).toFixed(1)} GB/s` : "";
        return `${d.title}, ${d.threads} threads${copy}`;
      })
      .join("; ");
    return {
      what: endpoint ? `worker at ${endpoint}` : "embedded worker",
      ok: devices.length > 0,
      detail: text || "it has no device",
    };
  } catch (e) {
    return { what: endpoint ? `worker at ${endpoint}` : "embedded worker", ok: false, detail: firstLine(e) };
  } finally {
    await workers.dispose();
  }
}

function firstLine(e: unknown): string {
  return (e instanceof Error ? e.message : String(e)).split("\n")[0] ?? "";
}
