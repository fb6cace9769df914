// What command lines of a project give to options.
import { describe, expect, test } from "vitest";
import { analysedProject, assumedOf } from "../testing/analysed";
import { commandsIn } from "./commands";

const MODEL = `
from torch import nn

class Critic(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.width = args.width
        self.first = nn.Linear(args.features, args.width * args.factor)

    def forward(self, x):
        return self.first(x).view(x.shape[0], -1, self.width)
`;
const OPTIONS = `
import argparse

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=24)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--factor", type=int, default=None)
    parser.add_argument("--kind", type=str, default="other")
    return parser.parse_args()
`;

describe("command lines", () => {
  test("give values, lists and flags; what a shell fills in says nothing", () => {
    const [line] = commandsIn(
      "python tools/train.py \\\n  --width 32 --scales 1 2 --use-bias --rate=1e-3 --out $OUT && rm -r --all\n",
    );
    expect(Object.fromEntries(line?.options ?? [])).toMatchObject({
      width: { kind: "number", value: 32 },
      scales: { kind: "seq" },
      use_bias: { kind: "bool", value: true },
      rate: { kind: "number", value: 0.001 },
    });
    expect(line?.options.has("out")).toBe(false);
    expect(line?.words.has("train")).toBe(true);
    expect(commandsIn("a -- b and --c of prose")).toEqual([]);
  });

  test("that choose the analysed file count before what options fall back to, others where that is nothing", () => {
    const files = { "pack/model.py": MODEL, "pack/options.py": OPTIONS, "README.md": "# Net\n" };
    const chosen = analysedProject({
      ...files,
      "run.sh": "python run.py --kind model --features 48 --width 16 --factor 3\n",
    });
    expect(assumedOf(chosen, "Critic")).toMatch(
      /args.features is 48.*args.width is 16|args.width is 16.*args.features is 48/,
    );
    const other = analysedProject({
      ...files,
      "run.sh": "python run.py --kind other --features 48 --width 16 --factor 3\n",
    });
    expect(assumedOf(other, "Critic")).toMatch(/args.width is 8; args.features is 24; args.factor is 3/);
  });
});
