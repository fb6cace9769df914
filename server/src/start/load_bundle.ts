// Runs a bundle with the code that V8 made of it before. In: the bundle's file name beside this one, the use that is made
// of it. The bundle's text begins with the build that it is of, which its cache must be of as well.
import { readFileSync } from "node:fs";
import { createRequire, wrap } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { CodeCache } from "./code_cache";

const BUILD = /^\/\*build ([0-9a-f]{16})\*\//;
/** what node:module puts before a text, on the text's first line */
const PREFIX = wrap("\0").indexOf("\0");

interface Loaded {
  readonly exports: object;
  /** keeps the code compiled until then, for the next start */
  readonly keep: () => void;
}

/** Loads and runs the bundle. */
export function loadBundle(folder: string, name: string, use: string): Loaded {
  const filename = join(folder, `${name}.main.cjs`);
  // bundles are ASCII: one byte a character, no decoding
  const text = readFileSync(filename, "latin1");
  const build = BUILD.exec(text.slice(0, 40))?.[1];
  const cache = build === undefined ? undefined : new CodeCache(folder, `${name}-${use}`, build);
  const cachedData = cache?.read();
  const script = new Script(wrap(text), { filename, columnOffset: -PREFIX, ...(cachedData ? { cachedData } : {}) });
  const module = { exports: {} };
  const run: Wrapped = script.runInThisContext();
  run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
  let kept = cachedData !== undefined && !script.cachedDataRejected;
  const keep = (): void => {
    if (!kept) cache?.write(script.createCachedData());
    kept = true;
  };
  return { exports: module.exports, keep };
}

type Wrapped = (exports: object, require: NodeJS.Require, module: object, filename: string, dirname: string) => void;
