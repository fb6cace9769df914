// In: scheduler nodes at one moment. Out: the text of the BEFORE FUSION / AFTER FUSION artifacts (ir_pre_fusion,
// ir_post_fusion): one block a node, as Inductor's debug_str prints it. Promises: pure; sets print sorted by their text.
import type { Device } from "../aten/types";
import type { Layout } from "../inductor/ir/types";
import type { AnyNode, Dep, GroupNode, NodeUser, SchedulerBuffer, SchedulerNode } from "../inductor/scheduler/types";
import type { Expr } from "../inductor/symbolic/expr";
import { printLog } from "../inductor/symbolic/print_log";
import { printLoopBody } from "./loop_body";
import { pythonList, pythonStringRepr, pythonTuple } from "./python_text";

export interface DumpOptions {
  /** layout of a buffer or graph input by name; null where it has none */
  readonly layoutOf: (name: string) => Layout | null;
  readonly printsInputDistance: boolean;
}

/** The whole artifact after its heading: every block is followed by two blank lines, the last by three. */
export function dumpNodes(nodes: readonly AnyNode[], options: DumpOptions): string {
  return nodes.map(n => `${dumpNode(n, options).join("\n")}\n\n\n`).join("");
}

const isGroup = (n: AnyNode): n is GroupNode => "snodes" in n;

function dumpNode(node: AnyNode, o: DumpOptions): string[] {
  const { name } = node;
  const unmet = new Set(node.unmetDependencies.map(depText));
  const reads = node.readWrites.reads.map(depText);
  const classes = isGroup(node) ? node.snodes.map(s => s.type).join(",") : irClass(node);
  const lines = [
    `${name}: ${node.type}(${classes})`,
    `${name}.writes = ${formatDeps(node.readWrites.writes)}`,
    `${name}.unmet_dependencies = ${formatDeps(node.unmetDependencies)}`,
    `${name}.met_dependencies = ${formatDeps(node.readWrites.reads.filter((_, i) => !unmet.has(reads[i] ?? "")))}`,
  ];
  if (o.printsInputDistance) {
    lines.push(
      `${name}.min_input_distance = ${node.minInputDistance}`,
      `${name}.max_input_distance = ${node.maxInputDistance}`,
    );
  }
  lines.push(`${name}.outputs = [`, ...node.outputs.flatMap(dumpBuffer).map(l => `    ${l}`), "]");
  if (isGroup(node)) {
    node.snodes.forEach((s, i) => {
      lines.push(`${name}.snodes[${i}] =`, ...dumpNode(s, o));
    });
  } else lines.push(...dumpKernel(node, o));
  return lines;
}

function irClass(node: SchedulerNode): string {
  const op = node.operation;
  return op.kind === "computed" ? "ComputedBuffer" : op.irClass;
}

function dumpKernel(node: SchedulerNode, o: DumpOptions): string[] {
  const { name } = node;
  if (node.type === "NopKernelSchedulerNode") return [];
  if (node.type === "ExternKernelSchedulerNode") {
    const kernel = node.operation.kind === "extern" ? node.operation.kernel : null;
    return [`${name}.node.kernel = ${kernel ?? "None"}`];
  }
  const lines = [
    `${name}.group.device = ${deviceText(node.device)}`,
    `${name}.group.iteration = ${pythonTuple(node.group.map(printLog))}`,
    `${name}.sizes = ${pythonTuple(node.sizes.map(s => (node.merged ? pythonTuple : pythonList)(s.map(printLog))))}`,
  ];
  for (const dep of [...node.readWrites.reads, ...node.readWrites.writes]) {
    if (dep.kind === "weak") continue;
    const layout = o.layoutOf(dep.name);
    if (layout) lines.push(`${dep.name}_layout = ${layoutText(layout)}`);
  }
  if (node.body) lines.push(`class ${name}_loop_body:`, ...printLoopBody(node.body).map(l => `    ${l}`));
  return lines;
}

function dumpBuffer(b: SchedulerBuffer): string[] {
  const lines = [`${b.name}: ${b.buffer.irClass}`, `${b.name}.layout = ${layoutText(b.buffer.layout)}`];
  if (b.aliases.length) lines.push(`${b.name}.aliases = ${formatItems(b.aliases.map(a => [pythonStringRepr(a)]))}`);
  if (b.mutations.length)
    lines.push(`${b.name}.mutations = ${formatItems(b.mutations.map(a => [pythonStringRepr(a)]))}`);
  const users = b.users.map(userText);
  if (users.length <= 1) lines.push(`${b.name}.users = ${pythonList(users)}`);
  else lines.push(`${b.name}.users = [`, ...users.map(u => `    ${u},`), "]");
  return lines;
}

