// The graph view's page: a toolbar, the drawing, and the operations for screen readers. Markup and style, no data.
import type { PageSpec } from "./page";

export const GRAPH_PAGE: PageSpec = {
  name: "graph",
  title: "FuseLens scheduler graph",
  body: `
<div class="toolbar">
<select id="graph" aria-label="Graph"></select>
<span class="group" role="group" aria-label="Zoom"><button id="zoom_out" class="secondary" aria-label="Zoom out" title="Zoom out">−</button><button id="zoom_in" class="secondary" aria-label="Zoom in" title="Zoom in">+</button><button id="fit" class="secondary" title="Fit the graph into the panel">Fit</button></span>
<span class="group" role="group" aria-label="Save as"><button id="svg" class="secondary" title="Save as SVG">SVG</button><button id="png" class="secondary" title="Save as PNG">PNG</button><button id="dot" class="secondary" title="Save as DOT, Graphviz's own text">DOT</button></span>
<button id="refresh" class="secondary" title="Draw the source as it is now">Redraw</button>
<span class="group rounds"><label for="round">Fusion</label><input id="round" type="range" min="0" max="0" value="0" step="1"><output id="state" for="round" role="status"></output></span>
</div>
<div id="drawing" role="group" aria-label="Scheduler graph: Tab goes through the operations, Enter to the source"></div>
<ul id="operations" class="hidden" aria-label="Operations"></ul>`,
  style: `
  body { display: flex; flex-direction: column; height: 100vh; overflow: hidden; }
  select { max-width: 18em; }
  .group.rounds { gap: 6px; flex: 1 0 auto; }
  #round { width: 150px; accent-color: var(--vscode-button-background); }
  #drawing { flex: 1; overflow: auto; padding: 4px; }
  #drawing svg { display: block; margin: 0 auto; }
  #drawing text { font-family: Helvetica, Arial, "Liberation Sans", Arimo, sans-serif; fill: var(--vscode-editor-foreground); }
  #drawing .graph > polygon { fill: transparent; }
  #drawing .node path { fill: var(--vscode-editor-background); stroke: var(--vscode-editor-foreground); }
  #drawing .cluster path { fill: var(--vscode-editor-inactiveSelectionBackground); stroke: var(--vscode-editor-foreground); fill-opacity: 0.5; }
  #drawing .edge path { stroke: var(--vscode-descriptionForeground); }
  #drawing .edge polygon { fill: var(--vscode-descriptionForeground); stroke: var(--vscode-descriptionForeground); }
  #drawing .edge text { fill: var(--vscode-descriptionForeground); }
  #drawing .kernel > path, #drawing .kernel > a > path, #drawing .kernel > g > a > path { stroke: var(--fill); stroke-width: 2; }
  #drawing .node { cursor: pointer; }
  #drawing .node:hover path, #drawing .node:focus path { stroke: var(--vscode-focusBorder); stroke-width: 2.5; }
  #drawing .node:focus { outline: none; }
  #drawing p { padding: 8px; }`,
};
