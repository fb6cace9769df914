// The language server as this extension sees it: started, restarted, asked, listened to. Everything that is decided, it
// decides; what is here only shows.
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
  TransportKind,
  WorkDoneProgress,
} from "vscode-languageclient/node";
import type { Analysed, Target } from "./answers";
import { readSettings } from "./settings";

/** commands that links in hovers may call: all of them are this extension's own */
const LINKED = ["showOutputCode", "showKernelMap", "benchmark", "showSchedulerGraph", "compare"].map(
  c => `fuselens.${c}`,
);

const NOT_RUNNING = "the server is not running; FuseLens: Restart Server starts it";

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly analysed = new vscode.EventEmitter<Analysed>();
  private readonly worker = new vscode.EventEmitter<void>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** a document has been compiled */
  readonly onAnalysed = this.analysed.event;
  readonly onWorker = this.worker.event;
  /** started, stopped, failed */
  readonly onState = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [];
  private progressTokens = 0;

  constructor(private readonly context: vscode.ExtensionContext) {
    const tell = (): void => {
      const params = { settings: { fuselens: readSettings() } };
      void this.client?.sendNotification("workspace/didChangeConfiguration", params);
    };
    this.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration(e => {
        if (e.affectsConfiguration("fuselens.server")) void this.restart();
        else if (e.affectsConfiguration("fuselens")) tell();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(tell),
    );
  }

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  /** it ended, or never began; a restart may help */
  get stopped(): boolean {
    return this.client === undefined || this.client.state === State.Stopped;
  }

  async start(): Promise<void> {
    const run = { module: this.module(), transport: TransportKind.stdio, args: ["lsp"] };
    const server: ServerOptions = { run, debug: { ...run, options: { execArgv: ["--nolazy", "--inspect=6009"] } } };
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
        { scheme: "vscode-notebook-cell", language: "python" },
        { scheme: "fuselens" },
      ],
      initializationOptions: readSettings(),
      synchronize: { fileEvents: [] },
      markdown: { isTrusted: { enabledCommands: LINKED } } as unknown as LanguageClientOptions["markdown"],
      diagnosticPullOptions: { onChange: true, onTabs: false },
    };
    const client = new LanguageClient("fuselens", "FuseLens", server, options);
    // The commands are registered by this extension; the client must not register the server's list a second time.
    client.getFeature("workspace/executeCommand").register = () => undefined;
    client.onNotification("fuselens/analysed", (a: Analysed) => this.analysed.fire(a));
    client.onNotification("fuselens/worker", () => this.worker.fire());
    client.onDidChangeState(() => this.changed.fire());
    this.client = client;
    await client.start();
  }

  /** as `ask`, and hears how far the server is: percent (undefined: unknown) and what it does */
  async askWithProgress<T>(
    command: string,
    argument: unknown,
    token: vscode.CancellationToken,
    onProgress: (percent: number | undefined, message: string) => void,
  ): Promise<T> {
    const { client } = this;
    if (!client) throw new Error(NOT_RUNNING);
    const workDoneToken = `fuselens-${++this.progressTokens}`;
    const heard = client.onProgress(WorkDoneProgress.type, workDoneToken, p => {
      if (p.kind !== "end") onProgress(p.percentage, p.message ?? "");
    });
    try {
      const params = { command, arguments: [argument], workDoneToken };
      return await client.sendRequest<T>("workspace/executeCommand", params, token);
    } finally {
      heard.dispose();
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.stop();
  }

  /** One command's answer; an Error of one line where there is none. */
  ask<T>(command: string, argument: unknown, token?: vscode.CancellationToken): Promise<T> {
    const { client } = this;
    if (!client) return Promise.reject(new Error(NOT_RUNNING));
    const params = { command, arguments: [argument] };
    // a token that is not there would count as a second parameter of the request
    return token
      ? client.sendRequest<T>("workspace/executeCommand", params, token)
      : client.sendRequest<T>("workspace/executeCommand", params);
  }

  /** what the server has said, by levels */
  showLog(): void {
    this.client?.outputChannel.show(true);
  }

  dispose(): void {
    for (const s of [...this.subscriptions, this.analysed, this.worker, this.changed]) s.dispose();
  }

  private module(): string {
    const chosen = vscode.workspace.getConfiguration("fuselens").get("server.path", "");
    if (chosen && vscode.workspace.isTrusted) return chosen;
    const packaged = this.context.asAbsolutePath(join("dist", "server", "cli.cjs"));
    return existsSync(packaged) ? packaged : this.context.asAbsolutePath(join("..", "server", "dist", "cli.cjs"));
  }
}

export function isSource(document: vscode.TextDocument): boolean {
  return document.languageId === "python" && ["file", "untitled", "vscode-notebook-cell"].includes(document.uri.scheme);
}

/** The document that a command means when it was called from the palette; says so where there is none. */
export function activeTarget(): Target | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document && (isSource(document) || document.uri.scheme === "fuselens")) return { uri: document.uri.toString() };
  const visible = vscode.window.visibleTextEditors.map(e => e.document).find(isSource);
  if (visible) return { uri: visible.uri.toString() };
  void vscode.window.showInformationMessage("FuseLens: open a Python file first");
  return undefined;
}
