// One snippet of test/recorded/operators.json.gz as a training program in float64, and the job that checks its gradients.
// In: the snippet, a number that shapes and layouts are drawn from. Out: steps for the CPU executor that run it forward
// and backward, then forward again with each input moved a little; afterwards the gradients that differ.
import type { Program } from "@fuselens/compiler";
import type { ValueRow, ValueStep } from "@fuselens/gpu-worker/protocol";
import { uniform } from "../../gpu-worker/src/cpu/fill";

export interface Snippet {
  readonly code: string;
  readonly inputs: string;
  /** computed in float32: a larger step, and less is asked of the agreement */
  readonly coarse?: boolean;
  /** its sizes depend on each other */
  readonly fixed?: boolean;
}

interface Input {
  readonly name: string;
  readonly kind: "float" | "int" | "bool";
  readonly shape: readonly number[];
  readonly grad: boolean;
}

/** how the snippet's tensor lies in the leaf that the gradient is taken of */
type Layout = "plain" | "transposed" | "strided" | "expanded";
const LAYOUTS: readonly Layout[] = ["plain", "transposed", "strided", "expanded"];

export interface GradientProgram {
  readonly snippet: Snippet;
  readonly source: string;
  /** leaves and constants in the order in which the program makes them */
  readonly inputs: readonly Input[];
}

/** where the random inputs lie: some functions are only defined on one of them */
const DOMAINS = [
  [-1.7, 1.7],
  [0.1, 0.9],
  [1.1, 2.9],
] as const;
interface Accuracy {
  /** half the distance of a central difference */
  readonly step: number;
  readonly tolerance: number;
}
const FINE: Accuracy = { step: 1e-6, tolerance: 2e-5 };
const COARSE: Accuracy = { step: 2e-3, tolerance: 3e-3 };
const accuracyOf = (s: Snippet): Accuracy => (s.coarse ? COARSE : FINE);
/** single elements of each input that are moved alone */
const UNITS = 2;

function parse(text: string): Input[] {
  return text.split(" ").flatMap((t): Input[] => {
    const m = /^(\w+):(\w)\[(.*)\]$/.exec(t);
    if (!m) return [];
    const [, name = "", type = "", dims = ""] = m;
    const shape = dims === "" ? [] : dims.split(",").map(Number);
    const kind = type === "i" ? "int" : type === "B" ? "bool" : "float";
    return [{ name, kind, shape, grad: kind === "float" && !name.startsWith("n") }];
  });
}

/**
 * Snippets whose difference is no gradient: random or detached values, results in a coarser dtype, gradients that
 * PyTorch leaves out on purpose (of a norm's statistics, of the padding row of an embedding), a loss that is infinite.
 */
