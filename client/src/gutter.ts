// A colour per kernel in gutter and overview ruler. Eight colours that people with colour-blindness tell apart (after
// Okabe and Ito), each with the kernel's number drawn in it, so that colour is never the only sign.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { KernelMap } from "./kernel_map_types";

const COLOURS = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999"];
/** numbers that have an icon of their own; later kernels show a plain mark */
const NUMBERED = 32;

export class Gutter implements vscode.Disposable {
  private readonly types = new Map<number, vscode.TextEditorDecorationType>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private pending: NodeJS.Timeout | undefined;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => this.schedule()),
      vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration("fuselens.gutter") && this.schedule()),
      vscode.languages.onDidChangeDiagnostics(() => this.schedule()),
    );
    this.schedule();
  }

  /** diagnostics come with every finished analysis, so they are the sign that the map may have changed */
  schedule(delay = 150): void {
    clearTimeout(this.pending);
    this.pending = setTimeout(() => void this.update(), delay);
  }

  dispose(): void {
    clearTimeout(this.pending);
    for (const s of this.subscriptions) s.dispose();
    for (const t of this.types.values()) t.dispose();
  }

  private async update(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "python" || editor.document.uri.scheme !== "file") return;
    const enabled = vscode.workspace.getConfiguration("fuselens").get("gutter.enabled", true);
    const map = enabled ? await this.fetch(editor.document) : undefined;
    const byKernel = new Map<number, vscode.Range[]>();
    for (const [line, numbers] of Object.entries(map?.sourceToKernels ?? {})) {
      const first = numbers[0];
      const at = Number(line) - 1;
      if (first === undefined || at >= editor.document.lineCount) continue;
      byKernel.set(first, [...(byKernel.get(first) ?? []), new vscode.Range(at, 0, at, 0)]);
    }
    for (const [number, type] of this.types) if (!byKernel.has(number)) editor.setDecorations(type, []);
    for (const [number, ranges] of byKernel) editor.setDecorations(this.type(number), ranges);
  }

  private async fetch(document: vscode.TextDocument): Promise<KernelMap | undefined> {
    try {
      const { version } = document;
      const map = await this.client()?.sendRequest<KernelMap>("workspace/executeCommand", {
        command: "fuselens.kernelMap",
        arguments: [{ uri: document.uri.toString() }],
      });
      return document.version === version ? map : undefined; // never on moved lines
    } catch {
      return undefined;
    }
  }

  private type(number: number): vscode.TextEditorDecorationType {
    const known = this.types.get(number);
    if (known) return known;
    const colour = COLOURS[(number - 1) % COLOURS.length] ?? "#999999";
    const type = vscode.window.createTextEditorDecorationType({
      gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;utf8,${encodeURIComponent(icon(number, colour))}`),
      gutterIconSize: "contain",
      overviewRulerColor: colour,
      overviewRulerLane: vscode.OverviewRulerLane.Left,
      isWholeLine: true,
    });
    this.types.set(number, type);
    return type;
  }
}

function icon(number: number, colour: string): string {
  const text =
    number <= NUMBERED
      ? `<text x="8" y="12" font-size="10" font-family="sans-serif" font-weight="bold" text-anchor="middle" fill="#000">${number}</text>`
      : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="1" y="1" width="14" height="14" rx="3" fill="${colour}"/>${text}</svg>`;
}
