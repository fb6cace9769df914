// One process's share of all broken files. In: argv: folder of examples, share, shares, seed. Out: what is wrong, a line
// each, and 'N passed, N failed' last.
import { compileModule } from "../../compiler/src/dynamo/code/compiler";
import { PythonFile } from "../../compiler/src/python/file";
import { type BrokenFile, examples, mutations, prefixes, verdict } from "./broken_files";

const [folder = "examples", share = "0", shares = "1", seed = "1"] = process.argv.slice(2);
const MUTATIONS = 2000;
const WHOLE_EVERY = 20;

const all = examples(folder);
const perFile = Math.ceil(MUTATIONS / all.length);
let [passed, failed, n] = [0, 0, 0];

function take(name: string, check: () => string | undefined): void {
  if (n++ % Number(shares) !== Number(share)) return;
  const wrong = check();
  if (wrong === undefined) passed++;
  else {
    failed++;
    process.stdout.write(`${name}: ${wrong}\n`);
  }
}

function parsed(c: BrokenFile): string | undefined {
  try {
    const file = new PythonFile(c.text);
    compileModule(file.module, { name: "broken.py", lines: c.text.split("\n"), library: "user" }, c.text);
    return undefined;
  } catch (e) {
    return `the parser threw ${e instanceof Error ? e.message : String(e)}`;
  }
}

for (const { file, text } of all) {
  for (const c of prefixes(file, text)) {
    if (c.text.endsWith("\n")) take(c.name, () => parsed(c) ?? verdict(c, false));
    else take(c.name, () => parsed(c));
  }
  mutations(file, text, perFile, Number(seed) * 1000 + file.length).forEach((c, i) => {
    take(c.name, () => verdict(c, i % WHOLE_EVERY === 0));
  });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
