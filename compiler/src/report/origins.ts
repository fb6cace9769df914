// From FX nodes to source lines: `lines` are all of the file's lines on a node's stack trace, `at` the innermost one; where
// PyTorch's stack traces hold none, `at` has what we know all the same.
import type { FxNode } from "../fx/graph";
import { type StackFrame, stackTrace } from "../fx/types";
import type { PlanOrigin } from "../inductor/plan/types";

/** name of a graph no node of which, nor of what was captured, stems from a function of the file */
export const UNNAMED = "?";

/** the frames of a node that lie in `file`, outermost first */
export function framesIn(node: FxNode, file: string): readonly StackFrame[] {
  return node.meta.stack.filter(f => f.file === file);
}

interface Lines extends Pick<PlanOrigin, "lines" | "at"> {
  /** the innermost of the lines that no stack trace holds */
  readonly otherwise: readonly number[];
}

/** lines of a stack in the file that was asked for last: nodes share stacks, and reports and plans are about one file */
const linesOfStacks = new WeakMap<readonly StackFrame[], { readonly file: string; readonly lines: Lines }>();

function linesOf(node: FxNode, file: string): Lines {
  const { stack } = node.meta;
  const known = linesOfStacks.get(stack);
  if (known?.file === file) return known.lines;
  const frames = framesIn(node, file);
  const traced = stackTrace(frames);
  const last = traced.at(-1);
  const lines = {
    lines: ascending(traced.map(f => f.line)),
    at: last ? [last.line] : [],
    otherwise: last ? [] : frames.map(f => f.line),
  };
  linesOfStacks.set(stack, { file, lines });
  return lines;
}

export function originOf(nodes: Iterable<FxNode>, file: string): PlanOrigin {
  const names: string[] = [];
  const each = new Set<Lines>();
  for (const n of nodes) {
    names.push(n.name);
    each.add(linesOf(n, file));
  }
  const [only, ...others] = each;
  if (only && only.at.length > 0 && others.length === 0) return { lines: only.lines, at: only.at, nodes: names };
  const all = [...each];
  const at = all.flatMap(l => l.at);
  return {
    lines: ascending(all.flatMap(l => l.lines)),
    at: ascending(at.length > 0 ? at : all.flatMap(l => l.otherwise)),
    nodes: names,
  };
}

/** the outermost function of the file on the first node that has one: a graph's name */
export function outermostFunction(nodes: Iterable<FxNode>, file: string): string | null {
  for (const n of nodes) {
    const [first] = stackTrace(framesIn(n, file));
    if (first) return first.func;
  }
  return null;
}

/** each number once */
function ascending(xs: readonly number[]): number[] {
  const once = [...new Set(xs)];
  return once.length > 1 ? once.sort((a, b) => a - b) : once;
}

/** the file whose lines a graph's report is about: the program's own where it stands on some frame, else the frame's */
export function reportedFile(nodes: Iterable<FxNode>, program: string, frame: string): string {
  for (const n of nodes) if (framesIn(n, program).length) return program;
  return frame;
}
