// The status item: compiling or not, how many kernels the file becomes, which worker measures. A click opens a menu with
// everything that can be done here.
import * as vscode from "vscode";
import type { Analysed, KernelLines, WorkerStatus } from "./answers";
import { isSource, type Server } from "./server";

/** a compile that takes longer is shown as one */
const NOTICEABLE_MS = 250;

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("fuselens.status", vscode.StatusBarAlignment.Right, 80);
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly analysed = new Map<string, Analysed>();
  private worker: WorkerStatus | undefined;
  private compiling: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.item.name = "FuseLens";
    this.item.command = "fuselens.menu";
    const forget = (d: vscode.TextDocument): boolean => this.analysed.delete(d.uri.toString());
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => void this.update()),
      vscode.workspace.onDidChangeTextDocument(e => this.edited(e.document)),
      vscode.workspace.onDidCloseTextDocument(forget),
      server.onAnalysed(a => {
        this.analysed.set(vscode.Uri.parse(a.uri).toString(), a);
        void this.update();
      }),
      server.onWorker(() => void this.updateWorker()),
      server.onState(() => void this.update()),
    );
    void this.update();
  }

  dispose(): void {
    clearTimeout(this.compiling);
    this.item.dispose();
    for (const s of this.subscriptions) s.dispose();
  }

  private edited(document: vscode.TextDocument): void {
    if (document !== vscode.window.activeTextEditor?.document || !isSource(document)) return;
    clearTimeout(this.compiling);
    this.compiling = setTimeout(() => {
      const seen = this.analysed.get(document.uri.toString());
      if (seen && seen.version < document.version) this.set("$(sync~spin) FuseLens", "FuseLens: compiling", undefined);
    }, NOTICEABLE_MS);
  }

  private async updateWorker(): Promise<void> {
    try {
      this.worker = await this.server.ask<WorkerStatus>("fuselens.workerStatus", null);
    } catch {
      this.worker = undefined;
    }
    await this.update();
  }

  private async update(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (!document || !isSource(document)) {
      if (document?.uri.scheme !== "fuselens") this.item.hide();
      return;
    }
    this.item.show();
    if (this.server.stopped) {
      this.set("$(error) FuseLens", "FuseLens: the server is not running. Restart Server is in the menu", undefined);
      return;
    }
    if (!this.server.running) {
      this.set("$(sync~spin) FuseLens", "FuseLens: the server is starting", undefined);
      return;
    }
    const uri = document.uri.toString();
    if (!this.analysed.has(uri)) {
      this.set("$(sync~spin) FuseLens", "FuseLens: compiling", undefined);
    }
    try {
      const lines = await this.server.ask<KernelLines>("fuselens.kernelLines", { uri });
      if (vscode.window.activeTextEditor?.document === document) this.show(lines, this.analysed.get(uri));
    } catch {
      if (!this.analysed.has(uri)) this.set("$(layers) FuseLens", "FuseLens: no analysis of this file yet", undefined);
    }
  }

  private show(lines: KernelLines, a: Analysed | undefined): void {
    const n = lines.kernels.length;
    const count = `${n} kernel${n === 1 ? "" : "s"}`;
    const [device] = this.worker?.devices ?? [];
    const worker = this.worker?.message ?? "none running; a benchmark starts one";
    const tooltip = new vscode.MarkdownString();
    tooltip.appendText(`FuseLens: ${count} in this file\n`);
    tooltip.appendText(`worker: ${worker}\n`);
    if (a) tooltip.appendText(`compiled in ${Math.round(a.milliseconds)} ms as ${a.preset} for ${a.target}`);
    const text = `$(layers) ${count}${device ? ` · ${device.title}` : ""}`;
    this.set(text, `FuseLens: ${count} in this file. Worker: ${worker}`, tooltip);
  }

  private set(text: string, label: string, tooltip: vscode.MarkdownString | undefined): void {
    this.item.text = text;
    this.item.tooltip = tooltip ?? label;
    this.item.accessibilityInformation = { label };
  }
}
