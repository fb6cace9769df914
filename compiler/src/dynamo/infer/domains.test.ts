// Inputs by what names mean where models are of tables, graphs and recommendations, and inputs that are joined before a layer.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("columns of a table are categories to look up and numbers, one row an item", () => {
  const r = analysed(`
class Columns(nn.Module):
    def __init__(self, counts, numeric, width, normalization):
        super().__init__()
        self.register_buffer("offsets", torch.tensor([0] + counts[:-1]).cumsum(0))
        self.table = nn.Embedding(sum(counts), width)
        joined = len(counts) * width + numeric
        self.norm = {"by batch": nn.BatchNorm1d, "by layer": nn.LayerNorm}[normalization](joined)
        self.head = nn.Linear(joined, 2)

    def forward(self, x_num, x_cat):
        found = self.table(x_cat + self.offsets).flatten(1)
        return self.head(self.norm(torch.cat([x_num, found], dim=1)))
`);
  const assumed = assumedOf(r, "Columns");
  expect(assumed).toMatch(/x_num is float32\[8, \d+\]/);
  expect(assumed).toMatch(/x_cat is int64\[8, 4\]/);
  expect(assumed).toContain('normalization is "by batch"');
  expect(operatorsOf(r, "Columns").at(-1)).toMatch(/linear$/);
});

test("an adjacency matrix is square, and what nodes carry is a row each", () => {
  const r = analysed(`
class Neighbours(nn.Module):
    def __init__(self, nfeat, nhid):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(nfeat, nhid))

    def forward(self, x, adj):
        return torch.relu(torch.mm(adj, torch.mm(x, self.weight)))
`);
  expect(assumedOf(r, "Neighbours")).toContain("x is float32[128, 512]; adj is float32[128, 128]");
});

test("users and items are looked up; they are no flags", () => {
  const r = analysed(`
class Factors(nn.Module):
    def __init__(self, users, items, width):
        super().__init__()
        self.of_user = nn.Embedding(users, width)
        self.of_item = nn.Embedding(items, width)

    def forward(self, users, items):
        return (self.of_user(users) * self.of_item(items)).sum(-1)
`);
  expect(assumedOf(r, "Factors")).toContain("users is int64[8]; items is int64[8]");
});

test("inputs that are joined before a layer get its width together", () => {
  const r = analysed(`
class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Conv1d(7, 32, 1)
        self.times = nn.Linear(4, 32)

    def forward(self, past, past_mark, future, future_mark):
        values = torch.cat([past, future], dim=1).transpose(1, 2)
        marks = torch.cat([past_mark, future_mark], dim=1)
        return self.values(values).transpose(1, 2) + self.times(marks)
`);
  const assumed = assumedOf(r, "Joined");
  expect(assumed).toContain("past_mark is float32[8, 128, 4]");
  expect(assumed).toContain("future_mark is float32[8, 128, 4]");
});

test("what makes tensors on the CPU half-way is searched there from the start", () => {
  const r = analysed(`
class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(24, 6))

    def forward(self, A, X):
        H = A.permute(2, 0, 1)[0]
        H = H * (torch.eye(H.shape[0]) == 0).float()
        return torch.mm(H.t(), torch.mm(X, self.weight))
`);
  expect(assumedOf(r, "Normalised")).toContain("on the CPU, where its code makes tensors");
  expect(assumedOf(r, "Normalised")).toMatch(/X is float32\[\d+, 24\]/);
});

test("sequences are short where going through them item by item takes too long", () => {
  const r = analysed(`
class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(24, 24)

    def forward(self, x):
        h = x[:, 0]
        for t in range(x.shape[1]):
            for _ in range(20):
                h = torch.tanh(self.mix(h) + x[:, t])
        return h
`);
  expect(assumedOf(r, "Recurrence")).toContain("x is float32[2, 16, 24]");
});

test("a dictionary that is unpacked gets what the call behind it lacks and asserts", () => {
  const r = analysed(`
class Gate(nn.Module):
    def __init__(self, width, n_channels, kernel_size):
        super().__init__()
        assert n_channels % 2 == 0
        self.conv = nn.Conv1d(width, n_channels, kernel_size, padding=kernel_size // 2)

    def forward(self, x):
        a, b = self.conv(x).chunk(2, dim=1)
        return a * torch.sigmoid(b)

class Gates(nn.Module):
    def __init__(self, width, count, gate_config):
        super().__init__()
        self.gates = nn.ModuleList(Gate(width, **gate_config) for _ in range(count))

    def forward(self, x):
        return sum(g(x) for g in self.gates)
`);
  expect(assumedOf(r, "Gates")).toMatch(/gate_config is \{"kernel_size": 3, "n_channels": \d*[02468]\}/);
});

test("columns that another module gets as they are may be embedded already", () => {
  const r = analysed(`
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)

    def forward(self, x, more):
        b, n, d = x.shape
        return self.mix(torch.cat([x, more], dim=1)).view(b, -1, d // 2, 2)

class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixer = Mixer()

    def forward(self, x_categ, x_cont):
        return self.mixer(x_categ, x_cont)
`);
  expect(assumedOf(r, "Embedded")).toMatch(/x_categ is float32\[8, \d+, 8\]; x_cont is float32\[8, \d+, 8\]/);
});
