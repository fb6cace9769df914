// A training loop whose optimizer runs outside of compiled frames: parameters move, gradients start anew at each step and are
// read by the program. The sums are those that PyTorch 2.11 computes on the same inputs.
import { expect, it } from "vitest";
import { valuesJob, valuesReport } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";

const run = cpuExecutor();

const SOURCE = `import torch
import torch.nn as nn

model = torch.compile(nn.Linear(16, 32).cuda())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(4, 7, 16, device="cuda")


@torch.compile
def norm(g):
    return g.norm()


for _ in range(2):
    opt.zero_grad()
    loss = model(x).sum()
    loss.backward()
    norm(model.weight.grad)
    opt.step()
`;

it("the second step sees what the first one's optimizer did, and gradients of its own", async () => {
  const p = runSource("/elsewhere/model.py", SOURCE, { wat: true, replay: true });
  const report = valuesReport(p, await run(valuesJob(p)));
  const sums = report.calls.map(c => Number(c.outputs[0]?.sum));
  expect(sums).toEqual([22.1029, 116.16514, -3836.13063, 116.16514].map(x => expect.closeTo(x, 3)));
  expect(report.grads?.map(g => Number(g.sum))).toEqual([-200.88451, 896].map(x => expect.closeTo(x, 3)));
});
