import { describe, expect, it } from "vitest";
import { FairQueue } from "./queue";

describe("fair queue", () => {
  it("serves clients in turns and each client's jobs in order", () => {
    const q = new FairQueue<string>();
    for (const j of ["a1", "a2", "a3"]) q.push("a", j);
    for (const j of ["b1", "b2"]) q.push("b", j);
    const order = [];
    while (q.length) order.push(q.shift());
    expect(order).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  });

  it("gives a job that was put back the next turn", () => {
    const q = new FairQueue<string>();
    q.push("a", "a1");
    q.push("b", "b1");
    const first = q.shift();
    q.unshift("a", first ?? "");
    expect(q.shift()).toBe("a1");
    expect(q.shift()).toBe("b1");
  });

  it("removes what matches and keeps the rest", () => {
    const q = new FairQueue<string>();
    q.push("a", "x");
    q.push("a", "y");
    expect(q.remove(j => j === "x")).toEqual(["x"]);
    expect(q.length).toBe(1);
  });
});
