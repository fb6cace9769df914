// npm run bench -- repos --dir DIR [--only NAME,NAME] [--root CLASS] [--jobs N] [--most N] [--seconds N]
//                         [--compile] [--json FILE] [--list]
//
// Measures how much of what people write the front end follows. DIR holds checked-out repositories, one a folder. A root
// module is a module class that no other class of its repository builds (repos/discover.ts says exactly); one whose
// constructor arguments or inputs can't be made counts as failed. --most takes so many of a repository's, evenly spread;
// --seconds is the time of its own work that one root may take. Prints a line per repository, the share of root modules
// traced forward to the end without and with opaque nodes, and the reasons for the rest by frequency.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundleSource } from "../../scripts/sources.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(dirname(here));

export async function main(argv) {
  const option = name => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  const dir = option("--dir");
  if (dir === undefined) {
    process.stderr.write(
      "usage: npm run bench -- repos --dir DIR [--only NAME,NAME] [--root CLASS] [--jobs N] [--most N] [--seconds N] [--compile] [--json FILE] [--list]\n",
    );
    return 2;
  }
  const only = option("--only")?.split(",");
  // folders that are linked to count as well
  const isFolder = name => statSync(join(resolve(dir), name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folders = readdirSync(resolve(dir), { withFileTypes: true })
    .filter(e => isFolder(e.name) && !e.name.startsWith(".") && (only === undefined || only.includes(e.name)))
    .map(e => join(resolve(dir), e.name))
    .sort();
  const program = await bundle(argv.includes("--compile"));
  const pass = ["--diagnostics", "--list"].filter(o => argv.includes(o));
  for (const o of ["--root", "--seconds", "--most"]) if (option(o) !== undefined) pass.push(o, option(o));
  const results = [];
  const waiting = [...folders];
  const worker = async () => {
    for (let f = waiting.shift(); f !== undefined; f = waiting.shift()) {
      const found = await measure(program, f, pass);
      if (!argv.includes("--list")) line(f, found);
      results.push(...found);
    }
  };
  await Promise.all(Array.from({ length: Number(option("--jobs") ?? 2) }, worker));
  if (argv.includes("--list")) return 0;
  results.sort((a, b) => key(a).localeCompare(key(b)));
  if (option("--json") !== undefined) writeFileSync(option("--json"), `${JSON.stringify(results, null, 1)}\n`);
  summary(folders.length, results);
  return 0;
}

const key = r => `${r.repository}/${r.file}:${r.name}`;

async function bundle(withCompiler) {
  const out = join(repository, "test", "dist", "bench");
  mkdirSync(out, { recursive: true });
  return bundleSource("test/bench/repos/measure.ts", join(out, "measure.cjs"), {
    sourcemap: true,
    define: { WITH_COMPILER: String(withCompiler) },
  });
}

/** a child process per repository: what kills it costs that repository only, and is said */
function measure(program, folder, pass) {
  return new Promise(done => {
    const results = [];
    const child = spawn(
      process.execPath,
      ["--enable-source-maps", "--max-old-space-size=4096", "--stack-size=3900", program, folder, ...pass],
      {
        cwd: repository,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    createInterface({ input: child.stdout }).on("line", text => {
      if (text.startsWith("{")) results.push(JSON.parse(text));
      else process.stdout.write(`${text}\n`);
    });
    child.on("close", code => {
      if (code !== 0) process.stderr.write(`${folder}: the measuring process ended with ${code}\n`);
      done(results);
    });
  });
}

function line(folder, results) {
  const count = o => results.filter(r => r.outcome === o).length;
  const seconds = results.reduce((s, r) => s + r.seconds, 0).toFixed(1);
  const name = folder.split("/").pop().padEnd(48);
  process.stdout.write(
    `${name} ${String(results.length).padStart(4)} roots  ${String(count("traced")).padStart(4)} traced ${String(count("opaque")).padStart(4)} opaque ${String(count("failed")).padStart(4)} failed  ${seconds} s\n`,
  );
}

function summary(repositories, results) {
  const n = results.length;
  const traced = results.filter(r => r.outcome === "traced").length;
  const opaque = results.filter(r => r.outcome === "opaque").length;
  const percent = x => (n === 0 ? "-" : `${((100 * x) / n).toFixed(1)}%`);
  process.stdout.write(`\n${repositories} repositories, ${n} root modules\n`);
  process.stdout.write(`traced to the end without opaque nodes  ${traced}  ${percent(traced)}\n`);
  process.stdout.write(`traced to the end                       ${traced + opaque}  ${percent(traced + opaque)}\n`);
  const groups = new Map();
  for (const r of results) {
    if (r.outcome === "traced") continue;
    const k = `${r.outcome}: ${kindOf(r.reason)}`;
    groups.set(k, [...(groups.get(k) ?? []), r]);
  }
  const rows = [...groups].sort((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0]));
  if (rows.length > 0) process.stdout.write("\nthe rest, by reason\n");
  for (const [k, list] of rows)
    process.stdout.write(`${String(list.length).padStart(5)}  ${k}\n         ${key(list[0])}\n`);
}

/** a reason without its names and numbers */
function kindOf(reason) {
  return reason
    .split("\n")[0]
    .replace(/; a comment such as.*$/, "")
    .replace(/ \([\w.-]+:\d+\)$/, "")
    .replace(/\[[^\]]*\]/g, "[..]")
    .replace(/\d+(\.\d+)?/g, "N")
    .slice(0, 130);
}
