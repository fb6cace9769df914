// What may be read of the disk because a program names it, in the editor as on the command line: regular files of a moderate
// size that lie in the workspace or in the document's own project once all symbolic links are resolved. In: paths. Out: text,
// undefined where there is none.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
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

export type Reader = (path: string) => string | undefined;

/**
 * readSource for a document at `document` in a workspace of `folders`: nothing outside of them, symbolic links resolved.
 * A document that lies in none of them may import from its own package. The document itself may lie anywhere: it was named
 * by its reader.
 */
export function workspaceReader(folders: readonly string[], document: string): Reader {
  const own = folders.some(f => inside(document, f)) ? [] : [packageRoot(document)];
  const roots = [...folders, ...own].flatMap(f => resolved(f) ?? []);
  return path => {
    if (path === document) return readSource(path);
    const real = resolved(path);
    return real !== undefined && roots.some(r => inside(real, r)) ? readSource(real) : undefined;
  };
}

/** The same for a file named on the command line: its workspace is `folder`, where the command runs, and its repository. */
export function commandReader(folder: string, document: string): Reader {
  return workspaceReader([folder, ...repositoryRoot(document)], document);
}

/** folders that are looked through, and files that are named, for one project */
const MOST_FOLDERS = 400;
const MOST_FILES = 600;
const ROOT_MARKS = [".git", "pyproject.toml", "setup.py", "setup.cfg", "README.md"];
const SKIPPED = /^(\..*|venv|env|node_modules|__pycache__|build|dist|site-packages)$/;

/**
 * READMEs, Python files, configs and shell scripts of the project that `document` is part of, READMEs first: absolute paths, in a fixed
 * order. The project is the nearest folder above that holds a repository, a build file or a README; without one it has
 * none. Links are not followed.
 */
export function projectFiles(document: string): string[] {
  const root = foldersAbove(document).find(isMarked);
  if (root === undefined) return [];
  const out: string[] = [];
  const waiting = [root];
  for (let n = 0; n < MOST_FOLDERS && waiting.length > 0 && out.length < MOST_FILES; n++) {
    const folder = waiting.shift() as string;
    let entries: import("node:fs").Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      continue; // a folder that can't be read has nothing to offer
    }
    for (const e of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (e.isDirectory() && !SKIPPED.test(e.name)) waiting.push(join(folder, e.name));
      else if (e.isFile() && /\.(py|md|sh|json|ya?ml)$/i.test(e.name)) out.push(join(folder, e.name));
    }
  }
  return out.slice(0, MOST_FILES).sort((a, b) => Number(b.endsWith(".md")) - Number(a.endsWith(".md")));
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

/** the folders that a file lies in, the nearest first, the file system's root left out */
function foldersAbove(file: string): string[] {
  const out: string[] = [];
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) out.push(folder);
  return out;
}

const isMarked = (folder: string): boolean => ROOT_MARKS.some(m => existsSync(join(folder, m)));

/** the repository that a file lies in; without git the outermost folder above that is marked as a project; none: [] */
function repositoryRoot(file: string): string[] {
  const above = foldersAbove(file);
  const root = above.find(f => existsSync(join(f, ".git"))) ?? above.findLast(isMarked);
  return root === undefined ? [] : [root];
}

/** the folder that holds the outermost package which the file is part of */
function packageRoot(file: string): string {
  let folder = dirname(file);
  while (existsSync(join(folder, "__init__.py")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
