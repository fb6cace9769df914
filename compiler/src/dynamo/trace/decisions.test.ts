import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../presets";
import { capture } from "../capture";
import type { CapturedFrame, CaptureResult } from "../types";
import { otherWays } from "./decisions";

function run(text: string): CaptureResult {
  return capture("p.py", {
    files: p => (p === "p.py" ? text : undefined),
    config: defaultConfig("torch-2.11"),
    behaviours: new Map(),
    shouldStop: () => false,
    stepBudget: 2e6,
  });
}
const frames = (r: CaptureResult): CapturedFrame[] => r.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []));
const targets = (f: CapturedFrame): string[] => f.graph.nodes.map(n => n.target);

const PROGRAM = `
import torch
seen = []
@torch.compile
def f(x):
    y = x * 2
    if y.sum() > 0:
        seen.append(1)
        return y.relu()
    return y.tanh()
f(torch.randn(4, device="cuda"))
print(len(seen))
`;

describe("conditions that nobody knows", () => {
  it("have both ways compiled, in the order of the source", () => {
    const all = frames(run(PROGRAM));
    expect(all).toHaveLength(3);
    expect(targets(all[1] as CapturedFrame)).toContain("relu");
    expect(targets(all[2] as CapturedFrame)).toContain("tanh");
  });

  it("mark what rests on them, and not what stands before", () => {
    const [before, yes, no] = frames(run(PROGRAM));
    expect(before?.assumed).toEqual([]);
    expect(yes?.assumed).toEqual(["the truth of a tensor at line 7 taken as true"]);
    expect(no?.assumed).toEqual(["the truth of a tensor at line 7 taken as false"]);
  });

  it("leave no trace of the other way in the program", () => {
    const r = run(PROGRAM);
    expect(r.events.filter(e => e.kind === "print").map(e => (e.kind === "print" ? e.text : ""))).toEqual(["1\n"]);
    expect(r.events.filter(e => e.kind === "runtime" && e.step.kind === "compiled_call")).toHaveLength(1);
  });

  it("end loops that ask for ever", () => {
    const r = run(`
import torch
@torch.compile
def f(x):
    while x.sum() > 0:
        x = x - 1
    return x.cos()
f(torch.randn(4, device="cuda"))
print("done")
`);
    expect(r.events.some(e => e.kind === "print")).toBe(true);
  });

  it("turn one answer at a time", () => {
    expect(otherWays([true, true], 0)).toEqual([[false], [true, false]]);
    expect(otherWays([false, true], 1)).toEqual([[false, false]]);
  });
});
