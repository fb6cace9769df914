import { describe, expect, it } from "vitest";
import { MemoStore } from "./store";

describe("the memo store", () => {
  it("forgets what was used least recently once it is full", () => {
    const store = new MemoStore(100);
    const memo = store.memo<number>("frames");
    memo.set("a", 1, 40);
    memo.set("b", 2, 40);
    expect(memo.get("a")).toBe(1);
    memo.set("c", 3, 40);
    expect(memo.get("b")).toBeUndefined();
    expect([memo.get("a"), memo.get("c")]).toEqual([1, 3]);
    expect(store.bytes).toBe(80);
  });

  it("does not take what is larger than the whole, nor gives up the rest for it", () => {
    const store = new MemoStore(100);
    const memo = store.memo<number>("frames");
    memo.set("a", 1, 40);
    memo.set("b", 2, 101);
    expect([memo.get("a"), memo.get("b")]).toEqual([1, undefined]);
  });

  it("weighs a value that is set again once", () => {
    const store = new MemoStore(100);
    const memo = store.memo<number>("frames");
    memo.set("a", 1, 40);
    memo.set("a", 2, 50);
    expect([memo.get("a"), store.bytes, store.size]).toEqual([2, 50, 1]);
  });

  it("keeps kinds apart", () => {
    const store = new MemoStore(100);
    store.memo<number>("x").set("a", 1, 1);
    expect(store.memo<string>("y").get("a")).toBeUndefined();
  });
});
