// Failures that several inputs answer together, and the order in which answers are tried.
import { expect, test } from "vitest";
import { analysed, assumedOf, framesOf, operatorsOf } from "./testing/analysed";

test("inputs that are joined before a layer get the images' shape together", () => {
  const r = analysed(`
class Shots(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv2d(3, 8, 3)

    def forward(self, x_shot, x_query):
        both = self.encoder(torch.cat([x_shot, x_query], dim=0))
        return both[: len(x_shot)], both[-len(x_query):]
`);
  expect(assumedOf(r, "Shots")).toMatch(/x_shot is float32\[\d+, 3, (\d+), \1\]; x_query is float32\[\d+, 3, \1, \1\]/);
});

test("a view that does not fit changes the size that all of the joined inputs have", () => {
  const r = analysed(`
class Mesh(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = 9
        self.lift = nn.Linear(2, 16)

    def forward(self, x, fx):
        h = self.lift(torch.cat([x, fx], dim=-1))
        b, n, c = h.shape
        return h.reshape(b, self.side, self.side, c).permute(0, 3, 1, 2)
`);
  expect(assumedOf(r, "Mesh")).toMatch(/x is float32\[8, 81, 1\]; fx is float32\[8, 81, 1\]/);
});

test("what two failures ask for is tried when the farther one does", () => {
  const r = analysed(`
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.colour, self.depth = nn.Conv2d(3, 32, 3), nn.Conv2d(3, 32, 3)

    def forward(self, observations):
        colour, depth = self.colour(observations[0]), self.depth(observations[1])
        return torch.cat([colour, depth], dim=1)
`);
  expect(assumedOf(r, "Shared")).toMatch(/observations is \[(float32\[\d+, 3, \d+, \d+\]), \1\]/);
});

test("sequences that are longer than the module's mask get shorter together, several steps of one counted", () => {
  const r = analysed(`
class Decision(nn.Module):
    def __init__(self, context_len=20):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(3 * context_len, 3 * context_len)))

    def forward(self, states, actions, rewards):
        b, t, c = states.shape
        h = torch.stack((states, actions, rewards), dim=2).reshape(b, 3 * t, c)
        scores = h @ h.transpose(1, 2)
        return scores.masked_fill(self.mask[: 3 * t, : 3 * t] == 0, float("-inf"))
`);
  expect(assumedOf(r, "Decision")).toMatch(/states is float32\[8, 20, \d+\]; actions is float32\[8, 20, \d+\]/);
});

test("inputs that are None by default are given together where the code never asks whether they are", () => {
  const r = analysed(`
class Conditioned(nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.pooled = nn.Linear(12, 16), nn.Linear(24, 16)

    def forward(self, x, states: torch.Tensor = None, pooled: torch.Tensor = None, mask: torch.Tensor = None):
        h = x + self.pooled(pooled).mean()
        tokens = states
        if mask is not None:
            tokens = tokens * mask
        return h, self.text(tokens)
`);
  expect(assumedOf(r, "Conditioned")).toMatch(/states is float32\[[\d, ]*12\]; pooled is float32\[[\d, ]*24\]$/);
});

test("a number grows until an assertion finds it large enough", () => {
  const r = analysed(`
class Padded(nn.Module):
    def forward(self, x, seq_len: int):
        assert x.shape[1] * x.shape[2] <= seq_len
        return F.pad(x.flatten(1), (0, seq_len - x.shape[1] * x.shape[2]))
`);
  expect(assumedOf(r, "Padded")).toMatch(/seq_len is \d{5,}/);
});

test("what is added to a vector for each item of the batch is one too, and batches are as long as lists that are joined", () => {
  const r = analysed(`
class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.pooled = nn.Linear(1, 16), nn.Linear(24, 16)

    def forward(self, t, pooled):
        return self.time(t[:, None].float()) + self.pooled(pooled)

class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(4, 8, 1)

    def forward(self, x: List[torch.Tensor], t):
        h = torch.cat([self.embed(u.unsqueeze(0)) for u in x])
        return h * t[:, None, None, None]
`);
  expect(assumedOf(r, "Denoiser")).toMatch(/pooled is float32\[8, 24\]/);
  expect(assumedOf(r, "Packed")).toMatch(/x is \[(float32\[4, \d+, \d+\]), \1\]; t is float32\[2\]/);
});

test("indices that gather takes are integers although they are named masks", () => {
  const r = analysed(`
class Predictor(nn.Module):
    def forward(self, x, masks):
        return torch.gather(x, 1, masks.unsqueeze(-1).repeat(1, 1, x.size(-1)))
`);
  expect(assumedOf(r, "Predictor")).toMatch(/masks is int64\[\d+, \d+\]/);
});

