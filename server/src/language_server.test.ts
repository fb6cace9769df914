import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

describe("the language server's bundle", () => {
  it("holds of the compiler its words alone: compiles are the compile thread's", async () => {
    const { metafile } = await build({
      entryPoints: [fileURLToPath(new URL("language_server.ts", import.meta.url))],
      bundle: true,
      platform: "node",
      write: false,
      metafile: true,
      outdir: "out",
      external: ["zeromq", "tree-sitter", "tree-sitter-python"],
      logLevel: "silent",
    });
    const files = Object.values(metafile.outputs)
      .flatMap(o => Object.entries(o.inputs))
      .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
    expect(files).toContainEqual(expect.stringMatching(/compiler\/src\/presets\.ts$/));
    expect(files.filter(f => /compiler\/src\/.*(session|pipeline|ops|interp)\b/.test(f))).toEqual([]);
  });
});
