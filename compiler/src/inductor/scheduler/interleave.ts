// Parts of one launch that read the same large data, run by turns: what one reads the others find in the L2. In: the nodes
// of a combo kernel. Out: blocks of each part per turn, so that all parts walk their data at the same pace; the bytes that
// are not moved again. Promises: null where the parts' sizes or what they share do not allow it. Behaviour
// `orders_programs`.
import { itemsize } from "../ir/dtypes";
import type { LoweredGraph } from "../ir/types";
import { intValue } from "../symbolic";
import { behaves, bufferDtype, bufferNumel, isReduction, type SchedulerOptions } from "./state";
import type { AnyNode } from "./types";

/** blocks of all parts in one turn, at most */
const LONGEST_TURN = 16;

interface Interleaving {
  readonly blocks: readonly number[];
  readonly savedBytes: number;
}

type InterleaveInput = SchedulerOptions & { readonly graph: LoweredGraph };

/** `parts`: of one combo kernel, or of one that may be made */
export function interleaving(s: InterleaveInput, parts: readonly AnyNode[]): Interleaving | null {
  if (!behaves(s, "orders_programs") || parts.length < 2 || parts.some(isReduction)) return null;
  const sizes = parts.map(p => intValue(p.group[0]) ?? 0);
  if (sizes.some(n => n <= 0)) return null;
  const step = sizes.reduce(gcd);
  const blocks = sizes.map(n => n / step);
  if (blocks.reduce((a, b) => a + b, 0) > LONGEST_TURN) return null;
  const shared = sharedByAll(s, parts);
  if (shared < s.target.l2Bytes / 2) return null;
  return { blocks, savedBytes: shared * (parts.length - 1) };
}

/** bytes of what every part reads in full */
function sharedByAll(s: InterleaveInput, parts: readonly AnyNode[]): number {
  const [first] = parts;
  const names = new Set(first?.readWrites.reads.map(d => d.name));
  let bytes = 0;
  for (const name of names) {
    const dtype = bufferDtype(s.graph, name);
    const numel = intValue(bufferNumel(s.graph, name)) ?? 0;
    if (dtype !== null && numel > 0 && parts.every(p => elementsRead(p, name) >= numel))
      bytes += numel * itemsize(dtype);
  }
  return bytes;
}

/** through all its reads of a buffer; several slices make up the whole */
function elementsRead(n: AnyNode, buffer: string): number {
  return n.readWrites.reads.reduce((sum, d) => {
    if (d.kind !== "memory" || d.name !== buffer) return sum;
    return sum + d.sizes.reduce((t, e) => t * (intValue(e) ?? 0), 1);
  }, 0);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
