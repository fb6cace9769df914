// Layouts of operands as a report has them. In: a schedule, its nodes that are reported as kernels, times that a worker
// measured by way. Out: per operand both layouts, bytes moved for the choice, microseconds estimated or measured. Promises:
// bytes are counted after fusion: a copy that joined the kernel before it reads nothing again.
import type { LayoutChoice } from "../inductor/operand_layouts/types";
import { wayParts } from "../inductor/operand_layouts/ways";
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

/** One layout as a report has it. `lines`: where its product stands in the file. */
export function layoutReport(
  c: LayoutChoice,
  kernels: readonly AnyNode[],
  schedule: Schedule,
  measured: MeasuredProducts,
  lines: { readonly lines: readonly number[]; readonly at: readonly number[] },
): ReportLayout {
  const writer = c.copy === null ? null : (kernels.find(n => membersOf(n).some(m => m.name === c.copy)) ?? null);
  const joined = writer !== null && writes(writer, c.buffer);
  const micros = (us: number): number => Math.round(us * 1000) / 1000;
  const estimate = c.estimateUs;
  return {
    code: c.code,
    op: c.op,
    operand: c.buffer,
    shape: c.taken.size.map(printLog),
    stride: c.taken.stride.map(printLog),
    other_shape: c.other.size.map(printLog),
    other_stride: c.other.stride.map(printLog),
    bytes: movedBytes(c, joined, schedule),
    written_by: writer === null ? null : kernels.indexOf(writer),
    estimate_us: estimate && { taken: micros(estimate.taken), other: micros(estimate.other) },
    measured_us: measuredTimes(c, measured),
    ...lines,
  };
}

const writes = (n: AnyNode, buffer: string): boolean => membersOf(n).some(m => m.outputs.some(o => o.name === buffer));

function movedBytes(c: LayoutChoice, joined: boolean, schedule: Schedule): number {
  if (c.code === "read_as_it_lies" || c.code === "written_as_read") return -2 * c.bytes;
  if (c.copy === null) return 0;
  if (!joined) return 2 * c.bytes;
  const others = schedule.buffers.get(c.buffer)?.users.filter(u => u.node?.name !== c.copy) ?? [];
  return others.length > 0 ? c.bytes : 0;
}

const OTHER = {
  padded_rows: "padded",
  padded_shape: "padded",
  off_alignment: "padded",
  read_as_it_lies: "viewed",
  copied_to_rows: "viewed",
};
const TAKEN: ReadonlySet<string> = new Set(["padded_rows", "padded_shape", "read_as_it_lies"]);

/** the graph's best with each of the two layouts, whatever else differs */
function measuredTimes(c: LayoutChoice, { times, numbers }: MeasuredProducts): ReportLayout["measured_us"] {
  const number = numbers.get(c.op);
  if (times === null || number === undefined || c.code === "channels_last" || c.code === "written_as_read") return null;
  const best = { with: Number.POSITIVE_INFINITY, without: Number.POSITIVE_INFINITY };
  for (const [way, us] of Object.entries(times.microseconds)) {
    const each = way.split(",");
    const { operands } = wayParts(each[number] ?? each[0] ?? "");
    const side = operands === OTHER[c.code] ? "with" : operands === "given" ? "without" : null;
    if (side !== null) best[side] = Math.min(best[side], us);
  }
  if (!Number.isFinite(best.with) || !Number.isFinite(best.without)) return null;
  return TAKEN.has(c.code) ? { taken: best.with, other: best.without } : { taken: best.without, other: best.with };
}
