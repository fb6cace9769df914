/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The benchmark panel's page: a table of runs, newest first, and the buttons over it.
import type { HistoryEntry } from "../answers";
import type { FromBenchmarks, ToBenchmarks } from "../benchmarks";
import { arrowKeys, bandwidth, byId, element, onMessage, send, time } from "./dom";

const rows = document.querySelector("#runs tbody") as HTMLElement;
const run = byId<HTMLButtonElement>("run");
const cancel = byId<HTMLButtonElement>("cancel");
const against = byId<HTMLInputElement>("against");
const tell = (m: FromBenchmarks): void => send(m);

function row(e: HistoryEntry): HTMLElement {
  const number = (text: string, kind = ""): HTMLElement => element("td", { class: `number ${kind}` }, text);
  const rival = (us: number | null): HTMLElement =>
    us === null
      ? number("–")
      : number(`${time(us)} (${(us / e.medianUs).toFixed(2)}x)`, us >= e.medianUs ? "better" : "worse");
  const share = e.shareOfCopy === null ? "" : ` (${Math.round(100 * e.shareOfCopy)}% of copy)`;
  const age = e.cachedSeconds === null ? "" : ", from the cache";
  return element(
    "tr",
    { focusable: true, label: `${e.root}, ${e.kind}, median ${time(e.medianUs)} on ${e.where}` },
    element("td", { title: new Date(e.when).toISOString() }, new Date(e.when).toLocaleString()),
    element("td", {}, `${e.file}: ${e.root} (${e.kind})`),
    element("td", {}, `${e.where}${age}`),
    number(String(e.kernels)),
    number(time(e.medianUs)),
    number(`${time(e.p20Us)} – ${time(e.p80Us)}`),
    number(String(e.count)),
    number(`${bandwidth(e.bytesPerSecond)}${share}`),
    rival(e.eagerUs),
    rival(e.compileUs),
    number(e.maxError === null ? "–" : e.maxError.toExponential(1)),
  );
}

run.addEventListener("click", () => tell({ type: "run", against: against.checked }));
cancel.addEventListener("click", () => tell({ type: "cancel" }));
byId("copy").addEventListener("click", () => tell({ type: "export" }));
byId("clear").addEventListener("click", () => tell({ type: "clear" }));
arrowKeys(rows);

onMessage<ToBenchmarks>(m => {
  if (m.type === "history") {
    rows.replaceChildren(...[...m.entries].reverse().map(row));
    byId("empty").hidden = m.entries.length > 0;
  } else {
    byId("progress").textContent = m.text ?? "";
    run.disabled = m.text !== null;
    cancel.disabled = m.text === null;
  }
});
