// `npm run bench -- NAME [options]`: one benchmark by its name, test/bench/NAME.mjs.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [name, ...argv] = process.argv.slice(2);
const file = join(here, `${name}.mjs`);
if (!name || !/^[\w-]+$/.test(name) || name === "main" || !existsSync(file)) {
  const names = readdirSync(here).filter(f => f.endsWith(".mjs") && f !== "main.mjs");
  console.error(`npm run bench -- NAME; there are ${names.map(f => f.slice(0, -4)).join(", ")}`);
  process.exit(2);
}
process.exitCode = (await (await import(pathToFileURL(file).href)).main(argv)) ?? 0;
