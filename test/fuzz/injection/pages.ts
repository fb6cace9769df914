// The extension's pages, each opened once with its own script and then sent plans, drawings and runs as the extension sends
// them. Out: the page as HTML, for its parser to judge.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { KernelMap, ShownGraphs } from "../../../client/src/answers";
import type { ToBenchmarks } from "../../../client/src/benchmarks";
import type { ToGraph } from "../../../client/src/graph_view";
import type { ToMap } from "../../../client/src/kernel_map";
import { BENCHMARKS_PAGE } from "../../../client/src/pages/benchmarks";
import { GRAPH_PAGE } from "../../../client/src/pages/graph";
import { KERNEL_MAP_PAGE } from "../../../client/src/pages/kernel_map";
import { type PageSpec, pageHtml } from "../../../client/src/pages/page";
import type { HistoryEntry } from "../../../server/src/ide/measurements";
import type { Context } from "../mode";

interface Page {
  send(message: unknown): string;
}
type OpenPage = (html: string, script: string, receive: (message: unknown) => void) => Page;

export class Pages {
  private readonly map: Page;
  private readonly graphs: Page;
  private readonly runs: Page;
  /** what the graph's page last asked to be drawn */
  private asked: { readonly id: number; readonly dot: string } | null = null;

  private constructor(openPage: OpenPage, scripts: string) {
    const open = (page: PageSpec, receive: (message: unknown) => void = () => undefined): Page =>
      openPage(
        pageHtml(page, `vscode-webview://page/${page.name}.js`, "bm9uY2U="),
        readFileSync(join(scripts, `${page.name}.js`), "utf8"),
        receive,
      );
    this.map = open(KERNEL_MAP_PAGE);
    this.runs = open(BENCHMARKS_PAGE);
    this.graphs = open(GRAPH_PAGE, m => {
      const message = m as { type: string; id: number; dot: string };
      if (message.type === "render") this.asked = message;
    });
  }

  static async load(context: Context): Promise<Pages> {
    const path = join(context.root, "test", "fuzz", "injection", "dom.mjs");
    const { openPage } = (await import(pathToFileURL(path).href)) as { openPage: OpenPage };
    return new Pages(openPage, context.pageScripts);
  }

  kernelMap(map: KernelMap, file: string): string {
    this.map.send({ type: "map", map, file } satisfies ToMap);
    return this.map.send({ type: "light", line: map.kernels[0]?.at[0] ?? 1, scroll: true } satisfies ToMap);
  }

  benchmarks(entries: readonly HistoryEntry[], progress: string): string {
    this.runs.send({ type: "history", entries } satisfies ToBenchmarks);
    return this.runs.send({ type: "progress", text: progress, part: 0.5 } satisfies ToBenchmarks);
  }

  /** the page with its drawing, and with what Graphviz says where it can't draw */
  *graph(graphs: ShownGraphs, draw: (dot: string) => string): Generator<string> {
    this.asked = null;
    yield this.graphs.send({ type: "graphs", graphs } satisfies ToGraph);
    if (this.asked === null) return;
    const { id, dot } = this.asked as { id: number; dot: string };
    yield this.graphs.send({ type: "svg", id, svg: draw(dot) } satisfies ToGraph);
    yield this.graphs.send({ type: "failed", id, message: dot } satisfies ToGraph);
  }
}
