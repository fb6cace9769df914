// Tests that refuse what nobody can know here are taken to be passed.
import { expect, test } from "vitest";
import { PythonFile } from "../../python/file";
import { analysed, operatorsOf } from "../infer/testing/analysed";
import { compileModule } from "./compiler";
import { truthThatGoesOn } from "./raising_branch";

function answers(text: string): (boolean | undefined)[] {
  const code = compileModule(
    new PythonFile(text).module,
    { name: "m.py", lines: text.split("\n"), library: "user" },
    text,
  );
  return code.instructions.flatMap((i, at) => (/^POP_JUMP_IF/.test(i.op) ? [truthThatGoesOn(code, at)] : []));
}

test("an assert goes on where its condition holds, one of several conditions too", () => {
  expect(answers("assert a\n")).toEqual([true]);
  expect(answers("assert not a, f'no {a}'\n")).toEqual([false]);
  expect(answers("assert a and b\n")).toEqual([true, true]);
});

test("a refusal goes on where its condition does not hold", () => {
  expect(answers("if a:\n    print(a)\n    raise ValueError('a')\nb = 1\n")).toEqual([false]);
  expect(answers("if a:\n    b = 1\nelse:\n    raise ValueError('a')\n")).toEqual([true]);
});

test("no other condition has an answer", () => {
  expect(answers("if a:\n    b = 1\nelse:\n    b = 2\n")).toEqual([undefined]);
  expect(answers("if a:\n    if b:\n        raise ValueError('a')\n")).toEqual([undefined, false]);
});

test("a constructor gets past the check of a value that its numbers don't say", () => {
  const r = analysed(`
class Schedule(nn.Module):
    def __init__(self, steps=1000):
        super().__init__()
        weights = torch.rand(steps, 8, 8)
        assert not torch.isnan(weights).all()
        if weights.min() < 0:
            raise ValueError("negative")
        self.register_buffer("weights", weights)

    def forward(self, x):
        return x * self.weights[0, 0, 0]
`);
  expect(operatorsOf(r, "Schedule")).toContain("operator.mul");
  const said = r.diagnostics.filter(d => d.code === "assumed-branch").map(d => d.message);
  expect(said).toContain("the truth of a tensor is not known here; the branch is taken as if it were false");
});