export function unsuited(s: Snippet): boolean {
  return (
    /:c\[/.test(s.inputs) ||
    /detach|no_grad|requires_grad|rand|dropout|gumbel|bernoulli/.test(s.code) ||
    /float16|float32|half\(|\.float\(|native_\w+_norm|padding_idx|"-inf"|"cpu"|\.cpu\(|torch\.eye/.test(s.code)
  );
}

/** sizes that no number of the code depends on become others, the same for every input */
function resized(s: Snippet, inputs: readonly Input[], pick: (n: number) => number): Input[] {
  const free =
    !s.fixed && !/\d{2}|[4-9]/.test(s.code) && !/view|fold|conv|pool|interp|grid|shuffle|attention/.test(s.code);
  const of = new Map<number, number>();
  const size = (n: number) => {
    if (n < 4) return n;
    const known = of.get(n) ?? (free ? 3 + pick(5) : n);
    of.set(n, known);
    return known;
  };
  return inputs.map(i => ({ ...i, shape: i.shape.map(size) }));
}

export function gradientProgram(s: Snippet, drawn: number, plain: boolean): GradientProgram {
  let state = drawn;
  const pick = (n: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 4294967296) * n);
  };
  const wanted = plain ? parse(s.inputs) : resized(s, parse(s.inputs), pick);
  const writes = /\w_\(|\]\s*[-+*/]?=[^=]|^\w+\s*[-+*/]=/m.test(s.code);
  const prologue: string[] = [];
  const inputs = wanted.map((i): Input => {
    if (!i.grad) return i;
    const layout = plain || i.shape.length < 2 ? "plain" : (LAYOUTS[pick(LAYOUTS.length)] ?? "plain");
    const made = laidOut(i, layout, pick);
    if (made.text !== i.name) prologue.push(`${i.name} = ${made.text}`);
    // a leaf may not be written
    if (writes) prologue.push(`${i.name} = ${i.name} * 1.0`);
    return { ...i, shape: made.shape };
  });
  const names = inputs.map(i => i.name).join(", ");
  const lines = s.code.split("\n");
  const body = lines.length === 1 && !/^return\b/.test(s.code) ? [`return ${s.code}`] : lines;
  const source = [
    "import torch",
    "import torch.nn.functional as F",
    "",
    "",
    `def operator(${names}):`,
    ...body.map(l => `    ${l}`),
    "",
    "",
    "def total(o):",
    "    if isinstance(o, torch.Tensor):",
    "        if not o.is_floating_point() or not o.requires_grad:",
    "            return 0.0",
    '        weights = torch.cos(torch.arange(o.numel(), device="cuda", dtype=torch.float64)).reshape(o.shape)',
    "        return (o * weights).sum()",
    "    if o is None or not isinstance(o, (tuple, list)):",
    "        return 0.0",
    "    return sum([total(part) for part in o])",
    "",
    "",
    "@torch.compile",
    `def f(${names}):`,
    ...prologue.map(l => `    ${l}`),
    `    return total(operator(${names}))`,
    "",
    "",
    ...inputs.map(creation),
    `f(${names}).backward()`,
    "",
  ].join("\n");
  return { snippet: s, source, inputs };
}

function laidOut(i: Input, layout: Layout, pick: (n: number) => number): { text: string; shape: readonly number[] } {
  const { name, shape } = i;
  const d = pick(shape.length);
  switch (layout) {
    case "plain":
      return { text: name, shape };
    case "transposed":
      return {
        text: `${name}.transpose(-1, -2)`,
        shape: [...shape.slice(0, -2), ...shape.slice(-1), ...shape.slice(-2, -1)],
      };
    case "strided":
      return {
        text: `${name}[${":, ".repeat(d)}::2]`,
        shape: shape.map((x, k) => (k === d ? 2 * x : x)),
      };
    case "expanded":
      return { text: `${name}.expand(${shape.join(", ")})`, shape: shape.map((x, k) => (k === d ? 1 : x)) };
    default: {
      const never: never = layout;
      throw new Error(`no layout ${String(never)}`);
    }
  }
}

function creation(i: Input): string {
  const size = `(${i.shape.map(x => `${x},`).join(" ")})`;
  if (i.kind === "int") return `${i.name} = torch.zeros(${size}, device="cuda", dtype=torch.int64)`;
  if (i.kind === "bool") return `${i.name} = torch.zeros(${size}, device="cuda", dtype=torch.bool)`;
  const grad = i.grad ? ", requires_grad=True" : "";
  return `${i.name} = torch.randn(${size}, device="cuda", dtype=torch.float64${grad})`;
}

/** values of an input: floats drawn from a domain, small indices without repeats where there are few */
function values(i: Input, k: number, [low, high]: readonly [number, number]): (number | boolean)[] {
  const count = i.shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: count }, (_, flat) => {
    if (i.kind === "int") return [2, 0, 1][flat % 3] ?? 0;
    if (i.kind === "bool") return uniform(flat, 77 + k) > 0.5;
    return low + (high - low) * uniform(flat, 1000 + k);
  });
}

interface Probe {
  readonly domain: number;
  readonly input: number;
  /** element moved; null: every element by u of its index, as a row's weighted sum has it */
  readonly element: number | null;
  readonly plus: string;
  readonly minus: string;
  /** where its gradient is reported */
  readonly gradient: string;
}

export interface GradientCheck {
  readonly steps: readonly ValueStep[];
  readonly probes: readonly Probe[];
}

