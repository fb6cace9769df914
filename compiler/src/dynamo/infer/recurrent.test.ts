// Roots around recurrent layers, which run outside of graphs and refuse what does not fit them as PyTorch does; roots with no
// operators at all.
import { expect, test } from "vitest";
import { analysed, assumedOf, framesOf } from "./testing/analysed";

test("inputs and states get the sizes that a layer's messages ask for", () => {
  const r = analysed(`
class Decoder(nn.Module):
    def __init__(self, hidden=96, layers=3):
        super().__init__()
        self.gru = nn.GRU(80, hidden, num_layers=layers, bidirectional=True)
        self.head = nn.Linear(2 * hidden, 7)

    def forward(self, features, hidden):
        out, hidden = self.gru(features, hidden)
        return self.head(out), hidden


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(48, 24, num_layers=2, batch_first=True)
        self.head = nn.Linear(24, 7)

    def forward(self, x, h, c):
        out, (h, c) = self.rnn(x, (h, c))
        return self.head(out[:, -1]), h, c
`);
  expect(assumedOf(r, "Decoder")).toMatch(/features is float32\[8, 128, 80\]; hidden is float32\[6, 128, 96\]/);
  expect(assumedOf(r, "Speech")).toMatch(
    /x is float32\[8, 128, 48\]; h is float32\[2, 8, 24\]; c is float32\[2, 8, 24\]/,
  );
});

test("a module that is a recurrent layer alone is followed to its end, and has no graph", () => {
  const r = analysed(`
class Encoder(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x):
        out, _ = self.lstm(x)
        return out
`);
  expect(framesOf(r, "Encoder")).toEqual([]);
  expect(r.diagnostics.map(d => d.message)).toContain("Encoder runs all of its operators outside of compiled graphs");
  expect(r.events.filter(e => e.kind === "graph_break")).toHaveLength(1);
});

test("one that hands on what it gets has nothing to compile; one that is built with guesses may have", () => {
  const r = analysed(`
class Identity(nn.Module):
    def forward(self, x):
        return x


class Applied(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return x if self.function is not None else x
`);
  const said = r.diagnostics.filter(d => d.severity === "hint").map(d => `${d.code}: ${d.message}`);
  expect(said[0]).toBe("no-operators: Identity runs no tensor operators: there is nothing to compile");
  expect(said[1]).toMatch(/^not-analysed: Applied was not analysed: RuntimeError: it runs no tensor operators/);
});
