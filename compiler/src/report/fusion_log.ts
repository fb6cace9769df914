// In: the scheduler's events. Out: the messages of the `fusion` artifact in order, each with its level; the caller
// prefixes them as TORCH_LOGS_FORMAT asks. Promises: pure; text of the user's source is escaped as Python's repr does.
import type { FxNode } from "../fx/graph";
import { type StackFrame, stackTrace } from "../fx/types";
import type { LoopsKind } from "../inductor/ir/types";
import type { CandidateSnapshot, FusionEvent, SchedulerNode } from "../inductor/scheduler/types";
import type { Expr } from "../inductor/symbolic/expr";
import { printLog } from "../inductor/symbolic/print_log";
import type { LogRecord } from "./log";
import { pythonList, pythonStringRepr } from "./python_text";

export interface LogMessage {
  readonly level: "DEBUG" | "INFO";
  readonly text: string;
  /** printed as it is, without a log format */
  readonly raw?: boolean;
}

/** the messages as records of the `fusion` artifact */
export function fusionRecords(events: readonly FusionEvent[], options: FusionLogOptions): LogRecord[] {
  return printFusionLog(events, options).map(m => ({
    level: m.level,
    artifact: "fusion",
    message: m.text,
    raw: m.raw,
  }));
}

export interface FusionLogOptions {
  /** stack traces carry a line of carets under the expression */
  readonly anchors: boolean;
}

export function printFusionLog(events: readonly FusionEvent[], options: FusionLogOptions): LogMessage[] {
  const out: LogMessage[] = [];
  const debug = (text: string): number => out.push({ level: "DEBUG", text });
  for (const e of events) {
    switch (e.kind) {
      case "attempting":
        debug(`===== attempting fusion (${e.round}/${e.maxRounds}): ${e.nodes} nodes =====`);
        break;
      case "candidates":
        debug("fuse_nodes_once, candidates:");
        for (const c of e.nodes) debug(`  ${candidateText(c, options)}`);
        break;
      case "refused":
        debug(`cannot fuse ${e.refusal.a} with ${e.refusal.b}: ${e.refusal.detail}`);
        break;
      case "found":
        debug(`found ${e.count} possible fusions`);
        break;
      case "fusing":
        debug(`fusing ${e.a} with ${e.b}`);
        break;
      case "benchmark": {
        const a = orderedSet(e.a.map(pythonStringRepr));
        const b = orderedSet(e.b.map(pythonStringRepr));
        if (e.fused) debug(`can fuse (benchmark): fusing ${a} with ${b} cause ${e.ratio.toFixed(3)}x speedup`);
        else debug(`cannot fuse (benchmark): fusing ${a} with ${b} cause ${e.ratio.toFixed(3)}x slowdown`);
        break;
      }
      case "autotune":
        for (const line of e.lines) out.push({ level: "INFO", text: line, raw: true });
        break;
      case "completed":
        debug(`completed fusion round (${e.round}/${e.maxRounds}): fused ${e.before} nodes into ${e.after} nodes\n`);
        break;
      case "complete":
        debug(`===== fusion complete (${e.rounds} iterations) =====`);
        break;
      case "note":
        out.push({ level: e.level, text: e.text });
        break;
      default: {
        const never: never = e;
        return never;
      }
    }
  }
  return out;
}

function orderedSet(items: readonly string[]): string {
  return items.length ? `OrderedSet(${pythonList(items)})` : "OrderedSet()";
}

function candidateText(c: CandidateSnapshot, o: FusionLogOptions): string {
  const members = c.members.map(m => ("members" in m ? candidateText(m, o) : memberText(m, o)));
  if (c.type === "SchedulerNode" || c.type === "ExternKernelSchedulerNode" || c.type === "NopKernelSchedulerNode") {
    return members[0] ?? "";
  }
  return `${c.type}(nodes=${c.name}), snodes: ${pythonList(members.map(pythonStringRepr))}`;
}

function memberText(node: SchedulerNode, o: FusionLogOptions): string {
  const name = `${node.type}(name=${pythonStringRepr(node.name)})`;
  const op = node.operation;
  if (op.kind === "extern" || op.loops === undefined) return name;
  const head = loopsText(op.loops, op.ranges ?? [], op.reductionRanges ?? []);
  if (head === null) return name;
  const lines = [...head.items, `origins=${orderedSet(op.origins.map(n => n.name))}`, ...stackTraces(op.origins, o)];
  return `${name}, ${head.name}(${pythonList(lines.map(pythonStringRepr))})`;
}

const sizeText = (size: readonly Expr[]): string => pythonList(size.map(printLog));

/** null: scans and sorts print no more than their node's name */
function loopsText(
  loops: LoopsKind,
  ranges: readonly Expr[],
  reductionRanges: readonly Expr[],
): { name: string; items: string[] } | null {
  switch (loops.kind) {
    case "Pointwise":
    case "Scatter":
      return { name: loops.kind, items: [sizeText(ranges)] };
    case "Reduction":
    case "WelfordReduction":
    case "OnlineSoftmaxReduction":
    case "MultiOutputReduction":
      return { name: loops.kind, items: [sizeText(reductionRanges), loops.type] };
    case "Scan":
    case "SplitScan":
    case "Sort":
      return null;
    default: {
      const never: never = loops;
      return never;
    }
  }
}

/** One group of lines per distinct stack trace of the origins, in their order. */
function stackTraces(origins: readonly FxNode[], o: FusionLogOptions): string[] {
  const seen = new Set<string>();
  const lines: string[] = [];
  for (const n of origins) {
    const stack = stackTrace(n.meta.stack);
    const note = n.meta.stackNote;
    if (stack.length === 0 && note === undefined) continue;
    // The text ends with a newline, hence an empty last line; a note stands after that newline.
    const trace = [...stack.flatMap(f => frameLines(f, o)), note ?? ""];
    const key = trace.join("\n");
    if (seen.has(key)) continue;
    seen.add(key);
    lines.push("stack_traces = {", ...trace, "}");
  }
  return lines;
}

/** A frame as `traceback` prints it: place, source line, and where asked the line of carets under the call. */
function frameLines(f: StackFrame, o: FusionLogOptions): string[] {
  const lines = [`  File "${f.file}", line ${f.line}, in ${f.func}`, `    ${f.code}`];
  const carets = o.anchors ? caretLine(f) : null;
  if (carets !== null) lines.push(`    ${carets}`);
  return lines;
}

/** null where Python prints none: the expression is the whole line, or spans lines without an anchor on the first */
function caretLine(f: StackFrame): string | null {
  const { span, code, indent: lead = 0 } = f;
  const width = [...code].length;
  const start = Math.max(0, span.column - lead);
  const end = span.endLine === span.line ? Math.min(span.endColumn - lead, width) : width;
  if (end <= start || (start === 0 && end === width && !f.anchor)) return null;
  let text = " ".repeat(start);
  for (let i = start; i < end; i++) {
    const inside = !f.anchor || (i + lead >= f.anchor.start && i + lead < f.anchor.end);
    text += inside ? "^" : "~";
  }
  return text;
}
