// In: two nodes and why they stay apart. Out: the refusal as a value, with what it costs.
// Promises: bytesLost is what one pass would not move (each buffer that both read, once; for a buffer that a writes and b
// reads, the read, and the write too if nobody else uses it), under the example sizes.
import { itemsize } from "../ir/dtypes";
import { printLog } from "../symbolic";
import { factsOf } from "./access_facts";
import { bufferDtype, bufferNumel, depBytes, operationNames, type SchedulerState } from "./state";
import type { AccessKind, AnyNode, Dep, Refusal, RefusalCode } from "./types";

/** Why a pair does not fuse, as one kind of fusion sees it. */
export interface Reason {
  readonly code: RefusalCode;
  /** Inductor's own wording */
  readonly detail: string;
  /** the log names the pair in the other order */
  readonly swapped?: boolean;
}

export const reason = (code: RefusalCode, detail: string): Reason => ({ code, detail });

/** What a check says: null fits, a reason is logged, "silent" refuses without a word. */
export type Verdict = Reason | "silent" | null;

/** Records that `a` and `b` do not fuse. Returns false, so that a check can end with it. */
export function refuse(s: SchedulerState, a: AnyNode, b: AnyNode, why: Reason): false {
  const [x, y] = why.swapped ? [b, a] : [a, b];
  const refusal = makeRefusal(s, x, y, why);
  s.refusals.push(refusal);
  s.events.push({ kind: "refused", refusal });
  return false;
}

/** null passes, anything else refuses and is recorded unless silent. */
export function passes(s: SchedulerState, a: AnyNode, b: AnyNode, v: Verdict): boolean {
  if (v === null) return true;
  return v === "silent" ? false : refuse(s, a, b, v);
}

function makeRefusal(s: SchedulerState, a: AnyNode, b: AnyNode, why: Reason): Refusal {
  const cost = sharedTraffic(s, a, b);
  return {
    code: why.code,
    a: a.name,
    b: b.name,
    detail: why.detail,
    aOps: operationNames(a),
    bOps: operationNames(b),
    aIndex: cost.aIndex,
    bIndex: cost.bIndex,
    buffer: cost.buffer,
    aAccess: cost.aAccess,
    bAccess: cost.bAccess,
    bytesLost: cost.bytes,
    round: s.round,
    inReorderRound: s.inReorderRound,
  };
}

export interface SharedTraffic {
  readonly bytes: number;
  /** the buffer that costs most, and how each side indexes it, to read or to write it */
  readonly buffer: string | null;
  readonly aIndex: string;
  readonly bIndex: string;
  readonly aAccess: AccessKind | null;
  readonly bAccess: AccessKind | null;
}

/** What `a` and `b` move twice and one pass would not. */
export function sharedTraffic(s: SchedulerState, a: AnyNode, b: AnyNode): SharedTraffic {
  const [x, y] = [factsOf(a).accesses, factsOf(b).accesses];
  let bytes = 0;
  let most = Number.NEGATIVE_INFINITY;
  let worst: Omit<SharedTraffic, "bytes"> | null = null;
  const note = (
    buffer: string,
    lost: number,
    [aAccess, mine]: readonly [AccessKind, readonly Dep[]],
    [bAccess, theirs]: readonly [AccessKind, readonly Dep[]],
  ): void => {
    bytes += lost;
    if (lost <= most) return;
    most = lost;
    worst = { buffer, aIndex: indexText(mine), bIndex: indexText(theirs), aAccess, bAccess };
  };
  for (const [name, mine] of x.reads) {
    const theirs = y.reads.get(name);
    const written = theirs === undefined ? y.writes.get(name) : undefined;
    if (theirs) note(name, sharedBytes(s, name, mine, theirs), ["reads", mine], ["reads", theirs]);
    else if (written) note(name, producedBytes(s, name, b, a, written, mine), ["reads", mine], ["writes", written]);
  }
  for (const [name, mine] of x.writes) {
    const theirs = y.reads.get(name);
    if (theirs) note(name, producedBytes(s, name, a, b, mine, theirs), ["writes", mine], ["reads", theirs]);
  }
  return { bytes, ...(worst ?? NOTHING_SHARED) };
}

const NOTHING_SHARED: Omit<SharedTraffic, "bytes"> = {
  buffer: null,
  aIndex: "",
  bIndex: "",
  aAccess: null,
  bAccess: null,
};

/** of the first of the accesses; "" where it has no index of its own */
function indexText([first]: readonly Dep[]): string {
  return first?.kind === "memory" ? printLog(first.index) : "";
}

/** bytes of a buffer that one side touches: all its accesses, but never more than the buffer */
function touched(s: SchedulerState, name: string, deps: readonly Dep[]): number {
  let bytes = touchedBytes.get(deps);
  if (bytes === undefined) {
    const dtype = bufferDtype(s.graph, name);
    bytes = 0;
    for (const d of deps) bytes += depBytes(s, d);
    if (dtype === null) bytes = 0;
    else bytes = Math.min(bytes, (s.sizevars.hint(bufferNumel(s.graph, name)) ?? 0) * itemsize(dtype));
    touchedBytes.set(deps, bytes);
  }
  return bytes;
}

/** of a node's accesses to one buffer, which are one list for all pairs that the node is tried in */
const touchedBytes = new WeakMap<readonly Dep[], number>();

function sharedBytes(s: SchedulerState, name: string, x: readonly Dep[], y: readonly Dep[]): number {
  return Math.min(touched(s, name, x), touched(s, name, y));
}

function producedBytes(
  s: SchedulerState,
  name: string,
  writer: AnyNode,
  reader: AnyNode,
  writes: readonly Dep[],
  reads: readonly Dep[],
): number {
  const read = touched(s, name, reads);
  const [mine, theirs] = [operationNames(writer), operationNames(reader)];
  const users = s.buffers.get(name)?.users ?? [];
  const onlyHere = users.every(u => u.node !== null && (mine.includes(u.node.name) || theirs.includes(u.node.name)));
  return read + (onlyHere ? touched(s, name, writes) : 0);
}
