// The benchmark panel's page: buttons over a table of runs. Markup and style, no data.
import type { PageSpec } from "./page";

export const BENCHMARKS_PAGE: PageSpec = {
  name: "benchmarks",
  title: "FuseLens benchmarks",
  body: `
<div class="toolbar">
<button id="run">Benchmark the file</button>
<span class="group"><button id="copy" class="secondary" title="Copy the table as Markdown">Copy</button><button id="clear" class="secondary" title="Forget all runs">Clear</button></span>
<label title="Needs a GPU worker with PyTorch"><input id="against" type="checkbox"> with eager and torch.compile</label>
<span id="running" class="group" hidden><progress id="bar" aria-label="Benchmark"></progress><span id="progress" class="quiet" role="status" aria-live="polite"></span><button id="cancel" class="secondary" disabled>Cancel</button></span>
</div>
<div id="runs" role="region" aria-label="Benchmark runs, newest first"><table><thead><tr>
<th scope="col">what</th><th scope="col" class="number" title="Median, 20th to 80th percentile, number of runs, bytes moved per second">ours</th>
<th scope="col" class="number">eager</th><th scope="col" class="number">torch.compile</th><th scope="col" class="number" title="Largest difference from eager PyTorch">error</th>
<th scope="col">where</th>
</tr></thead><tbody></tbody></table><p id="empty" class="quiet">No runs yet: the lens above a compiled function measures it.</p></div>`,
  style: `
  #runs { overflow: auto; }
  #runs td, #runs th { padding: 3px 6px; vertical-align: top; }
  #runs tbody tr { border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, transparent)); }
  #runs td.what { width: 100%; min-width: 8em; white-space: normal; overflow-wrap: anywhere; }
  #runs td.where { white-space: normal; min-width: 5em; }
  #runs .more { display: block; color: var(--vscode-descriptionForeground); font-size: 0.9em; }
  #running { gap: 8px; }
  #running[hidden] { display: none; }
  #bar { width: 80px; accent-color: var(--vscode-progressBar-background); }
  #empty { padding: 8px; }
  td.better { color: var(--vscode-charts-green); }
  td.worse { color: var(--vscode-charts-orange); }`,
};
