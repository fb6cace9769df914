// What kernels of a plan are compiled for, against what the output code launches them with.
import { defaultSessionOptions, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { launchesOf } from "./launches";

function compile(body: string) {
  const source = `import torch\n\n\n@torch.compile\ndef f(x, y):\n    return ${body}\n\n\nf(torch.randn(96, 200, device="cuda"), torch.randn(200, 96, device="cuda", dtype=torch.float16))\n`;
  const session = new Session(p => (p === "/m.py" ? source : undefined), {
    ...defaultSessionOptions(),
    preset: "fuselens",
  });
  const [c] = session.run("/m.py").compilations;
  if (!c) throw new Error("nothing was compiled");
  return c;
}

describe("the launches of a plan", () => {
  it("are those that the output code makes, pointers aside", () => {
    const c = compile("torch.softmax(x, -1) @ y.float(), x.sum(0), torch.cumsum(x, 1)");
    const made = [...c.outputCode.standalone.matchAll(/^ +(\w+)\.run\((.*), stream=/gm)].map(
      ([, kernel, args]) => [kernel, args?.split(", ").map(a => (/^\d+$/.test(a) ? Number(a) : 0))] as const,
    );
    expect(made.length).toBeGreaterThan(1);
    expect(launchesOf(c.plan)).toEqual(made);
  });

  it("are told once, however often a kernel is launched with the same", () => {
    const plan = compile("x * 2, x + y.t()").plan;
    const twice = { ...plan, steps: [...plan.steps, ...plan.steps] };
    expect(launchesOf(twice)).toEqual(launchesOf(plan));
  });

  it("tell a pointer's address modulo 16, in bytes", () => {
    const plan = compile("x * 2").plan;
    const moved = (offset: number, dtype: "float16" | "float32") => ({
      ...plan,
      steps: plan.steps.map(s =>
        s.kind === "launch"
          ? { ...s, args: [{ kind: "view", buffer: "x", size: [8], stride: [1], offset, dtype } as const] }
          : s,
      ),
    });
    expect(launchesOf(moved(3, "float16"))[0]?.[1]).toEqual([6]);
    expect(launchesOf(moved(3, "float32"))[0]?.[1]).toEqual([12]);
    expect(launchesOf(moved(4, "float32"))[0]?.[1]).toEqual([0]);
    expect(launchesOf(moved(9, "float16"))[0]?.[1]).toEqual([2]);
  });
});
