// How a graph's matrix products and attention are computed, in words: what was chosen among the ways, whether that is an
// estimate or was measured, and by how much it won. For hover (Markdown) and for a terminal.
import type { ReportChoice, ReportKernel } from "@fuselens/compiler";
import { type OperandWay, wayParts } from "@fuselens/compiler/vocabulary";
import { formatTime } from "../render/units";

const plain = (t: string): string => t;

/** the choice, and the graph's kernels, which say what became of products that it leaves to the scheduler */
export interface ChosenGraph {
  readonly choice: ReportChoice;
  readonly kernels: readonly Pick<ReportKernel, "name" | "nodes" | "estimate_us">[];
}

/** `code` and `text` dress names and free text; `more` stands after an estimate */
export function choiceText(g: ChosenGraph, code = plain, text = plain, more = ""): string {
  const { choice: c } = g;
  if (!c.measured) return estimateText(g, code, more);
  const others = Object.entries(c.measured)
    .filter(([way]) => way !== c.chosen)
    .sort(([, a], [, b]) => a - b);
  const own = c.measured[c.chosen];
  const rest = others.map(
    ([way, us]) => `${waysText(way, code)} ${formatTime(us)}${own ? ` (${(us / own).toFixed(2)}x)` : ""}`,
  );
  const time = own === undefined ? "" : ` ${formatTime(own)}`;
  return `${waysText(c.chosen, code)}${time}, measured (${text(c.where ?? "")}); ${rest.join(", ")}`;
}

const OPERANDS: Readonly<Record<OperandWay, string>> = {
  given: "",
  padded: " on padded rows",
  viewed: " on operands as they lie",
};

/** one way for all products, or one for each */
function waysText(ways: string, code: (name: string) => string): string {
  return ways
    .split(",")
    .map(way => wayText(way, code))
    .join(" + ");
}

function wayText(way: string, code: (name: string) => string): string {
  if (way === "template") return "a template";
  const { base, operands } = wayParts(way);
  return `${base === "library" ? "the library's kernels" : `template ${code(base)}`}${OPERANDS[operands]}`;
}

/** what became of one product: its way, how many equal ones there are, and what the cost model says of each, in microseconds */
interface TakenWay {
  readonly way: string;
  readonly count: number;
  readonly us: number | null;
}

/** by product, in the graph's order */
function taken({ choice: c, kernels }: ChosenGraph): TakenWay[] {
  const each = c.chosen.split(",");
  return c.products.map((ways, i) => {
    const operations = c.operations[i] ?? [];
    const kernel = kernels.find(k => k.nodes.some(n => operations.includes(n)));
    const asked = each[each.length === c.products.length ? i : 0] ?? "";
    // the scheduler has the last word on a product that does not have the way, or is left to it
    const kept = c.products.length === 1 || ways.includes(asked);
    const left = kernel?.name.startsWith("triton_tem_") ? "template" : "library";
    const way = kept && asked !== "template" && asked !== "" ? asked : kernel ? left : asked;
    // of a way of several kernels the cost model has the sum; else what the list of kernels says
    const several = /^split_|_prologue/.test(way);
    const us = several || !kernel ? c.estimates[i]?.[way] : kernel.estimate_us;
    return { way, count: Math.max(1, operations.length), us: us ?? null };
  });
}

const PRODUCTS_SHOWN = 6;

/** each product's way with its estimate; of a graph's only product beside its rival: the library's kernels, or the best template */
function estimateText(g: ChosenGraph, code: (name: string) => string, more: string): string {
  const products = taken(g);
  const [only] = products;
  if (products.length === 1 && only) return `${wayText(only.way, code)} (${onlyText(g.choice, only, code)}${more})`;
  const shown = products.slice(0, PRODUCTS_SHOWN);
  const texts = shown.flatMap((p, i) => {
    if (p.way === shown[i - 1]?.way) return [];
    const end = shown.findIndex((q, k) => k > i && q.way !== p.way);
    const times = shown.slice(i, end < 0 ? undefined : end).map(timesText);
    return [`${wayText(p.way, code)} (estimate: ${times.join(" + ")})`];
  });
  const rest = products.length - PRODUCTS_SHOWN;
  return `${texts.join(" + ")}${rest > 0 ? ` + ${rest} more` : ""}${more}`;
}

function timesText({ us, count }: TakenWay): string {
  const each = us === null ? "?" : formatTime(us);
  return count > 1 ? `${count} x ${each}` : each;
}

function onlyText(
  { estimates }: ReportChoice,
  { way, us: kernelUs }: TakenWay,
  code: (name: string) => string,
): string {
  const us = estimates[0] ?? {};
  const own = us[way];
  if (own === undefined) return kernelUs === null ? "estimate" : `estimate: ${formatTime(kernelUs)}`;
  const [rival] = Object.entries(us)
    .filter(([other]) => (way === "library" ? other !== "library" : other === "library"))
    .sort(([, a], [, b]) => a - b);
  if (rival === undefined) return `estimate: ${formatTime(own)}`;
  return `estimate: ${formatTime(own)}, ${wayText(rival[0], code)} ${formatTime(rival[1])} (${(rival[1] / own).toFixed(2)}x)`;
}

/** what the names of ways mean that the text of the choice has, one line each */
export function choiceLegend(g: ChosenGraph): string[] {
  const { measured, chosen } = g.choice;
  const named = measured ? [...Object.keys(measured), chosen].flatMap(w => w.split(",")) : taken(g).map(t => t.way);
  const bases = new Set(named.flatMap(w => (w === "" ? [] : [wayParts(w).base])));
  return [...bases].map(base => `${base}: ${meaningOf(base)}`);
}

const FORMS: Readonly<Record<string, string>> = {
  library: "cuBLAS's, cuDNN's or PyTorch's own kernel; what follows is a kernel of its own",
  template: "a generated kernel that multiplies and computes what follows",
  flattened: "a template whose programs walk over tiles, the walk and the sum in one loop",
  persistent: "a template whose programs walk over tiles, the walk and the sum in two loops",
  pointers: "a template with a program per tile",
};

/** docs/gemm.md says more */
function meaningOf(base: string): string {
  const [, form = base, suffix] = /^(.*?)_(prologue|stores)$/.exec(base) ?? [];
  const pieces = /^split_(\d+)$/.exec(form)?.[1];
  const what = pieces ? `the sum in ${pieces} pieces, which another kernel adds up` : (FORMS[form] ?? form);
  if (suffix === "prologue") return `${what}; an operand is computed where it would be loaded`;
  return suffix === "stores" ? `${what}; results go out through tensor descriptors` : what;
}
