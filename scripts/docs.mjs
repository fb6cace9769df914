// `npm run docs`: fills the code block after each `<!-- fuselens ARGS -->` in docs/ with what the command prints now.
// `npm run docs -- --check` changes nothing and fails where a block is stale.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");
const pages = [
  "README.md",
  ...["docs", "docs/stages"].flatMap(f =>
    readdirSync(join(root, f))
      .filter(n => n.endsWith(".md"))
      .map(n => join(f, n)),
  ),
];
let stale = 0;
for (const page of pages) {
  const path = join(root, page);
  const text = readFileSync(path, "utf8");
  const next = text.replace(/<!-- fuselens (.*?) -->\n```(\w*)\n[\s\S]*?```\n/g, (_, args, language) => {
    const printed = execFileSync(process.execPath, [join(root, "server", "bin", "fuselens.cjs"), ...args.split(" ")], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    // paths of this checkout, and names made of hashes of them, would differ in every clone
    const shown = printed
      .replaceAll(`${root}/`, "")
      .replace(/\/tmp\/torchinductor_\S+/g, "PATH")
      .replace(/os\.path\.join\(cache_dir\(\), '[^']*', '[^']*'\)/g, "PATH")
      .replace(/[ \t]+$/gm, "")
      .trim();
    return `<!-- fuselens ${args} -->\n\`\`\`${language}\n${shown}\n\`\`\`\n`;
  });
  if (next === text) continue;
  stale++;
  if (check) console.log(`${page} shows what the program no longer prints; npm run docs mends it`);
  else writeFileSync(path, next);
}
process.exit(check && stale ? 1 : 0);
