// V8's compiled form of a bundle, kept in a file, so that a start need not compile it again. In: a bundle's name, the use
// that is made of it (what is compiled differs). Out: the cached bytes, or nothing: a cache is never needed.
// Kept beside the bundle when it was built for this very V8 (npm run build), else in the user's cache folder, written by
// the first run. V8 trusts what it is given and checks no content, so each file carries its length and a sum over all of
// its pages, and one that another user could have written is not read.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";

/** a folder for caches instead of the usual two, or "off" */
const SETTING = "FUSELENS_CODE_CACHE";
/** two words: length and sum */
const CHECK_BYTES = 8;
/** of so many words one is summed: a digest of everything would cost a tenth of what the cache saves */
const SUMMED = 64;
/** caches of builds that nobody starts any more */
const MOST_DAYS = 60;

export class CodeCache {
  private readonly file: string;

  /** `build` tells one text of the bundle from another */
  constructor(
    private readonly folder: string,
    name: string,
    build: string,
  ) {
    // the tag covers V8's version, its flags and the processor's features
    this.file = `${name}-${build}-${process.version}-${process.arch}-${cachedDataVersionTag().toString(16)}.code`;
  }

  read(): Buffer | undefined {
    for (const folder of this.folders()) {
      const data = readChecked(join(folder, this.file));
      if (data) return data;
    }
    return undefined;
  }

  /** Failing is no error: the next start is slower. */
  write(data: Buffer): void {
    const folder = this.folders().at(-1);
    if (folder === undefined) return;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const unfinished = join(folder, `${this.file}.${process.pid}`);
      writeFileSync(unfinished, Buffer.concat([checkOf(data), data]), { mode: 0o600 });
      renameSync(unfinished, join(folder, this.file));
      dropOld(folder);
    } catch {}
  }

  private folders(): string[] {
    const chosen = process.env[SETTING];
    if (chosen === "off") return [];
    if (chosen) return [chosen];
    return [join(this.folder, "code"), join(userCache(), "fuselens", "code")];
  }
}

function userCache(): string {
  const { env, platform } = process;
  if (platform === "win32") return env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  return env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
}

function readChecked(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(fd);
    const own = process.getuid?.();
    if (own !== undefined && ((uid !== own && uid !== 0) || (mode & 0o022) !== 0)) return undefined;
    const bytes = readFileSync(fd);
    const data = bytes.subarray(CHECK_BYTES);
    return checkOf(data).equals(bytes.subarray(0, CHECK_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function checkOf(data: Buffer): Buffer {
  let sum = 0;
  for (let i = 0; i + 4 <= data.length; i += 4 * SUMMED) sum = (Math.imul(sum, 31) + data.readInt32LE(i)) | 0;
  const check = Buffer.alloc(CHECK_BYTES);
  check.writeUInt32LE(data.length, 0);
  check.writeInt32LE(sum, 4);
  return check;
}

function dropOld(folder: string): void {
  const oldest = Date.now() - MOST_DAYS * 24 * 3600 * 1000;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < oldest) rmSync(path, { force: true });
  }
}
