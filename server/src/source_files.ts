// What may be read of the disk because a program names it: regular files of a moderate size and, for the editor, only those
// that lie in the workspace once all symbolic links are resolved. In: paths. Out: text, undefined where there is none.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** bytes; no source file is larger, and reading must not fill the memory */
const MAX_BYTES = 16 * 1024 * 1024;

/** Text of a regular file; a pipe, a device or what is too large counts as absent. */
export function readSource(path: string): string | undefined {
  try {
    const s = statSync(path);
    return s.isFile() && s.size <= MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/**
 * readSource for a document at `document` in a workspace of `folders`: nothing outside of them, symbolic links resolved.
 * A document that lies in none of them may import from its own package.
 */
export function workspaceReader(folders: readonly string[], document: string): (path: string) => string | undefined {
  const own = folders.some(f => inside(document, f)) ? [] : [packageRoot(document)];
  const roots = [...folders, ...own].flatMap(f => resolved(f) ?? []);
  return path => {
    const real = resolved(path);
    return real !== undefined && roots.some(r => inside(real, r)) ? readSource(real) : undefined;
  };
}

function resolved(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function inside(path: string, folder: string): boolean {
  const base = folder.endsWith(sep) ? folder : folder + sep;
  return path.startsWith(base);
}

/** the folder that holds the outermost package which the file is part of */
function packageRoot(file: string): string {
  let folder = dirname(file);
  while (existsSync(join(folder, "__init__.py")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
