// Layouts of products' and convolutions' operands: rows padded where that pays, copies left out where a view serves, and
// which convolutions run channels-last. In: a lowered graph before scheduling, configuration, the target. Out: the graph with
// the layouts chosen, and each choice with both layouts, bytes and estimates. Promises: the graph computes the same; under a
// preset without these choices it stays as it is.
import { readBoolean } from "../../presets";
import { GraphEdit } from "../ir/graph_edit";
import { type GraphFacts, graphFacts } from "../ir/graph_facts";
import type { TargetProperties } from "../ir/target";
import type { ExternOperation, LoweredGraph } from "../ir/types";
import type { SizeVars } from "../symbolic/size_vars";
import { wantedOperands, wantedWay } from "../templates/choose";
import { formsOf, waysWith } from "../templates/forms";
import { type Gemm, gemmOf } from "../templates/gemm";
import { type KnownCopies, padRows, readAsItLies } from "./apply";
import { convolutionLayouts } from "./convolutions";
import { bytesOf, paddedStrides } from "./padding";
import {
  hasTemplate,
  type Means,
  type PaddedRows,
  paddedRows,
  type ViewedOperand,
  viewedOperand,
  type Weighed,
} from "./products";
import { type PaddedShape, paddedShape, padShape } from "./shape";
import type { LayoutChoice } from "./types";
import { type Way, withOperands } from "./ways";

export interface LayoutOptions {
  readonly config: ReadonlyMap<string, unknown>;
  readonly behaviours: ReadonlyMap<string, unknown>;
  readonly target: TargetProperties;
  readonly products?: ReadonlyMap<string, number>;
}

export interface LaidOut {
  readonly graph: LoweredGraph;
  readonly layouts: readonly LayoutChoice[];
}

/** by how much another layout must be estimated faster to be taken unmeasured */
const WORTH = 0.95;
/** and by how many microseconds: what another launch costs where launches are what is waited for */
const LAUNCH_US = 5;

const choosesLayouts = (o: LayoutOptions): boolean =>
  readBoolean(o.behaviours, "operand_layouts") && readBoolean(o.config, "shape_padding");

function meansOf(o: LayoutOptions): Means {
  const precision = o.config.get("float32_matmul_precision");
  return {
    target: o.target,
    tunes: readBoolean(o.config, "max_autotune") || readBoolean(o.config, "max_autotune_gemm"),
    unasked: readBoolean(o.behaviours, "operand_layouts"),
    tf32: precision === "high" || precision === "medium",
  };
}

/** The graph with operands as they are wanted, and why each lies so; the very graph where nothing changes. */
export function layOutOperands(lowered: LoweredGraph, o: LayoutOptions): LaidOut {
  const edit = new GraphEdit(lowered);
  const known: KnownCopies = new Map();
  const layouts: LayoutChoice[] = [];
  for (const given of lowered.operations) {
    if (given.kind !== "extern") continue;
    // what an earlier product reads otherwise may have changed how this one sees its result
    const op = edit.operation(given.name);
    if (op.kind !== "extern" || op.device.type !== "cuda") continue;
    if (op.kernel === "extern_kernels.convolution") layouts.push(...convolutionLayouts(op, graphFacts(lowered)));
    else if (choosesLayouts(o)) layouts.push(...productLayouts(op, graphFacts(lowered), edit, known, o));
  }
  return { graph: edit.result, layouts };
}

function productLayouts(
  op: ExternOperation,
  facts: GraphFacts,
  edit: GraphEdit,
  known: KnownCopies,
  o: LayoutOptions,
): LayoutChoice[] {
  const g = gemmOf(op);
  if (g === null) return [];
  const sv = facts.graph.sizevars;
  const means = meansOf(o);
  const wanted = wantedOperands(o, op.name);
  const viewed = viewedOperand(g, facts, means);
  if (viewed && (wanted === null ? isFaster(viewed) : wanted === "viewed")) return [readAsItLies(edit, op, viewed, g)];
  const out = viewed ? [copied(op, viewed)] : [];
  const rows = hasTemplate(g, means) ? paddedRows(g, facts, means) : null;
  const shape = paddedShape(g, facts, means);
  switch (paddingOf(wanted === null ? null : wanted === "padded", wantedWay(o, op.name), rows, shape)) {
    case "rows":
      return [...out, ...padRows(edit, op, rows as PaddedRows, known, facts)];
    case "shape":
      return [...out, ...padShape(edit, op, shape as PaddedShape, sv)];
    default:
      return shape ? [...out, ...leftOff(op, shape, sv)] : out;
  }
}

const isFaster = (w: Weighed): boolean => w.other <= w.given * WORTH;
/** copies are launches of their own, or make others longer */
const pays = (w: Weighed): boolean => isFaster(w) && w.given - w.other >= LAUNCH_US;

/** Templates take padded rows, the library padded shapes. `wanted`: null where nothing is asked for, and estimates decide. */
function paddingOf(
  wanted: boolean | null,
  way: string | null,
  rows: Weighed | null,
  shape: Weighed | null,
): "rows" | "shape" | null {
  if (wanted !== null) return !wanted ? null : way === "library" ? shape && "shape" : rows && "rows";
  const best = rows && (shape === null || rows.other <= shape.other) ? rows : shape;
  if (best === null || !pays(best)) return null;
  return best === rows ? "rows" : "shape";
}

function copied(op: ExternOperation, viewed: ViewedOperand): LayoutChoice {
  const { copied: v, copy } = viewed;
  return {
    code: "copied_to_rows",
    op: op.name,
    buffer: viewed.gemm.a.buffer,
    copy: copy.name,
    taken: v,
    other: viewed.gemm.a,
    bytes: bytesOf(v),
    estimateUs: { taken: viewed.given, other: viewed.other },
  };
}

/** nothing is copied: a template cuts at the edges itself, or the library takes longer than need be */
function leftOff(op: ExternOperation, shape: PaddedShape, sv: SizeVars): LayoutChoice[] {
  return shape.operands.map(({ view, size }) => ({
    code: "off_alignment",
    op: op.name,
    buffer: view.buffer,
    copy: null,
    taken: view,
    other: { size, stride: paddedStrides({ ...view, size }, sv) },
    bytes: bytesOf(view),
    estimateUs: { taken: shape.given, other: shape.other },
  }));
}

/** Ways that a product may take besides those with its operands as given. */
export function otherWays(op: ExternOperation, facts: GraphFacts, o: LayoutOptions): readonly Way[] {
  const g = choosesLayouts(o) ? gemmOf(op) : null;
  if (g === null) return [];
  const means = meansOf(o);
  const sv = facts.graph.sizevars;
  const templates = (x: Gemm) => waysWith(formsOf([x], o.target, sv));
  const viewed = viewedOperand(g, facts, means);
  const rows = paddedRows(g, facts, means);
  const shape = paddedShape(g, facts, means);
  return [
    ...(viewed ? (["library", ...templates(viewed.gemm)] as const).map(w => withOperands(w, "viewed")) : []),
    ...(shape ? [withOperands("library", "padded")] : []),
    ...(rows ? templates(rows.gemm).map(w => withOperands(w, "padded")) : []),
  ];
}
