// Test only: extern kernels called by name on tensors of a small machine.
import type { PlanArg, PlanTensor } from "@fuselens/compiler/plan";
import { expect } from "vitest";
import { read, write } from "../dense";
import { runExtern } from "../externs/index";
import type { ExternContext, ExternStep } from "../externs/types";
import type { Machine } from "../machine";
import { contiguousStride, type Held, inParts, JobFailure, numel } from "../tensors";
import { testMachine } from "./machine";

let machine: Machine;
/** to be awaited before any test */
export async function startMachine(): Promise<void> {
  machine = await testMachine();
}

export const noise = (i: number, k: number): number => {
  let h = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(k + 1, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return ((h ^ (h >>> 13)) | 0) / 2 ** 31;
};

/** a tensor of the machine under a name of its own */
export function tensor(
  size: number[],
  options: { k?: number; dtype?: string; stride?: number[]; values?: number[] } = {},
): Held {
  const dtype = options.dtype ?? "float32";
  const held = machine.create(size, options.stride ?? contiguousStride(size), dtype);
  write(
    machine.buffer,
    held.view,
    options.values ?? Array.from({ length: numel(size) }, (_, i) => noise(i, options.k ?? 0)),
  );
  return held;
}

export type Arg = Held | number | boolean | string | null | readonly Arg[];

/** calls an operator; results are described by size and dtype */
export function call(
  op: string,
  args: readonly Arg[],
  results: readonly (readonly [number[], string] | null)[],
  kwargs: Record<string, Arg> = {},
): Float64Array[] {
  const named = new Map<string, Held>();
  const planArg = (a: Arg): PlanArg => {
    if (a === null) return { kind: "none" };
    if (typeof a === "number") return { kind: "number", value: a, float: false };
    if (typeof a === "boolean") return { kind: "bool", value: a };
    if (typeof a === "string") return { kind: "string", value: a };
    if (Array.isArray(a)) return { kind: "list", items: (a as readonly Arg[]).map(planArg), tuple: false };
    const name = `t${named.size}`;
    named.set(name, a as Held);
    return { kind: "buffer", name };
  };
  const planTensor = (size: number[], dtype: string): PlanTensor =>
    ({ name: "out", size, stride: contiguousStride(size), offset: 0, dtype, device: "cuda:0" }) as PlanTensor;
  const step = {
    kind: "extern",
    kernel: op,
    op,
    call: "fallback",
    output: "out",
    results: results.map(r => r && planTensor(r[0], r[1])),
    args: args.map(planArg),
    kwargs: Object.entries(kwargs).map(([k, v]) => [k, planArg(v)] as const),
    origin: { lines: [], at: [], nodes: [] },
    ops: [],
    comment: "",
  } as unknown as ExternStep;
  const find = (arg: PlanArg): Held => {
    const held = arg.kind === "buffer" ? named.get(arg.name) : undefined;
    if (!held) throw new Error("no such tensor");
    return held;
  };
  const ctx: ExternContext = {
    machine,
    buffer: machine.buffer,
    tensor: a => find(a).view,
    held: find,
    size: s => (typeof s === "number" ? s : s.value),
    create: t => machine.create(t.size as number[], t.stride as number[], t.dtype),
    named: () => {
      throw new Error("no out= here");
    },
    fail: (code, message) => {
      throw new JobFailure(code, message);
    },
  };
  return runExtern(step, ctx).map(r =>
    r ? Float64Array.from(read(machine.buffer, inParts(r.view))) : new Float64Array(),
  );
}

export const values = (t: Held): Float64Array => Float64Array.from(read(machine.buffer, t.view));

export function close(got: ArrayLike<number>, want: ArrayLike<number>, tolerance = 1e-5): void {
  expect(got.length).toBe(want.length);
  const scale = Array.from(want).reduce((s, x) => s + Math.abs(x), 0) / Math.max(1, want.length);
  for (let i = 0; i < want.length; i++) {
    const [g, w] = [got[i] as number, want[i] as number];
    if (!(Math.abs(g - w) <= tolerance * (Math.abs(w) + scale + 1e-30)))
      expect(`element ${i}: ${g}`).toBe(`element ${i}: ${w}`);
  }
}
