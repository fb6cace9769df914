// Layouts of operands as a report has them. In: a schedule, its nodes that are reported as kernels, times that a worker
// measured by way. Out: per operand both layouts, bytes moved for the choice, microseconds estimated or measured. Promises:
// bytes are counted after fusion: a copy that joined the kernel before it reads nothing again.
import { reportedUs } from "../inductor/cost";
import type { LayoutChoice, LayoutCode } from "../inductor/operand_layouts/types";
import { type OperandWay, wayParts } from "../inductor/operand_layouts/ways";
import { membersOf } from "../inductor/scheduler/state";
import type { AnyNode, Schedule } from "../inductor/scheduler/types";
import { printLog } from "../inductor/symbolic";
import type { MeasuredWays } from "../inductor/templates/ways";
import type { ReportLayout } from "./types";

export interface MeasuredProducts {
  readonly times: MeasuredWays | null;
  /** the numbers of products among those of the graph that differ, by operation */
  readonly numbers: ReadonlyMap<string, number>;
}

/** A schedule's layouts as a report has them. `linesOf`: where operations stand in the file. */
export function layoutReports(
  schedule: Schedule,
  kernels: readonly AnyNode[],
  measured: MeasuredProducts,
  linesOf: (ops: readonly string[]) => Pick<ReportLayout, "lines" | "at">,
): ReportLayout[] {
  if (schedule.layouts.length === 0) return [];
  const writers = new Map(kernels.flatMap((k, i) => membersOf(k).map(m => [m.name, i] as const)));
  return schedule.layouts.map(c => {
    const written_by = (c.copy === null ? undefined : writers.get(c.copy)) ?? null;
    const writer = written_by === null ? undefined : kernels[written_by];
    const joined = writer !== undefined && writes(writer, c.buffer);
    return {
      code: c.code,
      op: c.op,
      operand: c.buffer,
      shape: c.taken.size.map(printLog),
      stride: c.taken.stride.map(printLog),
      other_shape: c.other.size.map(printLog),
      other_stride: c.other.stride.map(printLog),
      bytes: movedBytes(c, joined, schedule),
      written_by,
      estimate_us: c.estimateUs && { taken: reportedUs(c.estimateUs.taken), other: reportedUs(c.estimateUs.other) },
      measured_us: measuredTimes(c, measured),
      ...linesOf([c.op]),
    };
  });
}

const writes = (n: AnyNode, buffer: string): boolean => membersOf(n).some(m => m.outputs.some(o => o.name === buffer));

function movedBytes(c: LayoutChoice, joined: boolean, schedule: Schedule): number {
  if (c.code === "read_as_it_lies" || c.code === "written_as_read") return -2 * c.bytes;
  if (c.copy === null) return 0;
  if (!joined) return 2 * c.bytes;
  const others = schedule.buffers.get(c.buffer)?.users.filter(u => u.node?.name !== c.copy) ?? [];
  return others.length > 0 ? c.bytes : 0;
}

/** operands otherwise than given, for layouts that a worker may have measured both ways: how, and whether they are so */
const MEASURED: Readonly<Partial<Record<LayoutCode, { readonly operands: OperandWay; readonly taken: boolean }>>> = {
  padded_rows: { operands: "padded", taken: true },
  padded_shape: { operands: "padded", taken: true },
  off_alignment: { operands: "padded", taken: false },
  read_as_it_lies: { operands: "viewed", taken: true },
  copied_to_rows: { operands: "viewed", taken: false },
};

/** the graph's best with each of the two layouts, whatever else differs */
function measuredTimes(c: LayoutChoice, { times, numbers }: MeasuredProducts): ReportLayout["measured_us"] {
  const number = numbers.get(c.op);
  const otherwise = MEASURED[c.code];
  if (times === null || number === undefined || otherwise === undefined) return null;
  const best = { given: Number.POSITIVE_INFINITY, padded: Number.POSITIVE_INFINITY, viewed: Number.POSITIVE_INFINITY };
  for (const [way, us] of Object.entries(times.microseconds)) {
    const each = way.split(",");
    const { operands } = wayParts(each[number] ?? each[0] ?? "");
    best[operands] = Math.min(best[operands], us);
  }
  const [own, given] = [best[otherwise.operands], best.given];
  if (!Number.isFinite(own) || !Number.isFinite(given)) return null;
  return otherwise.taken ? { taken: own, other: given } : { taken: given, other: own };
}
