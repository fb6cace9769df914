// fuselens diff BASE HEAD [--fail-on kernels,bytes,breaks] [--json]: what a change does to kernels, bytes and graph
// breaks. BASE and HEAD are files, folders, or git revisions (with FILE... to look at). Exit status 1 when HEAD is worse
// in what --fail-on names, or a file of either side has errors: what did not compile can't be compared.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import type { Diagnostic, Program } from "@fuselens/compiler";
import { compileFile } from "../compile";
import { UsageError } from "../errors";
import { EXIT, statusOf } from "../exit_status";
import { parseCommand, sessionOptions } from "../options";
import { diagnosticLine } from "../render/diagnostics";
import { print, printError, printJson, terminalLine } from "../render/output";
import { formatBytes } from "../render/units";

const MEASURES = ["kernels", "bytes", "breaks"] as const;
type Measure = (typeof MEASURES)[number];

interface GraphCount {
  readonly key: string;
  readonly kernels: number;
  readonly bytes: number;
}

interface FileCount {
  readonly graphs: readonly GraphCount[];
  readonly breaks: number;
  /** what keeps something of it from being compiled */
  readonly errors: readonly Diagnostic[];
}

const ABSENT: FileCount = { graphs: [], breaks: 0, errors: [] };

export interface DiffRow {
  readonly file: string;
  readonly graph: string;
  readonly kernels: readonly [number, number];
  readonly bytes: readonly [number, number];
}

export async function main(argv: string[]): Promise<number> {
  const line = parseCommand("diff", argv);
  const [base, head, ...files] = line.positionals;
  if (base === undefined || head === undefined) throw new UsageError("diff takes BASE and HEAD");
  const failOn = parseFailOn(line.values["fail-on"]);
  const options = sessionOptions(line.values);
  const count = (side: Side, name: string): FileCount =>
    side.has(name) ? counted(compileFile(side.path(name), options, side.folder)) : ABSENT;
  const [a, b] = [openSide(base), openSide(head)];
  try {
    const nowhere = files.find(name => !a.has(name) && !b.has(name));
    if (nowhere !== undefined) throw new UsageError(`neither ${base} nor ${head} has a file ${nowhere}`);
    const pair = a.single !== null && b.single !== null ? [[a.single, b.single] as const] : null;
    const names = files.length ? files : [...new Set([...a.files(), ...b.files()])].sort();
    if (names.length === 0) throw new UsageError(`neither ${base} nor ${head} has a Python file or a notebook`);
    const compared = (pair ?? names.map(n => [n, n] as const)).map(([x, y]) => ({
      name: y,
      base: count(a, x),
      head: count(b, y),
    }));
    const rows = compared.flatMap(c => compareGraphs(c.name, c.base, c.head));
    const total = (m: Measure, side: "base" | "head"): number =>
      compared.reduce(
        (n, c) => n + (m === "breaks" ? c[side].breaks : c[side].graphs.reduce((s, g) => s + g[m], 0)),
        0,
      );
    const totals = Object.fromEntries(MEASURES.map(m => [m, [total(m, "base"), total(m, "head")] as const])) as Record<
      Measure,
      readonly [number, number]
    >;
    const worse = MEASURES.filter(m => failOn.includes(m) && totals[m][1] > totals[m][0]);
    const errors = compared.flatMap(c => [
      ...c.base.errors.map(d => ({ revision: base, ...placed(d, a) })),
      ...c.head.errors.map(d => ({ revision: head, ...placed(d, b) })),
    ]);
    if (line.values.json) printJson({ rows, totals, worse, errors });
    else {
      print(table(rows, totals, worse));
      for (const e of errors) printError(`${e.revision === e.file ? "" : `${e.revision}: `}${diagnosticLine(e)}`);
    }
    return worse.length ? EXIT.no : statusOf(errors);
  } finally {
    a.close();
    b.close();
  }
}

/** a diagnostic with its file as the side names it: what a revision is checked out into is gone afterwards */
function placed(d: Diagnostic, side: Side): Diagnostic {
  return { ...d, file: relative(side.folder, d.file) };
}

function parseFailOn(value: unknown): Measure[] {
  if (value === undefined) return [];
  return String(value)
    .split(",")
    .map(name => {
      const m = MEASURES.find(x => x === name);
      if (!m) throw new UsageError(`--fail-on takes ${MEASURES.join(", ")}, not '${name}'`);
      return m;
    });
}

