// A graph as TORCH_LOGS prints it (GraphModule.print_readable with strides and device). In: a graph, its title and class.
// Out: the text of the log record, without level prefix. Promises: deterministic; text of the user stays in comments.

import { isExpr } from "../aten/dim_math";
import { FloatParameter } from "../aten/float_parameter";
import {
  type Device,
  DeviceArg,
  type DType,
  DTypeArg,
  LayoutArg,
  MemoryFormatArg,
  PyComplex,
  PyFloat,
} from "../aten/types";
import { printLog, printSym } from "../inductor/symbolic/print_log";
import { CHECKPOINT, nested } from "./bodies";
import { type FxGraph, FxNode } from "./graph";
import { commentText, complexRepr, floatRepr, stringRepr } from "./py_repr";
import {
  type Argument,
  EllipsisArg,
  type FakeTensor,
  type FakeValue,
  OpaqueArg,
  SliceArg,
  stackTrace,
  TupleArg,
} from "./types";

export interface PrintOptions {
  /** "BEFORE PRE GRAD", "Forward graph 0" */
  readonly title: string;
  /** "GraphModule", "<lambda>", "inner_f" */
  readonly className: string;
  /** file that the module's forward is said to live in */
  readonly file?: string;
  /** joint graphs take (primals, tangents) and return through a pytree */
  readonly joint?: boolean;
  /** backward nodes say "Backward of forward node:" before the forward line (nightlies do, 2.11 does not) */
  readonly backwardComments?: boolean;
  /** where each statement comes from, as a comment above it; default true */
  readonly comments?: boolean;
  /** called modules stay within the graph: for Python that runs without them */
  readonly flat?: boolean;
}

const LAZY_MODULE_FILE = "torch/fx/_lazy_graph_module.py";

const DTYPE_SHORT: Readonly<Record<DType, string>> = {
  float64: "f64",
  float32: "f32",
  float16: "f16",
  bfloat16: "bf16",
  float8_e4m3fn: "f8e4m3fn",
  float8_e5m2: "f8e5m2",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
  bool: "b8",
  complex64: "c64",
  complex128: "c128",
};

const INFIX: Readonly<Record<string, string>> = {
  eq: "==",
  ne: "!=",
  lt: "<",
  gt: ">",
  le: "<=",
  ge: ">=",
  add: "+",
  sub: "-",
  mul: "*",
  floordiv: "//",
  truediv: "/",
  div: "/",
  mod: "%",
  lshift: "<<",
  rshift: ">>",
  and_: "&",
  or_: "|",
  xor: "^",
  matmul: "@",
  pow: "**",
};
const PREFIX: Readonly<Record<string, string>> = { neg: "-", pos: "+", invert: "~" };
const INPLACE: Readonly<Record<string, string>> = {
  iadd: "+=",
  iand: "&=",
  ifloordiv: "//=",
  ilshift: "<<=",
  imod: "%=",
  imul: "*=",
  imatmul: "@=",
  ior: "|=",
  ipow: "**=",
  irshift: ">>=",
  isub: "-=",
  itruediv: "/=",
  ixor: "^=",
};

export function deviceText(d: Device): string {
  return d.index === null ? d.type : `${d.type}:${d.index}`;
}

export function dtypeShort(d: DType): string {
  return DTYPE_SHORT[d];
}

export function isFakeTensor(v: FakeValue | undefined): v is FakeTensor {
  return typeof v === "object" && v !== null && "shape" in v && "stride" in v;
}

/** "f32[8, 4][4, 1]cuda:0", "Sym(s77)"; null where a node gets no annotation (tuples, None) */
/** equal layers' nodes have metas in common */
const tensorTexts = new WeakMap<FakeTensor, string>();

export function typeText(v: FakeValue | undefined): string | null {
  if (v === undefined || v === null || Array.isArray(v)) return null;
  if (isFakeTensor(v)) {
    let text = tensorTexts.get(v);
    if (text === undefined) {
      const list = (xs: FakeTensor["shape"]): string => `[${xs.map(printLog).join(", ")}]`;
      text = `${DTYPE_SHORT[v.dtype]}${list(v.shape)}${list(v.stride)}${deviceText(v.device)}`;
      tensorTexts.set(v, text);
    }
    return text;
  }
  if (typeof v === "object" && "symFloat" in v) return `Sym(${printSym(v.symFloat)})`;
  return isExpr(v) ? `Sym(${printSym(v)})` : null;
}

