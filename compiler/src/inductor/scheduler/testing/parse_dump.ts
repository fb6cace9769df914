// Test only. In: the text of a BEFORE FUSION dump with the graph text before it. Out: a LoweredGraph as the scheduler
// takes it, so that recorded graphs can be replayed. Promises: bodies, layouts and outputs are those of the dump; what a
// dump does not hold (FX origins, extern arguments) is empty.
import type { Device, DType, OpName, ReductionType } from "../../../aten/types";
import { FxGraph } from "../../../fx/graph";
import type { Block, BodyNode, LoopBody } from "../../ir/loop_body";
import type {
  Buffer,
  BufferView,
  ExternOperation,
  GraphInput,
  Layout,
  LoopsKind,
  LoweredGraph,
  Operation,
} from "../../ir/types";
import { type Expr, int, type SymExpr } from "../../symbolic/expr";
import { SizeVars } from "../../symbolic/size_vars";
import { parseExpr, parseSymbol } from "./parse_expr";

/** text of one dump: "op0: SchedulerNode(...)" blocks */
export function parseDump(
  dump: string,
  context: {
    graphText: string;
    kind?: LoweredGraph["kind"];
    foreachLists?: readonly (readonly string[])[];
    hints?: ReadonlyMap<string, number>;
  },
): LoweredGraph {
  const buffers = new Map<string, Buffer>();
  const layouts = new Map<string, Layout>();
  const outputs: string[] = [];
  const operations: Operation[] = [];
  for (const block of dump.split(/\n\n\n+/)) {
    if (block.trim()) operations.push(parseOperation(block.replace(/^\n+/, ""), buffers, layouts, outputs));
  }
  const inputs: GraphInput[] = [];
  const seen = new Set<string>();
  for (const m of context.graphText.matchAll(/(\w+): "(\w+)\[([^\]]*)\]\[([^\]]*)\](cuda:\d+|cpu)"/g)) {
    const [, name = "", type = "", size = "", stride = "", dev = ""] = m;
    if (seen.has(name)) continue;
    seen.add(name);
    const layout: Layout = {
      kind: "fixed",
      device: parseDevice(dev),
      dtype: SHORT_DTYPE[type] ?? "float32",
      size: parseList(size),
      stride: parseList(stride),
      offset: int(0),
    };
    inputs.push({ name, layout: layouts.get(name) ?? layout });
  }
  for (const [name, layout] of layouts) if (!seen.has(name) && !buffers.has(name)) inputs.push({ name, layout });
  // An input that the graph hands on is an output without a user in the dump.
  const returned = /return \(([^)]*)\)/.exec(context.graphText)?.[1] ?? "";
  for (const name of returned.split(",").map(t => t.trim())) if (inputs.some(i => i.name === name)) outputs.push(name);
  const sizevars = new SizeVars();
  for (const [name, hint] of context.hints ?? []) sizevars.shapeEnv.hints.set(parseSymbol(name), hint);
  return {
    graph: new FxGraph(),
    kind: context.kind ?? "inference",
    sizevars,
    inputs,
    operations: withSplits(operations),
    buffers,
    constants: new Map(),
    outputs: outputs.map(viewOf),
    mutatedInputs: [],
    donated: new Set(),
    foreachLists: context.foreachLists ?? [],
    symbols: [...(context.hints ?? new Map<string, number>()).keys()].map(parseSymbol),
  };
}

const SHORT_DTYPE: Record<string, DType> = {
  f64: "float64",
  f32: "float32",
  f16: "float16",
  bf16: "bfloat16",
  i64: "int64",
  i32: "int32",
  i16: "int16",
  i8: "int8",
  u8: "uint8",
  b8: "bool",
};

const viewOf = (buffer: string): BufferView => ({
  buffer,
  size: [],
  stride: [],
  offset: int(0),
  dtype: "float32",
  whole: true,
});

function parseDevice(text: string): Device {
  const [type, index] = text.split(":");
  return { type: type === "cpu" ? "cpu" : "cuda", index: index === undefined ? null : Number(index) };
}

/** splits at commas outside of parentheses */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") depth--;
    if (i === text.length || (c === "," && depth === 0)) {
      const part = text.slice(from, i).trim();
      if (part) parts.push(part);
      from = i + 1;
    }
  }
  return parts;
}

const parseList = (text: string): Expr[] => splitTop(text).map(parseExpr);

