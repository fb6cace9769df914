// Which arguments of an operation are tensors.
import type { BufferView } from "./types";

export const isBufferView = (a: unknown): a is BufferView =>
  typeof a === "object" && a !== null && "buffer" in a && "whole" in a;