const bool = (b: boolean): string => (b ? "True" : "False");

function userText(u: NodeUser): string {
  const node = u.node === null ? "OUTPUT" : `${u.node.type}(name=${pythonStringRepr(u.node.name)})`;
  return `NodeUser(node=${node}, can_inplace=${bool(u.canInplace)}, is_weak=${bool(u.isWeak)})`;
}

export function deviceText(d: Device): string {
  return d.index === null ? d.type : `${d.type}:${d.index}`;
}

const exprs = (es: readonly Expr[]): string => pythonList(es.map(printLog));

function layoutText(l: Layout): string {
  const device = `device(type='${l.device.type}'${l.device.index === null ? "" : `, index=${l.device.index}`})`;
  switch (l.kind) {
    case "multi_output":
      return `MultiOutputLayout(device=${device})`;
    case "none":
      return `NoneLayout(device=${device}, size=[0], stride=[0])`;
    case "fixed":
    case "flexible":
    case "non_owning":
    case "mutation": {
      const offset = printLog(l.offset);
      const tail = offset === "0" ? "" : `, offset=${offset}`;
      return `${LAYOUT_CLASS[l.kind]}('${deviceText(l.device)}', torch.${l.dtype}, size=${exprs(l.size)}, stride=${exprs(l.stride)}${tail})`;
    }
    default: {
      const never: never = l;
      return never;
    }
  }
}

const LAYOUT_CLASS = {
  fixed: "FixedLayout",
  flexible: "FlexibleLayout",
  non_owning: "NonOwningLayout",
  mutation: "MutationLayoutSHOULDREMOVE",
} as const;

/** repr of a dependency */
export function depText(d: Dep): string {
  const [first, ...rest] = depParts(d);
  return rest.length ? `${first}(${rest.join(", ")})` : (first ?? "");
}

/** A memory dependency prints as one piece; the others are dataclasses, which pprint may break at their fields. */
function depParts(d: Dep): string[] {
  switch (d.kind) {
    case "memory": {
      const ranges = d.vars.map((v, i) => `${v.name}: ${printLog(d.sizes[i] ?? v)}`).join(", ");
      const mode = d.mode === null ? "" : `, ${d.mode}`;
      return [`MemoryDep(${pythonStringRepr(d.name)}, ${printLog(d.index)}, {${ranges}}${mode})`];
    }
    case "star":
      return [
        "StarDep",
        `name=${pythonStringRepr(d.name)}`,
        `mode=${d.mode === null ? "None" : pythonStringRepr(d.mode)}`,
      ];
    case "weak":
      return [
        "WeakDep",
        `name=${pythonStringRepr(d.name)}`,
        `mutating_buf=${pythonStringRepr(d.mutatingBuffer)}`,
        `is_fake=${bool(d.isFake)}`,
      ];
    default: {
      const never: never = d;
      return never;
    }
  }
}

function formatDeps(deps: readonly Dep[]): string {
  const sorted = deps.map(d => [depText(d), d] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return formatItems(sorted.map(([, d]) => depParts(d)));
}

const WIDTH = 80;
const INDENT = 4;

/** pprint.pformat(list, indent=4); a text of several lines starts on its own line, indented by 4 once more. */
function formatItems(items: readonly (readonly string[])[]): string {
  const whole = items.map(([first, ...rest]) => (rest.length ? `${first}(${rest.join(", ")})` : (first ?? "")));
  const flat = pythonList(whole);
  if (flat.length <= WIDTH) return flat;
  const lines: string[] = [];
  items.forEach((parts, i) => {
    const last = i === items.length - 1;
    const text = whole[i] ?? "";
    const comma = last ? "]" : ",";
    const start = i === 0 ? "[   " : " ".repeat(INDENT);
    if (parts.length === 1 || text.length <= WIDTH - INDENT - 1) lines.push(`${start}${text}${comma}`);
    else {
      const fields = parts.slice(1);
      const pad = " ".repeat(INDENT + (parts[0]?.length ?? 0) + 1);
      fields.forEach((f, j) => {
        lines.push(`${j === 0 ? `${start}${parts[0]}(` : pad}${f}${j === fields.length - 1 ? `)${comma}` : ","}`);
      });
    }
  });
  return lines.length === 1 ? (lines[0] ?? "") : `\n${lines.map(l => " ".repeat(INDENT) + l).join("\n")}`;
}
