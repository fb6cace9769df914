// Results of products that a template writes in another order than it computes them, for whoever reads them so. In: nodes
// after fusion. Out: per such result both layouts. Promises: fusion has decided already; this only says what it saved.
import { membersOf } from "../scheduler/state";
import type { AnyNode, SchedulerNode } from "../scheduler/types";
import { int } from "../symbolic";
import type { SizeVars } from "../symbolic/size_vars";
import { gemmKind } from "../templates/gemm";
import { linear } from "./as_it_lies";
import { bytesOf } from "./padding";
import type { LayoutChoice } from "./types";

/** Results of products that are written turned or permuted, one choice each. */
export function resultLayouts(nodes: readonly AnyNode[], sv: SizeVars): LayoutChoice[] {
  return nodes.flatMap(n => {
    const members = membersOf(n);
    const product = members.find(m => m.operation.kind === "extern" && gemmKind(m.operation) !== null);
    return product ? members.flatMap(m => turned(product, m, sv) ?? []) : [];
  });
}

/** what follows the product, if it stores in another order than it reads the product */
function turned(product: SchedulerNode, follower: SchedulerNode, sv: SizeVars): LayoutChoice | null {
  const { body } = follower;
  const out = product.outputs[0]?.buffer;
  if (!body || !out || !("dtype" in out.layout)) return null;
  const load = body.block.nodes.find(x => x.op === "load" && x.buffer === out.name);
  const store = body.block.nodes.find(x => x.op === "store");
  if (load?.op !== "load" || store?.op !== "store") return null;
  const [from, to] = [linear(body, load.at, sv), linear(body, store.at, sv)];
  if (from === null || to === null) return null;
  const pairs = from.steps.map((f, i) => [f, to.steps[i] as number] as const);
  if (!pairs.some(([f, t]) => pairs.some(([g, u]) => f > g && t < u))) return null;
  const layout = (steps: readonly number[]) => ({ size: body.iterSizes, stride: steps.map(s => int(s)) });
  const taken = layout(to.steps);
  return {
    code: "written_as_read",
    op: product.name,
    buffer: store.buffer,
    copy: follower.name,
    taken,
    other: layout(from.steps),
    bytes: bytesOf({ ...taken, buffer: store.buffer, offset: int(0), dtype: out.layout.dtype, whole: false }),
    estimateUs: null,
  };
}
