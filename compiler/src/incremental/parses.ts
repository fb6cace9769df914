// Files as parsed before. In: a path and its text now. Out: the PythonFile, brought up to date by an incremental parse.
import { PythonFile } from "../python/file";

/** files whose trees are kept */
const MOST_PATHS = 64;

export class Parses {
  /** in order of last use; a notebook has a file for each of its cells */
  private readonly byPath = new Map<string, PythonFile[]>();
  private taken = new Set<PythonFile>();

  /** A run begins: each file kept may be brought up to date once more. */
  begin(): void {
    this.taken = new Set();
  }

  parse(path: string, text: string): PythonFile {
    const files = this.byPath.get(path) ?? [];
    this.byPath.delete(path);
    this.byPath.set(path, files);
    for (const oldest of this.byPath.keys()) {
      if (this.byPath.size <= MOST_PATHS) break;
      this.byPath.delete(oldest);
    }
    const same = files.find(f => f.text === text);
    if (same) {
      this.taken.add(same);
      return same;
    }
    const free = files.findIndex(f => !this.taken.has(f));
    const file = files[free] ?? new PythonFile(text);
    if (free >= 0) file.update(text);
    else files.push(file);
    this.taken.add(file);
    return file;
  }

  /** trees of cells that are no longer there */
  end(): void {
    for (const [path, files] of this.byPath) {
      const kept = files.filter(f => this.taken.has(f));
      if (kept.length > 0 && kept.length < files.length) this.byPath.set(path, kept);
    }
  }
}
