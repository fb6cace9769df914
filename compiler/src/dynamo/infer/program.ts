// What the analysis of a file's roots needs of the program that ran before it.
import type { PythonFile } from "../../python/file";
import type { PyDict, PyModule } from "../objects/values";
import type { CompileApi } from "../torch/compile_api";
import type { FrameRunner } from "../trace/runner";
import type { Diagnostic } from "../types";
import type { InferContext } from "./context";
import type { Evidence } from "./evidence/calls";

export interface Program extends InferContext {
  readonly runner: FrameRunner;
  readonly api: CompileApi;
  readonly main: PyModule;
  readonly parsed: PythonFile;
  readonly evidence: Evidence;
  readonly diagnostics: readonly Diagnostic[];
  /** forgets the diagnostics after the mark */
  readonly unsay: (mark: number) => void;
  /** paths of the project that the file is part of; empty: nobody knows */
  readonly project: () => readonly string[];
  readonly read: (path: string) => string | undefined;
  /** runs a text of the project as a script */
  readonly execute: (path: string, text: string) => PyDict;
  /** names to analyse instead of the roots that the file has */
  readonly only: readonly string[] | undefined;
  /** root modules to analyse in train() with grad where the file does not call them */
  readonly training: (root: string) => boolean;
}
