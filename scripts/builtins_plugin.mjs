// esbuild plugin: assembles the CPU executor's own kernels and puts them into the bundle as base64.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import loadWabt from "wabt";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FEATURES = {
  threads: true,
  simd: true,
  bulk_memory: true,
  sat_float_to_int: true,
  sign_extension: true,
  multi_value: true,
  relaxed_simd: true,
};

async function binaries() {
  const bundled = await build({
    absWorkingDir: root,
    entryPoints: ["gpu-worker/src/cpu/builtins/texts.ts"],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
  });
  const module = { exports: {} };
  new Function("module", "exports", bundled.outputFiles[0].text)(module, module.exports);
  const wabt = await loadWabt();
  const out = {};
  for (const [name, make] of Object.entries(module.exports.BUILTIN_TEXTS)) {
    const { text, exports } = make();
    const parsed = wabt.parseWat(`${name}.wat`, text, FEATURES);
    out[name] = { wasm: Buffer.from(parsed.toBinary({}).buffer).toString("base64"), exports };
    parsed.destroy();
  }
  return out;
}

export const builtinsPlugin = {
  name: "builtins",
  setup(b) {
    b.onLoad({ filter: /gpu-worker[\\/]src[\\/]cpu[\\/]builtins[\\/]binaries\.ts$/ }, async () => ({
      contents: `export const BINARIES = ${JSON.stringify(await binaries())};`,
      loader: "js",
      watchDirs: [join(root, "gpu-worker", "src", "cpu", "builtins")],
    }));
  },
};
