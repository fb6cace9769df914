// Palette and lens commands: each asks the server and shows what it answers.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { KernelMapPanel } from "./kernel_map";
import type { OutputDocuments, ShownDocument } from "./output_documents";

export interface CommandHost {
  readonly client: () => LanguageClient | undefined;
  readonly restart: () => Promise<void>;
  readonly documents: OutputDocuments;
  readonly kernelMap: KernelMapPanel;
}

interface Target {
  readonly uri: string;
  readonly root?: string;
  readonly stage?: string;
}

const STAGES = [
  "pre_grad_graphs",
  "aot_joint_graph",
  "aot_graphs",
  "post_grad_graphs",
  "ir_pre_fusion",
  "fusion",
  "ir_post_fusion",
  "schedule",
  "output_code",
  "graph_breaks",
];

export function registerCommands(context: vscode.ExtensionContext, host: CommandHost): void {
  const ask = async <T>(command: string, target: Target, token?: vscode.CancellationToken): Promise<T> => {
    const client = host.client();
    if (!client) throw new Error("the FuseLens server is not running");
    return client.sendRequest<T>("workspace/executeCommand", { command, arguments: [target] }, token);
  };
  const show = (command: string) => async (given?: Target) => {
    const target = given ?? activeTarget();
    if (target) await host.documents.show(await ask<ShownDocument>(command, target));
  };
  const register = (name: string, run: (target?: Target) => Promise<void>) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(name, async (target?: Target) => {
        try {
          await run(target);
        } catch (e) {
          void vscode.window.showErrorMessage(`FuseLens: ${e instanceof Error ? e.message : String(e)}`);
        }
      }),
    );

  register("fuselens.showOutputCode", show("fuselens.showOutputCode"));
  register("fuselens.showKernels", show("fuselens.showKernels"));
  register("fuselens.showStage", async given => {
    const target = given ?? activeTarget();
    const stage = await vscode.window.showQuickPick(STAGES, { title: "Stage (TORCH_LOGS artifact)" });
    if (target && stage)
      await host.documents.show(await ask<ShownDocument>("fuselens.showStage", { ...target, stage }));
  });
  register("fuselens.benchmark", async given => {
    const target = given ?? activeTarget();
    if (!target) return;
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: `Benchmarking ${target.root ?? "all"}`,
      cancellable: true,
    };
    const summary = await vscode.window.withProgress(options, (_progress, token) =>
      ask<{ summary: string }>("fuselens.benchmark", target, token),
    );
    void vscode.window.showInformationMessage(`FuseLens: ${summary.summary}`);
  });
  register("fuselens.showKernelMap", async given => {
    const target = given ?? activeTarget();
    if (target) await host.kernelMap.show(target.uri, target.root);
  });
  register("fuselens.restartServer", async () => host.restart());
}

function activeTarget(): Target | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId === "python" && editor.document.uri.scheme === "file")
    return { uri: editor.document.uri.toString() };
  void vscode.window.showInformationMessage("FuseLens: open a Python file first");
  return undefined;
}
