// Frames to messages and back. decode* never throw: what is wrong comes back as a text.
import { createHash } from "node:crypto";
import { decode, encode } from "@msgpack/msgpack";
import type { z } from "zod";
import { type Job, jobSchema } from "./jobs";
import { MAX_HEADER_BYTES, type Request, type Response, requestSchema, responseSchema } from "./messages";

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export function encodeHeader(message: Request | Response): Uint8Array {
  return encode(message, { ignoreUndefined: true });
}

export function encodeJob(job: Job): { readonly bytes: Uint8Array; readonly id: string } {
  const bytes = encode(job, { ignoreUndefined: true });
  return { bytes, id: jobId(bytes, []) };
}

/** sha256 over the job's bytes and its payload frames, each preceded by its length */
export function jobId(job: Uint8Array, payload: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of [job, ...payload]) hash.update(`${part.byteLength}:`).update(part);
  return hash.digest("hex");
}

export function decodeRequest(frame: Uint8Array): Decoded<Request> {
  return decodeAs(frame, requestSchema, MAX_HEADER_BYTES);
}

export function decodeResponse(frame: Uint8Array): Decoded<Response> {
  return decodeAs(frame, responseSchema, Number.POSITIVE_INFINITY);
}

export function decodeJob(frame: Uint8Array): Decoded<Job> {
  return decodeAs(frame, jobSchema, Number.POSITIVE_INFINITY);
}

function decodeAs<T>(frame: Uint8Array, schema: z.ZodType<T>, limit: number): Decoded<T> {
  if (frame.byteLength > limit)
    return { ok: false, error: `a header of ${frame.byteLength} bytes, more than ${limit}` };
  let value: unknown;
  try {
    value = decode(frame);
  } catch (e) {
    return { ok: false, error: `not MessagePack: ${e instanceof Error ? e.message : String(e)}` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  return {
    ok: false,
    error: issue ? `${issue.path.join(".") || "message"}: ${issue.message}` : "does not fit the schema",
  };
}
