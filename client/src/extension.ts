// The VS Code side: starts the language server where the files are, shows its texts in read-only documents, runs
// benchmarks with progress. Everything that is decided, the server decides.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { startClient } from "./client";
import { registerCommands } from "./commands";
import { Gutter } from "./gutter";
import { KernelMapPanel } from "./kernel_map";
import { OutputDocuments } from "./output_documents";
import { StatusItem } from "./status";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const documents = new OutputDocuments();
  context.subscriptions.push(
    documents,
    vscode.workspace.registerTextDocumentContentProvider(OutputDocuments.scheme, documents),
  );
  const start = async () => {
    client = await startClient(context);
    return client;
  };
  await start();
  const current = () => client;
  const kernelMap = new KernelMapPanel(current);
  context.subscriptions.push(kernelMap, new Gutter(current), new StatusItem(current));
  const restart = async () => {
    await client?.stop();
    await start();
  };
  registerCommands(context, { client: current, restart, documents, kernelMap });
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
