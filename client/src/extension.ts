// The VS Code side: starts the language server where the files are and shows what it answers. Everything that is
// decided, the server decides.
import * as vscode from "vscode";
import { Benchmarks } from "./benchmarks";
import { registerCommands } from "./commands";
import { GraphView } from "./graph_view";
import { Gutter } from "./gutter";
import { KernelMapPanel } from "./kernel_map";
import { OutputDocuments } from "./output_documents";
import { Server } from "./server";
import { StatusItem } from "./status";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  server = new Server(context);
  const documents = new OutputDocuments();
  const kernelMap = new KernelMapPanel(context.extensionUri, server);
  const graph = new GraphView(context.extensionUri, server);
  const benchmarks = new Benchmarks(context, server);
  context.subscriptions.push(
    server,
    documents,
    vscode.workspace.registerTextDocumentContentProvider(OutputDocuments.scheme, documents),
    kernelMap,
    graph,
    benchmarks,
    new StatusItem(server),
    new Gutter(server),
  );
  registerCommands(context, { server, documents, kernelMap, graph, benchmarks });
  try {
    await server.start();
  } catch (e) {
    // the commands stay: the menu restarts it, and the settings name another one
    const why = e instanceof Error ? e.message : String(e);
    void vscode.window.showErrorMessage(`FuseLens: the language server did not start: ${why}`);
  }
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
