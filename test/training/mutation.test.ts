// Programs that write into their inputs, hand out views of them, or keep state between calls: compiled, they leave every
// tensor as they do operator by operator. Both ways run on the CPU executor; only the first goes through functionalization.
import type { ValueRow, ValueStep } from "@fuselens/gpu-worker/protocol";
import { describe, expect, it } from "vitest";
import { uniform } from "../../gpu-worker/src/cpu/fill";
import { loadable } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

const tensors = (text: string): string =>
  text
    .split(" ")
    .map(t => t.split(":"))
    .map(([name, size]) => `${name} = torch.randn(${size}, device="cuda")`)
    .join("\n");

/** name, tensors with sizes, the function, the calls; `probe` sees all that is listed */
const PROGRAMS: readonly (readonly [string, string, string, string, string])[] = [
  [
    "an input written and handed out, with views of both inputs",
    "x:3,4 y:3,4",
    "def f(x, y):\n    x.add_(1)\n    return x, x.view(-1), y[1:], x + y, y",
    "a, b, c, d, e = f(x, y)\na.mul_(2)\nc.add_(5)\nf(x, y)",
    "x, y, a, b, c, d, e",
  ],
  [
    "a state kept in an input",
    "state:4 x:3,4",
    "def f(state, x):\n    outs = []\n    for t in range(3):\n        state.mul_(0.5).add_(x[t])\n        outs.append(state.tanh())\n    return torch.stack(outs)",
    "p = f(state, x)\nq = f(state, x)",
    "state, p, q",
  ],
  [
    "two inputs that change places",
    "a:5 b:5",
    "def f(a, b):\n    t = a.clone()\n    a.copy_(b)\n    b.copy_(t)\n    return a - b",
    "p = f(a, b)\nq = f(a, b)\nr = f(a, b)",
    "a, b, p, q, r",
  ],
  [
    "an input that is copied whole into another and written after that",
    "a:4,5 b:4,5 c:4,5",
    "def f(a, b, c):\n    s = a.sum()\n    b[0:, :] = a[0:, :]\n    a.add_(1)\n    c.copy_(b.view(5, 4).view(4, 5).clone())\n    b.mul_(c + s)\n    return a * b",
    "p = f(a, b, c)\nq = f(c, a, b)",
    "a, b, c, p, q",
  ],
  [
    "a cache filled by position, once by index and once by slice",
    "q:2,1,4 k:2,1,4 v:2,1,4 ck:2,8,4 cv:2,8,4",
    "def f(q, k, v, ck, cv, pos):\n    ck.index_copy_(1, pos, k)\n    cv[:, 3:4] = v\n    return torch.softmax(q @ ck.transpose(-1, -2), -1) @ cv",
    'p = f(q, k, v, ck, cv, torch.tensor([2], device="cuda"))\nr = f(p, k, v, ck, cv, torch.tensor([5], device="cuda"))',
    "ck, cv, p, r",
  ],
  [
    "views of views that are written in turn",
    "x:2,12",
    "def f(x):\n    a = x.view(4, 6)[1:3]\n    b = a.t()[2:5]\n    b.mul_(3)\n    a[0].add_(1)\n    x.view(-1)[::5].zero_()\n    return x.sin(), a.sum(), b",
    "p, q, r = f(x)\nr.add_(1)",
    "x, p, q, r",
  ],
  [
    "lists whose members read each other",
    "a:3,4 b:3,4",
    "def f(a, b):\n    p, q = a * 1.5, b * 1.5\n    y = [p.clone(), q.clone()]\n    torch._foreach_addcmul_(y, [q, p], [p, q], 0.5)\n    torch._foreach_add_(y, [q, p])\n    torch._foreach_mul_([a, b], 0.5)\n    return y[0] * y[1]",
    "p = f(a, b)\nq = f(a, b)",
    "a, b, p, q",
  ],
];

const HEAD = "import torch\n\n";
const probed = (list: string): string =>
  `\n@torch.compile\ndef probe(ts):\n    return [t * 1 for t in ts]\n\nprobe([${list}])\n`;

async function valuesOf(source: string): Promise<readonly (ValueRow | undefined)[]> {
  const { values, diagnostics } = runSource("/mutation/model.py", source, { wat: true, replay: true });
  expect(diagnostics.filter(d => d.severity === "error")).toEqual([]);
  expect(values.blocker).toBeNull();
  const graphs = values.graphs.map(loadable);
  const job = { kind: "values" as const, graphs, steps: [...values.steps] as ValueStep[] };
  const result = await run(job);
  const rows = new Map(result.rows.map(r => [r.slot, r.row]));
  return (values.calls.at(-1)?.outputs ?? []).map(slot => rows.get(slot));
}

describe("compiled as operator by operator", () => {
  it.each(PROGRAMS)("%s", async (_, inputs, code, calls, list) => {
    const program = (decorator: string): string =>
      `${HEAD}${decorator}${code}\n\n${tensors(inputs)}\n${calls}\n${probed(list)}`;
    const compiled = await valuesOf(program("@torch.compile\n"));
    const eager = await valuesOf(program(""));
    expect(compiled).toHaveLength(list.split(", ").length);
    for (const [i, row] of eager.entries()) {
      expect(compiled[i]?.shape, `${list.split(", ")[i]}`).toEqual(row?.shape);
      const close = (row?.values ?? []).map(v => expect.closeTo(Number(v), 4));
      expect(compiled[i]?.values, `${list.split(", ")[i]}`).toEqual(close);
    }
  });
});

it("an input that was computed, written where autograd looks, has the gradients of before and after", async () => {
  const source = `${HEAD}@torch.compile
def f(h, w):
    h.mul_(w)
    return h.sin()

x = torch.randn(4, device="cuda", dtype=torch.float64, requires_grad=True)
w = torch.randn(4, device="cuda", dtype=torch.float64, requires_grad=True)
h = x * 2
y = f(h, w)
(y.sum() + h.sum()).backward()
`;
  const { values } = runSource("/mutation/model.py", source, { wat: true, replay: true });
  const graphs = values.graphs.map(loadable);
  const job = { kind: "values" as const, graphs, steps: [...values.steps] as ValueStep[] };
  const result = await run(job);
  const rows = new Map(result.rows.map(r => [r.slot, r.row]));
  const normal = (k: number) => Array.from({ length: 4 }, (_, i) => (uniform(i, k) - 0.5) * Math.sqrt(12));
  const [x, w] = [normal(0), normal(1)];
  const each = (f: (x: number, w: number) => number) => x.map((v, i) => expect.closeTo(f(v, w[i] ?? 0), 9));
  const grads = values.grads.map(g => rows.get(g.slot)?.values);
  expect(grads[0]).toEqual(each((v, k) => (Math.cos(2 * v * k) + 1) * 2 * k));
  expect(grads[1]).toEqual(each((v, k) => (Math.cos(2 * v * k) + 1) * 2 * v));
});
