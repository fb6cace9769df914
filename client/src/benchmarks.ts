// The benchmark panel: every run with our time, eager's, torch.compile's, the error; progress and cancel; a copy as
// Markdown. Runs of earlier sessions are kept with the workspace.
import * as vscode from "vscode";
import type { HistoryEntry, Target } from "./answers";
import { historyTable } from "./history_table";
import { BENCHMARKS_PAGE } from "./pages/benchmarks";
import { Panel } from "./panel";
import type { Server } from "./server";

export type ToBenchmarks =
  | { readonly type: "history"; readonly entries: readonly HistoryEntry[] }
  /** null: none is running; `part`: 0 to 1, or null where it is not known */
  | { readonly type: "progress"; readonly text: string | null; readonly part?: number | null };
export type FromBenchmarks =
  | { readonly type: "run"; readonly against: boolean }
  | { readonly type: "cancel" | "clear" | "export" };

const STATE_KEY = "fuselens.history";
const KEPT = 500;

export class Benchmarks implements vscode.Disposable {
  private readonly panel: Panel<ToBenchmarks, FromBenchmarks>;
  /** runs of earlier sessions */
  private past: readonly HistoryEntry[];
  private entries: HistoryEntry[] = [];
  private running: vscode.CancellationTokenSource | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
  ) {
    this.past = context.workspaceState.get<HistoryEntry[]>(STATE_KEY, []);
    this.panel = new Panel(context.extensionUri, BENCHMARKS_PAGE, m => void this.receive(m));
  }

  dispose(): void {
    this.running?.cancel();
    this.panel.dispose();
  }

  async show(): Promise<void> {
    this.panel.show();
    await this.refresh();
  }

  /** Measures one target, with progress in a notification and in the panel; cancel in either. */
  async run(target: Target, against?: readonly string[]): Promise<void> {
    if (this.running) {
      void vscode.window.showInformationMessage("FuseLens: a benchmark is running already");
      return;
    }
    const source = new vscode.CancellationTokenSource();
    this.running = source;
    const title = `Benchmarking ${target.root ?? target.uri.replace(/^.*\//, "")}`;
    this.panel.post({ type: "progress", text: title });
    try {
      const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      const summary = await vscode.window.withProgress(options, (bar, token) => {
        token.onCancellationRequested(() => source.cancel());
        const argument = { ...target, ...(against ? { against } : {}) };
        let before = 0;
        return this.server.askWithProgress<{ summary: string }>(
          "fuselens.benchmark",
          argument,
          source.token,
          (percent, message) => {
            // VS Code adds steps up, the server says how far it is
            bar.report({ message, ...(percent === undefined ? {} : { increment: Math.max(0, percent - before) }) });
            before = Math.max(before, percent ?? 0);
            this.panel.post({ type: "progress", text: message || title, part: percent ? percent / 100 : null });
          },
        );
      });
      void vscode.window
        .showInformationMessage(`FuseLens: ${summary.summary}`, "Show history")
        .then(choice => (choice ? this.show() : undefined));
    } catch (e) {
      if (!source.token.isCancellationRequested) throw e;
      void vscode.window.showInformationMessage("FuseLens: benchmark cancelled");
    } finally {
      this.running = undefined;
      source.dispose();
      this.panel.post({ type: "progress", text: null });
      await this.refresh();
    }
  }

  markdown(): string {
    return historyTable(this.all());
  }

  private async refresh(): Promise<void> {
    try {
      this.entries = [...(await this.server.ask<HistoryEntry[]>("fuselens.history", null))];
    } catch {
      // the server is being started again: what was seen so far stays
    }
    await this.context.workspaceState.update(STATE_KEY, this.all());
    this.panel.post({ type: "history", entries: this.all() });
  }

  private all(): HistoryEntry[] {
    const known = new Set(this.entries.map(e => e.when));
    return [...this.past.filter(e => !known.has(e.when)), ...this.entries].slice(-KEPT);
  }

  private async receive(m: FromBenchmarks): Promise<void> {
    switch (m.type) {
      case "run":
        await vscode.commands.executeCommand(
          "fuselens.benchmark",
          undefined,
          m.against ? ["eager", "compile"] : undefined,
        );
        return;
      case "cancel":
        this.running?.cancel();
        return;
      case "export":
        await vscode.env.clipboard.writeText(this.markdown());
        void vscode.window.showInformationMessage("FuseLens: copied as Markdown");
        return;
      case "clear":
        this.past = [];
        await this.server.ask("fuselens.clearHistory", null);
        await this.refresh();
        return;
      default: {
        const never: never = m;
        return never;
      }
    }
  }
}
