// One process's share of all broken files. In: argv: folder of examples, share, shares, seed, stride, first case. Out: a
// line of JSON every so often: next case, passed, failed, what is wrong, whether it is done.
import { compileModule } from "../../compiler/src/dynamo/code/compiler";
import { PythonFile } from "../../compiler/src/python/file";
import { type BrokenFile, examples, mutations, prefixes, verdict } from "./broken_files";

const [folder = "examples", share = "0", shares = "1", seed = "1", stride = "1", first = "0"] = process.argv.slice(2);
const MUTATIONS = 2000;
const WHOLE_EVERY = 20;
const TELL_MS = 5000;

const all = examples(folder);
const perFile = Math.ceil(MUTATIONS / all.length);
const wrong: string[] = [];
let [passed, failed, n, taken] = [0, 0, 0, 0];
let told = Date.now();

function tell(done: boolean): void {
  told = Date.now();
  process.stdout.write(`${JSON.stringify({ next: n, passed, failed, wrong, done })}\n`);
}

function take(name: string, check: () => string | undefined): void {
  const at = n++;
  if (at % Number(stride) !== 0 || taken++ % Number(shares) !== Number(share) || at < Number(first)) return;
  const said = check();
  if (said === undefined) passed++;
  else {
    failed++;
    wrong.push(`${name}: ${said}`);
  }
  if (Date.now() - told > TELL_MS) tell(false);
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
tell(true);
