// A language client for tests: the spawned server over stdio, spoken to in plain JSON-RPC.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

export interface Position {
  readonly line: number;
  readonly character: number;
}
export interface Range {
  readonly start: Position;
  readonly end: Position;
}
export interface Location {
  readonly uri: string;
  readonly range: Range;
}

export interface Hint {
  readonly position: Position;
  readonly label: string;
}

/** a range that holds every document of the tests */
export const EVERYTHING: Range = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

export interface Diagnostic {
  readonly message: string;
  readonly code?: string;
  readonly severity?: number;
  readonly range: Range;
  readonly relatedInformation?: readonly { readonly location: Location; readonly message: string }[];
}

export interface PublishedDiagnostics {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly Diagnostic[];
}

export interface LensPlace {
  readonly range: Range;
  readonly command?: unknown;
  readonly data?: unknown;
}
export interface Lens {
  readonly range: Range;
  readonly command: {
    readonly title: string;
    readonly command: string;
    readonly arguments: readonly [{ readonly uri: string; readonly root: string }];
  };
}

export interface StartOptions {
  readonly initializationOptions?: unknown;
  /** laid over the capabilities that every test client has */
  readonly capabilities?: Readonly<Record<string, Record<string, unknown>>>;
  readonly folders?: readonly string[];
  readonly configuration?: unknown;
}

export class TestClient {
  readonly published: PublishedDiagnostics[] = [];
  readonly logged: string[] = [];
  /** of each logged message, LSP's MessageType: 1 error, 2 warning, 3 info, 4 log, 5 debug */
  readonly loggedTypes: number[] = [];
  readonly registered: { readonly method: string; readonly registerOptions?: unknown }[] = [];
  readonly progress: { readonly token: unknown; readonly value: Readonly<Record<string, unknown>> }[] = [];
  readonly shown: string[] = [];
  readonly refreshed: string[] = [];
  readonly notified: { readonly method: string; readonly params: unknown }[] = [];
  capabilities: Readonly<Record<string, unknown>> = {};
  /** called with the server's progress; true cancels it */
  cancelProgress: (value: Readonly<Record<string, unknown>>) => boolean = () => false;
  private made = 0;
  private readonly waiters: {
    readonly accept: (d: PublishedDiagnostics) => boolean;
    readonly resolve: (d: PublishedDiagnostics) => void;
  }[] = [];

  private constructor(
    readonly child: ChildProcess,
    readonly connection: MessageConnection,
  ) {}

  get lensRefreshes(): number {
    return this.refreshed.filter(m => m === "workspace/codeLens/refresh").length;
  }

