// Output code as documents that an editor can open and jump into. A client that shows virtual documents gets `fuselens:`
// URIs and asks for their text; every other one gets files in a private folder, written when something points at them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ReportRoot } from "@fuselens/compiler";
import type { Range } from "vscode-languageserver/node";
import type { Analysis, Analyzer } from "../analysis/analyzer";
import { kept } from "../ide/cache";
import { type Generated, generatedCode, type Header } from "../ide/generated";
import { type Documents, uriOf } from "./documents";
import { TextLines } from "./positions";
import type { View } from "./view";

export const SCHEME = "fuselens";

interface Origin {
  readonly source: string;
  readonly root: string | null;
  readonly header: Header;
}

export interface GeneratedView {
  readonly uri: string;
  readonly generated: Generated;
  readonly root: ReportRoot | undefined;
  readonly header: Header;
  readonly lines: TextLines;
  /** the source that it was made of, in its current version */
  readonly source: View;
}

/** what generated documents need of the server */
export interface Host {
  readonly documents: Documents;
  readonly analyzer: Analyzer;
  readonly client: { readonly rich: boolean; readonly textContent: boolean };
  view(uri: string): Promise<View | null>;
}

export class GeneratedDocuments {
  private readonly origins = new Map<string, Origin>();
  private readonly made = new WeakMap<Analysis, Map<string, Promise<Generated | null>>>();
  private folder: string | null = null;

  isGenerated(uri: string): boolean {
    return uri.startsWith(`${SCHEME}:`) || this.origins.has(uri);
  }

  /** the document of a root's output code, without its text */
  uriFor(ctx: Host, source: View, root: ReportRoot | undefined, header: Header = "standalone"): string {
    const origin: Origin = { source: source.uri, root: root?.name ?? null, header };
    const stem = basename(source.path)
      .replace(/\.py$/, "")
      .replace(/[^\w.-]+/g, "_");
    const name = `${stem}_${(root?.name ?? "all").replace(/[^\w.-]+/g, "_")}${header === "inductor" ? "_inductor" : ""}_code.py`;
    if (ctx.client.rich || ctx.client.textContent) {
      const uri = `${SCHEME}:/${name}?${encodeURIComponent(JSON.stringify(origin))}`;
      this.origins.set(uri, origin);
      return uri;
    }
    const uri = uriOf(join(this.ownFolder(), name));
    this.origins.set(uri, origin);
    return uri;
  }

  /** The text of a document and its ties to the source as it is now; null for any other document. */
  async open(ctx: Host, uri: string): Promise<GeneratedView | null> {
    const origin = this.originOf(uri);
    const source = origin && (await ctx.view(origin.source));
    if (!origin || !source) return null;
    const root = source.program.roots.find(r => r.name === origin.root);
    const generated = await this.code(ctx, source, root, origin.header);
    if (!generated) return null;
    const lines = new TextLines(generated.text, ctx.documents.encoding);
    return { uri, generated, root, header: origin.header, lines, source };
  }

  /** as `open`, for a root of a source */
  async forRoot(ctx: Host, source: View, root: ReportRoot | undefined): Promise<GeneratedView | null> {
    return this.open(ctx, this.uriFor(ctx, source, root));
  }

  /** Makes sure that a client without virtual documents finds the file that a location points into. */
  write(view: GeneratedView): void {
    if (view.uri.startsWith(`${SCHEME}:`)) return;
    writeFileSync(join(this.ownFolder(), basename(new URL(view.uri).pathname)), view.generated.text);
  }

  /** a text that is no document of its own, as a file; its URI */
  writeText(title: string, text: string): string {
    const path = join(this.ownFolder(), title.replace(/[^\w.-]+/g, "_"));
    writeFileSync(path, text);
    return uriOf(path);
  }

  /** documents made of a source, to be told when it has changed */
  madeOf(source: string): string[] {
    return [...this.origins].flatMap(([uri, o]) => (o.source === source && uri.startsWith(`${SCHEME}:`) ? [uri] : []));
  }

  dispose(): void {
    if (this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
  }

  private ownFolder(): string {
    this.folder ??= mkdtempSync(join(tmpdir(), "fuselens-code-")); // mkdtemp makes it 0700
    return this.folder;
  }

  private originOf(uri: string): Origin | null {
    const known = this.origins.get(uri);
    if (known || !uri.startsWith(`${SCHEME}:`)) return known ?? null;
    // opened in an earlier session, or spelled by the client in its own way: the URI says all
    const query = uri.slice(uri.indexOf("?") + 1);
    try {
      const parsed = JSON.parse(decodeURIComponent(query)) as Partial<Origin>;
      if (typeof parsed.source !== "string") return null;
      const origin: Origin = {
        source: parsed.source,
        root: typeof parsed.root === "string" ? parsed.root : null,
        header: parsed.header === "inductor" ? "inductor" : "standalone",
      };
      this.origins.set(uri, origin);
      return origin;
    } catch {
      return null;
    }
  }

  private code(ctx: Host, source: View, root: ReportRoot | undefined, header: Header): Promise<Generated | null> {
    const cache = kept(this.made, source.analysis, () => new Map<string, Promise<Generated | null>>());
    return kept(cache, `${header} ${root?.name ?? ""}`, () =>
      ctx.analyzer
        .codes(source.analysis)
        .then(codes => (codes ? generatedCode(source.program, root, codes, header) : null)),
    );
  }
}

/** whole lines, from 0, as a range */
export function lineRange(view: GeneratedView, first: number, last: number = first): Range {
  return { start: view.lines.wholeLine(first + 1).start, end: view.lines.wholeLine(last + 1).end };
}
