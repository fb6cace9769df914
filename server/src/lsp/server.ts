// The language server over a connection: lifecycle, documents, and one handler a request. Standard LSP only.

import { defaultSessionOptions, isPresetName, type SessionOptions } from "@fuselens/compiler";
import {
  type Connection,
  type InitializeResult,
  PositionEncodingKind,
  TextDocumentSyncKind,
  TextDocuments,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { type Analysis, Analyzer } from "../analysis/analyzer";
import type { ThreadOptions } from "../analysis/messages";
import { Measurements } from "../ide/measurements";
import { WorkerPool } from "../worker/pool";
import type { ServerContext } from "./context";
import { pathOf } from "./convert";
import { codeLenses } from "./features/code_lens";
import { COMMANDS, executeCommand } from "./features/commands";
import { publish } from "./features/diagnostics";
import { hover } from "./features/hover";

/** Settings as clients send them, in initializationOptions or workspace/didChangeConfiguration under `fuselens`. */
interface Settings {
  readonly preset?: string;
  readonly target?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly workerEndpoint?: string;
  readonly trusted?: boolean;
}

export interface ServerPaths {
  readonly compileThread: string;
  readonly worker: string;
}

export function startServer(connection: Connection, paths: ServerPaths): void {
  const documents = new TextDocuments(TextDocument);
  const measurements = new Measurements();
  let options = defaultSessionOptions();
  let lensRefresh = false;
  const log = (message: string) => connection.console.log(message);
  const workers = new WorkerPool({ workerFile: paths.worker, log });

  const analyzer = new Analyzer(
    paths.compileThread,
    threadOptions(options),
    analysis => {
      publish(context, analysis);
      context.refreshLenses();
    },
    message => connection.console.error(message),
  );

  const context: ServerContext = {
    connection,
    documents,
    analyzer,
    measurements,
    workers,
    log,
    sessionOptions: () => options,
    refreshLenses: () => {
      if (lensRefresh) connection.sendRequest("workspace/codeLens/refresh").catch(() => undefined);
    },
    current: uri => currentAnalysis(uri),
  };

  async function currentAnalysis(uri: string): Promise<Analysis | null> {
    const document = documents.get(uri);
    if (!document) return null;
    const path = pathOf(uri);
    const have = analyzer.get(path);
    if (have && have.version === document.version) return have;
    const found = await analyzer.update(path, document.getText(), document.version);
    return found && found.version === documents.get(uri)?.version ? found : null;
  }

  function configure(settings: Settings): void {
    options = applySettings(settings);
    workers.configure({ endpoint: settings.workerEndpoint ?? null, trusted: settings.trusted ?? true });
    analyzer.configure(threadOptions(options));
    for (const d of documents.all()) void analyzer.update(pathOf(d.uri), d.getText(), d.version);
  }

  connection.onInitialize((params): InitializeResult => {
    lensRefresh = params.capabilities.workspace?.codeLens?.refreshSupport ?? false;
    configure((params.initializationOptions ?? {}) as Settings);
    return {
      serverInfo: { name: "fuselens" },
      capabilities: {
        positionEncoding: PositionEncodingKind.UTF16,
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: false },
        hoverProvider: true,
        codeLensProvider: { resolveProvider: false },
        executeCommandProvider: { commands: [...COMMANDS], workDoneProgress: true },
      },
    };
  });
  connection.onDidChangeConfiguration(change =>
    configure(((change.settings as { fuselens?: Settings } | null)?.fuselens ?? {}) as Settings),
  );
  documents.onDidChangeContent(
    ({ document }) => void analyzer.update(pathOf(document.uri), document.getText(), document.version),
  );
  documents.onDidClose(({ document }) => {
    analyzer.close(pathOf(document.uri));
    connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
  });
  connection.onHover(params => hover(context, params));
  connection.onCodeLens(params => codeLenses(context, params));
  connection.onExecuteCommand((params, token) => executeCommand(context, params, token));
  connection.onShutdown(async () => {
    await analyzer.dispose();
    await workers.dispose();
  });
  documents.listen(connection);
  connection.listen();
}

function applySettings(settings: Settings): SessionOptions {
  const options = defaultSessionOptions();
  if (settings.preset !== undefined && isPresetName(settings.preset)) options.preset = settings.preset;
  if (settings.target !== undefined) options.target = settings.target;
  for (const [name, value] of Object.entries(settings.config ?? {})) options.config.set(name, value);
  return options;
}

function threadOptions(o: SessionOptions): ThreadOptions {
  return { preset: o.preset, target: o.target, config: [...o.config], wat: true, stepBudget: o.stepBudget };
}
