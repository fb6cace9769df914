// Frames that were compiled before. In: a captured frame and how to compile it. Out: its report, from the memo where its
// content is known, with its own numbers filled in, moved to where its lines are now.
import { type FloatParameter, markFiller } from "../aten/float_parameter";
import type { CapturedFrame } from "../dynamo/types";
import { floatRepr } from "../fx/py_repr";
import type { FrameReport } from "../report/frame_report";
import { type Fill, fillReport } from "./fill";
import { FloatSlots } from "./float_slots";
import { type FrameKeyOptions, frameKey } from "./frame_key";
import { moveOf, moveReport, withAssumed } from "./move";
import { type Site, Sites } from "./sites";
import type { Memo, MemoStore } from "./store";

/**
 * As it was compiled, with marks for parameters: a report is filled and moved from there each time, since what was moved
 * refers to what it was moved from.
 */
interface Kept {
  readonly report: FrameReport;
  readonly sites: readonly Site[];
  /** the slot of each mark */
  readonly slots: ReadonlyMap<number, number>;
}

/** what a set of slots weighs in the store, roughly */
const SLOTS_BYTES = 500;

export class FrameMemo {
  private readonly kept: Memo<Kept>;
  /** by a frame's content but for its floats: slots whose numbers some compile of it has asked for */
  private readonly asked: Memo<ReadonlySet<number>>;
  hits = 0;
  misses = 0;

  constructor(store: MemoStore) {
    this.kept = store.memo("frames");
    this.asked = store.memo("asked");
  }

  report(frame: CapturedFrame, options: FrameKeyOptions, compile: () => FrameReport): FrameReport {
    const sites = new Sites(frame.graph.nodes);
    const floats = new FloatSlots();
    const form = frameKey(frame, sites, options, floats);
    if (form === null) return compile();
    let asked = this.asked.get(form) ?? new Set<number>();
    const known = this.kept.get(`${form} ${floats.key(asked)}`);
    if (known) {
      this.hits++;
      const move = moveOf(known.sites, sites.list);
      const report = fillReport(known.report, filler(known.slots, floats.values));
      return withAssumed(move ? { ...report, ...moveReport(report, move) } : report, frame.assumed);
    }
    this.misses++;
    const parameters = floats.parametrize(frame.graph, asked);
    const report = compile();
    asked = new Set([...asked, ...[...parameters].flatMap(([slot, p]) => (p.wasRead ? [slot] : []))]);
    this.asked.set(form, asked, SLOTS_BYTES);
    const slots = slotsOf(parameters);
    // a fault may be of the moment (the stack was full)
    if (report.diagnostics.length === 0)
      this.kept.set(`${form} ${floats.key(asked)}`, { report, sites: sites.list, slots }, weigh(report));
    return fillReport(report, filler(slots, floats.values));
  }
}

function slotsOf(parameters: ReadonlyMap<number, FloatParameter>): ReadonlyMap<number, number> {
  return new Map([...parameters].map(([slot, p]) => [p.id, slot]));
}

/** `slots`: of each mark; `values`: by slot */
function filler(slots: ReadonlyMap<number, number>, values: readonly number[]): Fill {
  const numbers = new Map<number, number>();
  for (const [id, slot] of slots) numbers.set(id, values[slot] ?? Number.NaN);
  return markFiller(numbers, floatRepr);
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
