// What every LSP request handler gets: documents with their analyses, measurements, the worker, the connection.

import type { SessionOptions } from "@fuselens/compiler";
import type { Connection, TextDocuments } from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { Analysis, Analyzer } from "../analysis/analyzer";
import type { Measurements } from "../ide/measurements";
import type { WorkerPool } from "../worker/pool";

export interface ServerContext {
  readonly connection: Connection;
  readonly documents: TextDocuments<TextDocument>;
  readonly analyzer: Analyzer;
  readonly measurements: Measurements;
  readonly workers: WorkerPool;
  /** the analysis of exactly the version that the document has now; compiles if need be */
  current(uri: string): Promise<Analysis | null>;
  sessionOptions(): SessionOptions;
  refreshLenses(): void;
  log(message: string): void;
}
