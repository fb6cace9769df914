// Python programs of a given size for the language server's benchmark. Each has a number with four digits that edits
// change, a comment that they write in, and operators. `edit(i)`, `comment(i)` and `operator(i)` give the i-th edit: one
// character, and each text differs from all before it, so that no answer is one that was given before (31 by operators).

/** A stack of gated blocks with norms: about 100 ATen nodes in one inference graph. */
export function mediumFile() {
  const text = `import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    # a gate, 0000
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.gate = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        h = self.norm(x)
        g = F.silu(self.gate(h)) * 0.5371
        m = g - g.mean(dim=-1, keepdim=True)
        y = self.down(m * torch.sigmoid(m))
        return x + torch.tanh(y) * 1.25


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(256) for _ in range(5)])
        self.head = nn.LayerNorm(256)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x).sum(dim=1)


with torch.no_grad():
    model = torch.compile(Model().cuda().eval())
    model(torch.randn(16, 128, 256, device="cuda"))
`;
  return program(text, "* 0.5371", ["* 0.5371", "- g.mean", "* torch.sigmoid", "+ torch.tanh", "* 1.25"]);
}

/** A GPT of `layers` layers with loss, forward and backward. */
export function gptFile(layers) {
  const text = `import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * 0.125
        mask = torch.ones(T, T, device=x.device, dtype=torch.bool).tril()
        att = att.masked_fill(~mask, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.proj(y)


class MLP(nn.Module):
    # two layers, 0000
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)) * 1.5371)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = MLP(dim)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, layers, dim=768, heads=12, vocab=50304, context=256):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx, targets):
        B, T = idx.shape
        x = self.wte(idx) + self.wpe(torch.arange(T, device=idx.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = torch.compile(GPT(${layers}).cuda())
idx = torch.randint(0, 50304, (4, 256), device="cuda")
targets = torch.randint(0, 50304, (4, 256), device="cuda")
loss = model(idx, targets)
loss.backward()
`;
  return program(text, "* 1.5371", ["* 1.5371", "* 0.125", "+ self.attn", "+ self.mlp", "+ self.wpe"]);
}

function program(text, number, operators) {
  const digits = find(text, number, number.length - DIGITS);
  const start = [...number.slice(-DIGITS)].map(Number);
  const comment = find(text, ", 0000", 2);
  const at = (place, i, from) => {
    const { column, digit } = counted(i + 1, from);
    return { line: place.line, character: place.character + column, text: String(digit) };
  };
  const places = operators.map(o => ({ ...find(text, o, 0), was: o[0] }));
  return {
    text,
    edit: i => at(digits, i, start),
    comment: i => at(comment, i, [0, 0, 0, 0]),
    operator: i => swapped(i + 1, places),
  };
}

/** Each step puts one operator in another's place, or back, so that no set of them comes twice (a binary Gray code). */
function swapped(i, places) {
  const bit = 31 - Math.clz32(i & -i);
  const { line, character, was } = places[bit % places.length];
  const other = was === "+" ? "-" : "+";
  return { line, character, text: ((i ^ (i >> 1)) >> bit) & 1 ? other : was };
}

const DIGITS = 4;

/**
 * Counts so that each step changes one digit and no number comes twice (a reflected Gray code to base 10), from `start`:
 * which digit step i changes, and to what.
 */
function counted(i, start) {
  let place = 0;
  while (place < DIGITS - 1 && Math.floor(i / 10 ** place) % 10 === 0) place++;
  const q = Math.floor(i / 10 ** place);
  const d = Math.floor(q / 10) % 2 ? 9 - (q % 10) : q % 10;
  const column = DIGITS - 1 - place;
  return { column, digit: (start[column] + d) % 10 };
}

/** the character `after` places into the first occurrence of `needle` */
function find(text, needle, after) {
  const at = text.indexOf(needle) + after;
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before[before.length - 1].length };
}
