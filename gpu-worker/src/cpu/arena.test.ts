import { describe, expect, it } from "vitest";
import { Arena, OutOfMemory } from "./arena";

const MB = 2 ** 20;

describe("the executor's memory", () => {
  it("gives large tensors of a power of two different places in a cache's sets", () => {
    const arena = new Arena(256 * MB);
    const places = [0, 1, 2].map(() => arena.allocate(16 * MB) % MB);
    expect(new Set(places).size).toBe(3);
    for (const p of places) expect(p % 64).toBe(0);
  });

  it("does without where there is no room for it", () => {
    const arena = new Arena(64 * MB);
    expect(arena.capacity).toBeLessThan(64 * MB);
    while (arena.used + 5 * MB <= arena.capacity) arena.allocate(5 * MB);
    expect(() => arena.allocate(5 * MB)).toThrow(OutOfMemory);
    const exact = new Arena(16 * MB + 1024);
    expect(exact.allocate(16 * MB)).toBe(1024);
    expect(() => exact.allocate(1)).toThrow("17 MB are needed and 17 MB is the limit");
  });

  it("joins what is given back", () => {
    const arena = new Arena(64 * MB);
    const [a, b, c] = [arena.allocate(8 * MB), arena.allocate(100), arena.allocate(8 * MB)];
    arena.release(a);
    arena.release(c);
    arena.release(b);
    expect(arena.used).toBe(0);
    expect(arena.allocate(60 * MB)).toBe(1024);
  });
});
