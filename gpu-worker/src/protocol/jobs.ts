// What a job asks and what it answers. Plans come as the compiler made them (ExecutablePlan, WatKernel); the schema
// checks their outline here and the executor checks every index and size again before it allocates.
import type { ExecutablePlan, WatKernel } from "@fuselens/compiler/plan";
import { z } from "zod";

const plan = z.custom<ExecutablePlan>(
  x =>
    typeof x === "object" &&
    x !== null &&
    Array.isArray((x as ExecutablePlan).steps) &&
    Array.isArray((x as ExecutablePlan).kernels) &&
    Array.isArray((x as ExecutablePlan).inputs),
  "not a plan",
);
const wat = z.custom<WatKernel>(
  x =>
    typeof x === "object" &&
    x !== null &&
    typeof (x as WatKernel).text === "string" &&
    Array.isArray((x as WatKernel).buffers),
  "not a kernel",
);

/** a plan with its CPU kernels, one per launch step in order */
const compiledSchema = z.object({
  plan,
  wat: z.array(wat),
  standalone: z.string(),
  /** the pre-grad graph as Python: `forward(inputs...)` in eager PyTorch, what results are compared with */
  eager: z.string().optional(),
});

const fill = z.union([
  z.object({
    how: z.enum(["rand", "randn", "weight_matrix", "weight_vector", "other_parameter"]),
    k: z.number().int(),
  }),
  z.object({ how: z.literal("randint"), k: z.number().int(), low: z.number(), high: z.number() }),
  // zod's number() knows no infinities; a mask is filled with one
  z.object({
    how: z.literal("full"),
    value: z.custom<number | boolean>(x => typeof x === "number" || typeof x === "boolean"),
  }),
  z.object({
    how: z.literal("data"),
    values: z.array(z.custom<number | boolean>(x => typeof x === "number" || typeof x === "boolean")),
  }),
]);

const tensor = z.object({
  id: z.number().int(),
  size: z.array(z.number().int()),
  stride: z.array(z.number().int()),
  dtype: z.string(),
});

/** one step of a replayed program; tensors are named by the ids that `create` and `call` give them */
const valueStepSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("create"), tensor, fill }),
  z.object({ kind: z.literal("refill"), id: z.number().int(), fill }),
  /** inputs: tensor id or the value of a symbol; outputs: ids to give, null for a value not kept */
  z.object({
    kind: z.literal("call"),
    graph: z.number().int(),
    inputs: z.array(z.union([z.object({ id: z.number().int() }), z.object({ value: z.number() })])),
    outputs: z.array(z.number().int().nullable()),
  }),
  /** a strided view of a tensor already there, under an id of its own; the offset counts elements from its first */
  z.object({ kind: z.literal("view"), tensor, of: z.number().int(), offset: z.number().int() }),
  /** adds `of` into `id` (creating it as a copy where absent): how gradients accumulate */
  z.object({ kind: z.literal("accumulate"), id: z.number().int(), of: z.number().int() }),
  /** writes the values of `of` into `id`, which others may share memory with */
  z.object({ kind: z.literal("copy"), id: z.number().int(), of: z.number().int() }),
  /** reports a tensor; `slot` comes back with it */
  z.object({ kind: z.literal("row"), id: z.number().int(), slot: z.string() }),
]);
export type ValueStep = z.infer<typeof valueStepSchema>;

export const jobSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("benchmark"),
    graph: compiledSchema,
    /** bytes that the graph moves, extern kernels included; default: those of all launches of its generated kernels */
    bytes: z.number().optional(),
    /** how long to measure, at least `minRuns` times */
    seconds: z.number().positive(),
    minRuns: z.number().int().positive(),
    perKernel: z.boolean(),
    against: z.array(z.enum(["eager", "compile"])),
  }),
  z.object({ kind: z.literal("values"), graphs: z.array(compiledSchema), steps: z.array(valueStepSchema) }),
  /** fused plans against those where every node is a kernel of its own, each pair on the same filled inputs */
  z.object({
    kind: z.literal("verify"),
    pairs: z.array(z.object({ fused: compiledSchema, unfused: compiledSchema })).min(1),
  }),
]);
export type Job = z.infer<typeof jobSchema>;

export interface Timing {
  readonly medianUs: number;
  readonly p20Us: number;
  readonly p80Us: number;
  readonly count: number;
  readonly bytesPerSecond: number;
}

export interface BenchmarkResult {
  readonly kind: "benchmark";
  /** "cpu, wasm" */
  readonly where: string;
  readonly graph: Timing;
  /** time in which nothing but launching happened, per run */
  readonly overheadUs: number;
  /**
   * The generated kernels by name, on every executor with the same meaning: `medianUs` is the sum over all launches of the
   * name in one run of the graph, `bytesPerSecond` is of the bytes of all of them, `count` counts runs. On a CPU the launches
   * are timed in the runs of the graph; on a GPU each stands alone, after the L2 was overwritten.
   */
  readonly kernels: readonly (Timing & { readonly name: string; readonly config: string })[];
  readonly shareOfCopy: number | null;
  readonly maxError: number | null;
  readonly against: Readonly<Record<string, Timing>>;
}

/** a tensor as the truth's values.py reports it; non-finite numbers are the strings nan, inf, -inf */
export interface ValueRow {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly sum: number | string;
  readonly abs_sum: number | string;
  readonly wsum: number | string;
  readonly at: readonly number[];
  readonly values: readonly (number | string)[];
}

export interface ValuesResult {
  readonly kind: "values";
  readonly rows: readonly { readonly slot: string; readonly row: ValueRow }[];
}

/** what the two plans of a pair gave */
export interface VerifiedPair {
  /** per output of the plan: largest absolute difference, and that relative to the output's mean magnitude */
  readonly outputs: readonly { readonly maxAbs: number; readonly maxRel: number; readonly dtype: string }[];
}

export interface VerifyResult {
  readonly kind: "verify";
  readonly pairs: readonly VerifiedPair[];
}

export type JobResult = BenchmarkResult | ValuesResult | VerifyResult;
