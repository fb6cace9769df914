// What is there, what is missing, how to mend it. Starts nothing but the embedded worker; reads nothing from the environment
// but what it names.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { findTorch } from "./lsp/environment";
import { defaultPreset } from "./lsp/settings";
import { serverPaths } from "./paths";
import { WorkerPool } from "./worker/pool";

export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Installation {
  /** where an environment with torch may lie */
  readonly folders: readonly string[];
  /** null: the embedded worker */
  readonly endpoint: string | null;
  readonly keys: string | null;
  readonly trusted: boolean;
}

export async function examine(installation: Installation): Promise<Finding[]> {
  return [
    checkNode(),
    checkParser(),
    ...checkBundles(),
    checkFolder(
      "temporary folder",
      tmpdir(),
      "let TMPDIR name a folder that may be written; analysis works without it, workers do not",
    ),
    checkFolder(
      "result cache",
      cacheFolder(),
      "let XDG_CACHE_HOME name one, or start the worker with --cache DIR; everything works without it, results are not kept",
    ),
    checkTorch(installation.folders),
    await checkWorker(installation),
  ];
}

/** a line for each */
export function findingsText(findings: readonly Finding[]): string {
  return findings.map(f => `${f.ok ? "ok      " : "missing "} ${f.what}: ${f.detail}\n`).join("");
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

/** writes one byte and takes it away again: rights, a read-only disk and a full one show in the same way */
function checkFolder(what: string, folder: string, mend: string): Finding {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const probe = mkdtempSync(join(folder, "fuselens-doctor-"));
    writeFileSync(join(probe, "x"), "x");
    rmSync(probe, { recursive: true, force: true });
    return { what, ok: true, detail: folder };
  } catch (e) {
    return { what, ok: false, detail: `${firstLine(e)}; ${mend}` };
  }
}

function cacheFolder(): string {
  try {
    return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fuselens", "results");
  } catch {
    return join(tmpdir(), "fuselens", "results");
  }
}

/** read from the names of the environment's files; no Python is run */
function checkTorch(folders: readonly string[]): Finding {
  const found = findTorch(folders);
  const detail = found
    ? `${found.version} in this folder's environment, preset ${found.preset}`
    : `none in this folder's environment (.venv, venv, env, ...): the newest preset is taken, ${defaultPreset()}; --preset names another`;
  return { what: "torch", ok: true, detail };
}

async function checkWorker({ endpoint, keys, trusted }: Installation): Promise<Finding> {
  if (!trusted)
    return {
      what: "worker",
      ok: true,
      detail: "none in an untrusted workspace; analysis works, benchmarks need trust",
    };
  const workers = new WorkerPool({ workerFile: serverPaths().worker, log: () => undefined });
  workers.configure({ endpoint, keys, trusted });
  try {
    const { devices, problems } = await workers.describeAll();
    const text = devices
      .map(d => {
        const copy = d.copyBytesPerSecond ? `, copy ${(d.copyBytesPerSecond / 1e9).toFixed(1)} GB/s` : "";
        return `${d.title}, ${d.threads} threads${copy}`;
      })
      .join("; ");
    return {
      what: endpoint ? `worker at ${endpoint}` : "embedded worker",
      ok: devices.length > 0 && problems.length === 0,
      detail: [text || "it has no device", ...problems].join("; "),
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
