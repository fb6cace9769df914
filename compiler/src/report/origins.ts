// From FX nodes to source lines: `lines` are all of the file's lines on a node's stack trace, `at` the innermost one; where
// PyTorch's stack traces hold none, `at` has what we know all the same.
import type { FxNode } from "../fx/graph";
import { type StackFrame, stackTrace } from "../fx/types";
import type { PlanOrigin } from "../inductor/plan/types";

/** name of a graph no node of which, nor of what was captured, stems from a function of the file */
export const UNNAMED = "?";

/** the frames of a node that lie in `file`, outermost first */
export function framesIn(node: FxNode, file: string): StackFrame[] {
  return node.meta.stack.filter(f => f.file === file);
}

type Places = Pick<PlanOrigin, "lines" | "at">;

/** Lines of one node or several: equal ones are one object, and so is what they make together. */
interface Lines {
  readonly lines: readonly number[];
  readonly at: readonly number[];
  /** the innermost of the lines that no stack trace holds */
  readonly otherwise: readonly number[];
  readonly places: Places;
  /** these and others, where that was asked for */
  readonly joined: Map<Lines, Lines>;
}

/** lines of a stack in the file that was asked for last: nodes share stacks, and reports and plans are about one file */
const linesOfStacks = new WeakMap<readonly StackFrame[], { readonly file: string; readonly lines: Lines }>();

/** equal layers stand on the same lines */
const known = new Map<string, Lines>();
/** edits that move lines leave some behind */
const MOST_KNOWN = 4000;

/** each of the lists ascending */
function linesWith(lines: readonly number[], at: readonly number[], otherwise: readonly number[]): Lines {
  const key = `${lines.join()};${at.join()};${otherwise.join()}`;
  let found = known.get(key);
  if (found === undefined) {
    if (known.size >= MOST_KNOWN) {
      known.clear();
      NOWHERE.joined.clear();
    }
    found = { lines, at, otherwise, places: { lines, at: at.length > 0 ? at : otherwise }, joined: new Map() };
    known.set(key, found);
  }
  return found;
}

function join(a: Lines, b: Lines): Lines {
  let both = a.joined.get(b);
  if (both === undefined) {
    both = linesWith(
      ascending([...a.lines, ...b.lines]),
      ascending([...a.at, ...b.at]),
      ascending([...a.otherwise, ...b.otherwise]),
    );
    a.joined.set(b, both);
  }
  return both;
}

const NOWHERE = linesWith([], [], []);

function linesOf(node: FxNode, file: string): Lines {
  const { stack } = node.meta;
  const before = linesOfStacks.get(stack);
  if (before?.file === file) return before.lines;
  const frames = framesIn(node, file);
  const traced = stackTrace(frames);
  const last = traced.at(-1);
  const lines = linesWith(
    ascending(traced.map(f => f.line)),
    last ? [last.line] : [],
    last ? [] : ascending(frames.map(f => f.line)),
  );
  linesOfStacks.set(stack, { file, lines });
  return lines;
}

/** Where one node stands. */
export function placesOfNode(node: FxNode, file: string): Places {
  return linesOf(node, file).places;
}

export function originOf(nodes: Iterable<FxNode>, file: string): PlanOrigin {
  const names: string[] = [];
  let all = NOWHERE;
  for (const n of nodes) {
    names.push(n.name);
    all = join(all, linesOf(n, file));
  }
  const { lines, at } = all.places;
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
