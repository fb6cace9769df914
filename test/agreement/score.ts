// How far a report agrees with what torch.compile did. In: a recorded program and our report. Out: shares per column,
// 2 * matched / (recorded + reported), so an extra kernel costs as much as a missing one.
import type { ReportGraph } from "@fuselens/compiler";

export interface RecordedTensor {
  readonly name: string;
  readonly target?: string;
  readonly shape: readonly string[] | null;
  readonly stride: readonly string[] | null;
  readonly dtype: string | null;
}

export interface RecordedGraph {
  readonly name: string;
  readonly kind: string;
  readonly inputs: readonly RecordedTensor[];
  readonly aten: readonly RecordedTensor[];
  readonly kernels: readonly {
    readonly name: string;
    readonly type: string;
    readonly lines: readonly number[];
    readonly origins: readonly string[];
    readonly extern?: string;
  }[];
  readonly bytes: number | null;
}

export interface Columns {
  readonly graphs: number;
  readonly kernels: number;
  readonly origins: number;
  readonly extern: number;
  readonly aten: number;
  readonly inputs: number;
  /** null where no bytes are recorded */
  readonly bytes: number | null;
}

type Bag = Map<string, number>;

interface Shape {
  readonly kernels: Bag;
  readonly origins: Bag;
  readonly extern: Bag;
  readonly aten: Bag;
  readonly inputs: Bag;
  readonly bytes: number | null;
}

const PLAIN = new Set(["SchedulerNode", "FusedSchedulerNode"]);

function count(bag: Bag, key: string): void {
  bag.set(key, (bag.get(key) ?? 0) + 1);
}

function tensorKey(t: {
  readonly shape?: readonly string[] | null;
  readonly stride?: readonly string[] | null;
  readonly dtype?: string | null;
}): string {
  return JSON.stringify([t.shape ?? [], t.stride ?? [], t.dtype ?? null]);
}

function shapeOf(
  kernels: readonly {
    readonly type: string;
    readonly lines: readonly number[];
    readonly origins: readonly string[];
    readonly extern: string | null;
  }[],
  aten: readonly {
    readonly target: string;
    readonly shape?: readonly string[] | null;
    readonly stride?: readonly string[] | null;
    readonly dtype?: string | null;
  }[],
  inputs: readonly {
    readonly name: string;
    readonly shape?: readonly string[] | null;
    readonly stride?: readonly string[] | null;
    readonly dtype?: string | null;
  }[],
  bytes: number | null,
): Shape {
  const s: Shape = {
    kernels: new Map(),
    origins: new Map(),
    extern: new Map(),
    aten: new Map(),
    inputs: new Map(),
    bytes,
  };
  for (const k of kernels) {
    if (k.type === "NopKernelSchedulerNode") continue;
    if (k.type.includes("Extern") || k.extern) {
      if (k.extern) count(s.extern, k.extern.replace(/^extern_kernels\./, "").replace(/^torch\.ops\./, ""));
      continue;
    }
    count(s.kernels, `${PLAIN.has(k.type) ? "plain" : k.type} ${[...k.lines].sort((a, b) => a - b).join(",")}`);
    count(s.origins, [...k.origins].sort().join(","));
  }
  for (const n of aten) if (!n.target.includes("getitem")) count(s.aten, `${n.target} ${tensorKey(n)}`);
  for (const n of inputs) count(s.inputs, `${n.name} ${tensorKey(n)}`);
  return s;
}

function share(a: Bag, b: Bag): number {
  let total = 0;
  let same = 0;
  for (const n of [...a.values(), ...b.values()]) total += n;
  for (const [key, n] of a) same += Math.min(n, b.get(key) ?? 0);
  return total === 0 ? 1 : (2 * same) / total;
}

const recordedShape = (g: RecordedGraph): Shape =>
  shapeOf(
    g.kernels.map(k => ({ ...k, extern: k.extern ?? null })),
    g.aten.map(n => ({ ...n, target: n.target ?? "" })),
    g.inputs,
    g.bytes,
  );
const reportShape = (g: ReportGraph): Shape =>
  shapeOf(
    g.kernels.map(k => ({ ...k, extern: k.type.includes("Extern") ? k.name : null })),
    g.aten,
    g.inputs,
    g.bytes,
  );

function keyed<G extends { readonly name: string; readonly kind: string }>(graphs: readonly G[]): Map<string, G> {
  const seen = new Map<string, number>();
  return new Map(
    graphs.map(g => {
      const key = `${g.name} ${g.kind}`;
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      return [`${key} ${nth}`, g];
    }),
  );
}

/** per paired graph, in order of the record */
export function compareGraphs(recorded: readonly RecordedGraph[], reported: readonly ReportGraph[]): Columns[] {
  const want = keyed(recorded);
  const got = keyed(reported);
  return [...new Set([...want.keys(), ...got.keys()])].map(key => {
    const w = want.get(key);
    const g = got.get(key);
    if (!w || !g) return { graphs: 0, kernels: 0, origins: 0, extern: 0, aten: 0, inputs: 0, bytes: null };
    const a = recordedShape(w);
    const b = reportShape(g);
    return {
      graphs: 1,
      kernels: share(a.kernels, b.kernels),
      origins: share(a.origins, b.origins),
      extern: share(a.extern, b.extern),
      aten: share(a.aten, b.aten),
      inputs: share(a.inputs, b.inputs),
      bytes: a.bytes === null ? null : a.bytes === b.bytes ? 1 : 0,
    };
  });
}

export function mean(rows: readonly Columns[]): Columns {
  const avg = (f: (c: Columns) => number): number =>
    rows.length ? rows.reduce((n, r) => n + f(r), 0) / rows.length : 1;
  const known = rows.flatMap(r => (r.bytes === null ? [] : [r.bytes]));
  return {
    graphs: avg(r => r.graphs),
    kernels: avg(r => r.kernels),
    origins: avg(r => r.origins),
    extern: avg(r => r.extern),
    aten: avg(r => r.aten),
    inputs: avg(r => r.inputs),
    bytes: known.length ? known.reduce((a, b) => a + b, 0) / known.length : null,
  };
}

/** graphs, kernels, origins and extern calls equal, ATen nodes almost */
export function isSame(c: Columns): boolean {
  return c.graphs === 1 && c.kernels === 1 && c.origins === 1 && c.extern === 1 && c.aten >= 0.98;
}
