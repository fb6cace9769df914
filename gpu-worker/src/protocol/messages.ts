// The worker protocol's messages, checked by schema on both sides. A message is [header, job?, ...payload]: the header
// is one MessagePack map; a submit carries the job as a frame of its own (its sha256 is the job's id) and raw tensors
// as payload frames after it, never inside MessagePack.
import { z } from "zod";

export const PROTOCOL_VERSION = 1;
/** bytes; the limit is set on the socket too */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
export const MAX_HEADER_BYTES = 4 * 1024 * 1024;

const id = z.string().min(1).max(128);
const base = { v: z.literal(PROTOCOL_VERSION), id };

export const ERROR_CODES = [
  "invalid-message", // frames, header or job that the schema refuses
  "invalid-job", // a job whose id is not its hash, or that no executor can run
  "unsupported", // an operator or dtype that this executor has no code for
  "out-of-memory", // more bytes than the limit; refused before it runs where that can be known
  "index-out-of-bounds", // a gather or scatter left its tensor
  "compile-failed",
  "kernel-fault",
  "timeout",
  "unknown-job", // asked for by its id, and never seen here, or long ago
  "executor-lost", // the executor died twice over this job
  "executor-unavailable", // the executor can't start at all: a program or a library is missing
  "queue-full", // more waits than the worker takes; nothing was accepted
  "cancelled",
  "shutting-down",
  "internal",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export const requestSchema = z.discriminatedUnion("type", [
  z.strictObject({ ...base, type: z.literal("hello"), client: z.string().max(256) }),
  z.strictObject({ ...base, type: z.literal("ping") }),
  z.strictObject({
    ...base,
    type: z.literal("submit"),
    device: z.string().max(64).nullable(),
    fresh: z.boolean(),
    payload: z.number().int().nonnegative(),
  }),
  z.strictObject({ ...base, type: z.literal("cancel") }),
  /** asks for the answer of a job that was submitted before, by a client that was away */
  z.strictObject({ ...base, type: z.literal("fetch") }),
]);
export type Request = z.infer<typeof requestSchema>;

export const deviceSchema = z.object({
  name: z.string(), // "cpu", "cuda:0"
  kind: z.enum(["cpu", "cuda"]),
  title: z.string(), // "cpu, wasm", "NVIDIA H200"
  target: z.string().nullable(), // name in the compiler's target table
  threads: z.number().int(),
  memoryBytes: z.number(),
  /** read plus written, measured; null until it was */
  copyBytesPerSecond: z.number().nullable(),
});
export type DeviceInfo = z.infer<typeof deviceSchema>;

export const responseSchema = z.discriminatedUnion("type", [
  z.object({
    ...base,
    type: z.literal("describe"),
    worker: z.string(),
    versions: z.record(z.string(), z.string()),
    devices: z.array(deviceSchema),
    queued: z.number().int(),
    /** executors that can't start, and why; older workers say nothing of it */
    problems: z.array(z.string()).default([]),
  }),
  z.object({ ...base, type: z.literal("pong") }),
  z.object({ ...base, type: z.literal("accepted"), position: z.number().int() }),
  z.object({ ...base, type: z.literal("progress"), done: z.number(), total: z.number(), text: z.string() }),
  z.object({
    ...base,
    type: z.literal("result"),
    result: z.unknown(),
    device: z.string(),
    cached: z.boolean(),
    ageSeconds: z.number(),
  }),
  z.object({
    ...base,
    type: z.literal("error"),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    detail: z.string().optional(),
  }),
]);
export type Response = z.infer<typeof responseSchema>;
