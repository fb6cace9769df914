// A language client for tests: the spawned server over stdio, spoken to in plain JSON-RPC.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createMessageConnection, type MessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

export interface PublishedDiagnostics {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly { readonly message: string; readonly code?: string; readonly severity?: number; readonly range: { readonly start: { readonly line: number } } }[];
}

export interface Lens {
  readonly range: { readonly start: { readonly line: number } };
  readonly command: { readonly title: string; readonly command: string; readonly arguments: readonly [{ readonly uri: string; readonly root: string }] };
}

export class TestClient {
  readonly published: PublishedDiagnostics[] = [];
  lensRefreshes = 0;
  private readonly waiters: { readonly accept: (d: PublishedDiagnostics) => boolean; readonly resolve: (d: PublishedDiagnostics) => void }[] = [];

  private constructor(
    private readonly child: ChildProcess,
    readonly connection: MessageConnection,
  ) {}

  static async start(initializationOptions: Record<string, unknown> = {}): Promise<TestClient> {
    const child = spawn(process.execPath, [join(__dirname, "..", "..", "server", "bin", "fuselens.cjs"), "lsp", "--stdio"], { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) throw new Error("the server has no pipes");
    stderr.resume();
    const connection = createMessageConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    const client = new TestClient(child, connection);
    connection.onNotification("textDocument/publishDiagnostics", (d: PublishedDiagnostics) => client.receive(d));
    connection.onRequest("workspace/codeLens/refresh", () => {
      client.lensRefreshes += 1;
      return null;
    });
    connection.onRequest("window/workDoneProgress/create", () => null);
    connection.listen();
    await connection.sendRequest("initialize", {
      processId: process.pid,
      rootUri: null,
      capabilities: { workspace: { codeLens: { refreshSupport: true } }, window: { workDoneProgress: true } },
      initializationOptions,
    });
    await connection.sendNotification("initialized", {});
    return client;
  }

  open(uri: string, text: string, version = 1): Promise<void> {
    return this.connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "python", version, text } });
  }

  /** the whole text anew */
  change(uri: string, text: string, version: number): Promise<void> {
    return this.connection.sendNotification("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  }

  async hover(uri: string, line: number, character: number): Promise<string | null> {
    const answer = await this.connection.sendRequest<{ contents: { value: string } } | null>("textDocument/hover", { textDocument: { uri }, position: { line, character } });
    return answer?.contents.value ?? null;
  }

  lenses(uri: string): Promise<Lens[]> {
    return this.connection.sendRequest("textDocument/codeLens", { textDocument: { uri } });
  }

  execute<T>(command: string, target: unknown): Promise<T> {
    return this.connection.sendRequest("workspace/executeCommand", { command, arguments: [target] });
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

  private receive(d: PublishedDiagnostics): void {
    this.published.push(d);
    for (const w of this.waiters) if (w.accept(d)) w.resolve(d);
  }
}
