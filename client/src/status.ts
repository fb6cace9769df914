// The status item: what the server is doing, how many kernels the file becomes, which worker answers.
import * as vscode from "vscode";
import { type LanguageClient, State } from "vscode-languageclient/node";
import type { KernelMap } from "./kernel_map_types";

interface WorkerStatus {
  readonly state: "off" | "running" | "failed";
  readonly message: string;
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("fuselens.status", vscode.StatusBarAlignment.Right, 80);
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.item.name = "FuseLens";
    this.item.command = "fuselens.showKernels";
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => void this.update()),
      vscode.languages.onDidChangeDiagnostics(() => void this.update()),
    );
    void this.update();
  }

  dispose(): void {
    this.item.dispose();
    for (const s of this.subscriptions) s.dispose();
  }

  async update(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "python") {
      this.item.hide();
      return;
    }
    const client = this.client();
    if (client?.state !== State.Running) this.set("$(sync~spin) FuseLens", "The FuseLens server is starting");
    else {
      const target = { uri: editor.document.uri.toString() };
      const ask = <T>(command: string): Thenable<T> =>
        client.sendRequest<T>("workspace/executeCommand", { command, arguments: [target] });
      try {
        const [map, worker] = await Promise.all([
          ask<KernelMap>("fuselens.kernelMap"),
          ask<WorkerStatus>("fuselens.workerStatus"),
        ]);
        const n = map.kernels.length;
        this.set(
          `$(layers) ${n} kernel${n === 1 ? "" : "s"}`,
          `FuseLens: ${n} kernels in this file. Worker: ${worker.message}`,
        );
      } catch {
        this.set("$(layers) FuseLens", "FuseLens: no analysis of this file yet");
      }
    }
    this.item.show();
  }

  private set(text: string, tooltip: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip };
  }
}
