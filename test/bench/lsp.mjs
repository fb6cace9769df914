// npm run bench -- lsp [--edits N] [--soak N] [--seconds N] [--only NAME,...]: the language server at typing speed, over
// stdio. Out: JSON on stdout, one line a case as soon as it is done, with each number, its limit, and whether it holds; then
// one line for all. Times are milliseconds. No case takes longer than --seconds, but for what it needs to come to an end.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { quantile, sleep, startServer } from "./lsp/client.mjs";
import { gptFile, mediumFile } from "./lsp/programs.mjs";

/** texts that a program's operators make */
const OPERATORS = 25;

const CASES = {
  medium_edit: o => editing(mediumFile(), o.edits, { median: 40, p95: 120 }, o),
  gpt12_edit: o => editing(gptFile(12), Math.ceil(o.edits / 3), { median: 150, p95: 400 }, o),
  medium_operator_edit: o => editing(mediumFile(), OPERATORS, { median: 40, p95: 120 }, { ...o, kind: "operator" }),
  gpt12_operator_edit: o => editing(gptFile(12), OPERATORS, { median: 150, p95: 400 }, { ...o, kind: "operator" }),
  gpt12_comment_edit: o => editing(gptFile(12), o.edits, { median: 40, p95: 120 }, { ...o, kind: "comment" }),
  gpt12_undo: o => undoing(gptFile(12), Math.ceil(o.edits / 3), { median: 150, p95: 400 }, o),
  gpt12_cold_open: () => coldOpen(gptFile(12), 1200),
  hover: () => hovering(gptFile(12), 10),
  keystrokes: () => keystrokes(gptFile(12)),
  linear: () => linear(),
  memory_edits: o => soak(mediumFile(), o.soak, o),
  memory_files: () => manyFiles(20),
};

export async function main(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      edits: { type: "string", default: "60" },
      soak: { type: "string", default: "5000" },
      seconds: { type: "string", default: "120" },
      only: { type: "string" },
    },
  });
  const names = values.only?.split(",") ?? Object.keys(CASES);
  const unknown = names.find(n => !Object.hasOwn(CASES, n));
  if (unknown !== undefined) {
    process.stderr.write(`no case ${unknown}; there are ${Object.keys(CASES).join(", ")}\n`);
    return 2;
  }
  const options = { edits: Number(values.edits), soak: Number(values.soak), seconds: Number(values.seconds) };
  let holds = true;
  for (const name of names) {
    const result = await CASES[name](options);
    holds &&= result.holds;
    process.stdout.write(`${JSON.stringify({ case: name, ...result })}\n`);
  }
  process.stdout.write(
    `${JSON.stringify({ node: process.version, cpus: cpus().length, cases: names.length, holds })}\n`,
  );
  return 0;
}

const uriOf = name => `file:///tmp/fuselens_bench_${name}.py`;
const round = x => (x === null ? null : Math.round(x * 10) / 10);

/** edit → fresh lenses and diagnostics, one after another; `kind`: which of the file's edits */
async function editing(file, count, limit, { seconds, kind = "edit" }) {
  return timed(file, count, limit, i => file[kind](i), seconds);
}

/** the same two texts in turn: what was compiled before is found again */
async function undoing(file, count, limit, { seconds }) {
  const [there] = [file.edit(0)];
  const back = { ...there, text: file.text.split("\n")[there.line][there.character] };
  return timed(file, count, limit, i => (i % 2 ? back : there), seconds);
}

