// Faults put in on purpose, into the fuzzers' bundle alone, to see whether they find them (`npm run fuzz -- --planted`):
// "<" of the user's texts goes into hovers as it is, and a list of 5 elements makes the interpreter throw.
import { readFile } from "node:fs/promises";

const FAULTS = [
  { file: /ide[\\/]markdown\.ts$/, from: /c === "<" \? "&lt;" : /, to: 'c === "<" ? c : ' },
  {
    file: /interp[\\/]machine\.ts$/,
    from: "if (n > MAX_ELEMENTS)",
    to: "if (n === 5) throw new Error('planted'); if (n > MAX_ELEMENTS)",
  },
];

export const planted = {
  name: "planted",
  setup(build) {
    build.onLoad({ filter: /ide[\\/]markdown\.ts$|interp[\\/]machine\.ts$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const f of FAULTS.filter(x => x.file.test(path))) {
        const before = contents;
        contents = contents.replace(f.from, () => f.to);
        if (contents === before) throw new Error(`${path} has no place for the planted fault: ${f.to}`);
      }
      return { contents, loader: "ts" };
    });
  },
};
