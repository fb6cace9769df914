// Frames that were compiled before. In: a captured frame and how to compile it. Out: its report, from the memo where its
// content is known, moved to where its lines are now.
import type { CapturedFrame } from "../dynamo/types";
import type { FrameReport } from "../report/frame_report";
import { type FrameKeyOptions, frameKey } from "./frame_key";
import { moveOf, moveReport, withAssumed } from "./move";
import { type Site, Sites } from "./sites";
import type { Memo, MemoStore } from "./store";

/** as it was compiled: a report is moved from there each time, since what was moved refers to what it was moved from */
interface Kept {
  readonly report: FrameReport;
  readonly sites: readonly Site[];
}

export class FrameMemo {
  private readonly kept: Memo<Kept>;
  hits = 0;
  misses = 0;

  constructor(store: MemoStore) {
    this.kept = store.memo("frames");
  }

  report(frame: CapturedFrame, options: FrameKeyOptions, compile: () => FrameReport): FrameReport {
    const sites = new Sites(frame.graph.nodes);
    const key = frameKey(frame, sites, options);
    if (key === null) return compile();
    const known = this.kept.get(key);
    if (known) {
      this.hits++;
      const move = moveOf(known.sites, sites.list);
      const { report } = known;
      return withAssumed(move ? { ...report, ...moveReport(report, move) } : report, frame.assumed);
    }
    this.misses++;
    const report = compile();
    // a fault may be of the moment (the stack was full)
    if (report.diagnostics.length === 0) this.kept.set(key, { report, sites: sites.list }, weigh(report));
    return report;
  }
}

/** measured: what a report takes on the heap for each byte that is counted here */
const OBJECTS = 4.5;

/** roughly what a report takes on the heap: texts by length, and the lists of names and lines that go with them */
function weigh(report: FrameReport): number {
  let bytes = 150 * report.source.length;
  for (const { graph, plan } of report.compilations) {
    // output code is written when it is read, so its length is guessed: twice the kernels, and lines of calls
    bytes += 300 * (graph.aten.length + graph.refusals.length) + 500 * plan.steps.length;
    for (const k of plan.kernels)
      bytes += 2000 + 3 * k.triton.length + 3 * k.provenance.reduce((n, line) => n + line.length + 20, 0);
  }
  return OBJECTS * bytes;
}
