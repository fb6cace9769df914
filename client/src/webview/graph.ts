/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The graph view's page: a graph, a slider over its fusion rounds, zoom, export. SVG comes as text, is parsed as XML, and
// only its drawing elements are taken over.
import type { ShownGraph, ShownGraphs } from "../answers";
import type { FromGraph, ToGraph } from "../graph_view";
import { byId, element, onActivate, onMessage, paint, send } from "./dom";

const drawing = byId("drawing");
const slider = byId<HTMLInputElement>("round");
const chooser = byId<HTMLSelectElement>("graph");
const state = byId("state");
const operations = byId("operations");
const tell = (m: FromGraph): void => send(m);

let shown: ShownGraphs | null = null;
let zoom = 1;
let wanted = 0;
let natural = { width: 0, height: 0 };
const rendered = new Map<string, string>();

const graph = (): ShownGraph | undefined => shown?.graphs[chooser.selectedIndex];
const round = (): ShownGraph["rounds"][number] | undefined => graph()?.rounds[Number(slider.value)];

function load(graphs: ShownGraphs): void {
  const before = { index: chooser.selectedIndex, round: slider.value };
  shown = graphs;
  rendered.clear();
  chooser.replaceChildren(...graphs.graphs.map(g => element("option", {}, `${g.name} (${g.kind})`)));
  if (before.index > 0 && before.index < graphs.graphs.length) chooser.selectedIndex = before.index;
  selectGraph();
}

function selectGraph(): void {
  const g = graph();
  if (!g) {
    drawing.replaceChildren(element("p", {}, "Nothing here is compiled."));
    return;
  }
  slider.max = String(g.rounds.length - 1);
  slider.value = slider.max;
  zoom = 0;
  draw();
}

function draw(): void {
  const r = round();
  if (!r) return;
  state.textContent = `${r.title}: ${r.groups} kernel${r.groups === 1 ? "" : "s"}${r.fused ? `, ${r.fused} fused` : ""}`;
  slider.setAttribute("aria-valuetext", state.textContent);
  const known = rendered.get(r.dot);
  wanted++;
  if (known !== undefined) show(known);
  else tell({ type: "render", id: wanted, dot: r.dot });
}

/** what Graphviz draws with; anything else (scripts, links, foreign objects) is left out */
const DRAWN = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "text", "title", "a", "rect"]);

function show(svg: string): void {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") {
    drawing.replaceChildren(element("p", {}, "Graphviz gave no drawing."));
    return;
  }
  clean(parsed);
  const view = (parsed.getAttribute("viewBox") ?? "0 0 100 100").split(/\s+/).map(Number);
  natural = { width: (view[2] ?? 100) * 1.333, height: (view[3] ?? 100) * 1.333 };
  drawing.replaceChildren(document.importNode(parsed, true));
  const g = graph();
  const items: HTMLElement[] = [];
  for (const node of drawing.querySelectorAll<SVGElement>(".node")) {
    const index = Number(/^op_(\d+)$/.exec(node.id)?.[1] ?? -1);
    const lines = g?.lines[index] ?? [];
    narrow(node);
    const label = [...node.querySelectorAll("text")].map(t => t.textContent).join(", ");
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", lines.length ? `${label}: go to line ${lines[0]}` : label);
    const go = (): void => tell({ type: "goto", lines });
    onActivate(node as unknown as HTMLElement, go);
    const item = element("li", {}, label);
    items.push(item);
  }
  operations.replaceChildren(...items);
  if (Number(slider.value) === Number(slider.max)) colour();
  if (zoom === 0) fit();
  else scale();
}

/** Graphviz reckons with another font's widths: lines of a label that are too wide for their box are drawn narrower */
function narrow(node: SVGElement): void {
  const room = (node.querySelector<SVGGraphicsElement>("path, polygon")?.getBBox().width ?? 0) - 14;
  for (const text of node.querySelectorAll("text")) {
    if (room <= 0 || text.getComputedTextLength() <= room) continue;
    text.setAttribute("textLength", String(room));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}

/** as launched, each group bears the colour that its kernel has in the gutter */
function colour(): void {
  graph()?.launched.forEach(({ number, ops }, i) => {
    const id = ops.length > 1 ? `group_${i}` : `op_${ops[0]}`;
    const group = drawing.querySelector<SVGElement>(`#${id}`);
    if (number !== null && group) paint(group, number);
  });
}

function clean(e: Element): void {
  for (const child of [...e.children]) {
    if (!DRAWN.has(child.nodeName)) child.remove();
    else clean(child);
  }
  for (const { name } of [...e.attributes]) if (/^on|href$/i.test(name)) e.removeAttribute(name);
}

function scale(): void {
  const svg = drawing.querySelector("svg");
  svg?.setAttribute("width", String(natural.width * zoom));
  svg?.setAttribute("height", String(natural.height * zoom));
}

function fit(): void {
  zoom = Math.min(
    1.5,
    Math.max(0.1, Math.min(drawing.clientWidth / natural.width, drawing.clientHeight / natural.height)),
  );
  // a tall graph is read by scrolling, not with a glass
  if (zoom < 0.5) zoom = Math.min(1, Math.max(0.5, drawing.clientWidth / natural.width));
  scale();
}

function exported(): string {
  const svg = drawing.querySelector("svg")?.cloneNode(true) as SVGSVGElement | undefined;
  if (!svg) return "";
  svg.setAttribute("width", String(natural.width));
  svg.setAttribute("height", String(natural.height));
  // what the page's style sheet draws on the screen is not in the file: there, black on white, and the kernels' colours
  for (const e of svg.querySelectorAll<SVGElement>(".kernel")) {
    for (const path of e.querySelectorAll(":scope > path, :scope > a > path, :scope > g > a > path")) {
      path.setAttribute("stroke", e.style.getPropertyValue("--fill-light"));
      path.setAttribute("stroke-width", "2");
    }
    e.removeAttribute("style");
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

async function png(): Promise<string> {
  const image = new Image();
  image.src = `data:image/svg+xml;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(exported())))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.min(16_384, Math.round(natural.width * 2));
  canvas.height = Math.min(16_384, Math.round(natural.height * 2));
  const context = canvas.getContext("2d");
  if (!context) return "";
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png").split(",")[1] ?? "";
}

const nameOf = (): string => `${graph()?.name ?? "graph"}_${round()?.title ?? ""}`;
chooser.addEventListener("change", selectGraph);
slider.addEventListener("input", draw);
byId("fit").addEventListener("click", fit);
for (const [id, factor] of [
  ["zoom_in", 1.25],
  ["zoom_out", 0.8],
] as const)
  byId(id).addEventListener("click", () => {
    zoom = Math.min(4, Math.max(0.05, zoom * factor));
    scale();
  });
byId("svg").addEventListener("click", () => tell({ type: "export", kind: "svg", name: nameOf(), data: exported() }));
byId("dot").addEventListener("click", () =>
  tell({ type: "export", kind: "dot", name: nameOf(), data: round()?.dot ?? "" }),
);
byId("png").addEventListener(
  "click",
  () => void png().then(data => tell({ type: "export", kind: "png", name: nameOf(), data })),
);
byId("refresh").addEventListener("click", () => tell({ type: "refresh" }));

onMessage<ToGraph>(m => {
  if (m.type === "graphs") load(m.graphs);
  else if (m.type === "svg") {
    const r = round();
    if (m.id !== wanted || !r) return; // the slider has moved on
    rendered.set(r.dot, m.svg);
    show(m.svg);
  } else drawing.replaceChildren(element("p", {}, `Graphviz could not draw this: ${m.message}`));
});
