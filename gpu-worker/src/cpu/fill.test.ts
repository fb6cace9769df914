import { describe, expect, it } from "vitest";
import { fillValue, uniform } from "./fill";

/** the definition in 64-bit arithmetic, to check the 32-bit form against */
function reference(i: bigint, k: bigint): number {
  const m = (1n << 32n) - 1n;
  let h = ((i + 1n) * 2654435761n + k * 40503n) & m;
  h ^= h >> 16n;
  h = (h * 2246822519n) & m;
  h ^= h >> 13n;
  return Number(h) / 2 ** 32;
}

describe("fill", () => {
  it("makes the same numbers as 64-bit arithmetic", () => {
    for (const i of [0, 1, 2, 77, 65535, 65536, 1_000_003, 2 ** 31, 2 ** 32 - 1]) {
      for (const k of [0, 1, 5, 123]) expect(uniform(i, k)).toBe(reference(BigInt(i), BigInt(k)));
    }
  });

  it("keeps randint inside its bounds", () => {
    for (let i = 0; i < 1000; i++) {
      const v = fillValue({ how: "randint", k: 3, low: -2, high: 5 }, i, 1);
      expect(Number.isInteger(v) && v >= -2 && v < 5).toBe(true);
    }
  });
});
