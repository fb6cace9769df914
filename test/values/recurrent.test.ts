// Whole recurrent layers, which Dynamo leaves to eager, on the CPU executor: results and gradients are those that eager
// PyTorch computes (test/recorded/recurrent.json).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { valuesJob, valuesReport } from "../../server/src/worker/values";
import { runSource } from "../walkthrough/logs";
import { cpuExecutor } from "../worker/executor";
import { faults } from "./rows";

const run = cpuExecutor();
const recorded = JSON.parse(readFileSync(join(__dirname, "..", "recorded", "recurrent.json"), "utf8"));

/** by the record's name: the layer, its call, what goes into the loss beside its output */
const LAYERS: readonly [string, string, string, string][] = [
  ["lstm1", "nn.LSTM(6, 5)", "self.rnn(x)", "h[0] * 2 + h[1]"],
  ["lstm2bi", "nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)", "self.rnn(x)", "h[0] * 2 + h[1]"],
  ["lstmproj", "nn.LSTM(6, 5, num_layers=2, proj_size=3, batch_first=True)", "self.rnn(x)", "h[0] * 2"],
  ["lstmnobias", "nn.LSTM(6, 5, bias=False, bidirectional=True)", "self.rnn(x)", "h[0] * 2 + h[1]"],
  ["lstmhx", "nn.LSTM(6, 5, num_layers=2)", "self.rnn(x, (h0, h0 * 2))", "h[0] * 2 + h[1]"],
  ["gru1", "nn.GRU(6, 5, batch_first=True)", "self.rnn(x)", "h * 2"],
  ["gru2bi", "nn.GRU(6, 5, num_layers=2, bidirectional=True)", "self.rnn(x)", "h * 2"],
  ["gruhx", "nn.GRU(6, 5, num_layers=2)", "self.rnn(x, h0)", "h * 2"],
  ["rnntanh", "nn.RNN(6, 5, num_layers=2, bidirectional=True)", "self.rnn(x)", "h * 2"],
  ["rnnrelu", "nn.RNN(6, 5, nonlinearity='relu', batch_first=True)", "self.rnn(x)", "h * 2"],
];

const program = (layer: string, call: string, state: string): string => `import torch
import torch.nn as nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = ${layer}

    def forward(self, x, h0):
        out, h = ${call}
        return torch.tanh(out), ${state}


model = torch.compile(M().to("cuda"))
x = torch.randn(4, 7, 6, device="cuda", requires_grad=True)
h0 = torch.randn(2, 7, 5, device="cuda", requires_grad=True)
out, h = model(x, h0)
((out * out).sum() + h.sum()).backward()
`;

describe("recurrent layers", () => {
  it.each(LAYERS)("%s computes and differentiates as in PyTorch", async (name, layer, call, state) => {
    const p = runSource("/elsewhere/model.py", program(layer, call, state), { wat: true, replay: true });
    expect(p.diagnostics.filter(d => d.severity === "error")).toEqual([]);
    expect(faults(valuesReport(p, await run(valuesJob(p))), recorded[name])).toEqual([]);
  });
});
