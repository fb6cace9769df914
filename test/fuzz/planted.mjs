// Faults put in on purpose, into the fuzzers' bundle alone, to see whether they find them (`npm run fuzz -- --planted`):
// strings and comments of the user go into generated Python without their quotes, backslashes and line ends being
// escaped, and a list of 64 elements makes the interpreter throw.
import { readFile } from "node:fs/promises";

const FAULTS = [
  { file: /py_repr\.ts$/, from: /if \(c === quote\) out \+= .*;/, to: "if (c === quote) out += c;" },
  { file: /py_repr\.ts$/, from: /out \+= breaks \? .*: c;/, to: "out += c;" },
  {
    file: /interp[\\/]machine\.ts$/,
    from: "if (n > MAX_ELEMENTS)",
    to: "if (n === 64) throw new Error('planted'); if (n > MAX_ELEMENTS)",
  },
];

export const planted = {
  name: "planted",
  setup(build) {
    build.onLoad({ filter: /py_repr\.ts$|interp[\\/]machine\.ts$/ }, async ({ path }) => {
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
