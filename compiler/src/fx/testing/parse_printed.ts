// Test helper: reads graphs back from TORCH_LOGS text. In: a log. Out: its graphs, and per compiled frame what the
// aot_config line says of its inputs. Promises: printing a parsed graph gives the text again; throws on anything else.
import {
  type Device,
  DeviceArg,
  type DType,
  DTypeArg,
  LayoutArg,
  type MemoryFormat,
  MemoryFormatArg,
  PyComplex,
  PyFloat,
} from "../../aten/types";
import {
  add,
  type Expr,
  float,
  floorDiv,
  int,
  max,
  min,
  mod,
  mul,
  neg,
  pow,
  sub,
  sym,
  trueDiv,
} from "../../inductor/symbolic/expr";
import { FxGraph, type FxNode } from "../graph";
import { dtypeShort } from "../print";
import {
  type Argument,
  EllipsisArg,
  type FakeTensor,
  type FakeValue,
  OpaqueArg,
  SliceArg,
  type StackFrame,
  TupleArg,
} from "../types";
import { type Ast, parsePython } from "./python_expression";

export interface PrintedGraph {
  readonly title: string;
  readonly file: string;
  readonly className: string;
  readonly graph: FxGraph;
  /** the record as it stands in the log, from "TRACED GRAPH" to the return line */
  readonly text: string;
}

/** One compiled frame of a log: its pre-grad graph and what came of it. */
export interface PrintedFrame {
  readonly pre: PrintedGraph;
  joint?: PrintedGraph;
  forward?: PrintedGraph;
  backward?: PrintedGraph;
  readonly post: PrintedGraph[];
  config: string;
}

export function parseLog(log: string): PrintedFrame[] {
  const frames: PrintedFrame[] = [];
  const lines = log.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const last = frames[frames.length - 1];
    if (line.includes("aot_config") && last && !last.config) last.config = line;
    const title = /^ ===== (.*) =====$/.exec(line)?.[1];
    if (title === undefined || !lines[i - 1]?.endsWith("TRACED GRAPH")) continue;
    let end = i + 1;
    while (!/^ {8}return /.test(lines[end] ?? "")) end++;
    const g = parsePrinted(title, lines.slice(i + 1, end + 1));
    if (title === "BEFORE PRE GRAD") frames.push({ pre: g, post: [], config: "" });
    else if (last === undefined) throw new Error(`${title} before any frame`);
    else if (title.startsWith("Joint")) last.joint = g;
    else if (title.startsWith("Forward")) last.forward = g;
    else if (title.startsWith("Backward")) last.backward = g;
    else if (title === "AFTER POST GRAD") last.post.push(g);
    i = end;
  }
  return frames;
}

/** requires_grad and mutation of each input, and indices, from an aot_config line */
export function parseConfig(config: string): {
  requiresGrad: boolean[];
  staticInputs: number[];
  donated: number[];
  mutates: boolean[];
} {
  const meta = config.slice(0, config.indexOf("inner_meta=") < 0 ? undefined : config.indexOf("inner_meta="));
  const infos = [...meta.matchAll(/InputAliasInfo\(([^)]*)\)/g)].map(m => m[1] ?? "");
  const list = (name: string): number[] =>
    (new RegExp(`${name}=\\[([^\\]]*)\\]`).exec(meta)?.[1] ?? "")
      .split(",")
      .filter(s => s.trim())
      .map(Number);
  return {
    requiresGrad: infos.map(s => s.includes("requires_grad=True")),
    mutates: infos.map(s => s.includes("mutates_data=True")),
    staticInputs: list("static_input_indices"),
    donated: list("bw_donated_idxs"),
  };
}

