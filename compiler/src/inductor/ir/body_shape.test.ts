import { expect, test } from "vitest";
import { int, sym } from "../symbolic/expr";
import { bodyShape } from "./body_shape";
import type { BodyNode, LoopBody } from "./loop_body";

interface Parts {
  readonly from?: string;
  readonly to?: string;
  readonly value?: number | boolean;
  readonly size?: number;
  readonly fn?: "add" | "mul";
}

/** to[i] = from[i] (fn) value */
function body({ from = "a", to = "b", value = 1, size = 8, fn = "add" }: Parts): LoopBody {
  const p = sym("p0");
  const at: BodyNode = { name: "get_index", op: "get_index", index: "index0" };
  const load: BodyNode = { name: "load", op: "load", buffer: from, at };
  const constant: BodyNode = { name: "constant", op: "constant", value, dtype: "float32" };
  const call: BodyNode = { name: fn, op: "call", fn, args: [load, constant] };
  const store: BodyNode = { name: "store", op: "store", buffer: to, at, value: call, mode: null };
  return {
    iterVars: [p],
    reduceVars: [],
    iterSizes: [int(size)],
    reduceSizes: [],
    indexing: new Map([["index0", p]]),
    block: { nodes: [at, load, constant, call, store], result: null },
    subblocks: new Map(),
    indirect: [],
  };
}

const key = (parts: Parts): string => bodyShape(body(parts)).key;

test("bodies that differ in their buffers alone have one shape, with the buffers in order of use", () => {
  expect(key({ from: "x", to: "y" })).toBe(key({}));
  expect(bodyShape(body({ from: "x", to: "y" })).buffers).toEqual(["x", "y"]);
});

test("one buffer in two places is another shape than two buffers", () => {
  expect(key({ from: "x", to: "x" })).not.toBe(key({}));
});

test("sizes, operators and numbers are part of the shape, the sign of zero and truth too", () => {
  const keys = [
    key({}),
    key({ size: 16 }),
    key({ fn: "mul" }),
    key({ value: 0 }),
    key({ value: -0 }),
    key({ value: true }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
