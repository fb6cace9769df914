// Faults put in on purpose, into the fuzzers' bundle alone, to see whether they find them (`npm run fuzz -- --planted`):
// "<" and ">" of the user's texts go into hovers as they are, texts become markup in pages, escape sequences reach the terminal, and a
// list of 5 elements makes the interpreter throw.
import { readFile } from "node:fs/promises";

const FAULTS = [
  { file: /ide[\\/]markdown\.ts$/, from: 'c === "<" ? "&lt;" : c === ">" ? "&gt;"', to: 'c === "<" || c === ">" ? c' },
  {
    file: /webview[\\/]dom\.ts$/,
    from: "e.append(...children);",
    to: "e.innerHTML = children.map(c => c.outerHTML ?? c).join('');",
  },
  { file: /render[\\/]output\.ts$/, from: "x08\\x0b-\\x1f", to: "x08\\x0b-\\x1a\\x1c-\\x1f" },
  {
    file: /interp[\\/]machine\.ts$/,
    from: "if (n > MAX_ELEMENTS)",
    to: "if (n === 5) throw new Error('planted'); if (n > MAX_ELEMENTS)",
  },
];

export const planted = {
  name: "planted",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const faults = FAULTS.filter(x => x.file.test(path));
      if (!faults.length) return undefined;
      let contents = await readFile(path, "utf8");
      for (const f of faults) {
        const before = contents;
        contents = contents.replace(f.from, () => f.to);
        if (contents === before) throw new Error(`${path} has no place for the planted fault: ${f.to}`);
      }
      return { contents, loader: "ts" };
    });
  },
};
