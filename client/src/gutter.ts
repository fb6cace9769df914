// A colour and number per kernel in the gutter, the colour in the overview ruler too. Follows every analysis; never
// drawn from a version of the document that has passed.
import * as vscode from "vscode";
import type { KernelLines } from "./answers";
import { kernelColour } from "./colours";
import { kernelIcon } from "./kernel_icon";
import { isSource, type Server } from "./server";

export class Gutter implements vscode.Disposable {
  private readonly types = new Map<string, vscode.TextEditorDecorationType>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly pending = new Map<string, NodeJS.Timeout>();

  constructor(private readonly server: Server) {
    this.subscriptions.push(
      vscode.window.onDidChangeVisibleTextEditors(() => this.all()),
      vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration("fuselens.gutter") && this.all()),
      server.onAnalysed(a => this.schedule(a.uri)),
    );
    this.all();
  }

  dispose(): void {
    for (const t of this.pending.values()) clearTimeout(t);
    for (const s of this.subscriptions) s.dispose();
    for (const t of this.types.values()) t.dispose();
  }

  private all(): void {
    for (const e of vscode.window.visibleTextEditors)
      if (isSource(e.document)) this.schedule(e.document.uri.toString());
  }

  private schedule(uri: string): void {
    clearTimeout(this.pending.get(uri));
    this.pending.set(
      uri,
      setTimeout(() => {
        this.pending.delete(uri);
        void this.update(uri);
      }, 30),
    );
  }

  private async update(uri: string): Promise<void> {
    const editors = vscode.window.visibleTextEditors.filter(e => sameDocument(e.document, uri) && isSource(e.document));
    const [first] = editors;
    if (!first) return;
    const enabled = vscode.workspace.getConfiguration("fuselens").get("gutter.enabled", true);
    const { version } = first.document;
    const lines = enabled ? await this.fetch(first.document) : null;
    if (first.document.version !== version || lines === undefined) return;
    const byKind = new Map<string, vscode.Range[]>();
    for (const [line, numbers] of Object.entries(lines?.sourceToKernels ?? {})) {
      const at = Number(line) - 1;
      if (!numbers.length || at >= first.document.lineCount) continue;
      const kind = numbers.slice(0, 2).join(" ") + (numbers.length > 2 ? " +" : "");
      byKind.set(kind, [...(byKind.get(kind) ?? []), new vscode.Range(at, 0, at, 0)]);
    }
    for (const editor of editors) {
      for (const [kind, type] of this.types) if (!byKind.has(kind)) editor.setDecorations(type, []);
      for (const [kind, ranges] of byKind) editor.setDecorations(this.type(kind), ranges);
    }
  }

  /** undefined: between two versions, what is drawn may stay */
  private async fetch(document: vscode.TextDocument): Promise<KernelLines | undefined> {
    try {
      return await this.server.ask<KernelLines>("fuselens.kernelLines", { uri: document.uri.toString() });
    } catch {
      return undefined;
    }
  }

  private type(kind: string): vscode.TextEditorDecorationType {
    const known = this.types.get(kind);
    if (known) return known;
    const side = (theme: "light" | "dark"): vscode.ThemableDecorationRenderOptions => ({
      gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;utf8,${encodeURIComponent(kernelIcon(kind, theme))}`),
      gutterIconSize: "contain",
      overviewRulerColor: kernelColour(Number(kind.split(" ")[0]))[theme],
    });
    const type = vscode.window.createTextEditorDecorationType({
      light: side("light"),
      dark: side("dark"),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
      isWholeLine: true,
    });
    this.types.set(kind, type);
    return type;
  }
}

export function sameDocument(document: vscode.TextDocument, uri: string): boolean {
  return document.uri.toString() === uri || document.uri.toString() === vscode.Uri.parse(uri).toString();
}