/** Slots are prefixed with `name`, ids and graph numbers moved, so that many programs go into one job. */
export function gradientCheck(
  program: Program,
  { snippet, inputs }: GradientProgram,
  name: string,
  moved: { readonly ids: number; readonly graphs: number },
): GradientCheck | string {
  const v = program.values;
  const { step } = accuracyOf(snippet);
  if (v.blocker) return v.blocker;
  const blocker = v.graphs.flatMap(g => g.plan.blockers)[0];
  if (blocker) return blocker;
  if (!v.grads.length) return "no input has a gradient";
  const loss = v.calls[0]?.outputs[0];
  if (loss === undefined) return "no loss";
  const base = (v.steps as readonly ValueStep[]).map(s => relocated(s, moved));
  const rowAt = base.findIndex(s => s.kind === "row" && s.slot === loss);
  const forward = base.slice(0, rowAt + 1).filter(s => s.kind !== "row" || s.slot === loss);
  const steps: ValueStep[] = [];
  const probes: Probe[] = [];
  const run = (of: readonly ValueStep[], prefix: string, data: readonly (readonly (number | boolean)[])[]) => {
    let made = 0;
    for (const s of of) {
      if (s.kind === "create" && made < inputs.length)
        steps.push({ ...s, fill: { how: "data", values: [...(data[made++] ?? [])] } });
      else steps.push(s.kind === "row" ? { ...s, slot: `${prefix}${s.slot}` } : s);
    }
  };
  const leaves = inputs.flatMap((i, at) => (i.grad ? [at] : []));
  DOMAINS.forEach((domain, d) => {
    const data = inputs.map((i, k) => values(i, k, domain));
    run(base, `${name}/${d}/`, data);
    for (const { of, slot } of v.grads) {
      const input = leaves[Number(of.replace("input", ""))];
      const of1 = input === undefined ? undefined : data[input];
      if (input === undefined || of1 === undefined) continue;
      const elements = Array.from({ length: Math.min(UNITS, of1.length) }, (_, u) => sampled(of1.length, 3 + 7 * u));
      for (const element of [null, ...elements]) {
        const at = `${name}/${d}/${input}/${element ?? "all"}`;
        for (const sign of [1, -1]) {
          const shifted = of1.map((x, flat) =>
            element === null || element === flat
              ? Number(x) + sign * step * (element === null ? uniform(flat, 0) : 1)
              : x,
          );
          run(
            forward,
            `${at}/${sign}/`,
            data.map((x, k) => (k === input ? shifted : x)),
          );
        }
        const gradient = `${name}/${d}/${slot}`;
        probes.push({ domain: d, input, element, plus: `${at}/1/${loss}`, minus: `${at}/-1/${loss}`, gradient });
      }
    }
  });
  return { steps, probes };
}

/** one of the elements that a row reports */
function sampled(count: number, j: number): number {
  return Math.floor(((count - 1) * j) / 15);
}

function relocated(s: ValueStep, moved: { readonly ids: number; readonly graphs: number }): ValueStep {
  const id = (x: number) => x + moved.ids;
  switch (s.kind) {
    case "create":
      return { ...s, tensor: { ...s.tensor, id: id(s.tensor.id) } };
    case "view":
      return { ...s, tensor: { ...s.tensor, id: id(s.tensor.id) }, of: id(s.of) };
    case "refill":
    case "row":
      return { ...s, id: id(s.id) };
    case "accumulate":
    case "copy":
      return { ...s, id: id(s.id), of: id(s.of) };
    case "call":
      return {
        ...s,
        graph: s.graph + moved.graphs,
        inputs: s.inputs.map(i => ("id" in i ? { id: id(i.id) } : i)),
        outputs: s.outputs.map(o => (o === null ? null : id(o))),
      };
    default: {
      const never: never = s;
      throw new Error(`no step ${JSON.stringify(never)}`);
    }
  }
}

/** What the rows say: the domains on which everything was finite, and the gradients that differ, in words. */
export function judged(
  check: GradientCheck,
  { snippet, inputs }: GradientProgram,
  rows: ReadonlyMap<string, ValueRow>,
): { readonly finite: number; readonly wrong: readonly string[] } {
  const { step, tolerance } = accuracyOf(snippet);
  const wrong: string[] = [];
  const finite = new Set(DOMAINS.map((_, d) => d));
  const found: { readonly domain: number; readonly text: string }[] = [];
  for (const p of check.probes) {
    const [plus, minus] = [rows.get(p.plus)?.values[0], rows.get(p.minus)?.values[0]];
    const row = rows.get(p.gradient);
    const told = p.element === null ? row?.wsum : row?.values[row.at.indexOf(p.element)];
    if (typeof plus !== "number" || typeof minus !== "number" || typeof told !== "number") {
      finite.delete(p.domain);
      continue;
    }
    const measured = (plus - minus) / (2 * step);
    const allowed = tolerance * Math.max(1, Math.abs(told), Math.abs(measured)) + (1e-15 * Math.abs(plus)) / step;
    if (Math.abs(told - measured) <= allowed) continue;
    const which = p.element === null ? "along u" : `of element ${p.element}`;
    const on = DOMAINS[p.domain]?.join(" to ");
    found.push({ domain: p.domain, text: `${inputs[p.input]?.name} ${which}, inputs ${on}: ${told}, not ${measured}` });
  }
  for (const f of found) if (finite.has(f.domain)) wrong.push(f.text);
  return { finite: finite.size, wrong };
}