/** an argument as Python text */
export function argumentText(a: Argument): string {
  if (a === null) return "None";
  if (a instanceof FxNode) return a.name;
  switch (typeof a) {
    case "boolean":
      return a ? "True" : "False";
    case "number":
      return Number.isInteger(a) ? String(a) : floatRepr(a);
    case "bigint":
      return String(a);
    case "string":
      return stringRepr(a);
    default:
      break;
  }
  if (Array.isArray(a)) return `[${(a as readonly Argument[]).map(argumentText).join(", ")}]`;
  if (a instanceof TupleArg) return `(${a.items.map(argumentText).join(", ")}${a.items.length === 1 ? "," : ""})`;
  if (a instanceof SliceArg) return `slice(${[a.start, a.stop, a.step].map(argumentText).join(", ")})`;
  if (a instanceof EllipsisArg) return "Ellipsis";
  if (a instanceof FloatParameter) return a.mark;
  if (a instanceof PyFloat) return floatRepr(a.value);
  if (a instanceof PyComplex) return complexRepr(a.re, a.im);
  if (a instanceof DTypeArg) return `torch.${a.dtype}`;
  if (a instanceof DeviceArg) {
    const { type, index } = a.device;
    return index === null ? `device(type='${type}')` : `device(type='${type}', index=${index})`;
  }
  if (a instanceof LayoutArg) return `torch.${a.layout}`;
  if (a instanceof MemoryFormatArg) return `torch.${a.format}`;
  if (a instanceof OpaqueArg) return commentText(a.text);
  return isExpr(a) ? printLog(a) : "None";
}

/** the Python name of a call target: ATen overloads live below torch.ops */
export function targetText(target: string): string {
  return /^(torch|operator|math|builtins|getattr)\b/.test(target) || !/^(\w+\.\w+\.\w+|aten\.\w+)$/.test(target)
    ? target
    : `torch.ops.${target}`;
}

function callText(node: FxNode): string {
  const args = node.args.map(argumentText);
  const keywords = [...node.kwargs].map(([k, v]) => `${k} = ${argumentText(v)}`);
  const all = [...args, ...keywords].join(", ");
  if (node.op === "call_method")
    return `${args[0] ?? ""}.${node.target}(${[...args.slice(1), ...keywords].join(", ")})`;
  return `${targetText(node.target)}(${all})`;
}

/** one node's statement, without liveness */
export function statementText(node: FxNode): string {
  const type = typeText(node.meta.val);
  const head = type === null ? node.name : `${node.name}: "${type}"`;
  const args = node.args.map(argumentText);
  if (node.op === "get_attr") return `${head} = self.${node.target}`;
  if (node.op === "call_function") {
    // flat: what the region's operators gave
    if (node.target === CHECKPOINT && Array.isArray(node.args[0])) return `${head} = ${args[0]}`;
    const operator = /^(?:operator|_operator)\.(\w+)$/.exec(node.target)?.[1];
    if (operator !== undefined) {
      if (operator === "getitem") return `${head} = ${args[0]}[${args[1]}]`;
      if (operator === "setitem") return `${args[0]}[${args[1]}] = ${args[2]};  ${head} = ${args[0]}`;
      const infix = Object.hasOwn(INFIX, operator) ? INFIX[operator] : undefined;
      if (infix !== undefined && args.length === 2) return `${head} = ${args[0]} ${infix} ${args[1]}`;
      const prefix = Object.hasOwn(PREFIX, operator) ? PREFIX[operator] : undefined;
      if (prefix !== undefined) return `${head} = ${prefix}${args[0]}`;
      const inplace = Object.hasOwn(INPLACE, operator) ? INPLACE[operator] : undefined;
      if (inplace !== undefined) return `${args[0]} ${inplace} ${args[1]};  ${head} = ${args[0]}`;
    }
    if (
      /^(builtins\.)?getattr$/.test(node.target) &&
      typeof node.args[1] === "string" &&
      /^[A-Za-z_]\w*$/.test(node.args[1])
    ) {
      return `${head} = ${args[0]}.${node.args[1]}`;
    }
  }
  return `${head} = ${callText(node)}`;
}