  static async start(options: StartOptions = {}): Promise<TestClient> {
    const program = join(__dirname, "..", "..", "server", "bin", "fuselens.cjs");
    const child = spawn(process.execPath, [program, "lsp", "--stdio"], { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) throw new Error("the server has no pipes");
    stderr.resume();
    const connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    const client = new TestClient(child, connection);
    client.listen(options.configuration);
    const given = options.capabilities ?? {};
    const { capabilities } = await connection.sendRequest<{ capabilities: Readonly<Record<string, unknown>> }>(
      "initialize",
      {
        processId: process.pid,
        clientInfo: { name: "Test Editor", version: "1.2" },
        rootUri: options.folders?.[0] ?? null,
        workspaceFolders: options.folders?.map(uri => ({ uri, name: uri })) ?? null,
        capabilities: {
          ...given,
          workspace: { codeLens: { refreshSupport: true }, ...given["workspace"] },
          window: { workDoneProgress: true, ...given["window"] },
          textDocument: {
            codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } },
            publishDiagnostics: { relatedInformation: true, versionSupport: true },
            documentSymbol: { hierarchicalDocumentSymbolSupport: true },
            ...given["textDocument"],
          },
        },
        initializationOptions: "initializationOptions" in options ? options.initializationOptions : {},
      },
    );
    client.capabilities = capabilities;
    await connection.sendNotification("initialized", {});
    return client;
  }

  open(uri: string, text: string, version = 1): Promise<void> {
    return this.notify("textDocument/didOpen", { textDocument: { uri, languageId: "python", version, text } });
  }

  /** opens a text as a document of its own; its URI */
  async openNew(text: string): Promise<string> {
    const uri = `file:///tmp/fuselens_document_${this.made++}.py`;
    await this.open(uri, text);
    return uri;
  }

  /** the whole text anew */
  change(uri: string, text: string, version: number): Promise<void> {
    return this.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  }

  edit(uri: string, version: number, range: Range, text: string): Promise<void> {
    return this.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ range, text }] });
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.connection.sendNotification(method, params);
  }

  request<T>(method: string, params: unknown): Promise<T> {
    return this.connection.sendRequest<T>(method, params);
  }

  /** a request at a position of a document */
  at<T>(method: string, uri: string, line: number, character: number, more: object = {}): Promise<T> {
    return this.request<T>(method, { textDocument: { uri }, position: { line, character }, ...more });
  }

  async hover(uri: string, line: number, character: number): Promise<string | null> {
    const answer = await this.at<{ contents: { value: string } } | null>("textDocument/hover", uri, line, character);
    return answer?.contents.value ?? null;
  }

  lensPlaces(uri: string): Promise<LensPlace[]> {
    return this.request("textDocument/codeLens", { textDocument: { uri } });
  }

  /** lenses as they are shown: placed, then resolved */
  async lenses(uri: string): Promise<Lens[]> {
    const places = await this.lensPlaces(uri);
    return Promise.all(places.map(p => this.request<Lens>("codeLens/resolve", p)));
  }

  execute<T>(command: string, target: unknown, more: object = {}): Promise<T> {
    return this.request("workspace/executeCommand", { command, arguments: [target], ...more });
  }

  /** a request that is cancelled after `milliseconds` */
  async cancelled(method: string, params: unknown, milliseconds: number): Promise<unknown> {
    const source = new CancellationTokenSource();
    const timer = setTimeout(() => source.cancel(), milliseconds);
    try {
      return await this.connection.sendRequest(method, params, source.token);
    } finally {
      clearTimeout(timer);
    }
  }

  /** diagnostics of a version, now or when they come */
  diagnostics(uri: string, version: number): Promise<PublishedDiagnostics> {
    const accept = (d: PublishedDiagnostics): boolean => d.uri === uri && d.version === version;
    const have = this.published.find(accept);
    return have ? Promise.resolve(have) : new Promise(resolve => this.waiters.push({ accept, resolve }));
  }

  /** exit status of the server after an orderly end */
  async stop(): Promise<number | null> {
    const exited = new Promise<number | null>(resolve => this.child.once("exit", code => resolve(code)));
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    const code = await exited;
    this.connection.dispose();
    return code;
  }

  private listen(configuration: unknown): void {
    const { connection } = this;
    connection.onNotification("textDocument/publishDiagnostics", (d: PublishedDiagnostics) => this.receive(d));
    connection.onNotification("window/logMessage", (m: { type: number; message: string }) => {
      this.logged.push(m.message);
      this.loggedTypes.push(m.type);
    });
    connection.onNotification("$/progress", (p: { token: unknown; value: Readonly<Record<string, unknown>> }) => {
      this.progress.push(p);
      if (this.cancelProgress(p.value)) void this.notify("window/workDoneProgress/cancel", { token: p.token });
    });
    connection.onNotification((method, params) => void this.notified.push({ method, params }));
    connection.onRequest("client/registerCapability", (p: { registrations: TestClient["registered"] }) => {
      this.registered.push(...p.registrations);
      return null;
    });
    connection.onRequest("workspace/configuration", (p: { items: unknown[] }) =>
      p.items.map(() => configuration ?? null),
    );
    connection.onRequest("window/workDoneProgress/create", () => null);
    connection.onRequest("window/showDocument", (p: { uri: string }) => {
      this.shown.push(p.uri);
      return { success: true };
    });
    for (const kind of ["codeLens", "inlayHint", "diagnostic"])
      connection.onRequest(`workspace/${kind}/refresh`, () => this.refresh(`workspace/${kind}/refresh`));
    connection.onRequest("workspace/textDocumentContent/refresh", () =>
      this.refresh("workspace/textDocumentContent/refresh"),
    );
    connection.listen();
  }

  private refresh(method: string): null {
    this.refreshed.push(method);
    return null;
  }

  private receive(d: PublishedDiagnostics): void {
    this.published.push(d);
    for (const w of this.waiters) if (w.accept(d)) w.resolve(d);
  }
}
