// What models take from diffusers: its layers in torch's operators, its base classes beside them.
import { expect, test } from "vitest";
import { analysed, framesOf, printed } from "../infer/testing/analysed";

test("attention, feed-forward layers, norms and embeddings of diffusers are followed into torch's operators", () => {
  const r = analysed(`
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from diffusers.models.attention import FeedForward
from diffusers.models.attention_processor import Attention
from diffusers.models.embeddings import PatchEmbed, PixArtAlphaTextProjection, TimestepEmbedding, Timesteps
from diffusers.models.normalization import AdaLayerNormSingle, AdaLayerNormZero
from diffusers.models.modeling_outputs import Transformer2DModelOutput

class Block(ModelMixin, ConfigMixin):
    @register_to_config
    def __init__(self, dim=96):
        super().__init__()
        self.patches = PatchEmbed(32, 32, 2, 4, dim)
        self.time = TimestepEmbedding(64, dim)
        self.steps = Timesteps(64, True, 0)
        self.caption = PixArtAlphaTextProjection(40, dim)
        self.norm = AdaLayerNormZero(dim)
        self.single = AdaLayerNormSingle(dim)
        self.attn = Attention(dim, cross_attention_dim=dim, heads=4, dim_head=24, qk_norm="rms_norm", bias=True)
        self.across = Attention(dim, heads=4, dim_head=24, qk_norm="rms_norm_across_heads", added_kv_proj_dim=dim)
        self.ff = FeedForward(dim, activation_fn="gelu-approximate")

    def forward(self, latent, t, text):
        x = self.patches(latent)
        emb = self.time(self.steps(t)) + self.single(t, hidden_dtype=x.dtype)[1]
        x, gate, *rest = self.norm(x, emb=emb)
        x = x + gate[:, None] * self.attn(x, encoder_hidden_states=self.caption(text))
        return Transformer2DModelOutput(sample=self.ff(self.across(x)))

block = Block()
out = torch.compile(block)(torch.randn(2, 4, 32, 32), torch.tensor([3, 5]), torch.randn(2, 7, 40))
print(out.sample.shape, block.config.dim)
`);
  expect(printed(r)).toBe("torch.Size([2, 256, 96]) 96\n");
  const nodes = framesOf(r, "Block").flatMap(f => f.graph.nodes);
  expect(nodes.filter(n => n.meta.opaque)).toEqual([]);
  expect(nodes.some(n => /scaled_dot_product_attention/.test(n.target))).toBe(true);
});

test("residual blocks, resizing and attention over maps keep the map's form", () => {
  const r = analysed(`
from diffusers.models.activations import get_activation
from diffusers.models.attention_processor import Attention, SpatialNorm
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
from diffusers.models.resnet import Downsample2D, ResnetBlock2D, Upsample2D

class Middle(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = ResnetBlock2D(in_channels=32, out_channels=64, temb_channels=16)
        self.attn = Attention(64, heads=2, dim_head=32, norm_num_groups=32, residual_connection=True, bias=True)
        self.up, self.down = Upsample2D(64, use_conv=True), Downsample2D(64, use_conv=True, padding=0)
        self.act = get_activation("silu")

    def forward(self, x, temb):
        h = self.act(self.attn(self.block(x, temb)))
        return DiagonalGaussianDistribution(self.up(h)).sample(), self.down(h)

a, b = torch.compile(Middle())(torch.randn(2, 32, 16, 16), torch.randn(2, 16))
print(a.shape, b.shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 32, 32, 32]) torch.Size([2, 64, 8, 8])\n");
});
