// Two programs compared as text, a difference told by its place.
import type { Program } from "@fuselens/compiler";
import { expect } from "vitest";

export function same(incremental: Program, anew: Program, what: string): void {
  const [a, b] = [JSON.stringify(incremental), JSON.stringify(anew)];
  if (a === b) return;
  let i = 0;
  while (a[i] === b[i]) i++;
  expect(a.slice(Math.max(0, i - 200), i + 200), what).toBe(b.slice(Math.max(0, i - 200), i + 200));
  expect(a.length, what).toBe(b.length);
}