test("a module that keeps tensors of half precision is in that where they meet its parameters", () => {
  const r = analysed(`
class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.register_buffer("past", torch.zeros(1, 1, 64, 32, dtype=torch.bfloat16))

    def forward(self, tokens):
        return F.scaled_dot_product_attention(self.words(tokens)[:, None], self.past, self.past)
`);
  expect(assumedOf(r, "Cached")).toMatch(/in bfloat16; tokens is int64/);
});

test("code that lays the batch and sequences out in one dimension gets a batch of one where the two meet", () => {
  const r = analysed(`
class Routed(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.width, self.gate = width, nn.Linear(width, width)

    def forward(self, x):
        b, t, _ = x.shape
        return x + self.gate(x.view(-1, self.width))
`);
  expect(assumedOf(r, "Routed")).toMatch(/x is float32\[1, \d+, 32\]/);
});

test("a matrix that the constructor was handed gets the rows that a product wants", () => {
  const r = analysed(`
class Filtered(nn.Module):
    def __init__(self, bank: torch.Tensor):
        super().__init__()
        self.register_buffer("bank", bank)
        self.score = nn.Linear(16, 24)

    def forward(self, x):
        return self.score(x).matmul(self.bank)
`);
  expect(operatorsOf(r, "Filtered")).toHaveLength(2);
  expect(assumedOf(r, "Filtered")).toMatch(/bank is float32\[24, /);
});

test("a view over the batch and a dimension that was exchanged with it gets a batch of one", () => {
  const r = analysed(`
class Samples(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 8)
    def forward(self, x):
        z = self.fc(x).repeat(5, 1, 1).permute(1, 0, 2)
        return z.view(-1, 8)
`);
  expect(assumedOf(r, "Samples")).toContain("x is float32[1, ");
});

test("channels that space was folded into before they meet a parameter are as many as it leaves of them", () => {
  const r = analysed(`
class Folded(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1, 12, 1, 1))
    def forward(self, x):
        b, c, h, w = x.size()
        if x.max() > 1:
            raise ValueError("too bright")
        x = x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).contiguous()
        return x.view(b, c * 4, h // 2, w // 2) + self.bias
`);
  expect(assumedOf(r, "Folded")).toMatch(/x is float32\[8, 3, /);
});

test("a loss that wants its target in the shape of what was computed gets it there", () => {
  const r = analysed(`
class Ranking(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(5, 8, 1), nn.Conv2d(8, 1, 1), nn.Sigmoid())
        self.loss = nn.BCELoss()
    def forward(self, d0, d1, judge):
        y = self.net(torch.cat((d0, d1, d0 - d1, d0 / (d1 + 0.1), d1 / (d0 + 0.1)), dim=1))
        return self.loss(y, (judge + 1.0) / 2.0)
`);
  expect(operatorsOf(r, "Ranking").at(-1)).toContain("binary_cross_entropy");
});

test("lists are as much longer than each other as an assertion wants them", () => {
  const r = analysed(`
class Ladder(nn.Module):
    def __init__(self, encoders, decoders):
        super().__init__()
        assert len(encoders) == len(decoders) + 1
        self.encoders, self.decoders = nn.ModuleList(encoders), nn.ModuleList(decoders)
    def forward(self, x):
        for m in [*self.encoders, *self.decoders]:
            x = m(x)
        return x * 2
`);
  expect(framesOf(r, "Ladder")).toHaveLength(1);
});

test("what sizes are multiplied by grows until the result is as large as the input", () => {
  const r = analysed(`
class Masked(nn.Module):
    def __init__(self, encoder_stride):
        super().__init__()
        self.down = nn.Conv2d(3, 32, 16, 16)
        self.up = nn.Sequential(nn.Conv2d(32, encoder_stride ** 2 * 3, 1), nn.PixelShuffle(encoder_stride))
    def forward(self, img):
        assert img.shape[2] == 224
        return (self.up(self.down(img)) - img).abs().mean()
`);
  expect(assumedOf(r, "Masked")).toContain("encoder_stride is 16");
});

test("what is joined with a parameter gets its width, and what is cut is no flag whatever it is called", () => {
  const r = analysed(`
class Clusters(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.zeros(4, 48))
        self.shifts = nn.Parameter(torch.zeros(4))
    def forward(self, hidden, target, weight, bias):
        weight = torch.cat([weight[:10], self.rows], dim=0)
        bias = torch.cat([bias[:10], self.shifts], dim=0)
        scores = F.log_softmax(F.linear(hidden, weight, bias), dim=1)
        return scores.gather(1, target.unsqueeze(1))
`);
  expect(assumedOf(r, "Clusters")).toMatch(/weight is float32\[\d+, 48\]; bias is float32\[\d+\]/);
});
