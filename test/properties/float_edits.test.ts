// A session over edits of floats says what a fresh one says, byte for byte: each float of a program is changed in turn, to
// numbers that are nothing special, that are equal to another float of the program, and that stages treat in a way of
// their own.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSessionOptions, type Program, Session } from "@fuselens/compiler";
import { describe, expect, it } from "vitest";
import { withStages } from "../../compiler/src/stages";
import { same } from "./same_program";

const options = { ...defaultSessionOptions(), artifacts: new Set<never>() };
const path = "/project/model.py";
const FLOAT = /(?<![\w.])\d+\.\d*(?:e-?\d+)?|(?<![\w.])\d+e-?\d+/g;

/** every use of a float that stages know: handed on, folded, compared, turned into an index, merged with an equal one */
const USES = `import torch
import torch.nn.functional as F

def f(x, w, i):
    a = x * 0.3 + x * 0.3
    b = F.gelu(x * 0.5) + F.softplus(x, beta=1.5) + F.leaky_relu(x, 0.02)
    c = torch.where(x > 0.25, x / 1.7, 0.7) + x.clamp(-0.4, 0.9)
    d = torch.add(x, w, alpha=0.6) - 2.5 + (x - 0.1) ** 1.5
    e = F.layer_norm(w, (64,), eps=1e-4) + torch.full_like(w, 3.5) * 0.3
    n = F.interpolate(x[None, None], scale_factor=0.5, mode="nearest")
    s = torch.softmax(x * 0.125, dim=-1).masked_fill(i, -7.5) + F.dropout(w, 0.1)
    k = (torch.arange(64, device="cuda") * 0.5).long()
    return a + b, c * d, e - 0.3, n, s * w[:, k], F.elu(x, 1.2), torch.addmm(x, w, w, beta=0.8, alpha=1.1)

x = torch.randn(64, 64, device="cuda", requires_grad=True)
w = torch.randn(64, 64, device="cuda")
sum(t.sum() for t in torch.compile(f)(x, w, w > 0.5)).backward()
`;

const NUMBERS = ["0.37", "0.3", "0.5", "1.0", "0.7071067811865476", "0.0", "1e30", "0.37001"];

const PROGRAMS = process.env["FUSELENS_EDITS"]
  ? readdirSync(join(__dirname, "..", "programs")).filter(f => f.endsWith(".py"))
  : ["pointwise_clamp_where_scalars.py", "pointwise_gelu_variants.py", "matmul_baddbmm_alpha_beta.py"];

function fresh(text: string): Program {
  return new Session(p => (p === path ? text : undefined), options).run(path);
}

function editEach(text: string, numbers: (at: number) => readonly string[]): void {
  const session = new Session(() => undefined, { ...options, memory: 50_000_000 });
  const check = (now: string, what: string): void => {
    session.update(path, now);
    same(session.run(path), fresh(now), what);
  };
  check(text, "as it is");
  for (const [at, m] of [...text.matchAll(FLOAT)].entries()) {
    for (const number of numbers(at))
      check(
        text.slice(0, m.index) + number + text.slice(m.index + m[0].length),
        `float ${at}, ${m[0]}, is now ${number}`,
      );
  }
}

describe("a session over edits of floats", { timeout: 300_000 }, () => {
  // each float takes one of the numbers, by turns; all of them where edits are asked for
  it("reports of every use of one what a fresh session reports", () => {
    const some = (at: number): string[] => [NUMBERS[at % NUMBERS.length] ?? ""];
    editEach(USES, process.env["FUSELENS_EDITS"] ? () => NUMBERS : some);
  });

  it.each(PROGRAMS)("reports of %s what a fresh session reports", name => {
    editEach(readFileSync(join(__dirname, "..", "programs", name), "utf8"), () => ["0.37"]);
  });

  it("compiles nothing for a float that is only handed on, and again for one that was asked for", () => {
    const session = new Session(() => undefined, { ...options, memory: 50_000_000 });
    const text = (scale: string, over: string): string => `import torch
def f(x):
    return torch.relu(x * ${scale}) / ${over}
torch.compile(f)(torch.randn(8, 8, device="cuda"))
`;
    const compiles = (scale: string, over: string): number => {
      session.update(path, text(scale, over));
      let lowered = 0;
      const program = withStages(
        stage => {
          if (stage === "lowering") lowered++;
        },
        () => session.run(path),
      );
      expect(program.compilations[0]?.plan.kernels[0]?.triton).toContain(`tl.full([1], ${scale}, tl.float32)`);
      return lowered;
    };
    expect(compiles("1.5", "3.7")).toBe(1);
    expect(compiles("1.25", "3.7")).toBe(0);
    expect(compiles("1.25", "4.7")).toBe(1);
    expect(compiles("2.25", "4.7")).toBe(0);
    // a product by one is the product by an int to PyTorch's rules
    expect(compiles("1.0", "4.7")).toBe(1);
  });
});
