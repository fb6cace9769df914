// One repository: its root modules traced forward, as a child process. In: argv: folder. Out: one JSON line per root.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { capture } from "../../../compiler/src/dynamo/capture";
import type { CaptureResult } from "../../../compiler/src/dynamo/types";
import { InternTable, withInternTable } from "../../../compiler/src/inductor/symbolic/intern";
import { defaultConfig, presets } from "../../../compiler/src/presets";
import { findRoots, projectFiles, type RootModule } from "./discover";

export interface RootResult {
  readonly repository: string;
  readonly file: string;
  readonly name: string;
  readonly outcome: "traced" | "opaque" | "failed";
  /** why it failed, or what is opaque */
  readonly reason: string;
  readonly operators: number;
  readonly breaks: number;
  readonly seconds: number;
  readonly assumed: readonly string[];
}

/** set where the program is bundled: tracing alone needs no more than the front end */
declare const WITH_COMPILER: boolean;

const [folder = ".", ...options] = process.argv.slice(2);
const root = resolve(folder);
const only = optionOf("--root")?.split(",");
const secondsPerFile = Number(optionOf("--seconds") ?? 60);
/** at most so many roots, evenly spread over the repository's; 0: all */
const most = Number(optionOf("--most") ?? 0);

/** seconds of this process's own work: how loaded the machine is changes no outcome */
function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function optionOf(name: string): string | undefined {
  const at = options.indexOf(name);
  return at < 0 ? undefined : options[at + 1];
}

/** asks the clock once in a while: it costs more than what it guards */
function stopAfter(started: number): () => boolean {
  let calls = 0;
  return () => (++calls & 63) === 0 && worked() - started > secondsPerFile;
}

const cache = new Map<string, string | undefined>();
function read(path: string): string | undefined {
  if (!path.startsWith(`${root}/`)) return undefined;
  if (!cache.has(path)) {
    const is = existsSync(path) && statSync(path).isFile();
    cache.set(path, is ? readFileSync(path, "utf8") : undefined);
  }
  return cache.get(path);
}

/** what the compiler may look through for examples: READMEs and all Python files, tests included */
const project = projectFiles(root);

function traceFile(file: string, names: readonly string[]): CaptureResult | string {
  const preset = presets["torch-2.11"];
  const started = worked();
  try {
    return withInternTable(new InternTable(), () =>
      capture(join(root, file), {
        files: read,
        config: new Map(defaultConfig("torch-2.11")),
        behaviours: new Map(Object.entries(preset.behaviours)),
        shouldStop: stopAfter(started),
        stepBudget: 60_000_000,
        roots: names,
        project: () => project,
      }),
    );
  } catch (e) {
    return `the compiler threw: ${e instanceof Error ? (e.stack ?? e.message).split("\n").slice(0, 3).join(" ") : String(e)}`;
  }
}

function report(r: RootResult): void {
  process.stdout.write(`${JSON.stringify(r)}\n`);
}

function classify(m: RootModule, result: CaptureResult | string, seconds: number): RootResult {
  const base = {
    repository:
      folder
        .split("/")
        .filter(p => p !== "")
        .pop() ?? folder,
    file: m.file,
    name: m.name,
    operators: 0,
    breaks: 0,
    seconds,
    assumed: [],
  };
  if (typeof result === "string") return { ...base, outcome: "failed", reason: result };
  const found = result.roots.find(r => r.name === m.name);
  const frames = result.events.flatMap(e =>
    e.kind === "frame" && found?.frames.includes(e.frame.id) ? [e.frame] : [],
  );
  const empty = result.diagnostics.some(d => d.code === "no-operators" && d.message.startsWith(`${m.name} runs`));
  if (empty) return { ...base, outcome: "traced", reason: "it runs no operators" };
  if (!found) {
    const said =
      result.diagnostics.find(d => d.code === "not-analysed" && d.message.startsWith(`${m.name} was`)) ??
      result.diagnostics.find(d => d.severity === "error") ??
      result.diagnostics.find(d => d.code === "stopped");
    const text =
      said?.message.replace(/^\w+ was not analysed: /, "").replace(/; `# fuselens.*$/, "") ??
      "the class is not there after the file ran";
    return { ...base, outcome: "failed", reason: text };
  }
  const nodes = frames.flatMap(f => f.graph.nodes);
  const opaque = nodes.flatMap(n => (n.meta.opaque === undefined ? [] : [n.meta.opaque]));
  return {
    ...base,
    outcome: opaque.length > 0 ? "opaque" : "traced",
    reason: opaque[0] ?? "",
    operators: nodes.filter(n => n.op.startsWith("call")).length,
    breaks: Math.max(0, frames.length - 1),
    assumed: found.assumed,
  };
}

function spread<T>(all: readonly T[]): readonly T[] {
  if (most === 0 || all.length <= most) return all;
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as T);
}

async function main(): Promise<void> {
  const roots = spread(
    findRoots(root).filter(r => only === undefined || only.some(o => r.name === o || `${r.file}:${r.name}` === o)),
  );
  if (options.includes("--list")) {
    for (const r of roots) process.stdout.write(`${r.file}:${r.line} ${r.name}\n`);
    return;
  }
  const compiled = WITH_COMPILER ? (await import("./compile")).compiled : undefined;
  for (const m of roots) {
    const started = worked();
    const result = traceFile(m.file, [m.name]);
    const traced = classify(m, result, worked() - started);
    if (options.includes("--diagnostics") && typeof result !== "string")
      for (const d of result.diagnostics) process.stderr.write(`${d.file}:${d.span.line} ${d.code} ${d.message}\n`);
    report(
      compiled && traced.outcome !== "failed"
        ? compiled(join(root, m.file), m.name, traced, read, secondsPerFile)
        : traced,
    );
  }
}

void main();
