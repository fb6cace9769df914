// The native files that a package for some platform needs. In: a platform, an npm package. Out: the path of a .node file
// made for it: the prebuilt one, or, where that is made for another processor than its folder says (tree-sitter-python's
// for linux-arm64 is x64 code), one built here with Debian's cross compiler. Throws with a line that says what is missing.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const HEADERS = "node-api-headers@1.9.0";

/** systems and processors that a native file is made for, by its header: "linux-x64"; a universal one has several */
export function madeFor(b) {
  if (b.subarray(0, 4).toString("latin1") === "\x7fELF")
    return [`linux-${{ 62: "x64", 183: "arm64" }[b.readUInt16LE(18)] ?? "?"}`];
  if (b.readUInt32LE(0) === 0xfeedfacf) return [`darwin-${darwin(b.readUInt32LE(4))}`];
  if (b.readUInt32BE(0) === 0xcafebabe)
    return Array.from({ length: b.readUInt32BE(4) }, (_, i) => `darwin-${darwin(b.readUInt32BE(8 + 20 * i))}`);
  if (b.subarray(0, 2).toString("latin1") === "MZ")
    return [`win32-${{ 34404: "x64", 43620: "arm64" }[b.readUInt16LE(b.readUInt32LE(60) + 4)] ?? "?"}`];
  return [];
}

const darwin = type => ({ 16777228: "arm64", 16777223: "x64" })[type] ?? "?";

/** tree-sitter or tree-sitter-python for a platform */
export function treeSitterFile(name, platform) {
  const prebuilt = join(modules, name, "prebuilds", platform, `${name}.node`);
  if (existsSync(prebuilt) && madeFor(readFileSync(prebuilt)).includes(platform)) return prebuilt;
  if (name === "tree-sitter-python" && platform === "linux-arm64") return crossBuilt();
  throw new Error(`${name} has no native file for ${platform}`);
}

/** esbuild plugin: native packages become plain requires of a file; `place` says which, undefined leaves the package */
export const nativeFiles = place => ({
  name: "native-files",
  setup(b) {
    const replace = (name, filter, contents) => {
      const file = place(name);
      if (file !== undefined) b.onLoad({ filter }, args => ({ contents: contents(file, args.path), loader: "js" }));
      // what is named external as a whole would not be loaded at all
      else b.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, external: true }));
    };
    replace(
      "zeromq",
      /zeromq[\\/]lib[\\/]load-addon\.js$/,
      file =>
        `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = require(${JSON.stringify(file)});`,
    );
    replace(
      "tree-sitter-python",
      /tree-sitter-python[\\/]bindings[\\/]node[\\/]index\.js$/,
      file => `module.exports = require(${JSON.stringify(file)});`,
    );
    replace("tree-sitter", /node_modules[\\/]tree-sitter[\\/]index\.js$/, (file, path) => {
      // its loader chooses among prebuilt files by a computed path, which a bundler would follow to every one of them
      const loads = `require(${JSON.stringify(file)})`;
      const text = readFileSync(path, "utf8").replace(/const binding =[\s\S]*?;\n/, `const binding = ${loads};\n`);
      if (!text.includes(loads)) throw new Error("tree-sitter's loader is not as expected");
      return text;
    });
    b.onResolve({ filter: /\.node$/ }, args => ({ path: args.path, external: true }));
  },
});

/** tree-sitter-python's own sources for linux-arm64; kept in .cache */
function crossBuilt() {
  const source = join(modules, "tree-sitter-python");
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  const folder = join(root, ".cache", "native", `tree-sitter-python-${version}-linux-arm64`);
  const out = join(folder, "tree-sitter-python.node");
  if (existsSync(out)) return out;
  mkdirSync(folder, { recursive: true });
  const [c, cxx] = ["gcc", "g++"].map(compiler);
  const headers = join(folder, "node_modules", "node-api-headers", "include");
  if (!existsSync(headers)) {
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const args = ["install", "-E", HEADERS, "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  const run = (program, args) => execFileSync(program, args, { cwd: folder, stdio: ["ignore", 2, 2] });
  for (const name of ["parser", "scanner"])
    run(c, [
      "-std=c11",
      "-O2",
      "-fPIC",
      "-I",
      join(source, "src"),
      "-c",
      join(source, "src", `${name}.c`),
      "-o",
      `${name}.o`,
    ]);
  const own = ["-fno-exceptions", "-DNAPI_DISABLE_CPP_EXCEPTIONS"];
  const include = ["-I", headers, "-I", join(modules, "node-addon-api")];
  const binding = join(source, "bindings", "node", "binding.cc");
  run(cxx, ["-O2", "-fPIC", "-shared", "-s", ...own, ...include, binding, "parser.o", "scanner.o", "-o", out]);
  return out;
}

function compiler(kind) {
  const program = `aarch64-linux-gnu-${kind}`;
  const found = () => spawnSync(program, ["--version"]).status === 0;
  if (!found() && spawnSync("apt-get", ["--version"]).status === 0)
    for (const args of [
      ["update", "-qq"],
      ["install", "-y", "-qq", "--no-install-recommends", "g++-aarch64-linux-gnu"],
    ])
      spawnSync("apt-get", args, { stdio: ["ignore", 2, 2] });
  if (!found())
    throw new Error(
      `tree-sitter-python's prebuilt file for linux-arm64 is made for another processor, and ${program} (Debian's g++-aarch64-linux-gnu) is not there to build one`,
    );
  return program;
}
