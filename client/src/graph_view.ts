// The scheduler graph as SVG: fusion rounds on a slider, a click on an operation goes to its source line, export as SVG
// or PNG. Graphviz runs in a thread of its own, so a large graph holds up nothing and can be given up.
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as vscode from "vscode";
import type { ShownGraphs, Target } from "./answers";
import { GRAPH_PAGE } from "./pages/graph";
import { Panel } from "./panel";
import type { Server } from "./server";

export type ToGraph =
  | { readonly type: "graphs"; readonly graphs: ShownGraphs }
  | { readonly type: "svg"; readonly id: number; readonly svg: string }
  | { readonly type: "failed"; readonly id: number; readonly message: string };
export type FromGraph =
  | { readonly type: "render"; readonly id: number; readonly dot: string }
  | { readonly type: "goto"; readonly lines: readonly number[] }
  | { readonly type: "refresh" }
  | { readonly type: "export"; readonly kind: "svg" | "png" | "dot"; readonly name: string; readonly data: string };

interface Rendered {
  readonly id: number;
  readonly svg?: string;
  readonly error?: string;
}

export class GraphView implements vscode.Disposable {
  private readonly panel: Panel<ToGraph, FromGraph>;
  private target: Target | undefined;
  private source: vscode.Uri | undefined;
  private thread: Worker | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.panel = new Panel(
      extension,
      GRAPH_PAGE,
      m => void this.receive(m),
      () => this.stopThread(),
    );
  }

  dispose(): void {
    this.stopThread();
    this.panel.dispose();
  }

  async show(target: Target): Promise<void> {
    this.target = target;
    const options = { location: vscode.ProgressLocation.Window, title: "FuseLens: drawing the scheduler graph" };
    const graphs = await vscode.window.withProgress(options, () =>
      this.server.ask<ShownGraphs>("fuselens.showSchedulerGraph", target),
    );
    this.source = vscode.Uri.parse(graphs.uri);
    this.panel.show(`Graph: ${graphs.title}`);
    this.panel.post({ type: "graphs", graphs });
  }

  private async receive(m: FromGraph): Promise<void> {
    switch (m.type) {
      case "render":
        this.render(m.id, m.dot);
        return;
      case "refresh":
        if (this.target) await this.show(this.target);
        return;
      case "goto":
        await this.goTo(m.lines);
        return;
      case "export":
        await save(m);
        return;
      default: {
        const never: never = m;
        return never;
      }
    }
  }

  private async goTo(lines: readonly number[]): Promise<void> {
    const [first] = lines;
    if (first === undefined || !this.source) return;
    const editor = vscode.window.visibleTextEditors.find(e => e.document.uri.toString() === this.source?.toString());
    const selection = new vscode.Range(first - 1, 0, first - 1, 0);
    await vscode.window.showTextDocument(this.source, {
      viewColumn: editor?.viewColumn ?? vscode.ViewColumn.One,
      selection,
    });
  }

  private render(id: number, dot: string): void {
    this.thread ??= this.startThread();
    this.thread.postMessage({ id, dot });
  }

  private startThread(): Worker {
    const thread = new Worker(join(this.extension.fsPath, "dist", "viz_worker.cjs"));
    thread.on("message", (r: Rendered) => {
      if (r.svg !== undefined) this.panel.post({ type: "svg", id: r.id, svg: r.svg });
      else this.panel.post({ type: "failed", id: r.id, message: r.error ?? "Graphviz gave nothing" });
    });
    thread.on("error", e => {
      this.thread = undefined;
      this.panel.post({ type: "failed", id: -1, message: e.message });
    });
    thread.unref();
    return thread;
  }

  private stopThread(): void {
    void this.thread?.terminate();
    this.thread = undefined;
  }
}

async function save(m: Extract<FromGraph, { type: "export" }>): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(".");
  const name = `${m.name.replace(/[^\w.-]+/g, "_")}.${m.kind}`;
  const uri = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(folder, name),
    filters: { [m.kind.toUpperCase()]: [m.kind] },
  });
  if (!uri) return;
  await vscode.workspace.fs.writeFile(uri, Buffer.from(m.data, m.kind === "png" ? "base64" : "utf8"));
  void vscode.window.showInformationMessage(`FuseLens: saved ${uri.fsPath}`);
}
