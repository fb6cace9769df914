#!/usr/bin/env node
// Keeps the output code of programs, for test/agreement/texts.test.ts, from logs of torch 2.11.
//
//   TORCH_LOGS=output_code TORCH_LOGS_FORMAT="[%(levelname)s]:%(message)s" python test/texts/NAME.py 2> LOGS/NAME.log
//   node test/tools/record_texts.mjs LOGS
//
// In: a folder with LOGS/NAME.log for programs of test/texts (others stay as they are recorded). With
// torch._inductor.config.force_disable_caches. Out: test/recorded/texts.json.gz: of
// each program, the digests of its texts' lines.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { loadSource } from "../../scripts/sources.mjs";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(here, "recorded", "texts.json.gz");
const { codeLines, digestsOf } = await loadSource("test/agreement/digests.ts");
const old = existsSync(file) ? JSON.parse(gunzipSync(readFileSync(file)).toString()) : {};
const texts = {};
for (const f of readdirSync(join(here, "texts")).sort()) {
  if (!f.endsWith(".py")) continue;
  const name = f.slice(0, -3);
  const log = join(process.argv[2], `${name}.log`);
  texts[name] = existsSync(log) ? codes(readFileSync(log, "utf8")).map(digestsOf) : old[name];
  if (!texts[name]?.length) throw new Error(`${name}: no output code was logged`);
}
writeFileSync(file, gzipSync(JSON.stringify(texts), { level: 9 }));
console.log(`${Object.keys(texts).length} programs`);

/** the messages of the artifact: each goes on up to the next record */
function codes(log) {
  return log
    .split(/^(?=\[(?:DEBUG|INFO|WARNING|ERROR)\]:)/m)
    .filter(r => /^\[DEBUG\]:Output code: ?\n/.test(r))
    .map(r => codeLines(r.slice(r.indexOf("\n") + 1)));
}
