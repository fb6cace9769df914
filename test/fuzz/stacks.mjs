// For the fuzzers' bundle alone: diagnostics about faults of ours carry the stack, so that a finding says where it is.
import { readFile } from "node:fs/promises";

const FILES = /compiler[\\/]src[\\/](pipeline|dynamo[\\/]capture)\.ts$/;

export const stacks = {
  name: "stacks",
  setup(build) {
    build.onLoad({ filter: FILES }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text
        .replace(/e instanceof Error \? e\.message : String\(e\)/g, "e instanceof Error ? e.stack : String(e)")
        .replace(/(failed here: \$\{e)\.message/g, "$1.stack");
      if (contents === text) throw new Error(`${path} no longer reports faults as stacks.mjs expects`);
      return { contents, loader: "ts" };
    });
  },
};
