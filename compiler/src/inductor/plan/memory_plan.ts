// Allocations, frees and reuse (MemoryPlanningLine and its kinds in torch/_inductor/codegen/wrapper.py). In: the plan's
// steps with allocations and frees still open. Out: steps. Promises: a freed buffer is taken by the next allocation of
// the same device, dtype and storage size, the latest freed first, if that keeps within the estimated peak memory.
import type { GraphView } from "../codegen/triton/graph_view";
import { itemsize } from "../ir/dtypes";
import { printLog } from "../symbolic/print_log";
import type { PeakEstimate } from "./peak";
import { planTensor } from "./sizes";
import type { PlanStep } from "./types";

/** what generation leaves behind: finished steps, and memory operations that are decided when all are known */
export type OpenStep =
  | { readonly kind: "done"; readonly step: PlanStep }
  | { readonly kind: "allocate"; readonly buffer: string; readonly at: number }
  | { readonly kind: "inplace"; readonly from: string; readonly buffer: string }
  /** gives a buffer back; `pooled` false: freed but never reused */
  | { readonly kind: "release"; readonly buffer: string; readonly at: number; readonly pooled: boolean };

export interface MemoryPlanOptions {
  readonly reuse: boolean;
  readonly outputs: ReadonlySet<string>;
  /** the steps run under a device guard */
  readonly guarded: boolean;
}

function endsInVain(last: OpenStep | undefined, outputs: ReadonlySet<string>): boolean {
  return last !== undefined && last.kind !== "done" && !outputs.has(last.kind === "inplace" ? last.from : last.buffer);
}

export function planMemory(
  open0: readonly OpenStep[],
  view: GraphView,
  peak: PeakEstimate,
  opts: MemoryPlanOptions,
): PlanStep[] {
  const open = [...open0];
  // Without a device guard around them, memory operations after the last call serve nobody.
  if (!opts.guarded) while (endsInVain(open[open.length - 1], opts.outputs)) open.pop();

  const pool = new Map<string, { index: number; buffer: string; at: number }[]>();
  const steps: (PlanStep | null)[] = [];
  for (const o of open) {
    switch (o.kind) {
      case "done":
        steps.push(o.step);
        break;
      case "inplace":
        if (view.removedBuffers.has(o.from)) break;
        steps.push({
          kind: "allocate",
          tensor: planTensor(o.buffer, view.tensorLayout(o.buffer), view),
          from: { kind: "reuse", buffer: o.from, inplace: true },
        });
        break;
      case "release": {
        if (view.removedBuffers.has(o.buffer)) break;
        if (o.pooled && opts.reuse) {
          const key = reuseKey(view, o.buffer);
          pool.set(key, [...(pool.get(key) ?? []), { index: steps.length, buffer: o.buffer, at: o.at }]);
        }
        steps.push({ kind: "free", name: o.buffer });
        break;
      }
      case "allocate": {
        if (view.removedBuffers.has(o.buffer)) break;
        const tensor = planTensor(o.buffer, view.tensorLayout(o.buffer), view);
        const key = reuseKey(view, o.buffer);
        const candidates = pool.get(key) ?? [];
        const freed = candidates[candidates.length - 1];
        const bytes = view.sizevars.sizeHint(view.storageSize(o.buffer), 0) * itemsize(tensor.dtype);
        if (freed && opts.reuse && fits(freed.at, o.at, bytes, peak)) {
          candidates.pop();
          steps[freed.index] = null;
          peak.keep(freed.at, o.at, bytes);
          steps.push({ kind: "allocate", tensor, from: { kind: "reuse", buffer: freed.buffer, inplace: false } });
        } else steps.push({ kind: "allocate", tensor, from: { kind: "new" } });
        break;
      }
      default: {
        const never: never = o;
        return never;
      }
    }
  }
  return steps.filter(s => s !== null);
}

function fits(freedAt: number, now: number, bytes: number, peak: PeakEstimate): boolean {
  return freedAt + 1 === now || bytes + peak.between(freedAt, now) <= peak.overall;
}

/** buffers of equal keys can stand in for each other (buffer_reuse_key) */
function reuseKey(view: GraphView, buffer: string): string {
  const l = view.tensorLayout(buffer);
  const unaligned = l.kind === "non_owning" && !view.sizevars.knownMultipleOf(l.baseOffset, 16);
  return `${l.device.type}:${l.device.index} ${l.dtype} ${printLog(view.sizevars.simplify(view.storageSize(buffer)))} ${unaligned}`;
}