function parsePrinted(title: string, lines: string[]): PrintedGraph {
  const header = /^ (\S+) class (.+)\(torch\.nn\.Module\):$/.exec(lines[0] ?? "");
  if (!header) throw new Error(`no class line in ${title}`);
  const graph = new FxGraph();
  const names = new Map<string, FxNode>();
  const none = new Map<string, Argument>();
  const define = (n: FxNode): void => {
    names.set(n.name, n);
  };
  const placeholder = (target: string, type: string | undefined, source: string): void => {
    define(graph.create(
      "placeholder",
      target,
      [],
      none,
      { val: type === undefined ? undefined : parseType(type), stack: [], fromNode: [], source },
      { candidate: target },
    ));
  };
  const def = lines[1] ?? "";
  const joint = def.includes("(self, primals, tangents)");
  let at = 2;
  const inputs = joint ? (lines[2] ?? "").trim() : def.slice(def.indexOf("(self") + 5, def.lastIndexOf("):"));
  for (const m of inputs.matchAll(/([A-Za-z_]\w*): "([^"]*)"/g)) placeholder(m[1] ?? "", m[2], m[1] ?? "");
  if (joint) at = 5;
  let stack: StackFrame[] = [];
  let index = 0;
  const placeholders = graph.placeholders();
  for (; at < lines.length; at++) {
    let line = (lines[at] ?? "").trim();
    if (line === "") continue;
    if (line.startsWith("#")) {
      const m = /^# (?:Backward of forward node: )?File: (.*?):(\d+) in (.*?), code: (.*)$/.exec(line);
      stack = m
        ? [
            {
              file: m[1] ?? "",
              func: m[3] ?? "",
              line: Number(m[2]),
              code: m[4] ?? "",
              span: { line: Number(m[2]), column: 0, endLine: Number(m[2]), endColumn: 0 },
            },
          ]
        : [];
      continue;
    }
    const alias = /^([a-z_]\w*) = ([A-Za-z_]\w*)$/.exec(line);
    if (alias && placeholders[index] !== undefined && graph.nodes.every(n => n.op === "placeholder")) {
      const node = placeholders.find(p => p.target === alias[2]);
      if (node) {
        names.delete(node.name);
        node.name = graph.namespace.create(alias[1] ?? "");
        define(node);
        index++;
        continue;
      }
    }
    line = line.replace(/; {2}[\w =]+ = None$/, "");
    parseStatement(line, graph, names, stack, define);
  }
  return {
    title,
    file: header[1] ?? "",
    className: header[2] ?? "",
    graph,
    text: ["TRACED GRAPH", ` ===== ${title} =====`, ...lines].join("\n"),
  };
}

const SHORT = new Map<string, DType>(
  (
    [
      "float64",
      "float32",
      "float16",
      "bfloat16",
      "float8_e4m3fn",
      "float8_e5m2",
      "int64",
      "int32",
      "int16",
      "int8",
      "uint8",
      "uint16",
      "uint32",
      "uint64",
      "bool",
      "complex64",
      "complex128",
    ] as const
  ).map(d => [dtypeShort(d), d]),
);

function parseType(text: string): FakeValue {
  const symbolic = /^Sym\((.*)\)$/.exec(text);
  if (symbolic) {
    const e = parseExpr(symbolic[1] ?? "");
    return e.kind === "float" ? { symFloat: e } : e;
  }
  const m = /^(\w+?)\[(.*)\]\[(.*)\](\w+)(?::(\d+))?$/.exec(text);
  if (!m) throw new Error(`type ${text}`);
  const list = (s: string): Expr[] => (s === "" ? [] : splitArgs(s).map(parseExpr));
  const dtype = SHORT.get(m[1] ?? "");
  if (dtype === undefined) throw new Error(`dtype ${m[1]}`);
  const device: Device = { type: m[4] as Device["type"], index: m[5] === undefined ? null : Number(m[5]) };
  const t: FakeTensor = {
    shape: list(m[2] ?? ""),
    stride: list(m[3] ?? ""),
    storageOffset: int(0),
    dtype,
    device,
    requiresGrad: false,
  };
  return t;
}

