// A frame's report on lines that have moved. In: a report and where lines and spans of each file now are. Out: the report
// as if the frame had been compiled there. Promises: what did not move is shared, not copied.
import type { ExecutablePlan, PlanKernel, PlanOrigin, PlanStep } from "../inductor/plan/types";
import { once } from "../once";
import type { FrameReport } from "../report/frame_report";
import type { Compilation, OutputCode, ReportGraph, SourceEntry } from "../report/types";
import { rewritten } from "./rewritten";
import { type Site, type Span, siteKey } from "./sites";

export type { Span };

/** Where things are now. Lines keep their order. */
export interface Move {
  line(file: string, line: number): number;
  span(file: string, span: Span): Span;
}

/** A place was asked for that the move does not know. */
export class UnknownPlace extends Error {}

/** the move that takes each site to the one at the same index; null: nothing has moved */
export function moveOf(from: readonly Site[], to: readonly Site[]): Move | null {
  const lines = new Map<string, Map<number, number>>();
  const spans = new Map<string, Span>();
  let moved = false;
  from.forEach((old, i) => {
    const now = to[i];
    if (!now) throw new UnknownPlace(`site ${i}`);
    const ofFile = lines.get(old.file) ?? new Map<number, number>();
    lines.set(old.file, ofFile.set(old.span.line, now.span.line));
    const key = siteKey(old.file, old.span);
    spans.set(key, now.span);
    if (key !== siteKey(now.file, now.span)) moved = true;
  });
  if (!moved) return null;
  return {
    line: (file, line) => lines.get(file)?.get(line) ?? unknown(`${file}:${line}`),
    span: (file, span) => spans.get(siteKey(file, span)) ?? unknown(siteKey(file, span)),
  };
}

function unknown(place: string): never {
  throw new UnknownPlace(place);
}

/** what of a report has places */
export type PlacedParts = Pick<FrameReport, "compilations" | "files" | "source" | "diagnostics">;

export function moveReport(report: PlacedParts, move: Move): PlacedParts {
  return {
    files: report.files,
    compilations: report.compilations.map((c, i) => new LineMover(report.files[i] ?? "", move).compilation(c)),
    source: report.source.map(e => moveSource(e, move)),
    diagnostics: report.diagnostics.map(d => ({ ...d, span: move.span(d.file, d.span) })),
  };
}

function moveSource(e: SourceEntry, move: Move): SourceEntry {
  return { ...e, span: move.span(e.file, e.span), callers: e.callers.map(l => move.line(e.file, l)) };
}

/** the report with what its capture rests on now */
export function withAssumed(report: FrameReport, assumed: readonly string[]): FrameReport {
  const same = (had: readonly string[]): boolean =>
    had.length === assumed.length && had.every((a, i) => a === assumed[i]);
  if (report.compilations.every(c => c.graph.kernels.every(k => same(k.assumed)))) return report;
  return {
    ...report,
    compilations: report.compilations.map(c => ({
      ...c,
      graph: { ...c.graph, kernels: c.graph.kernels.map(k => ({ ...k, assumed })) },
    })),
  };
}

type Lines = readonly number[];

/** one compilation, whose lines are of one file */
class LineMover {
  private readonly done = new Map<Lines, Lines>();
  private readonly origins = new Map<PlanOrigin, PlanOrigin>();

  constructor(
    private readonly file: string,
    private readonly move: Move,
  ) {}

  compilation(c: Compilation): Compilation {
    return rewritten(
      c,
      this.graph(c.graph),
      () => this.plan(c.plan),
      () => this.code(c.outputCode),
    );
  }

  private line(line: number): number {
    return this.move.line(this.file, line);
  }

  /** many values share one list */
  private lines(lines: Lines): Lines {
    let moved = this.done.get(lines);
    if (!moved) {
      moved = lines.map(l => this.line(l));
      this.done.set(lines, moved);
    }
    return moved;
  }

  private origin(o: PlanOrigin): PlanOrigin {
    let moved = this.origins.get(o);
    if (!moved) {
      moved = { lines: this.lines(o.lines), at: this.lines(o.at), nodes: o.nodes };
      this.origins.set(o, moved);
    }
    return moved;
  }

  private graph(g: ReportGraph): ReportGraph {
    const placed = <T extends { readonly lines: Lines; readonly at: Lines }>(x: T): T => ({
      ...x,
      lines: this.lines(x.lines),
      at: this.lines(x.at),
    });
    return {
      ...g,
      saved_bytes: g.saved_bytes.map(s => ({ ...s, line: this.line(s.line) })),
      aten: g.aten.map(placed),
      kernels: g.kernels.map(placed),
      refusals: g.refusals.map(r => ({
        ...r,
        lines: [this.lines(r.lines[0]), this.lines(r.lines[1])],
        at: [this.lines(r.at[0]), this.lines(r.at[1])],
      })),
    };
  }

  private plan(p: ExecutablePlan): ExecutablePlan {
    return { ...p, kernels: p.kernels.map(k => this.kernel(k)), steps: p.steps.map(s => this.step(s)) };
  }

  private kernel(k: PlanKernel): PlanKernel {
    return { ...k, origin: this.origin(k.origin), tritonLines: k.tritonLines.map(o => this.origin(o)) };
  }

  private step(s: PlanStep): PlanStep {
    if (s.kind === "extern") return { ...s, origin: this.origin(s.origin) };
    if (s.kind !== "launch") return s;
    const products = s.products?.map(p => ({ ...p, origin: this.origin(p.origin) }));
    return { ...s, origin: this.origin(s.origin), ...(products ? { products } : {}) };
  }

  private code(c: OutputCode): OutputCode {
    const lines = once(() => c.lines.map(l => this.lines(l)));
    // a text may be written only when it is read
    return {
      get inductor() {
        return c.inductor;
      },
      get standalone() {
        return c.standalone;
      },
      get eager() {
        return c.eager;
      },
      get lines() {
        return lines();
      },
    };
  }
}
