// The language server over a connection: lifecycle, documents, and one handler a request. Standard LSP only; what the
// client can't do is left out or done in another standard way.
import { basename } from "node:path";
import {
  type CancellationToken,
  type Connection,
  type Diagnostic,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  type InitializeResult,
  LSPErrorCodes,
  MessageType,
  ResponseError,
  ShowMessageNotification,
  type ShowMessageParams,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";
import { type Analysis, Analyzer, type AnalyzerEvents } from "../analysis/analyzer";
import type { CompileThread } from "../analysis/compile_thread";
import { SideThread } from "../analysis/side_thread";
import { BETTER_PRESET } from "../ide/better";
import { Measurements } from "../ide/measurements";
import type { ServerPaths } from "../paths";
import { VERSION } from "../version";
import { WorkerPool } from "../worker/pool";
import { abilitiesOf } from "./abilities";
import { CompileProgress } from "./compile_progress";
import type { ClientAbilities, ServerContext } from "./context";
import { Documents, pathOf, type Unit } from "./documents";
import { ACTION_KINDS, codeActions } from "./features/code_action";
import { codeLenses, resolveLens } from "./features/code_lens";
import { definition } from "./features/definition";
import { crashDiagnostic, diagnostic, publish } from "./features/diagnostics";
import { documentHighlight } from "./features/document_highlight";
import { documentSymbols } from "./features/document_symbol";
import { COMMANDS, executeCommand } from "./features/execute_command";
import { hover } from "./features/hover";
import { inlayHints } from "./features/inlay_hint";
import { references } from "./features/references";
import { LEGEND, semanticTokens } from "./features/semantic_tokens";
import { documentContent, refreshDocuments } from "./features/virtual_documents";
import { GeneratedDocuments, SCHEME } from "./generated_documents";
import { logTo } from "./log";
import { ANALYSED, type Analysed } from "./notifications";
import { chooseEncoding } from "./positions";
import { readSettings } from "./settings";
import { Suggestions } from "./suggestions";
import { View } from "./view";
import { pullSettings, Workspace } from "./workspace";

/** nothing that a client said before initialize */
const NO_ABILITIES: ClientAbilities = abilitiesOf({ processId: null, rootUri: null, capabilities: {} });

export function startServer(connection: Connection, paths: ServerPaths, compileThread: CompileThread): void {
  const measurements = new Measurements();
  const workspace = new Workspace();
  const generated = new GeneratedDocuments();
  const log = logTo(connection, () => workspace.settings.logLevel);
  const workers = new WorkerPool({ workerFile: paths.worker, log: log.warning });
  const side = new SideThread(paths.compileThread);
  // a lens is asked for again, a hover is asked for anew anyway
  const suggestions = new Suggestions(side, () => client.lensRefresh && void lensesChanged());
  /** the version of each document that an analysis was last shown for */
  const shown = new Map<string, number>();
  const crashes = new Map<string, { version: number; diagnostics: Diagnostic[] }>();
  let client = NO_ABILITIES;
  let editor: string | null = null;
  let selfConfigured = false;

  const events: AnalyzerEvents = {
    onAnalysis: analysed,
    onRunning: path => progress.running(path),
    onError: log.error,
    onCrash: crashed,
  };
  const analyzer = new Analyzer(paths.compileThread, workspace.threadOptions(), events, compileThread);
  const progress = new CompileProgress(connection, path => analyzer.cancel(path));
  const documents = new Documents({
    onChange: (unit, edit) => {
      suggestions.drop(unit.path);
      void analyzer.update(unit.path, unit.text, unit.version, edit);
    },
    onClose: (path, uris) => {
      suggestions.drop(path);
      analyzer.close(path);
      shown.delete(path);
      for (const uri of uris) crashes.delete(uri);
      for (const uri of uris) void connection.sendDiagnostics({ uri, diagnostics: [] });
    },
    isGenerated: uri => generated.isGenerated(uri),
  });

  const context: ServerContext = {
    connection,
    documents,
    analyzer,
    side,
    generated,
    measurements,
    suggestions,
    workers,
    crashes,
    log,
    get client() {
      return client;
    },
    get editor() {
      return editor;
    },
    get folders() {
      return workspace.folders;
    },
    get settings() {
      return workspace.settings;
    },
    view,
    threadOptions: overrides => workspace.threadOptions(overrides),
    chosen: found => {
      for (const [key, ways] of found) workspace.choices.set(key, ways);
      reconfigure();
    },
    overlay: () => documents.all().map(u => [u.path, u.text] as const),
    refresh,
    switchMode: (path, root) => {
      const training = workspace.switchMode(path, root);
      reconfigure();
      return training;
    },
    workerChanged: async () => {
      if (workspace.setDevices((await workers.status()).devices)) reconfigure();
      notifyWorker();
    },
  };

  /** Waits until the analysis is of the version that the document has; gives up where the compile was given up. */
  async function view(uri: string): Promise<View | null> {
    for (;;) {
      const unit = documents.unitOf(uri);
      const part = unit && documents.partOf(unit, uri);
      if (!unit || !part) return null;
      const have = analyzer.get(unit.path);
      const fresh =
        have && have.version === unit.version && have.text === unit.text
          ? have
          : await analyzer.update(unit.path, unit.text, unit.version);
      if (fresh && documents.unitOf(uri) === unit && fresh.version === unit.version)
        return new View(documents, unit, part, fresh);
      if (!fresh && documents.unitOf(uri) === unit) return null;
    }
  }

  function analysed(analysis: Analysis): void {
    const unit = documents.byPath(analysis.path);
    if (!unit || unit.version !== analysis.version || unit.text !== analysis.text) return;
    for (const part of unit.parts) crashes.delete(part.uri);
    const views = unit.parts.map(part => new View(documents, unit, part, analysis));
    if (!client.pullsDiagnostics) publish(context, views);
    // after an edit the client asks by itself; after anything else it has to be told
    if (shown.get(unit.path) === unit.version) refresh();
    shown.set(unit.path, unit.version);
    log.debug(`version ${unit.version} of ${basename(unit.path)} analysed in ${Math.round(analysis.milliseconds)} ms`);
    for (const v of views) refreshDocuments(context, v.uri);
    if (client.rich) {
      const { preset, target } = analysis.program;
      for (const v of views) {
        const milliseconds = analysis.milliseconds;
        const said: Analysed = { uri: v.uri, version: v.part.version, milliseconds, preset, target };
        void connection.sendNotification(ANALYSED, said);
      }
    }
    if (workspace.settings.suggestions)
      suggestions.schedule(analysis.program, () => ({
        path: analysis.path,
        overlay: context.overlay(),
        options: workspace.threadOptions({ preset: BETTER_PRESET }),
      }));
    recompileDependents(new Set([analysis.path]));
  }

  function lensesChanged(): Promise<void> {
    return connection.sendRequest<void>("workspace/codeLens/refresh").catch(() => undefined);
  }

  function crashed(path: string, version: number, message: string): void {
    log.error(`the compiler failed on version ${version} of ${basename(path)}: ${message}`);
    const unit = documents.byPath(path);
    const part = unit?.parts[0];
    if (!part || unit.version !== version) return;
    const diagnostics = [crashDiagnostic(message)];
    crashes.set(part.uri, { version: part.version, diagnostics });
    if (!client.pullsDiagnostics)
      void connection.sendDiagnostics({ uri: part.uri, version: part.version, diagnostics });
    else if (client.diagnosticRefresh)
      void connection.sendRequest("workspace/diagnostic/refresh").catch(() => undefined);
  }

  /** documents that import a changed one; each edit of theirs would have done the same */
  function recompileDependents(changed: ReadonlySet<string>): void {
    for (const path of analyzer.dependents(changed)) {
      const unit = documents.byPath(path);
      const seen = analyzer.get(path);
      if (unit && seen) again(unit);
    }
  }

  function again(unit: Unit): void {
    analyzer.forget(unit.path);
    void analyzer.update(unit.path, unit.text, unit.version);
  }

  function refresh(): void {
    const send = (method: string): void => void connection.sendRequest(method).catch(() => undefined);
    if (client.lensRefresh) send("workspace/codeLens/refresh");
    if (client.inlayRefresh) send("workspace/inlayHint/refresh");
    if (client.pullsDiagnostics && client.diagnosticRefresh) send("workspace/diagnostic/refresh");
  }

  function notifyWorker(): void {
    if (client.rich) void connection.sendNotification("fuselens/worker");
  }

  function configure(given: unknown): void {
    const told = workspace.settings.problems;
    workspace.settings = readSettings(given);
    const { worker, trusted, problems, remarks } = workspace.settings;
    for (const r of remarks) log.info(r);
    const untold = problems.filter(p => !told.includes(p));
    const message: ShowMessageParams = { type: MessageType.Warning, message: untold.join("; ") };
    if (untold.length) void connection.sendNotification(ShowMessageNotification.type, message);
    workers.configure({ endpoint: worker.endpoint, keys: worker.keys, trusted });
    reconfigure();
  }

  function reconfigure(): void {
    log.info(workspace.describe());
    analyzer.configure(workspace.threadOptions());
    for (const unit of documents.all()) void analyzer.update(unit.path, unit.text, unit.version);
  }

  /** answers with RequestCancelled as soon as the client no longer wants to know */
  function guarded<P, R>(handler: (params: P, token: CancellationToken) => Promise<R>) {
    return (params: P, token: CancellationToken): Promise<R> =>
      new Promise((resolve, reject) => {
        token.onCancellationRequested(() => reject(new ResponseError(LSPErrorCodes.RequestCancelled, "cancelled")));
        handler(params, token).then(resolve, reject);
      });
  }

  connection.onInitialize((params): InitializeResult => {
    client = abilitiesOf(params);
    editor = params.clientInfo ? [params.clientInfo.name, params.clientInfo.version].filter(Boolean).join(" ") : null;
    documents.encoding = chooseEncoding(params.capabilities.general?.positionEncodings);
    progress.enabled = client.progress;
    workspace.setFolders(params.workspaceFolders ?? (params.rootUri ? [params.rootUri] : []));
    selfConfigured = params.initializationOptions !== undefined && params.initializationOptions !== null;
    configure(params.initializationOptions);
    const scheme = [{ scheme: SCHEME }, { scheme: "file", pattern: "**/fuselens-code-*/*.py" }];
    return {
      serverInfo: { name: "fuselens", version: VERSION },
      capabilities: {
        positionEncoding: documents.encoding,
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: false },
        notebookDocumentSync: {
          notebookSelector: [{ notebook: { notebookType: "jupyter-notebook" }, cells: [{ language: "python" }] }],
          save: false,
        },
        hoverProvider: true,
        codeLensProvider: { resolveProvider: true },
        inlayHintProvider: { resolveProvider: false },
        definitionProvider: true,
        implementationProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        documentSymbolProvider: { label: "FuseLens kernels" },
        codeActionProvider: { codeActionKinds: ACTION_KINDS },
        semanticTokensProvider: { legend: LEGEND, full: true, range: true, documentSelector: scheme },
        executeCommandProvider: { commands: [...COMMANDS], workDoneProgress: true },
        ...(client.pullsDiagnostics
          ? {
              diagnosticProvider: {
                identifier: "fuselens",
                interFileDependencies: true,
                workspaceDiagnostics: false,
              },
            }
          : {}),
        workspace: {
          workspaceFolders: { supported: true, changeNotifications: true },
          ...(client.textContent ? { textDocumentContent: { schemes: [SCHEME] } } : {}),
        },
      },
    };
  });

  connection.onInitialized(() => {
    if (client.watchesFiles) {
      void connection.client.register(DidChangeWatchedFilesNotification.type, {
        watchers: [{ globPattern: "**/*.py" }, { globPattern: "**/.vscode/fuselens.json" }],
      });
    }
    if (client.pullsConfiguration && !selfConfigured) {
      void connection.client.register(DidChangeConfigurationNotification.type, { section: "fuselens" });
      void pullSettings(connection).then(found => found !== null && configure(found));
    }
    if (client.workspaceFolders) {
      connection.workspace.onDidChangeWorkspaceFolders(change => {
        workspace.changeFolders(change.added, change.removed);
        reconfigure();
      });
    }
  });

  connection.onDidChangeConfiguration(async change => {
    const told = (change.settings as { fuselens?: unknown } | null | undefined)?.fuselens;
    if (told !== undefined && told !== null) configure(told);
    else if (client.pullsConfiguration) configure(await pullSettings(connection));
    else configure({});
  });

  connection.onDidChangeWatchedFiles(({ changes }) => {
    const files = changes.map(c => pathOf(c.uri));
    if (files.some(f => /[\\/]\.vscode[\\/]fuselens\.json$/.test(f))) reconfigure();
    // an open document's text is the editor's, whatever the disk says
    recompileDependents(new Set(files.filter(f => !documents.byPath(f))));
  });

  connection.onHover(guarded(params => hover(context, params)));
  connection.onCodeLens(guarded(params => codeLenses(context, params)));
  connection.onCodeLensResolve(guarded(lens => resolveLens(context, lens)));
  connection.languages.inlayHint.on(guarded(params => inlayHints(context, params)));
  connection.onDefinition(
    guarded(params => (workspace.settings.definition ? definition(context, params) : Promise.resolve([]))),
  );
  connection.onImplementation(guarded(params => definition(context, params)));
  connection.onReferences(guarded(params => references(context, params)));
  connection.onDocumentHighlight(guarded(params => documentHighlight(context, params)));
  connection.onDocumentSymbol(guarded(params => documentSymbols(context, params)));
  connection.onCodeAction(guarded(params => codeActions(context, params)));
  connection.languages.semanticTokens.on(guarded(params => semanticTokens(context, params)));
  connection.languages.semanticTokens.onRange(guarded(params => semanticTokens(context, params)));
  connection.languages.diagnostics.on(guarded(params => diagnostic(context, params)));
  connection.onExecuteCommand(async (params, token, reporter) => {
    const began = performance.now();
    try {
      return await executeCommand(context, params, token, reporter);
    } finally {
      log.debug(`${params.command} took ${Math.round(performance.now() - began)} ms`);
    }
  });
  for (const method of ["workspace/textDocumentContent", "fuselens/textDocumentContent"])
    connection.onRequest(method, (params: { readonly uri?: unknown }) =>
      documentContent(context, { uri: typeof params.uri === "string" ? params.uri : "" }),
    );

  connection.onShutdown(async () => {
    generated.dispose();
    suggestions.dispose();
    await Promise.all([analyzer.dispose(), side.dispose(), workers.dispose()]);
  });
  documents.listen(connection);
  connection.listen();
}
