// Shapes of inputs as people write them beside a function: in its docstring, in comments of its signature and before its
// first statement. In: the function's code. Out: the sizes' names or numbers, outermost first, by parameter.
import type { Code } from "../../code/instructions";

const TOKEN =
  "(?:\\.{3}|\\*|\\d+(?![\\w\\s]*[*+]\\s*[A-Za-z_])|[A-Za-z_][\\w']*(?:\\s*(?:\\/\\/|[*+/-])\\s*\\w+)*|\\d+\\s*[*+]\\s*[A-Za-z_]\\w*)";
/** [B, C, H, W], (batch_size, length), also <B, T> */
const BRACKETED = new RegExp(`[[(<{]\\s*(${TOKEN}(?:\\s*[,xX\u00d7]\\s*${TOKEN})*)\\s*,?\\s*[\\])>}]`, "g");
/** B x C x H x W, BxCxHxW, b*c*h*w and B, C, H, W where nothing else is said */
const TIMES =
  /(?:^|[\s:=])((?:\w{1,16}|\.{3})(?:\s+[x\u00d7]\s+(?:\w{1,16}|\.{3}))+|[A-Z0-9]\w{0,2}(?:x[A-Z0-9]\w{0,2})+)(?=$|[\s.,;)])/;
const BARE = /^\s*((?:[A-Z]\w?|\d+)(?:\s*,\s*(?:[A-Z]\w?|\d+))+)\s*$/;
/** what stands in brackets behind a parameter's name without being a shape */
const NO_SIZE =
  /^(int|float|bool|str|string|tensor|tensors|torch|optional|default|defaults|list|tuple|dict|none|true|false|array|ndarray|required|longtensor|floattensor|booltensor|variable|any|callable|module|e|i|eg|ie|g|see|if|or|and|of|the|a|an|not|in|is)$/i;
const MOST_DIMS = 6;

/** Sizes as written, by parameter; a parameter of which nothing is written is left out. */
export function writtenShapes(code: Code, around: string | null = null): ReadonlyMap<string, readonly string[]> {
  const out = new Map<string, readonly string[]>();
  const s = code.signature;
  if (!s) return out;
  const lines = [...textOf(code), ...inputsOf(around)];
  for (const { arg } of [...s.posonlyargs, ...s.args, ...s.kwonlyargs]) {
    const shape = arg === "self" ? undefined : shapeOf(arg, lines);
    if (shape) out.set(arg, shape);
  }
  return out;
}

/** the docstring's lines, and the comments that stand before the first statement; a signature's with the code before them */
function textOf(code: Code): string[] {
  const { file, firstLine, body } = code;
  const first = body?.find(b => !(b.kind === "Expr" && b.value.kind === "Constant"));
  const until = Math.min(first?.span.line ?? firstLine, firstLine + 200);
  const comments = file.lines.slice(firstLine - 1, until - 1).flatMap(l => {
    const m = /^([^#"']*)#+(.*)$/.exec(l);
    if (!m) return [];
    // in a signature the comment is about the parameter before it
    const parameter = /(\w+)\s*(?:[:=][^,]*)?,?\s*$/.exec(m[1] ?? "")?.[1];
    return [
      parameter === undefined
        ? (m[2] ?? "")
        : `${parameter}: ${(m[2] ?? "").replace(new RegExp(`^\\s*${parameter}\\b\\s*:?`), "")}`,
    ];
  });
  return [...(code.docstring?.split("\n") ?? []), ...comments];
}

const INPUTS = /^\s*[#*=-]*\s*(inputs?|shapes?|forward|call|calling)\s*(arguments|args)?\s*:/i;
const OTHER_SECTION =
  /^\s*[#*=-]*\s*(args|arguments|attributes|outputs?|returns?|examples?|parameters|references?|notes?)\s*:{1,2}\s*$/i;

/** what a class's docstring says of its inputs, in the part that is about them */
function inputsOf(text: string | null): string[] {
  const lines = text?.split("\n") ?? [];
  const from = lines.findIndex(l => INPUTS.test(l));
  if (from < 0) return [];
  const length = lines.slice(from + 1).findIndex(l => OTHER_SECTION.test(l));
  return lines.slice(from, length < 0 ? undefined : from + 1 + length);
}

function shapeOf(name: string, lines: readonly string[]): readonly string[] | undefined {
  // `x:`, `x (Tensor):`, `:param x:`, `- x is`, `Input:` for input
  const head = new RegExp(
    `^[\\s\\-*\`:@]*(?:param(?:eter)?\\s+)?(?:\\w+\\s+)??[\`'"]?(?:${name}|${name.charAt(0).toUpperCase()}${name.slice(1)})[\`'"]?(?=[\\s:=(\\[,-]|$)(.*)$`,
  );
  for (const [i, line] of lines.entries()) {
    const m = head.exec(line);
    if (!m) continue;
    const rest = m[1] ?? "";
    const told = sizesIn(rest);
    if (told) return told;
    // the description goes on in the next lines, which are indented and speak of no other parameter
    for (const next of lines.slice(i + 1, i + 4)) {
      if (/^\s*$/.test(next) || /^\s*[\w`]+\s*(\([^)]*\))?\s*:/.test(next) || /^\s*:/.test(next)) break;
      const more = sizesIn(next);
      if (more) return more;
    }
  }
  return undefined;
}

function sizesIn(text: string): readonly string[] | undefined {
  for (const m of text.matchAll(BRACKETED)) {
    const sizes = split(m[1] ?? "", /\s*[,\u00d7]\s*|\s+[xX]\s+|(?<=[A-Z0-9])x(?=[A-Z0-9])/);
    if (sizes) return sizes;
  }
  const times = TIMES.exec(text)?.[1];
  if (times !== undefined) return split(times, /\s+[x\u00d7]\s+|x/);
  const bare = BARE.exec(text.replace(/^[\s:=-]+/, ""))?.[1];
  return bare === undefined ? undefined : split(bare, /\s*,\s*/);
}

function split(text: string, by: RegExp): readonly string[] | undefined {
  const parts = text
    .split(by)
    .map(p => p.trim())
    .filter(p => p !== "");
  // [N x C x ...] leaves the rank open, and [0, 1] is a range of values
  const ok =
    parts.length > 0 && parts.length <= MOST_DIMS && !parts.some(p => NO_SIZE.test(p) || /^(\.{3}|\*|0)$/.test(p));
  // one word in brackets is a remark, unless it is a number or a capital as sizes have
  return ok && (parts.length > 1 || /^(\d+|[A-Z]\w?|batch(_size)?)$/.test(parts[0] ?? "")) ? parts : undefined;
}
