// Select Worker and Pair Remote Worker: which process measures. Endpoints and key folders are machine-scoped settings,
// and a worker is used in a trusted workspace only.
import * as vscode from "vscode";
import type { WorkerStatus } from "./answers";
import type { Server } from "./server";

const RECENT = "fuselens.endpoints";

interface Recent {
  readonly endpoint: string;
  readonly keys: string;
}

export async function selectWorker(context: vscode.ExtensionContext, server: Server): Promise<void> {
  if (!trusted()) return;
  const recent = context.globalState.get<Recent[]>(RECENT, []);
  const current = settings().get("worker.endpoint", "");
  type Item = vscode.QuickPickItem & { readonly choice: Recent | "pair" | "enter" };
  const items: Item[] = [
    {
      label: "$(vm) Embedded CPU worker",
      description: current === "" ? "in use" : "",
      detail: "starts on demand, needs nothing installed",
      choice: { endpoint: "", keys: "" },
    },
    ...recent.map(r => ({
      label: `$(server) ${r.endpoint}`,
      description: current === r.endpoint ? "in use" : "",
      detail: r.keys ? `keys in ${r.keys}` : "",
      choice: r,
    })),
    { label: "$(add) Another endpoint…", detail: "ipc://… or tcp://host:port", choice: "enter" },
    { label: "$(key) Pair a remote worker…", detail: "a GPU machine, with keys", choice: "pair" },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: "Worker that measures" });
  if (!chosen) return;
  if (chosen.choice === "pair") return pairWorker(context, server);
  const worker = chosen.choice === "enter" ? await enter() : chosen.choice;
  if (worker) await use(context, server, worker);
}

async function enter(): Promise<Recent | undefined> {
  const endpoint = await vscode.window.showInputBox({
    title: "Endpoint of the worker",
    ignoreFocusOut: true, // an endpoint is copied from elsewhere
    placeHolder: "ipc:///run/user/1000/fuselens/worker.sock",
    validateInput: checkEndpoint,
  });
  if (endpoint === undefined) return undefined;
  if (!endpoint.startsWith("tcp:")) return { endpoint, keys: "" };
  const keys = await keyFolder();
  return keys === undefined ? undefined : { endpoint, keys };
}

export async function pairWorker(context: vscode.ExtensionContext, server: Server): Promise<void> {
  if (!trusted()) return;
  const steps =
    "On the GPU machine:\n\n" +
    "1. fuselens worker pair --keys ~/.fuselens/keys --name laptop\n" +
    "2. fuselens worker --bind tcp://0.0.0.0:7070 --keys ~/.fuselens/keys\n\n" +
    "Then copy the folder that step 1 names (client.key, client.pub, server.pub) to this machine and choose it here. " +
    "Whoever holds these keys can run code as the worker's user.";
  const choice = await vscode.window.showInformationMessage(
    "Pair a remote worker",
    { modal: true, detail: steps },
    "Choose the key folder",
    "Copy the commands",
  );
  if (choice === "Copy the commands") {
    await vscode.env.clipboard.writeText(
      "fuselens worker pair --keys ~/.fuselens/keys --name laptop\nfuselens worker --bind tcp://0.0.0.0:7070 --keys ~/.fuselens/keys\n",
    );
    return;
  }
  if (choice !== "Choose the key folder") return;
  const keys = await keyFolder();
  if (keys === undefined) return;
  const endpoint = await vscode.window.showInputBox({
    title: "Endpoint of the remote worker",
    ignoreFocusOut: true,
    value: "tcp://",
    placeHolder: "tcp://gpu-machine:7070",
    validateInput: t => (/^tcp:\/\/[^\s:/]+:\d+$/.test(t) ? undefined : "tcp://HOST:PORT"),
  });
  if (endpoint !== undefined) await use(context, server, { endpoint, keys });
}

async function keyFolder(): Promise<string | undefined> {
  const [folder] =
    (await vscode.window.showOpenDialog({
      title: "Folder with client.key, client.pub and server.pub",
      canSelectFolders: true,
      canSelectFiles: false,
      openLabel: "Use these keys",
    })) ?? [];
  if (!folder) return undefined;
  for (const name of ["client.key", "client.pub", "server.pub"]) {
    try {
      await vscode.workspace.fs.stat(vscode.Uri.joinPath(folder, name));
    } catch {
      throw new Error(`${folder.fsPath} has no ${name}; 'fuselens worker pair' makes it`);
    }
  }
  return folder.fsPath;
}

/** Connects first: a setting that does not work is not kept. */
async function use(context: vscode.ExtensionContext, server: Server, worker: Recent): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: "FuseLens: connecting to the worker" };
  const status = await vscode.window.withProgress(options, () =>
    server.ask<WorkerStatus>("fuselens.selectWorker", { endpoint: worker.endpoint || null, keys: worker.keys || null }),
  );
  await settings().update("worker.keys", worker.keys || undefined, vscode.ConfigurationTarget.Global);
  await settings().update("worker.endpoint", worker.endpoint || undefined, vscode.ConfigurationTarget.Global);
  if (worker.endpoint) {
    const others = context.globalState.get<Recent[]>(RECENT, []).filter(r => r.endpoint !== worker.endpoint);
    await context.globalState.update(RECENT, [worker, ...others].slice(0, 8));
  }
  void vscode.window.showInformationMessage(`FuseLens: measures on ${status.message}`);
}

function checkEndpoint(text: string): string | undefined {
  return /^(ipc:\/\/\S+|tcp:\/\/[^\s:/]+:\d+)$/.test(text) ? undefined : "ipc://PATH or tcp://HOST:PORT";
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("fuselens");
}

function trusted(): boolean {
  if (vscode.workspace.isTrusted) return true;
  void vscode.window.showWarningMessage("FuseLens: this workspace is not trusted: analysis works, workers do not");
  return false;
}
