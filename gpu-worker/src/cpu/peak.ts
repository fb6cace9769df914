// How much memory a plan takes, before it runs. In: a plan at the sizes of a call, its kernels. Out: bytes at the most
// crowded step. What only the data decides (results of nonzero and its kind) counts at its example size.
import type { ExecutablePlan, PlanArg, PlanSize, PlanTensor, WatKernel } from "@fuselens/compiler/plan";
import { isView } from "./externs/index";
import type { Machine } from "./machine";
import { JobFailure, shapeOf, sizeValue, storageBytes } from "./tensors";

/** bytes of a plan's inputs at their example sizes */
export function inputBytes(plan: ExecutablePlan): number {
  const at = exampleSizes(plan);
  return plan.inputs.reduce((sum, i) => sum + ("symbol" in i ? 0 : bytesOf(i, at)), 0);
}

/** bytes that a run of the plan holds at once, besides its inputs */
export function peakBytes(
  plan: ExecutablePlan,
  wat: readonly WatKernel[],
  symbols: ReadonlyMap<string, number> = exampleSizes(plan),
): number {
  const storage = new Map<string, Storage>();
  const kept = new Set(plan.outputs.map(bufferOf));
  let [used, peak, launches] = [0, 0, 0];
  const take = (bytes: number): void => {
    used += bytes;
    peak = Math.max(peak, used);
  };
  const drop = (name: string): void => {
    const s = storage.get(name);
    storage.delete(name);
    if (s && --s.names === 0) used -= s.bytes;
  };
  const make = (t: PlanTensor): void => {
    drop(t.name);
    const bytes = bytesOf(t, symbols);
    storage.set(t.name, { bytes, names: 1 });
    take(bytes);
  };
  /** one more name for the memory of `of`; inputs' memory counts elsewhere */
  const share = (name: string, of: string): void => {
    const s = storage.get(of);
    if (s) s.names += 1;
    drop(name);
    if (s) storage.set(name, s);
  };
  for (const c of plan.constants) make(c);
  for (const step of plan.steps) {
    switch (step.kind) {
      case "allocate": {
        const { tensor, from } = step;
        if (from.kind === "new") {
          make(tensor);
          break;
        }
        const source = from.kind === "reuse" ? from.buffer : from.base;
        share(tensor.name, source);
        if (from.kind === "reuse" && !kept.has(source)) drop(source);
        break;
      }
      case "free":
        drop(step.name);
        break;
      case "launch": {
        const borrowed = (): number =>
          (wat[launches++]?.temps ?? []).reduce<number>((n, t) => n + sizeValue(t, symbols), 0);
        const before = step.before ?? [];
        const inside = before.flatMap(c => c.results).reduce((n, r) => n + bytesOf(r, symbols), 0);
        const most = inside + Math.max(...before.map(borrowed), borrowed());
        take(most);
        used -= most;
        break;
      }
      case "extern": {
        if (step.call === "out") break;
        if (isView(step.op)) {
          share(step.output, bufferOf(step.args[0]));
          break;
        }
        const bytes = step.results.reduce((n, r) => n + (r ? bytesOf(r, symbols) : 0), 0);
        drop(step.output);
        storage.set(step.output, { bytes, names: 1 });
        take(bytes);
        break;
      }
      case "getitem":
        share(step.output.name, step.of);
        break;
      case "finish_partials":
        if (!storage.has(step.output.name)) make(step.output);
        break;
      case "assert":
        break;
      default: {
        const never: never = step;
        return never;
      }
    }
  }
  return peak;
}

/** the buffer that an argument is or lies in; "" for others */
function bufferOf(arg: PlanArg | undefined): string {
  return arg?.kind === "buffer" ? arg.name : arg?.kind === "view" ? arg.buffer : "";
}

/** Refuses a plan whose run would not fit beside what is held already, `more` bytes to come included. */
export function requireMemory(
  machine: Machine,
  plan: ExecutablePlan,
  wat: readonly WatKernel[],
  symbols?: ReadonlyMap<string, number>,
  more = 0,
): void {
  const { used, capacity } = machine.arena;
  const needed = used + more + remembered(plan, wat, symbols);
  if (needed > capacity)
    throw new JobFailure(
      "out-of-memory",
      `${plan.name} (${plan.kind}) needs ${megabytes(needed)} and ${megabytes(capacity)} is the limit`,
    );
}

const known = new WeakMap<ExecutablePlan, number>();

/** a plan that is run again and again is walked once, if its sizes are fixed */
function remembered(plan: ExecutablePlan, wat: readonly WatKernel[], symbols?: ReadonlyMap<string, number>): number {
  if (plan.symbols.length || symbols?.size) return peakBytes(plan, wat, symbols);
  const bytes = known.get(plan) ?? peakBytes(plan, wat);
  known.set(plan, bytes);
  return bytes;
}

interface Storage {
  readonly bytes: number;
  names: number;
}

const exampleSizes = (plan: ExecutablePlan): ReadonlyMap<string, number> =>
  new Map(plan.symbols.map(s => [s.name, s.value]));

function bytesOf(t: PlanTensor, symbols: ReadonlyMap<string, number>): number {
  // sizes that are in the data have no value among the symbols
  const { size, stride } = inData(t)
    ? { size: t.size.map(example), stride: t.stride.map(example) }
    : shapeOf(t, symbols);
  return storageBytes(size, stride, 0, t.dtype);
}

const example = (s: PlanSize): number => (typeof s === "number" ? s : s.value);
const inData = (t: PlanTensor): boolean =>
  [...t.size, ...t.stride].some(s => typeof s === "object" && /\bu\d+\b/.test(s.text));
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
