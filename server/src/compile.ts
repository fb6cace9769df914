// One-shot compile for the command line: a Session over the disk, run on one file.
import { type Program, Session, type SessionOptions } from "@fuselens/compiler";
import { commandReader, projectFiles } from "./source_files";

/**
 * Compiles `path`, which may import from `folder` and its own repository; never throws on what the file holds (that becomes
 * diagnostics in the program).
 */
export function compileFile(path: string, options: SessionOptions, folder: string = process.cwd()): Program {
  return new Session(commandReader(folder, path), { project: projectFiles, ...options }).run(path);
}