function counted({ report, diagnostics }: Program): FileCount {
  const seen = new Map<string, number>();
  const graphs = report.graphs.map((g): GraphCount => {
    // a resumed function is named by its line, which moves with every edit above it
    const stable = g.name.replace(/^torch_dynamo_resume_in_(.*)_at_\d+$/, "$1 after a graph break");
    const name = `${stable} (${g.kind})`;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return {
      key: nth === 1 ? name : `${name} #${nth}`,
      kernels: g.kernels.filter(k => k.type !== "NopKernelSchedulerNode").length,
      bytes: g.bytes,
    };
  });
  const errors = diagnostics.filter(d => d.severity === "error");
  return { graphs, breaks: report.graph_breaks.length, errors };
}

function compareGraphs(file: string, base: FileCount, head: FileCount): DiffRow[] {
  const keys = [...new Set([...base.graphs, ...head.graphs].map(g => g.key))];
  return keys.flatMap(graph => {
    const a = base.graphs.find(g => g.key === graph);
    const b = head.graphs.find(g => g.key === graph);
    const row: DiffRow = {
      file,
      graph,
      kernels: [a?.kernels ?? 0, b?.kernels ?? 0],
      bytes: [a?.bytes ?? 0, b?.bytes ?? 0],
    };
    return row.kernels[0] === row.kernels[1] && row.bytes[0] === row.bytes[1] ? [] : [row];
  });
}

function table(
  rows: readonly DiffRow[],
  totals: Record<Measure, readonly [number, number]>,
  worse: readonly Measure[],
): string {
  const change = ([a, b]: readonly [number, number], text: (n: number) => string): string =>
    a === b ? text(a) : `${text(a)} -> ${text(b)}`;
  const out = rows.map(
    r => `${r.file}  ${r.graph}: kernels ${change(r.kernels, String)}, bytes ${change(r.bytes, formatBytes)}`,
  );
  if (!rows.length) out.push("no kernel and no byte differs");
  out.push(
    `total: kernels ${change(totals.kernels, String)}, bytes ${change(totals.bytes, formatBytes)}, graph breaks ${change(totals.breaks, String)}`,
  );
  const better = MEASURES.filter(m => totals[m][1] < totals[m][0]);
  if (better.length) out.push(`better: ${better.join(", ")}`);
  if (worse.length) out.push(`worse: ${worse.join(", ")}`);
  return `${out.map(terminalLine).join("\n")}\n`;
}

/** one side of the comparison: a file, a folder, or a git revision checked out into a temporary folder */
interface Side {
  /** what its files may import from */
  readonly folder: string;
  /** the file's name where the side is one file */
  readonly single: string | null;
  files(): string[];
  has(name: string): boolean;
  path(name: string): string;
  close(): void;
}

function openSide(given: string): Side {
  if (existsSync(given)) {
    const path = resolve(given);
    if (statSync(path).isFile())
      return {
        folder: process.cwd(),
        single: given,
        files: () => [given],
        has: n => n === given,
        path: () => path,
        close: () => undefined,
      };
    return folderSide(path, () => undefined);
  }
  return revisionSide(given);
}

function folderSide(folder: string, close: () => void): Side {
  return {
    folder,
    single: null,
    files: () => pythonFiles(folder).map(f => relative(folder, f)),
    has: name => existsSync(join(folder, name)),
    path: name => join(folder, name),
    close,
  };
}

function revisionSide(revision: string): Side {
  const git = (...args: string[]): Buffer =>
    execFileSync("git", args, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 30 });
  try {
    git("rev-parse", "--verify", "--quiet", `${revision}^{tree}`);
  } catch {
    throw new UsageError(`'${revision}' is no file, no folder and no git revision`);
  }
  const folder = mkdtempSync(join(tmpdir(), "fuselens-diff-"));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = git("archive", "--format=tar", revision);
    execFileSync("tar", ["-x", "-C", folder], { input: archive, stdio: ["pipe", "ignore", "pipe"] });
  } catch (e) {
    close();
    throw new UsageError(
      `git could not give revision '${revision}': ${e instanceof Error ? e.message.split("\n")[0] : String(e)}`,
    );
  }
  return folderSide(folder, close);
}

const SKIPPED = new Set(["node_modules", "__pycache__", "site-packages"]);

function pythonFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(e => {
    if (e.name.startsWith(".") || SKIPPED.has(e.name)) return [];
    const path = join(folder, e.name);
    return e.isDirectory() ? pythonFiles(path) : e.isFile() && /\.(py|ipynb)$/.test(e.name) ? [path] : [];
  });
}
