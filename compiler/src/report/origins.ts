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

type Places = Pick<PlanOrigin, "lines" | "at">;

interface Lines extends Places {
  /** the innermost of the lines that no stack trace holds */
  readonly otherwise: readonly number[];
  /** of a node by itself */
  readonly alone: Places;
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
  const parts = {
    lines: ascending(traced.map(f => f.line)),
    at: last ? [last.line] : [],
    otherwise: last ? [] : frames.map(f => f.line),
  };
  const lines = { ...parts, alone: placesOf([parts]) };
  linesOfStacks.set(stack, { file, lines });
  return lines;
}

function placesOf(each: readonly Omit<Lines, "alone">[]): Places {
  const at = each.flatMap(l => l.at);
  return {
    lines: ascending(each.flatMap(l => l.lines)),
    at: ascending(at.length > 0 ? at : each.flatMap(l => l.otherwise)),
  };
}

/** Where one node stands. */
export function placesOfNode(node: FxNode, file: string): Places {
  return linesOf(node, file).alone;
}

export function originOf(nodes: Iterable<FxNode>, file: string): PlanOrigin {
  const names: string[] = [];
  const each: Lines[] = [];
  for (const n of nodes) {
    names.push(n.name);
    const lines = linesOf(n, file);
    if (!each.includes(lines)) each.push(lines);
  }
  const { lines, at } = each.length === 1 ? (each[0] as Lines).alone : placesOf(each);
  return { lines, at, nodes: names };
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
