// One-shot compile for the command line: a Session over the disk, run on one file.
import { type Program, Session, type SessionOptions } from "@fuselens/compiler";
import { projectFiles, readSource } from "./source_files";

/** Compiles `path`; never throws on what the file holds (that becomes diagnostics in the program). */
export function compileFile(path: string, options: SessionOptions): Program {
  return new Session(readSource, { project: projectFiles, ...options }).run(path);
}
