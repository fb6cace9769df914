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
const bar = byId<HTMLProgressElement>("bar");
const tell = (m: FromBenchmarks): void => send(m);

/** what counts, and under it in small letters, line by line, what it rests on */
function cell(text: string, more: readonly string[] = [], kind = ""): HTMLElement {
  return element("td", { class: kind }, text, ...more.filter(Boolean).map(m => element("span", { class: "more" }, m)));
}

/** "528 – 704 ms": the unit once where both have it */
function range(from: number, to: number): string {
  const [a, b] = [time(from), time(to)];
  const unit = b.split(" ")[1] ?? "";
  return `${a.endsWith(` ${unit}`) ? a.slice(0, -unit.length - 1) : a} – ${b}`;
}

/** the time of day; of another day, the date */
function moment(when: number): string {
  const date = new Date(when);
  const today = date.toDateString() === new Date().toDateString();
  return today ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : date.toLocaleDateString();
}

function row(e: HistoryEntry): HTMLElement {
  const rival = (us: number | null): HTMLElement =>
    us === null
      ? cell("–", [], "number")
      : cell(time(us), [`${(us / e.medianUs).toFixed(2)}x ours`], `number ${us >= e.medianUs ? "better" : "worse"}`);
  const share = e.shareOfCopy === null ? "" : `${Math.round(100 * e.shareOfCopy)}% of copy`;
  const kernels = `${e.kernels} kernel${e.kernels === 1 ? "" : "s"}`;
  const when = `${moment(e.when)}${e.cachedSeconds === null ? "" : ", from the cache"}`;
  return element(
    "tr",
    { focusable: true, label: `${e.root}, ${e.kind}, median ${time(e.medianUs)} on ${e.where}, ${when}` },
    cell(e.root, [`${e.kind}, ${kernels}`, e.file], "what"),
    cell(
      time(e.medianUs),
      [range(e.p20Us, e.p80Us), `${e.count} run${e.count === 1 ? "" : "s"}`, bandwidth(e.bytesPerSecond), share],
      "number ours",
    ),
    rival(e.eagerUs),
    rival(e.compileUs),
    cell(e.maxError === null ? "–" : e.maxError.toExponential(1), [], "number"),
    cell(e.where, [when], "where"),
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
    return;
  }
  byId("running").hidden = m.text === null;
  byId("progress").textContent = m.text ?? "";
  if (m.part === undefined || m.part === null) bar.removeAttribute("value");
  else bar.value = m.part;
  run.disabled = m.text !== null;
  cancel.disabled = m.text === null;
});
