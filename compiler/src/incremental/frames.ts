// Frames that were compiled before. In: a captured frame and how to compile it. Out: its report, from the memo where its
// content is known, moved to where its lines are now.
import type { CapturedFrame } from "../dynamo/types";
import type { FrameReport } from "../report/frame_report";
import { type FrameKeyOptions, frameKey } from "./frame_key";
import { moveOf, moveReport, withAssumed } from "./move";
import { type Site, Sites } from "./sites";
import type { Memo, MemoStore } from "./store";

interface Kept {
  readonly report: FrameReport;
  readonly sites: readonly Site[];
  readonly bytes: number;
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
    if (known) this.hits++;
    else this.misses++;
    const move = known ? moveOf(known.sites, sites.list) : null;
    const base = known?.report ?? compile();
    // a fault may be of the moment (the stack was full)
    if (base.diagnostics.length > 0) return base;
    const report = withAssumed(move ? { ...base, ...moveReport(base, move) } : base, frame.assumed);
    if (report !== known?.report) {
      const bytes = known?.bytes ?? weigh(report);
      this.kept.set(key, { report, sites: sites.list, bytes }, bytes);
    }
    return report;
  }
}

/** roughly what a report takes on the heap: texts by length, objects by their number of fields */
function weigh(report: FrameReport): number {
  let bytes = 150 * report.source.length;
  for (const { graph, plan, outputCode } of report.compilations) {
    bytes += outputCode.inductor.length + outputCode.standalone.length + (outputCode.eager?.length ?? 0);
    bytes += 300 * (graph.aten.length + graph.refusals.length) + 200 * plan.steps.length;
    for (const k of plan.kernels)
      bytes += 2000 + k.triton.length + k.provenance.reduce((n, line) => n + line.length + 20, 0);
  }
  return bytes;
}