function parseLayout(text: string, name: string, aliases: string[], mutations: string[]): Layout {
  const multi = /^(MultiOutputLayout|NoneLayout)\(device=device\(type='(\w+)'(?:, index=(\d+))?\)/.exec(text);
  if (multi) {
    const device = parseDevice(multi[3] === undefined ? (multi[2] ?? "") : `${multi[2]}:${multi[3]}`);
    return multi[1] === "NoneLayout" ? { kind: "none", device } : { kind: "multi_output", device };
  }
  const m = /^(\w+)\('([^']*)', torch\.(\w+), size=\[(.*?)\], stride=\[(.*?)\](?:, offset=(.*))?\)$/.exec(text);
  if (!m) throw new Error(`layout ${text}`);
  const [, cls, device = "", dtype, size = "", stride = "", offset] = m;
  const base = {
    device: parseDevice(device),
    dtype: dtype as DType,
    size: parseList(size),
    stride: parseList(stride),
    offset: offset === undefined ? int(0) : parseExpr(offset),
  };
  if (cls === "MutationLayoutSHOULDREMOVE") return { kind: "mutation", ...base, target: mutations[0] ?? name };
  if (cls === "NonOwningLayout") return { kind: "non_owning", ...base, base: aliases[0] ?? name, baseOffset: int(0) };
  return { kind: "fixed", ...base };
}

const quoted = (text: string): string[] => [...text.matchAll(/'([^']*)'/g)].map(m => m[1] ?? "");

