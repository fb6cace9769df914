import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { idleCollection } from "./idle_collection";

function heap() {
  const state = { used: 100_000_000, collections: 0 };
  const collect = (): void => {
    state.collections++;
    state.used = 20_000_000;
  };
  return { state, garbage: idleCollection(() => state.used, collect, 20) };
}

test("garbage is collected once nothing was asked for a while", async () => {
  const { state, garbage } = heap();
  garbage.answered();
  expect(state.collections).toBe(0);
  await sleep(60);
  expect(state.collections).toBe(1);
});

test("requests that follow each other put the collection off to the last one's end", async () => {
  const { state, garbage } = heap();
  for (let i = 0; i < 10; i++) garbage.answered();
  await sleep(60);
  expect(state.collections).toBe(1);
});

test("a heap that has hardly grown since is left alone", async () => {
  const { state, garbage } = heap();
  garbage.answered();
  await sleep(60);
  state.used += 1_000_000;
  garbage.answered();
  await sleep(60);
  expect(state.collections).toBe(1);
  state.used += 50_000_000;
  garbage.answered();
  await sleep(60);
  expect(state.collections).toBe(2);
});

test("V8's own collector frees what nothing holds", async () => {
  let held: object[] | null = Array.from({ length: 400_000 }, (_, i) => ({ i, twice: 2 * i, text: `${i}` }));
  const freed = new WeakRef(held);
  idleCollection(undefined, undefined, 10).answered();
  held = null;
  for (let i = 0; i < 1000 && freed.deref() !== undefined; i++) await sleep(20);
  expect(freed.deref()).toBeUndefined();
});
