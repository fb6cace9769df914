// Whether a fusion into a template pays, and what becomes of templates in the end. In: pairs that may fuse, times of the
// choices. Out: yes or no, with the log of it; after fusion, a template that no one joined takes its fastest choice.
// Promises: after speedup_by_fusion (epilogues are not benchmarked by default) and finalize_multi_template_buffers.
import type { Buffer, ExternOperation, LoweredGraph, Operation } from "../ir/types";
import type { SizeVars } from "../symbolic/size_vars";
import { type Attention, attentionPays, withAttentionTemplates } from "../templates/attention";
import { wantedWay } from "../templates/choose";
import { piecesOf } from "../templates/forms";
import { type Gemm, gemmKind, gemmOf } from "../templates/gemm";
import { computesInParts, partsPay } from "../templates/in_parts";
import { templatePays } from "../templates/off_alignment";
import { splitsOf, withSplitProducts } from "../templates/split_k";
import type { WaysAsked } from "../templates/ways";
import { makeGroup } from "./groups";
import { prologuePays } from "./prologue";
import {
  behaves,
  bufferNames,
  depBytes,
  flag,
  isGroup,
  isTemplate,
  membersOf,
  type SchedulerOptions,
  type SchedulerState,
  setting,
} from "./state";
import { templateOf, templateOperation } from "./template";
import { autotuneLines, choicesOf, type TemplateChoice, type TemplateCosts, trafficOf } from "./template_choices";
import type { AnyNode, SchedulerNode } from "./types";

export interface TemplateState {
  readonly costs: TemplateCosts;
  readonly choices: Map<string, readonly TemplateChoice[]>;
  /** the Triton kernels of all templates so far */
  numbered: number;
}

export const autotunes = (o: SchedulerOptions): boolean => flag(o, "max_autotune") || flag(o, "max_autotune_gemm");

/** whether max_autotune chooses among kernels of this backend, as `max_autotune_gemm_backends` lists them */
function hasBackend(o: SchedulerOptions, name: "ATEN" | "TRITON"): boolean {
  const listed = String(o.config.get("max_autotune_gemm_backends")).toUpperCase().split(",");
  return listed.some(b => b.trim() === name);
}

/** whether the library's kernel is a candidate for a product that may be a template */
export const hasLibrary = (o: SchedulerOptions): boolean => !autotunes(o) || hasBackend(o, "ATEN");

/** which ways products may take beside the forms of their templates */
export function waysAsked(o: SchedulerOptions): WaysAsked {
  const asked = autotunes(o);
  return {
    splits: asked && behaves(o, "split_products"),
    prologues: asked && behaves(o, "computes_operands"),
    library: hasLibrary(o),
    inParts: computesInParts(o),
  };
}

/** whether a product, or else attention, may be computed by a template under these options */
export function mayBeTemplate(graph: LoweredGraph, op: ExternOperation, o: SchedulerOptions): boolean {
  if (!autotunes(o)) return paysUnasked(graph, op, o);
  const kind = gemmKind(op);
  if (kind === null) return behaves(o, "attention_template");
  if (!hasBackend(o, "TRITON")) return false;
  return kind !== "scaled_mm" || behaves(o, "scaled_product_templates");
}

/** whether a template is surely faster than the library here, max-autotune or not */
function paysUnasked(graph: LoweredGraph, op: ExternOperation, o: SchedulerOptions): boolean {
  const pays = [...(computesInParts(o) ? [partsPay] : []), ...(behaves(o, "operand_layouts") ? [templatePays] : [])];
  return pays.some(f => f(op, trafficOf(graph, op), o.target, graph.sizevars));
}

/** how many pieces this product's sum is asked to have, where it may have so many */
function wantedPieces(g: Gemm, o: SchedulerOptions, sv: SizeVars): number | null {
  const wanted = wantedWay(o, g.op.name);
  const pieces = wanted === null || wanted === "library" ? null : piecesOf(wanted);
  return pieces !== null && splitsOf(g, o.target, sv).includes(pieces) ? pieces : null;
}

/** Under max-autotune every matrix product is a template with several choices; else those are that are surely faster. */
export function withTemplates(graph: LoweredGraph, o: SchedulerOptions): LoweredGraph {
  if (!autotunes(o) && !computesInParts(o) && !behaves(o, "operand_layouts")) return graph;
  // attention and sums in pieces are templates already, each of one choice
  const hasChoices = (op: ExternOperation): boolean =>
    op.irClass !== "TemplateBuffer" && gemmKind(op) !== null && mayBeTemplate(graph, op, o);
  const attention = (a: Attention, op: ExternOperation): boolean => {
    const wanted = wantedWay(o, op.name);
    return wanted === null ? attentionPays(a) : wanted !== "library";
  };
  const attends = autotunes(o) && behaves(o, "attention_template");
  const attended = attends ? withAttentionTemplates(graph, attention) : graph;
  const source = waysAsked(o).splits ? withSplitProducts(attended, g => wantedPieces(g, o, graph.sizevars)) : attended;
  const buffers = new Map<string, Buffer>(source.buffers);
  const operations = source.operations.map((op): Operation => {
    if (op.kind !== "extern" || !hasChoices(op) || op.device.type !== "cuda") return op;
    for (const name of op.outputs) {
      const b = buffers.get(name);
      if (b) buffers.set(name, { ...b, irClass: "MultiTemplateBuffer" });
    }
    return { ...op, irClass: "MultiTemplateBuffer" };
  });
  return { ...source, operations, buffers };
}

