// How a graph's matrix products and attention are computed, in words: what was chosen among the ways, whether that is an
// estimate or was measured, and by how much it won. For hover (Markdown) and for a terminal.
import type { ReportChoice } from "@fuselens/compiler";
import { type OperandWay, wayParts } from "@fuselens/compiler/vocabulary";
import { formatTime } from "../render/units";

const plain = (t: string): string => t;

/** `code` and `text` dress names and free text; `more` stands after an estimate */
export function choiceText(c: ReportChoice, code = plain, text = plain, more = ""): string {
  if (!c.measured) {
    const chosen = c.chosen === "template" ? "a template" : waysText(c.chosen, code);
    return `${chosen} (${estimateText(c, code)}${more})`;
  }
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
    .map(way => {
      const { base, operands } = wayParts(way);
      return `${base === "library" ? "the library's kernels" : `template ${code(base)}`}${OPERANDS[operands]}`;
    })
    .join(" + ");
}

/** of a graph's only product, what the chosen way is estimated to take, and its rival: the library's kernels, or the best template */
function estimateText({ chosen, estimates: [us, ...more] }: ReportChoice, code: (name: string) => string): string {
  const own = us?.[chosen];
  if (us === undefined || own === undefined || more.length > 0) return "estimate";
  const [rival] = Object.entries(us)
    .filter(([way]) => (chosen === "library" ? way !== "library" : way === "library"))
    .sort(([, a], [, b]) => a - b);
  if (rival === undefined) return `estimate: ${formatTime(own)}`;
  return `estimate: ${formatTime(own)}, ${waysText(rival[0], code)} ${formatTime(rival[1])} (${(rival[1] / own).toFixed(2)}x)`;
}
