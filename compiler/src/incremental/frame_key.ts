// The content of a captured frame as a memo's key: all that its compilation depends on but where its lines are, and but
// the values of its floats, which are collected. In: a frame, its sites, the options of the compile. Out: a digest; null
// where something has no text to compare.

import { createHash } from "node:crypto";
import { hasMark } from "../aten/float_parameter";
import type { CapturedFrame, InputInfo } from "../dynamo/types";
import type { FxNode } from "../fx/graph";
import type { ShapeEnv } from "../inductor/symbolic/shape_env";
import { Canonical, NotComparable } from "./canonical";
import type { FloatSlots } from "./float_slots";
import type { Sites } from "./sites";

export interface FrameKeyOptions {
  /** the program that is run: lines are of it where it stands on a node's stack */
  readonly path: string;
  readonly aotId: number;
  readonly backward: boolean;
}

export function frameKey(
  frame: CapturedFrame,
  sites: Sites,
  options: FrameKeyOptions,
  floats: FloatSlots,
): string | null {
  const to = new Canonical();
  try {
    to.value(options);
    to.text(sites.pattern());
    nodes(to, frame.graph.nodes, sites, floats);
    to.value(frame.graph.constants);
    for (const input of frame.inputs) inputOf(to, input);
    shapes(to, frame.shapeEnv);
    // what a frame rests on is said of its kernels, whatever they are; its own number and stack are for logs
    to.fields(frame, APART);
  } catch (e) {
    if (e instanceof NotComparable) return null;
    throw e;
  }
  const text = to.pieces.join(" ");
  // what it takes for a mark would be filled in
  if (hasMark(text)) return null;
  return createHash("sha256").update(text).digest("base64");
}

const APART: ReadonlySet<string> = new Set(["id", "graph", "inputs", "shapeEnv", "assumed", "stack", "logs"]);
const META_APART: ReadonlySet<string> = new Set(["stack", "assumed"]);

function nodes(to: Canonical, list: readonly FxNode[], sites: Sites, floats: FloatSlots): void {
  to.number(list);
  for (const n of list) {
    to.pieces.push(n.op);
    to.text(n.name);
    to.text(n.target);
    to.arguments(n.args, floats);
    to.arguments(n.kwargs, floats);
    to.fields(n.meta, META_APART);
    to.pieces.push("@");
    for (const f of n.meta.stack) {
      to.pieces.push(String(sites.indexOf(f)), f.reportOnly ? "known" : "traced");
      to.text(f.func);
    }
  }
}

function inputOf(to: Canonical, { node, source, kind, parameter, buffer, value }: InputInfo): void {
  to.value(node);
  to.text(source);
  to.value([kind, parameter, buffer]);
  // the number of a tensor object is the program's
  if (typeof value === "object" && value !== null) to.value([value.meta, value.sizes, value.strides]);
  else to.value(value);
}

/** facts are drawn from the guards, in their order */
function shapes(to: Canonical, env: ShapeEnv): void {
  for (const g of env.guards) to.value([g.expr, g.reason, g.sources]);
  to.value([env.replacements, env.hints, env.sources, env.symbolRanges, env.version]);
}