function parseOperation(
  block: string,
  buffers: Map<string, Buffer>,
  layouts: Map<string, Layout>,
  outputs: string[],
): Operation {
  const lines = block.split("\n");
  const head = /^(\w+): (\w+)\((\w+)\)$/.exec(lines[0] ?? "");
  if (!head) throw new Error(`block starts with ${lines[0]}`);
  const [, name = "", type = "", irClass = ""] = head;
  const field = (suffix: string): string => {
    const at = lines.findIndex(l => l.startsWith(`${name}.${suffix} =`));
    if (at < 0) return "";
    let text = (lines[at] ?? "").slice(`${name}.${suffix} =`.length);
    for (let i = at + 1; i < lines.length && /^ /.test(lines[i] ?? ""); i++) text += lines[i];
    return text;
  };
  const own: string[] = [];
  let device: Device = { type: "cuda", index: 0 };
  for (let i = 0; i < lines.length; i++) {
    const m = /^ {4}(\w+): (\w+)$/.exec(lines[i] ?? "");
    if (!m) continue;
    const [, buf = "", cls = ""] = m;
    const value = (k: string): string =>
      (lines.slice(i, i + 5).find(l => l.startsWith(`    ${buf}.${k} = `)) ?? "").slice(`    ${buf}.${k} = `.length);
    const layout = parseLayout(value("layout"), buf, quoted(value("aliases")), quoted(value("mutations")));
    device = layout.device;
    buffers.set(buf, { name: buf, irClass: cls, layout, operation: name, originNode: null });
    own.push(buf);
    for (let j = i + 1; j < lines.length && !/^ {4}\w+: \w+$/.test(lines[j] ?? "") && lines[j] !== "]"; j++) {
      if ((lines[j] ?? "").includes("NodeUser(node=OUTPUT")) outputs.push(buf);
    }
  }
  const common = { name, outputs: own, device, origins: [], originNode: null };
  const stars = [
    ...`${field("unmet_dependencies")}${field("met_dependencies")}`.matchAll(/StarDep\(name='(\w+)'/g),
  ].map(m => m[1] ?? "");
  if (type === "NopKernelSchedulerNode")
    return {
      kind: "nop",
      ...common,
      irClass: irClass === "ConcatKernel" ? "ConcatKernel" : "ComputedBuffer",
      reads: stars,
    };
  if (type === "ExternKernelSchedulerNode") {
    const kernel = field("node.kernel").trim();
    const extern: ExternOperation = {
      kind: "extern",
      ...common,
      irClass: irClass as ExternOperation["irClass"],
      kernel: kernel === "None" ? null : kernel,
      op: kernel,
      args: [],
      kwargs: {},
      reads: stars.map(viewOf),
      mutates: [],
    };
    return extern;
  }
  for (const l of lines) {
    const m = /^(\w+)_layout = (.*)$/.exec(l);
    if (m?.[1] && m[2]) layouts.set(m[1], parseLayout(m[2], m[1], [], []));
  }
  const at = lines.findIndex(l => l.startsWith(`class ${name}_loop_body:`));
  const sizeText = field("sizes").trim();
  const body = parseBody(
    lines.slice(at + 1).map(l => l.slice(4)),
    sizeText,
  );
  const sizes = [body.iterSizes, body.reduceSizes] as const;
  return {
    kind: "computed",
    ...common,
    loops: loopsOf(body),
    ranges: sizes[0],
    reductionRanges: sizes[1],
    sizes,
    body,
  };
}

function loopsOf(body: LoopBody): LoopsKind {
  const { nodes } = body.block;
  const reduction = nodes.find(n => n.op === "reduction");
  if (reduction?.op === "reduction") {
    const kind = reduction.type.startsWith("welford")
      ? "WelfordReduction"
      : reduction.type === "online_softmax_reduce"
        ? "OnlineSoftmaxReduction"
        : "Reduction";
    return { kind, type: reduction.type, hint: "DEFAULT", srcDtype: reduction.srcDtype };
  }
  if (nodes.some(n => n.op === "scan")) return { kind: "Scan" };
  if (nodes.some(n => n.op === "sort")) return { kind: "Sort", stable: false, descending: false };
  const store = nodes[nodes.length - 1];
  return store?.op === "store" && store.mode === "atomic_add"
    ? { kind: "Scatter", mode: "atomic_add" }
    : { kind: "Pointwise" };
}

function parseBody(lines: readonly string[], sizeText: string): LoopBody {
  const [iterText = "", reduceText = ""] = splitTop(sizeText.slice(1, -1)).map(t => t.slice(1, -1));
  const iterSizes = parseList(iterText);
  const reduceSizes = parseList(reduceText);
  const ranges = splitTop((lines[0] ?? "").replace(/^var_ranges = \{|\}$/g, "")).map(t =>
    parseSymbol(t.split(":")[0] ?? ""),
  );
  const indexing = new Map<string, Expr>();
  const subblocks = new Map<string, Block>();
  const indirect: SymExpr[] = [];
  let root: Block | null = null;
  for (let i = 1; i < lines.length; ) {
    const index = /^(index\d+) = (.*)$/.exec(lines[i] ?? "");
    const def = /^def (\w+)\(self, ops\):$/.exec(lines[i] ?? "");
    i++;
    if (index?.[1] && index[2]) indexing.set(index[1], parseExpr(index[2]));
    else if (def?.[1]) {
      const nodes: BodyNode[] = [];
      const byName = new Map<string, BodyNode>();
      let result: BodyNode | null = null;
      for (; i < lines.length && (lines[i] ?? "").startsWith("    "); i++) {
        const text = (lines[i] ?? "").trim();
        const ret = /^return (\w+)$/.exec(text);
        if (ret) result = byName.get(ret[1] ?? "") ?? null;
        else {
          const [, name = "", call = ""] = /^(\w+) = (.*)$/.exec(text) ?? [];
          const node = parseNode(name, call, byName);
          if (node.op === "set_indirect") indirect.push(node.symbol);
          nodes.push(node);
          byName.set(name, node);
        }
      }
      if (def[1] === "body") root = { nodes, result: null };
      else subblocks.set(def[1], { nodes, result });
    }
  }
  if (!root) throw new Error("no body");
  // Only sizes other than 1 have a variable, which is all that a scheduler's body has after simplify_and_reorder.
  return {
    iterVars: ranges.slice(0, iterSizes.length),
    reduceVars: ranges.slice(iterSizes.length),
    iterSizes,
    reduceSizes,
    indexing,
    block: root,
    subblocks,
    indirect,
  };
}

const parseDtype = (t: string): DType => t.replace("torch.", "") as DType;
function parseNumber(t: string): number | boolean {
  if (t === "True" || t === "False") return t === "True";
  return t.endsWith("inf") ? (t.startsWith("-") ? -Infinity : Infinity) : t === "nan" ? Number.NaN : Number(t);
}
const parseTuple = (t: string): string[] => (t.startsWith("(") ? splitTop(t.slice(1, -1)) : [t]);

function parseNode(name: string, text: string, byName: ReadonlyMap<string, BodyNode>): BodyNode {
  const item = /^(\w+)\[(\d+)\]$/.exec(text);
  const node = (t: string | undefined): BodyNode => {
    const n = byName.get(t ?? "");
    if (!n) throw new Error(`${t} is not defined in ${text}`);
    return n;
  };
  if (item) return { name, op: "getitem", x: node(item[1]), item: Number(item[2]) };
  const m = /^(self|ops)\.(\w+)\((.*)\)$/.exec(text);
  if (!m) throw new Error(`operation ${text}`);
  const [, owner, fn = "", argText = ""] = m;
  const args = splitTop(argText).map(a => a.replace(/^\w+ = /, ""));
  const [a = "", b = "", c = "", d = ""] = args;
  const unquote = (t: string): string => t.slice(1, -1);
  if (owner === "self") {
    if (fn === "get_index") return { name, op: "get_index", index: unquote(a) };
    if (fn.startsWith("set_"))
      return {
        name,
        op: "set_indirect",
        symbol: parseSymbol(fn.slice(4)),
        x: node(a),
        size: int(0),
        check: true,
        wrapNeg: true,
      };
    if (fn.startsWith("masked_subblock"))
      return {
        name,
        op: "masked",
        mask: node(a),
        subblock: fn,
        other: parseNumber(b),
        otherIsFloat: /[.a-z]/.test(b) && !/^[TF]/.test(b),
      };
    if (fn.startsWith("scan"))
      return {
        name,
        op: "scan",
        dtypes: parseTuple(a).map(parseDtype),
        values: parseTuple(b).map(node),
        combine: { nodes: [], parameters: [], results: [], opNames: [] },
      };
    throw new Error(`operation ${text}`);
  }
  switch (fn) {
    case "load":
      return { name, op: "load", buffer: unquote(a), at: node(b) };
    case "store":
      return {
        name,
        op: "store",
        buffer: unquote(a),
        at: node(b),
        value: node(c),
        mode: d === "'atomic_add'" ? "atomic_add" : null,
      };
    case "store_reduction":
      return { name, op: "store_reduction", buffer: unquote(a), at: node(b), value: node(c) };
    case "constant":
      return { name, op: "constant", value: parseNumber(a), dtype: parseDtype(b) };
    case "index_expr":
      return { name, op: "index_expr", at: node(a), dtype: parseDtype(b) };
    case "to_dtype":
      return { name, op: "to_dtype", x: node(a), dtype: parseDtype(b), srcDtype: c ? parseDtype(c) : null };
    case "to_dtype_bitcast":
      return { name, op: "to_dtype_bitcast", x: node(a), dtype: parseDtype(b), srcDtype: parseDtype(c) };
    case "check_bounds":
      return { name, op: "check_bounds", at: node(a), size: node(b), lower: c === "True", upper: d === "True" };
    case "reduction": {
      const value = parseTuple(d).map(node);
      const [first] = value;
      return {
        name,
        op: "reduction",
        dtype: parseDtype(a),
        srcDtype: parseDtype(b),
        type: unquote(c) as ReductionType,
        value: value.length === 1 && first ? first : value,
      };
    }
    case "sort":
      return {
        name,
        op: "sort",
        dtypes: parseTuple(a).map(parseDtype),
        values: parseTuple(b).map(node),
        stable: c === "True",
        descending: d === "True",
      };
    case "load_seed":
      return { name, op: "load_seed", buffer: unquote(a), offset: Number(b) };
    case "rand":
    case "randn":
      return { name, op: "random", kind: fn, seed: node(a), offset: node(b) };
    case "randint64":
      return { name, op: "randint64", seed: node(a), offset: node(b), low: node(c), high: node(d) };
    default:
      return { name, op: "call", fn: fn as OpName, args: args.map(node) };
  }
}

/**
 * A first stage of a split reduction is one whose only reader reduces what it wrote, unchanged: its sizes before
 * splitting are the reader's, with the reduction made longer.
 */
function withSplits(operations: readonly Operation[]): Operation[] {
  const value = (e: Expr): number => (e.kind === "int" ? e.value : Number.NaN);
  const product = (es: readonly Expr[]): number => es.reduce((p, e) => p * value(e), 1);
  return operations.map(op => {
    if (op.kind !== "computed" || op.loops.kind !== "Reduction") return op;
    const readers = operations.filter(o => o !== op && readsOf(o).includes(op.outputs[0] ?? ""));
    const [reader] = readers;
    if (
      readers.length !== 1 ||
      reader?.kind !== "computed" ||
      reader.loops.kind !== "Reduction" ||
      reader.loops.type !== op.loops.type
    )
      return op;
    const direct = reader.body.block.nodes.every(
      n =>
        n.op === "get_index" ||
        n.op === "load" ||
        n.op === "reduction" ||
        n.op === "store_reduction" ||
        n.op === "to_dtype",
    );
    const total = product([...op.sizes[0], ...op.sizes[1]]);
    const splits = product(reader.sizes[1]);
    if (!direct || !Number.isInteger(total) || product(reader.sizes[0]) * splits !== product(op.sizes[0])) return op;
    const ranges = reader.sizes[0];
    const loops = {
      ...op.loops,
      split: { size: splits, ranges, reductionRanges: [int(total / product(ranges))], original: () => op.body },
    };
    return { ...op, loops };
  });
}

function readsOf(op: Operation): string[] {
  if (op.kind === "nop") return [...op.reads];
  if (op.kind === "extern") return op.reads.map(r => r.buffer);
  return [...op.body.subblocks.values(), op.body.block].flatMap(b =>
    b.nodes.flatMap(n => (n.op === "load" ? [n.buffer] : [])),
  );
}
