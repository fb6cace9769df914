/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The kernel map's page: a table of kernels over the output code. In: a map, source lines to light. Out: source lines
// that the pointer or the keyboard is on.
import type { KernelMap, MappedKernel } from "../answers";
import type { FromMap, ToMap } from "../kernel_map";
import { arrowKeys, bandwidth, byId, bytes, element, onActivate, onMessage, paint, send, time } from "./dom";

const code = byId("code");
const rows = document.querySelector("#kernels tbody") as HTMLElement;
let map: KernelMap | null = null;
let kernelOfLine: (MappedKernel | undefined)[] = [];
const tell = (type: FromMap["type"], lines: readonly number[]): void => send({ type, lines } satisfies FromMap);

function draw(next: KernelMap, file: string): void {
  const top = code.scrollTop;
  map = next;
  byId("title").textContent = file;
  const total = next.kernels.reduce((n, k) => n + k.bytes, 0);
  byId("summary").textContent = summary(next.kernels, total);
  byId("limit").textContent = next.kernels.length ? `bars against ${limitText(next)}` : "";
  byId("kernels").classList.toggle("estimated", !next.kernels.some(k => k.measuredUs !== null));
  rows.replaceChildren(...next.kernels.map(row));
  kernelOfLine = [];
  for (const k of next.kernels)
    if (k.codeLines) for (let l = k.codeLines[0]; l <= k.codeLines[1]; l++) kernelOfLine[l] = k;
  code.replaceChildren(...next.code.split("\n").map((text, i) => codeLine(text, i, next)));
  code.scrollTop = top;
}

function summary(kernels: readonly MappedKernel[], total: number): string {
  if (!kernels.length) return "nothing here is compiled";
  const measured = kernels.every(k => k.measuredUs !== null);
  const us = kernels.reduce((t, k) => t + (measured ? (k.measuredUs ?? 0) : k.estimateUs), 0);
  const count = `${kernels.length} kernel${kernels.length === 1 ? "" : "s"}`;
  return `${count}, ${bytes(total)}, ${measured ? time(us) : `est. ${time(us)}`}`;
}

/** a measured kernel's bar stands against the bandwidth of the device that it ran on */
function limitText(m: KernelMap): string {
  return m.kernels.some(k => k.measuredUs !== null)
    ? "the copy bandwidth of the device"
    : `${bandwidth(m.bandwidth)} of memory bandwidth`;
}

function row(k: MappedKernel): HTMLElement {
  const badge = element("span", { class: "badge" }, String(k.number));
  paint(badge, k.number);
  const share = Math.round(100 * k.share);
  const part = k.ofBandwidth === null ? null : Math.round(100 * k.ofBandwidth);
  const bar = element("span", { class: "bar" });
  bar.style.width = `${part ?? 0}%`;
  const cell = (text: string, kind = ""): HTMLElement => element("td", { class: kind }, text);
  const made = element(
    "tr",
    {
      focusable: true,
      label:
        `kernel ${k.number}, ${k.name}, lines ${k.at.join(" ")}, ${bytes(k.bytes)}, estimated ${time(k.estimateUs)}` +
        `${k.measuredUs === null ? "" : `, measured ${time(k.measuredUs)}`}, ${share} percent of the time` +
        `${part === null ? "" : `, ${part} percent of the bandwidth limit`}`,
      title: k.graph,
    },
    element("td", {}, badge),
    element("td", { class: "name", title: k.name }, k.name),
    cell(k.at.join(", ")),
    cell(bytes(k.bytes), "number"),
    cell(time(k.estimateUs), "number"),
    cell(k.measuredUs === null ? "–" : time(k.measuredUs), "number measured"),
    cell(`${share}%`, "number"),
    element("td", { class: "limit" }, element("span", { class: "track" }, bar), part === null ? "–" : `${part}%`),
  );
  made.dataset["kernel"] = String(k.number);
  const go = (type: "hover" | "click"): void => {
    lightKernel(k);
    tell(type, k.at);
    if (type === "click" && k.codeLines) code.children[k.codeLines[0]]?.scrollIntoView({ block: "start" });
  };
  made.addEventListener("mouseenter", () => go("hover"));
  made.addEventListener("focus", () => go("hover"));
  onActivate(made, () => go("click"));
  return made;
}

function codeLine(text: string, i: number, from: KernelMap): HTMLElement {
  const source = from.codeToSource[i] ?? [];
  const kernel = kernelOfLine[i];
  const line = element(
    "div",
    { class: source.length ? "line tied" : "line", focusable: source.length > 0 },
    ...coloured(text),
  );
  if (kernel) paint(line, kernel.number);
  if (!source.length) return line;
  line.dataset["source"] = source.join(" ");
  line.setAttribute("aria-label", `${text.trim()}, from source line ${source.join(", ")}`);
  const light = (): void => {
    unlight();
    lightSource(new Set(source));
    if (kernel) lightRow(kernel.number);
    tell("hover", source);
  };
  line.addEventListener("mouseenter", light);
  line.addEventListener("focus", light);
  onActivate(line, () => tell("click", source));
  return line;
}

const WORDS =
  /#.*$|'[^']*'|"[^"]*"|\b(?:def|return|for|in|if|else|import|from|as|with|class|del|None|True|False)\b|@[\w.]+|\b\d+(?:\.\d+)?\b/g;

/** the few kinds of words that colour helps to find, as elements of text */
function coloured(text: string): (HTMLElement | string)[] {
  const out: (HTMLElement | string)[] = [];
  let at = 0;
  for (const m of text.matchAll(WORDS)) {
    const [word] = m;
    if (m.index > at) out.push(text.slice(at, m.index));
    const kind = /^#/.test(word) ? "comment" : /^['"]/.test(word) ? "string" : /^\d/.test(word) ? "digits" : "keyword";
    out.push(element("span", { class: kind }, word));
    at = m.index + word.length;
  }
  if (at < text.length) out.push(text.slice(at));
  return out;
}

function unlight(): void {
  for (const e of document.querySelectorAll(".lit, .part")) e.classList.remove("lit", "part");
}

function lightRow(number: number): void {
  for (const r of rows.children)
    if (r instanceof HTMLElement && r.dataset["kernel"] === String(number)) {
      r.classList.add("lit");
      r.scrollIntoView({ block: "nearest" });
    }
}

/** lights the lines of code that stem from source lines; the first of them */
function lightSource(lines: ReadonlySet<number>): Element | null {
  let first: Element | null = null;
  for (const e of code.children) {
    const tied = e instanceof HTMLElement ? (e.dataset["source"] ?? "") : "";
    if (!tied.split(" ").some(l => l !== "" && lines.has(Number(l)))) continue;
    e.classList.add("lit");
    first ??= e;
  }
  return first;
}

function lightKernel(k: MappedKernel): void {
  unlight();
  lightRow(k.number);
  if (!k.codeLines) lightSource(new Set(k.at));
  else for (let l = k.codeLines[0]; l <= k.codeLines[1]; l++) code.children[l]?.classList.add("part");
}

code.addEventListener("mouseleave", () => tell("leave", []));
rows.addEventListener("mouseleave", () => tell("leave", []));
arrowKeys(rows);
arrowKeys(code);
onMessage<ToMap>(m => {
  if (m.type === "map") draw(m.map, m.file);
  else if (map) {
    unlight();
    for (const n of map.sourceToKernels[m.line] ?? []) lightRow(n);
    const first = lightSource(new Set([m.line]));
    if (m.scroll) first?.scrollIntoView({ block: "nearest" });
  }
});
