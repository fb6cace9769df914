// From FX nodes to source lines: `lines` are all of the file's lines on a node's frames, `at` the innermost one.
import type { FxNode } from "../fx/graph";
import type { StackFrame } from "../fx/types";
import type { PlanOrigin } from "../inductor/plan/types";

/** name of a graph no node of which stems from a function of the file */
export const UNNAMED = "?";

/** the frames of a node that lie in `file`, outermost first */
export function framesIn(node: FxNode, file: string): readonly StackFrame[] {
  return node.meta.stack.filter(f => f.file === file);
}

export function originOf(nodes: Iterable<FxNode>, file: string): PlanOrigin {
  const lines = new Set<number>();
  const at = new Set<number>();
  const names: string[] = [];
  for (const n of nodes) {
    names.push(n.name);
    const frames = framesIn(n, file);
    for (const f of frames) lines.add(f.line);
    const last = frames[frames.length - 1];
    if (last) at.add(last.line);
  }
  return { lines: ascending(lines), at: ascending(at), nodes: names };
}

/** the outermost function of the file on the first node that has one: a graph's name */
export function outermostFunction(nodes: Iterable<FxNode>, file: string): string | null {
  for (const n of nodes) {
    const first = framesIn(n, file)[0];
    if (first) return first.func;
  }
  return null;
}

function ascending(xs: Set<number>): number[] {
  return [...xs].sort((a, b) => a - b);
}

/** the file whose lines a graph's report is about: the program's own where it stands on some frame, else the frame's */
export function reportedFile(nodes: Iterable<FxNode>, program: string, frame: string): string {
  for (const n of nodes) if (framesIn(n, program).length) return program;
  return frame;
}
