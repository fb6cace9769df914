// `node test/tools/differences.mjs [--check]`: writes docs/differences.md, which says where preset fuselens does better than
// torch 2.11's record, program by program. In: test/programs and test/recorded/programs.json. `--check` compares only, and
// exits with 1 where the page is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCompiler } from "../../scripts/sources.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const page = join(root, "docs", "differences.md");

const { Session, defaultSessionOptions } = await loadCompiler();

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const reportOf = (path, preset) =>
  new Session(read, { ...defaultSessionOptions(), preset, target: "h200" }).run(path).report;

const launched = k => k.type !== "NopKernelSchedulerNode";
const us = g => g.kernels.filter(launched).reduce((n, k) => n + k.estimate_us, 0);
const mb = n => (n / 1e6).toFixed(n < 1e7 ? 2 : 1);

function rows() {
  const recorded = JSON.parse(readFileSync(join(root, "test", "recorded", "programs.json"), "utf8"));
  const out = [];
  for (const name of Object.keys(recorded).sort()) {
    const path = join(root, "test", "programs", `${name}.py`);
    if (read(path) === undefined) continue;
    const [theirs, ours] = ["torch-2.11", "fuselens"].map(p => reportOf(path, p).graphs);
    recorded[name].graphs.forEach((was, i) => {
      const [before, after] = [theirs[i], ours[i]];
      // the same graph on both sides, else their numbers say nothing
      if (!before || !after || before.kind !== was.kind || before.aten.length !== after.aten.length) return;
      const kernels = [was.kernels.filter(launched).length, after.kernels.filter(launched).length];
      const time = [us(before), us(after)];
      const better =
        after.bytes < was.bytes || (after.bytes <= was.bytes && (kernels[1] < kernels[0] || time[1] < 0.97 * time[0]));
      if (!better || time[1] > time[0]) return;
      const graph = recorded[name].graphs.length > 1 ? `${name} (${was.kind})` : name;
      out.push({ graph, kernels, bytes: [was.bytes, after.bytes], time });
    });
  }
  return out.sort((a, b) => b.time[0] / b.time[1] - a.time[0] / a.time[1] || (a.graph < b.graph ? -1 : 1));
}

function markdown(list) {
  const lines = [
    "# Where preset `fuselens` does better than torch 2.11",
    "",
    "Written by `node test/tools/differences.mjs`. Kernels and bytes of torch 2.11 are those that it recorded for",
    "`test/programs` on an H200; those of `fuselens` are what this preset schedules. Bytes are Inductor's count_bytes, which",
    "does not count a row that a loop reads again; the estimated time (roofline, H200) does. What makes the difference is in",
    "[scheduler.md](scheduler.md#what-preset-fuselens-adds).",
    "",
    "| program | kernels | MB | estimated us | gain |",
    "|---|---|---|---|---|",
    ...list.map(
      r =>
        `| ${r.graph} | ${r.kernels.join(" → ")} | ${r.bytes.map(mb).join(" → ")} | ${r.time.map(t => t.toFixed(1)).join(" → ")} | ${(r.time[0] / r.time[1]).toFixed(2)}x |`,
    ),
    "",
  ];
  return lines.join("\n");
}

const list = rows();
const text = markdown(list);
if (process.argv.includes("--check")) {
  const same = read(page) === text;
  console.log(
    same
      ? "docs/differences.md is up to date"
      : "docs/differences.md is out of date: run node test/tools/differences.mjs",
  );
  process.exit(same ? 0 : 1);
}
writeFileSync(page, text);
console.log(`${page}: ${list.length} graphs`);
