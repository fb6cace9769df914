// Where a kernel came from, as comments (get_kernel_metadata, get_fused_kernel_name in torch/_inductor/utils.py and
// codegen/common.py). In: the operations of a kernel. Out: the source comment, the graph fragment, the kernel's name.
// Promises: nodes stand in the post-grad graph's order; names from the user's code pass the comment escape.

import { DeviceArg } from "../../aten/types";
import { FxNode } from "../../fx/graph";
import { argumentText, deviceText, dtypeShort, isFakeTensor, targetText, typeText } from "../../fx/print";
import { commentText } from "../../fx/py_repr";
import { type Argument, type OwnerGraph, SliceArg, TupleArg } from "../../fx/types";
import type { GraphView } from "../codegen/triton/graph_view";
import type { SchedulerNode } from "../scheduler/types";
import { printLog } from "../symbolic/print_log";

export interface Provenance {
  /** "# Topologically Sorted Source Nodes: [...], Original ATen: [...]" */
  readonly comment: string;
  /** the mapping and the graph fragment, comment lines */
  readonly detail: readonly string[];
}

/** call_function origins of all nodes, in the post-grad graph's order; null: from no single graph */
function sortedOrigins(groups: readonly (readonly FxNode[])[]): { nodes: FxNode[]; graph: OwnerGraph | null } {
  const once = new Set<FxNode>();
  for (const group of groups) for (const n of group) if (n.op === "call_function") once.add(n);
  const nodes = [...once];
  const graph = nodes[0]?.graph;
  if (graph === undefined || nodes.some(n => n.graph !== graph)) return { nodes, graph: null };
  return { nodes: nodes.sort((a, b) => graph.indexOf(a) - graph.indexOf(b)), graph };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `members`: the kernel's operations with reads and writes, for the fragment; none for extern kernels */
export function provenanceOf(
  groups: readonly (readonly FxNode[])[],
  members: readonly SchedulerNode[],
  view: GraphView,
): Provenance {
  const { nodes, graph } = sortedOrigins(groups);
  const { comment, sources } = sourcesOf(nodes, graph);
  const detail = ["# Source node to ATen node mapping:"];
  for (const [source, names] of [...sources].sort(([a], [b]) => byText(a, b)))
    detail.push(commentText(`#   ${source} => ${[...names].sort(byText).join(", ")}`));
  if (graph !== null) detail.push(...fragment(nodes, members, view));
  return { comment, detail };
}

/** what stands above a call: the comment alone */
export function sourceComment(groups: readonly (readonly FxNode[])[]): string {
  const { nodes, graph } = sortedOrigins(groups);
  return sourcesOf(nodes, graph).comment;
}

function sourcesOf(
  nodes: readonly FxNode[],
  graph: OwnerGraph | null,
): { readonly comment: string; readonly sources: ReadonlyMap<string, readonly string[]> } {
  const sources = new Map<string, string[]>();
  const atens = new Set<string>();
  for (const n of nodes) {
    if (n.meta.originalAten !== undefined) atens.add(n.meta.originalAten);
    const key = n.meta.fromNode[0] ?? (n.meta.isBackward ? n.name : undefined);
    if (key === undefined) continue;
    const list = sources.get(key);
    if (list) list.push(n.name);
    else sources.set(key, [n.name]);
  }
  const sorted = graph === null ? "Unsorted" : "Topologically Sorted";
  const comment = commentText(
    `# ${sorted} Source Nodes: [${[...sources.keys()].join(", ")}], Original ATen: [${[...atens].join(", ")}]`,
  );
  return { comment, sources };
}

function fragment(nodes: readonly FxNode[], members: readonly SchedulerNode[], view: GraphView): string[] {
  const lines = ["# Graph fragment:"];
  const seen = new Set<string>();
  const writes: string[] = [];
  const nameOf = (buffer: string): string => view.buffer(buffer)?.originNode?.name ?? buffer;
  for (const m of members) {
    for (const d of m.readWrites.reads) {
      if (seen.has(d.name)) continue;
      seen.add(d.name);
      const l = view.layout(d.name);
      if (!l) continue;
      const type =
        l.kind === "multi_output" || l.kind === "none"
          ? "Tensor "
          : `Tensor "${dtypeShort(l.dtype)}[${l.size.map(printLog).join(", ")}][${l.stride.map(printLog).join(", ")}]${deviceText(l.device)}"`;
      const name = nameOf(d.name);
      lines.push(commentText(`#   %${name} : ${type} = PlaceHolder[target=${name}]`));
    }
    for (const d of m.readWrites.writes) writes.push(`%${nameOf(d.name)}`);
  }
  for (const n of nodes) lines.push(commentText(`#   ${formatNode(n)}`));
  lines.push(`#   return ${writes.join(",")}`);
  return lines;
}

/** torch.fx's Node.format_node with tensor metadata */
function formatNode(n: FxNode): string {
  const type = isFakeTensor(n.meta.val) ? `Tensor "${typeText(n.meta.val)}"` : "";
  const kwargs = [...n.kwargs].map(([k, v]) => `${k}: ${formatArgument(v)}`).join(", ");
  return `%${n.name} : ${type}[num_users=${n.users.size}] = ${n.op}[target=${targetText(n.target)}](args = ${formatTuple(n.args)}, kwargs = {${kwargs}})`;
}

function formatTuple(xs: readonly Argument[]): string {
  return `(${xs.map(formatArgument).join(", ")}${xs.length === 1 ? "," : ""})`;
}

function formatArgument(a: Argument): string {
  if (a instanceof FxNode) return `%${a.name}`;
  if (typeof a === "string") return a;
  if (Array.isArray(a)) return `[${(a as readonly Argument[]).map(formatArgument).join(", ")}]`;
  if (a instanceof TupleArg) return formatTuple(a.items);
  if (a instanceof SliceArg) return `slice(${[a.start, a.stop, a.step].map(formatArgument).join(", ")})`;
  if (a instanceof DeviceArg) return deviceText(a.device);
  return argumentText(a);
}

/**
 * Sorted names of the operators that the kernel's nodes came from: "fused_add_mul". `mode` is triton.descriptive_names:
 * "inductor_node" names the nodes themselves, off gives no name at all.
 */
export function fusedName(groups: readonly (readonly FxNode[])[], mode: unknown = "original_aten"): string {
  if (mode === false || mode === null) return "";
  if (mode === "inductor_node") return ["fused", ...sortedOrigins(groups).nodes.map(n => n.name)].join("_");
  const names = new Set<string>();
  for (const n of groups.flat()) {
    if (n.op !== "call_function" || n.meta.originalAten === undefined) continue;
    names.add(
      n.meta.originalAten
        .split(".")
        .slice(1)
        .join(".")
        .replace(/[^0-9A-Za-z_]/g, "_"),
    );
  }
  return ["fused", ...[...names].sort(byText)].join("_");
}
