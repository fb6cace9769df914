// What every LSP request handler gets: documents with their analyses, generated texts, measurements, the worker.
import type { MeasuredWays } from "@fuselens/compiler";
import type { Connection, Diagnostic } from "vscode-languageserver/node";
import type { Analyzer } from "../analysis/analyzer";
import type { ThreadOptions } from "../analysis/messages";
import type { SideThread } from "../analysis/side_thread";
import type { Measurements } from "../ide/measurements";
import type { WorkerPool } from "../worker/pool";
import type { Documents } from "./documents";
import type { GeneratedDocuments } from "./generated_documents";
import type { Log } from "./log";
import type { Settings } from "./settings";
import type { Suggestions } from "./suggestions";
import type { View } from "./view";

/** what the client said at initialize, as far as anything depends on it */
export interface ClientAbilities {
  readonly lensRefresh: boolean;
  readonly inlayRefresh: boolean;
  readonly diagnosticRefresh: boolean;
  readonly pullsDiagnostics: boolean;
  readonly progress: boolean;
  readonly showDocument: boolean;
  readonly textContent: boolean;
  readonly pullsConfiguration: boolean;
  readonly workspaceFolders: boolean;
  readonly watchesFiles: boolean;
  readonly actionLiterals: boolean;
  readonly relatedInformation: boolean;
  readonly symbolTree: boolean;
  /** FuseLens's own extension: opens `fuselens:` documents, shows what commands answer, follows command links */
  readonly rich: boolean;
}

export interface ServerContext {
  readonly connection: Connection;
  readonly documents: Documents;
  readonly analyzer: Analyzer;
  readonly side: SideThread;
  readonly generated: GeneratedDocuments;
  readonly measurements: Measurements;
  readonly suggestions: Suggestions;
  readonly workers: WorkerPool;
  readonly client: ClientAbilities;
  /** name and version of the client, where it said them */
  readonly editor: string | null;
  /** paths of the workspace's folders */
  readonly folders: readonly string[];
  readonly settings: Settings;
  /** documents on whose present version the compiler failed, by URI */
  readonly crashes: ReadonlyMap<string, { readonly version: number; readonly diagnostics: Diagnostic[] }>;
  /** the analysis of exactly the version that the document has now; waits for it; null if closed or given up */
  view(uri: string): Promise<View | null>;
  threadOptions(overrides?: Partial<ThreadOptions>): ThreadOptions;
  /** texts that a compile beside the typing has to see */
  overlay(): (readonly [path: string, text: string])[];
  refresh(): void;
  /** takes over what was measured of ways to compute matrix products, and compiles open documents again */
  chosen(found: ReadonlyMap<string, MeasuredWays>): void;
  /** shows a root module in training or in inference, as it was not before; true: in training */
  switchMode(path: string, root: string): boolean;
  /** takes over what the worker turned out to be */
  workerChanged(): Promise<void>;
  readonly log: Log;
}