async function timed(file, count, limit, editOf, seconds) {
  const until = performance.now() + seconds * 1000;
  const client = await startServer();
  const uri = uriOf("edit");
  await client.open(uri, file.text);
  const titles = await client.fresh(uri);
  const times = [];
  const compile = [];
  let cpu = 0;
  for (let i = 0; i < count + 5 && (performance.now() < until || times.length === 0); i++) {
    if (i === 5) cpu = client.cpuMs();
    const began = performance.now();
    await client.edit(uri, editOf(i));
    await client.fresh(uri);
    if (i >= 5) {
      times.push(performance.now() - began);
      compile.push(client.compiled.get(uri)?.milliseconds ?? 0);
    }
    await sleep(20);
  }
  const used = client.cpuMs() - cpu;
  await client.stop();
  const [median, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
  return {
    lens: titles[0] ?? null,
    edits: times.length,
    median_ms: round(median),
    p95_ms: round(p95),
    // of that in the compile thread; the rest is messages, lenses, diagnostics
    compile_median_ms: round(quantile(compile, 0.5)),
    cpu_ms_per_edit: round(used / times.length),
    limit_ms: limit,
    holds: titles.length > 0 && median <= limit.median && p95 <= limit.p95,
  };
}

/** a server just started: didOpen → lenses and diagnostics */
async function coldOpen(file, limit) {
  const times = [];
  let title = null;
  for (let i = 0; i < 3; i++) {
    const client = await startServer();
    const began = performance.now();
    await client.open(uriOf("cold"), file.text);
    [title = null] = await client.fresh(uriOf("cold"));
    times.push(performance.now() - began);
    await client.stop();
  }
  const median = quantile(times, 0.5);
  return { lens: title, median_ms: round(median), limit_ms: limit, holds: title !== null && median <= limit };
}

async function hovering(file, limit) {
  const client = await startServer();
  const uri = uriOf("hover");
  await client.open(uri, file.text);
  await client.fresh(uri);
  const lines = file.text.split("\n");
  const places = lines.flatMap((text, line) =>
    /^ {8}/.test(text) ? [8, 12, 16, 20, 24].filter(c => c < text.length).map(character => ({ line, character })) : [],
  );
  const times = [];
  let answered = 0;
  for (let i = 0; i < 400; i++) {
    const position = places[(i * 37) % places.length];
    const began = performance.now();
    const answer = await client.request("textDocument/hover", { textDocument: { uri }, position });
    times.push(performance.now() - began);
    if (answer) answered++;
  }
  await client.stop();
  const p95 = quantile(times, 0.95);
  return {
    hovers: times.length,
    answered,
    median_ms: round(quantile(times, 0.5)),
    p95_ms: round(p95),
    limit_ms: limit,
    holds: answered > 0 && p95 <= limit,
  };
}

/** 200 keystrokes at 30 a second: nothing is left over, and the last answer is of the last version */
async function keystrokes(file) {
  const client = await startServer();
  const uri = uriOf("keys");
  await client.open(uri, file.text);
  await client.fresh(uri);
  let cancelled = 0;
  for (let i = 0; i < 200; i++) {
    const next = performance.now() + 1000 / 30;
    await client.edit(uri, file.edit(i));
    client.request("textDocument/codeLens", { textDocument: { uri } }).catch(() => cancelled++);
    await sleep(Math.max(0, next - performance.now()));
  }
  const ended = performance.now();
  await client.fresh(uri);
  const settled = performance.now() - ended;
  const last = client.version(uri);
  await sleep(500);
  const holds = client.publishedVersion(uri) === last && settled <= 1000;
  await client.stop();
  return {
    keystrokes: 200,
    settled_ms: round(settled),
    limit_ms: 1000,
    last_version: client.publishedVersion(uri),
    holds,
  };
}

/** cold compile of 48 and of 96 layers: twice the work, twice the time within 20 % */
async function linear() {
  const times = {};
  for (const layers of [48, 96]) {
    const client = await startServer();
    const uri = uriOf(`gpt${layers}`);
    await client.open(uri, gptFile(layers).text);
    await client.fresh(uri);
    times[layers] = client.compiled.get(uri)?.milliseconds ?? 0;
    await client.stop();
  }
  const ratio = times[96] / times[48];
  return {
    compile_ms: Object.fromEntries(Object.entries(times).map(([k, v]) => [k, round(v)])),
    ratio_96_48: Number(ratio.toFixed(2)),
    limit: [1.6, 2.4],
    holds: ratio <= 2.4,
  };
}

/** resident memory over thousands of edits, or as many as there is time for */
async function soak(file, count, { seconds }) {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const client = await startServer();
  const uri = uriOf("soak");
  await client.open(uri, file.text);
  await client.fresh(uri);
  const samples = [];
  let next = 0;
  for (const began = performance.now(); done < count && performance.now() < until; done++) {
    await client.edit(uri, file.edit(done));
    await client.fresh(uri);
    const part = Math.max((done + 1) / count, (performance.now() - began) / (seconds * 1000));
    if (part >= next + 0.1) {
      next += 0.1;
      samples.push(client.residentMb());
    }
  }
  await client.stop();
  // the first fifth fills caches and lets the heap find its size
  const settled = samples[1] ?? samples[0];
  const last = Math.max(...samples.slice(-2));
  return {
    edits: done,
    resident_mb: samples.map(round),
    growth_percent: round((last / settled - 1) * 100),
    limit_percent: 10,
    holds: last <= settled * 1.1,
  };
}

async function manyFiles(count) {
  const client = await startServer();
  const files = [mediumFile(), gptFile(2), gptFile(4)];
  for (let i = 0; i < count; i++) {
    const uri = uriOf(`many_${i}`);
    await client.open(uri, files[i % files.length].text);
    await client.fresh(uri);
  }
  await sleep(1000);
  const mb = client.residentMb();
  await client.stop();
  return { files: count, resident_mb: round(mb), limit_mb: 400, holds: mb <= 400 };
}