function splitArgs(s: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < s.length; i++) {
    if (s[i] === "(" || s[i] === "[") depth++;
    if (s[i] === ")" || s[i] === "]") depth--;
    if (s[i] === "," && depth === 0) {
      out.push(s.slice(start, i).trim());
      start = i + 1;
    }
  }
  out.push(s.slice(start).trim());
  return out;
}

function parseExpr(text: string): Expr {
  const build = (e: Ast): Expr => {
    switch (e.k) {
      case "num":
        return /[.e]/.test(e.text) ? float(Number(e.text)) : int(Number(e.text));
      case "name":
        return sym(e.name, { kind: /^z/.test(e.name) ? "float" : /^u/.test(e.name) ? "unbacked" : "size" });
      case "unary":
        return neg(build(e.x));
      case "binary": {
        const a = build(e.a);
        const b = build(e.b);
        switch (e.op) {
          case "+":
            return add(a, b);
          case "-":
            return sub(a, b);
          case "*":
            return mul(a, b);
          case "//":
            return floorDiv(a, b);
          case "/":
            return trueDiv(a, b);
          case "%":
            return mod(a, b);
          case "**":
            return pow(a, b);
          default:
            throw new Error(`operator ${e.op} in ${text}`);
        }
      }
      case "call": {
        const fn = e.fn.k === "name" ? e.fn.name : "";
        const args = e.args.map(build);
        if (fn === "Max") return max(...args);
        if (fn === "Min") return min(...args);
        if (fn === "Mod") return mod(args[0] as Expr, args[1] as Expr);
        if (fn === "ToFloat") return args[0] as Expr;
        if (fn === "IntTrueDiv" || fn === "FloatTrueDiv") return trueDiv(args[0] as Expr, args[1] as Expr);
        throw new Error(`function ${fn} in ${text}`);
      }
      default:
        throw new Error(`expression ${text}`);
    }
  };
  return build(parsePython(text));
}

const OPERATORS: Readonly<Record<string, string>> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "truediv",
  "//": "floordiv",
  "%": "mod",
  "@": "matmul",
  "**": "pow",
  "&": "and_",
  "|": "or_",
  "^": "xor",
  "<<": "lshift",
  ">>": "rshift",
  "<": "lt",
  ">": "gt",
  "<=": "le",
  ">=": "ge",
  "==": "eq",
  "!=": "ne",
};

function dotted(e: Ast): string | undefined {
  if (e.k === "name") return e.name;
  if (e.k === "attr") {
    const of = dotted(e.of);
    return of === undefined ? undefined : `${of}.${e.name}`;
  }
  return undefined;
}