/** The choices of a template, tried (and logged) once. */
function tried(s: SchedulerState, t: TemplateState, op: ExternOperation): readonly TemplateChoice[] {
  const known = t.choices.get(op.name);
  if (known) return known;
  const choices = choicesOf(op, s.sizevars, t.costs, t.numbered);
  t.numbered += choices.length - 1;
  t.choices.set(op.name, choices);
  s.events.push({ kind: "autotune", lines: autotuneLines(op, s.sizevars, choices) });
  return choices;
}

/** Every pair without a template is taken as it is. */
export function speedupByFusion(s: SchedulerState, t: TemplateState, a: AnyNode, b: AnyNode): boolean {
  const epilogue = templateOperation(a);
  const op = epilogue ?? templateOperation(b);
  if (!op) return true;
  if (!epilogue && behaves(s, "computes_operands")) return prologuePays(s, a, b);
  const choices = tried(s, t, op);
  const [best] = choices;
  const triton = choices.filter(c => c.config !== null);
  // what is computed on the way in is not worth trying unless it is measured
  if (!epilogue && !flag(s, "benchmark_epilogue_fusion")) return false;
  if (!best || triton.length === 0) return false;
  const other = epilogue ? b : a;
  const bytes = (deps: AnyNode["readWrites"]["reads"]): number => deps.reduce((n, d) => n + depBytes(s, d), 0);
  const written = bytes(templateOf(a)?.readWrites.writes ?? []);
  const apart = best.ms + t.costs.copyMs(bytes(other.readWrites.reads) + bytes(other.readWrites.writes));
  const ratio = written === 0 ? 0 : (bytes(other.readWrites.reads) - written) / written;
  const extra = (apart - best.ms) * Math.max(0, ratio / (1 + ratio));
  const fused = triton.slice(0, setting(s, "max_epilogue_benchmarked_choices", 1)).map(c => c.ms + extra);
  const least = Math.min(...fused);
  const accepted = triton[0] === best || apart > least;
  s.events.push({
    kind: "benchmark",
    a: [...bufferNames(a)],
    b: [...bufferNames(b)],
    ratio: accepted ? apart / least : least / apart,
    fused: accepted,
    estimated: t.costs.estimated,
  });
  return accepted;
}

/**
 * A template without fusion takes its fastest choice; the library's kernel replaces the node by an extern node of the
 * same name. Returns the nodes with those replaced.
 */
export function finalizeTemplates(s: SchedulerState, t: TemplateState, nodes: readonly AnyNode[]): AnyNode[] {
  return nodes.map(n => {
    if (isGroup(n) || n.operation.kind !== "extern" || n.operation.irClass !== "MultiTemplateBuffer") return n;
    const [best] = tried(s, t, n.operation);
    return best?.config === null ? asExtern(s, n, n.operation) : n;
  });
}

function asExtern(s: SchedulerState, n: SchedulerNode, op: ExternOperation): SchedulerNode {
  const operation: ExternOperation = { ...op, irClass: "ExternKernelOut" };
  const outputs = n.outputs.map(o => ({ ...o, buffer: { ...o.buffer, irClass: "ExternKernelOut" } }));
  const node: SchedulerNode = {
    ...n,
    type: "ExternKernelSchedulerNode",
    operation,
    outputs,
    sizes: [[], []],
    readWrites: { ...n.readWrites, reads: n.readWrites.reads, writes: n.readWrites.writes },
  };
  for (const o of outputs) {
    o.definingOp = node;
    s.buffers.set(o.name, o);
  }
  for (const b of s.buffers.values()) b.users = b.users.map(u => (u.node === n ? { ...u, node } : u));
  s.fusedNode.set(n.name, node);
  return node;
}

/**
 * Templates that no kernel is generated for, taken apart again: what was fused before the product, the library's kernel,
 * and what was fused after it. So is what comes before a product, unless the preset has templates that compute it.
 */
export function splitTemplateGroups(s: SchedulerState, nodes: readonly AnyNode[]): AnyNode[] {
  return nodes.flatMap((n): AnyNode[] => {
    const template = templateOf(n);
    if (template?.operation.kind !== "extern" || gemmKind(template.operation) === null) return [n];
    const members = membersOf(n);
    const at = members.indexOf(template);
    const before = members.slice(0, at).filter(m => !isTemplate(m));
    const generated = gemmOf(template.operation) !== null;
    if (generated && (before.length === 0 || behaves(s, "computes_operands"))) return [n];
    const part = (list: readonly SchedulerNode[]): AnyNode[] =>
      list.length > 1 ? [makeGroup(s, "FusedSchedulerNode", list)] : [...list];
    const after = members.slice(at + 1);
    for (const m of members) s.fusedNode.set(m.name, m);
    if (generated) return [...part(before), ...part([template, ...after])];
    return [...part(before), asExtern(s, template, template.operation), ...part(after)];
  });
}