/** values whose last use is at each node, in the order in which they stand among its inputs */
function lastUses(graph: FxGraph): Map<FxNode, FxNode[]> {
  const dead = new Map<FxNode, FxNode[]>();
  const seen = new Set<FxNode>();
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    const user = graph.nodes[i] as FxNode;
    const here = user.inputs.filter(n => !seen.has(n));
    for (const n of here) seen.add(n);
    if (user.users.size === 0) here.push(user);
    dead.set(user, here);
  }
  return dead;
}

function comment(node: FxNode, options: PrintOptions): string {
  const frame = stackTrace(node.meta.stack).at(-1);
  if (frame === undefined) return "# No stacktrace found for following nodes";
  const back = options.backwardComments && node.meta.isBackward ? "Backward of forward node: " : "";
  return commentText(
    `#${checkpointNote(node)} ${back}File: ${frame.file}:${frame.line} in ${frame.func}, code: ${frame.code}`,
  );
}

/** what activation checkpointing wants of the node */
function checkpointNote({ meta }: FxNode): string {
  if (meta.checkpointId === undefined || meta.recompute === undefined) return "";
  return ` ac_graph_id: ${meta.checkpointId} - ${meta.recompute.toUpperCase()}`;
}

/** The whole log record. */
export function printReadable(graph: FxGraph, options: PrintOptions): string {
  const { main, modules } = options.flat ? { main: graph, modules: [] } : nested(graph);
  const out = [
    "TRACED GRAPH",
    ` ===== ${options.title} =====`,
    ` ${options.file ?? LAZY_MODULE_FILE} class ${options.className}(torch.nn.Module):`,
    ...forwardLines(main, options),
  ];
  for (const m of modules)
    out.push(
      "",
      `    class ${m.name}(torch.nn.Module):`,
      ...forwardLines(m.graph, options).map(l => (l ? `    ${l}` : l)),
    );
  return `${out.join("\n")}\n\n`;
}

/** a module's forward */
function forwardLines(graph: FxGraph, options: PrintOptions): string[] {
  const inputs = graph.placeholders();
  const named = (n: FxNode): string => {
    const t = typeText(n.meta.val);
    return t === null ? n.target : `${n.target}: "${t}"`;
  };
  const out: string[] = [];
  const body: string[] = [];
  if (options.joint) {
    out.push("    def forward(self, primals, tangents):");
    out.push(`        ${inputs.map(n => `${named(n)}; `).join("")}`, "");
    out.push(
      `        ${inputs.map(n => `${n.name}, `).join("")}= fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)`,
    );
  } else {
    out.push(`    def forward(${["self", ...inputs.map(named)].join(", ")}):`);
    for (const n of inputs) if (n.name !== n.target) body.push(`        ${n.name} = ${n.target}`);
  }
  const dead = lastUses(graph);
  let last: string | undefined;
  for (const node of graph.nodes) {
    if (node.op === "placeholder") continue;
    if (node.op === "output") {
      const value = node.args[0] ?? null;
      const items = value instanceof TupleArg ? value.items : (value as readonly Argument[]);
      body.push(
        options.joint
          ? `        return pytree.tree_unflatten([${items.map(argumentText).join(", ")}], self._out_spec)`
          : `        return ${argumentText(value)}`,
      );
      continue;
    }
    const text = options.comments === false ? last : comment(node, options);
    if (text !== undefined && text !== last) {
      if (body.length > 0) body.push("");
      body.push(`        ${text}`);
      last = text;
    }
    const ends = dead.get(node) ?? [];
    body.push(
      `        ${statementText(node)}${ends.length > 0 ? `;  ${[...ends.map(n => n.name), "None"].join(" = ")}` : ""}`,
    );
  }
  return [...out, ...body];
}