function parseStatement(
  line: string,
  graph: FxGraph,
  names: Map<string, FxNode>,
  stack: StackFrame[],
  define: (n: FxNode) => void,
): void {
  const none = new Map<string, Argument>();
  const make = (
    name: string,
    type: string | undefined,
    op: "call_function" | "call_method",
    target: string,
    args: Argument[],
    kwargs = none,
  ): void => {
    define(graph.create(
      op,
      target,
      args,
      kwargs,
      { val: type === undefined ? undefined : parseType(type), stack, fromNode: [] },
      { candidate: name },
    ));
  };
  const value = (e: Ast): Argument => {
    switch (e.k) {
      case "num":
        if (e.text.endsWith("j")) return new PyComplex(0, Number(e.text.slice(0, -1)));
        return /[.e]/.test(e.text)
          ? new PyFloat(Number(e.text))
          : Number.isSafeInteger(Number(e.text))
            ? Number(e.text)
            : BigInt(e.text);
      case "str":
        return e.value;
      case "name": {
        const node = names.get(e.name);
        if (node) return node;
        const constants: Record<string, Argument> = {
          None: null,
          True: true,
          False: false,
          Ellipsis: new EllipsisArg(),
          inf: new PyFloat(Infinity),
          nan: new PyFloat(Number.NaN),
        };
        if (e.name in constants) return constants[e.name] as Argument;
        throw new Error(`unknown name ${e.name} in ${line}`);
      }
      case "unary": {
        const x = value(e.x);
        if (x instanceof PyFloat) return new PyFloat(-x.value);
        if (typeof x === "number") return -x;
        if (typeof x === "bigint") return -x;
        throw new Error(`unary in ${line}`);
      }
      case "list":
        return e.items.map(value);
      case "tuple":
        return new TupleArg(e.items.map(value));
      case "attr": {
        const d = dotted(e) ?? "";
        const last = d.replace(/^torch\./, "");
        if (last === "strided") return new LayoutArg("strided");
        if (/_format$|channels_last/.test(last)) return new MemoryFormatArg(last as MemoryFormat);
        if ([...SHORT.values()].includes(last as DType)) return new DTypeArg(last as DType);
        return new OpaqueArg(d);
      }
      case "call": {
        const fn = dotted(e.fn);
        if (fn === "slice") {
          const [a = null, b = null, c = null] = e.args.map(value);
          return new SliceArg(a, b, c);
        }
        if (fn === "device") {
          const get = (k: string): Argument | undefined => e.kwargs.filter(x => x[0] === k).map(x => value(x[1]))[0];
          return new DeviceArg({
            type: String(get("type")) as Device["type"],
            index: (get("index") as number | undefined) ?? null,
          });
        }
        throw new Error(`call of ${fn} inside ${line}`);
      }
      default:
        throw new Error(`argument in ${line}`);
    }
  };
  const ret = /^return (.*)$/.exec(line);
  if (ret) {
    const body = ret[1] ?? "";
    const joint = /^pytree\.tree_unflatten\((.*), self\._out_spec\)$/.exec(body);
    const v = value(parsePython(joint ? (joint[1] ?? "") : body));
    graph.create("output", "output", [v], none, { stack: [], fromNode: [] });
    return;
  }
  const inplace = /^(.+?) (\S+=|=) (.+); {2}(\w+)(?:: "([^"]*)")? = \w+$/.exec(line);
  if (inplace) {
    const [, left = "", op = "", right = "", name = "", type] = inplace;
    const l = parsePython(left);
    if (op === "=" && l.k === "index") {
      make(name, type, "call_function", "operator.setitem", [value(l.of), value(l.at), value(parsePython(right))]);
    } else
      make(name, type, "call_function", `operator.i${(OPERATORS[op.slice(0, -1)] ?? "").replace(/_$/, "")}`, [
        value(l),
        value(parsePython(right)),
      ]);
    return;
  }
  const m = /^(\w+)(?:: "([^"]*)")? = (.*)$/.exec(line);
  if (!m) throw new Error(`statement ${line}`);
  const [, name = "", type, right = ""] = m;
  const e = parsePython(right);
  const fn = (op: string, ...args: Argument[]): void => make(name, type, "call_function", op, args);
  switch (e.k) {
    case "binary":
      fn(`operator.${OPERATORS[e.op]}`, value(e.a), value(e.b));
      return;
    case "unary":
      fn(e.op === "-" ? "operator.neg" : "operator.invert", value(e.x));
      return;
    case "index":
      fn("operator.getitem", value(e.of), value(e.at));
      return;
    case "attr":
      fn("builtins.getattr", value(e.of), e.name);
      return;
    case "call": {
      const kwargs = new Map(e.kwargs.map(([k, v]) => [k, value(v)] as const));
      const args = e.args.map(value);
      const root = dotted(e.fn);
      if (e.fn.k === "attr" && e.fn.of.k === "name" && names.has(e.fn.of.name)) {
        make(name, type, "call_method", e.fn.name, [value(e.fn.of), ...args], kwargs);
        return;
      }
      if (root === undefined) throw new Error(`call in ${line}`);
      const builtin = root === "sym_sum" ? "torch.sym_sum" : root;
      make(name, type, "call_function", builtin.replace(/^torch\.ops\./, ""), args, kwargs);
      return;
    }
    default:
      throw new Error(`statement ${line}`);
  }
}
