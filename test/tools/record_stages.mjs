#!/usr/bin/env node
// Keeps what torch 2.11 logs of programs in every stage, for test/agreement/stages.test.ts.
//
//   python test/recorder/record.py --out record.json --logs LOGS test/stages/*.py
//   node test/tools/record_stages.mjs LOGS
//
// In: a folder with LOGS/NAME.log for programs of test/stages (others stay as they are recorded). Out:
// test/recorded/stages.json.gz: of each program, its lines' digests by stage.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { loadSource } from "../../scripts/sources.mjs";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(here, "recorded", "stages.json.gz");
const { logStages } = await loadSource("test/agreement/stages.ts");
const { digestsOf } = await loadSource("test/agreement/digests.ts");
const stagesOf = log =>
  Object.fromEntries(Object.entries(logStages(log)).map(([stage, lines]) => [stage, digestsOf(lines)]));
const old = existsSync(file) ? JSON.parse(gunzipSync(readFileSync(file)).toString()) : {};
const kept = {};
for (const f of readdirSync(join(here, "stages")).sort()) {
  if (!f.endsWith(".py")) continue;
  const name = f.slice(0, -3);
  const log = join(process.argv[2], `${name}.log`);
  kept[name] = existsSync(log) ? stagesOf(readFileSync(log, "utf8")) : old[name];
  if (!kept[name]) throw new Error(`${name}: no log`);
}
writeFileSync(file, gzipSync(JSON.stringify(kept), { level: 9 }));
console.log(`${Object.keys(kept).length} programs`);
