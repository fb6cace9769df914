// Creates and starts the LanguageClient. In: extension context, settings. Out: a running client.
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  TransportKind,
} from "vscode-languageclient/node";

export interface ServerSettings {
  readonly preset: string;
  readonly target: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly workerEndpoint: string | null;
  readonly trusted: boolean;
}

export function readSettings(): ServerSettings {
  const c = vscode.workspace.getConfiguration("fuselens");
  return {
    preset: c.get("preset", "nightly-2026-11"),
    target: c.get("target", "h100"),
    config: c.get("config", {}),
    workerEndpoint: c.get("worker.endpoint", "") || null,
    trusted: vscode.workspace.isTrusted,
  };
}

export async function startClient(context: vscode.ExtensionContext): Promise<LanguageClient> {
  const module = serverModule(context);
  const run = { module, transport: TransportKind.stdio, args: ["lsp"] };
  const serverOptions: ServerOptions = {
    run,
    debug: { ...run, options: { execArgv: ["--nolazy", "--inspect=6009"] } },
  };
  const clientOptions: LanguageClientOptions = {
    documentSelector: [{ scheme: "file", language: "python" }],
    initializationOptions: readSettings(),
    // The server's lens commands carry their arguments to the commands registered here, which add the showing.
    middleware: { executeCommand: (command, args, next) => next(command, args) },
  };
  const client = new LanguageClient("fuselens", "FuseLens", serverOptions, clientOptions);
  // The commands are registered by this extension; the client must not register the server's list a second time.
  client.getFeature("workspace/executeCommand").register = () => undefined;
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(e => {
      if (e.affectsConfiguration("fuselens"))
        void client.sendNotification("workspace/didChangeConfiguration", { settings: { fuselens: readSettings() } });
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(
      () =>
        void client.sendNotification("workspace/didChangeConfiguration", { settings: { fuselens: readSettings() } }),
    ),
  );
  await client.start();
  return client;
}

function serverModule(context: vscode.ExtensionContext): string {
  const chosen = vscode.workspace.getConfiguration("fuselens").get("server.path", "");
  if (chosen && vscode.workspace.isTrusted) return chosen;
  const packaged = context.asAbsolutePath(join("dist", "server", "cli.cjs"));
  return existsSync(packaged) ? packaged : context.asAbsolutePath(join("..", "server", "dist", "cli.cjs"));
}
