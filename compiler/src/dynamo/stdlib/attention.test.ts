// What models take from libraries of compiled kernels: attention and norms in torch's operators.
import { expect, test } from "vitest";
import { analysed, framesOf, operatorsOf, printed } from "../infer/testing/analysed";

const names = (r: ReturnType<typeof analysed>, root: string): string[] =>
  operatorsOf(r, root).map(t => t.split(".").pop() ?? "");

test("attention of flash_attn and xformers is torch's, with heads behind the length", () => {
  const r = analysed(`
from flash_attn import flash_attn_func, flash_attn_qkvpacked_func
from xformers.ops import LowerTriangularMask, memory_efficient_attention

class Block(nn.Module):
    def forward(self, q, k):
        a = flash_attn_func(q, k, k, causal=True)
        b = memory_efficient_attention(q, k, k, attn_bias=LowerTriangularMask())
        return a + b, flash_attn_qkvpacked_func(torch.stack((q, q, q), 2)), memory_efficient_attention(q[0], q[0], q[0])

a, b, c = torch.compile(Block())(torch.randn(2, 16, 4, 8), torch.randn(2, 16, 2, 8).repeat_interleave(2, 2))
print(a.shape, b.shape, c.shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 16, 4, 8]) torch.Size([2, 16, 4, 8]) torch.Size([16, 4, 8])\n");
  const all = framesOf(r, "Block").flatMap(f => f.graph.nodes);
  expect(all.filter(n => n.meta.opaque)).toEqual([]);
  expect(names(r, "Block").filter(n => n === "scaled_dot_product_attention").length).toBe(4);
});

test("sequences one behind the other see themselves alone, and padding goes and comes back", () => {
  const r = analysed(`
from flash_attn import flash_attn_varlen_func
from flash_attn.bert_padding import pad_input, unpad_input
from flash_attn.layers.rotary import apply_rotary_emb
from xformers.ops import fmha, memory_efficient_attention

class Block(nn.Module):
    def forward(self, x, starts, cos):
        y = flash_attn_varlen_func(x, x, x, starts, starts, 8, 8, causal=True)
        mask, joined = fmha.BlockDiagonalMask.from_tensor_list([x[None, :4], x[None, :3]])
        parts = mask.split(memory_efficient_attention(joined, joined, joined, attn_bias=mask))
        return y, parts[1], apply_rotary_emb(x[None], cos, cos)

a, b, c = torch.compile(Block())(torch.randn(16, 4, 8), torch.tensor([0, 8, 16], dtype=torch.int32), torch.rand(32, 4))
print(a.shape, b.shape, c.shape)
rows, at, starts, longest, lengths = unpad_input(torch.randn(2, 8, 4), torch.ones(2, 8, dtype=torch.int32))
print(pad_input(rows, at, 2, 8).shape)
`);
  expect(printed(r)).toBe(
    "torch.Size([16, 4, 8]) torch.Size([1, 3, 4, 8]) torch.Size([1, 16, 4, 8])\ntorch.Size([2, 8, 4])\n",
  );
});

test("what a program brings itself, or does without, comes before these libraries", () => {
  const r = analysed(`
try:
    from flash_attn import flash_attn_func
except ImportError:
    flash_attn_func = None
from apex.normalization import FusedRMSNorm

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = FusedRMSNorm(8)

    def forward(self, x):
        return self.norm(x) if flash_attn_func is None else flash_attn_func(x, x, x)

torch.compile(Block())(torch.randn(2, 16, 8))
`);
  expect(names(r, "Block")).toEqual(["rms_norm"]);
});

test("layers of flash_attn's first version give no weights beside their result", () => {
  const r = analysed(`
from flash_attn.flash_attention import FlashMHA

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = FlashMHA(32, 4, causal=True)
    def forward(self, x):
        out, weights = self.attn(x)
        assert weights is None
        return out

print(torch.compile(Block())(torch.randn(2, 16, 32)).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 16, 32])\n");
  expect(names(r, "Block").filter(n => n === "scaled_dot_product_attention").length).toBe(1);
});
