// Layers with codebooks and perceptual losses, as libraries of generative models have them: what they give has the right sizes.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("codebooks give vectors, losses and indices", () => {
  const r = analysed(`
from taming.modules.vqvae.quantize import GumbelQuantize, VectorQuantizer, VectorQuantizer2
x = torch.randn(2, 8, 4, 4)
for q in (VectorQuantizer(16, 8, beta=0.25), VectorQuantizer2(16, 8, beta=0.25, sane_index_shape=True), GumbelQuantize(8, 6, 16)):
    out, loss, (_, _, indices) = q(x)
    print(tuple(out.shape), tuple(loss.shape), tuple(indices.shape))
`);
  expect(printed(r)).toBe("(2, 8, 4, 4) () (32, 1)\n(2, 8, 4, 4) () (2, 4, 4)\n(2, 6, 4, 4) () (2, 4, 4)\n");
});

test("codebooks in sequence, of several heads, of maps, and of levels", () => {
  const r = analysed(`
from vector_quantize_pytorch import FSQ, ResidualVQ, VectorQuantize
def show(made):
    print([tuple(t.shape) for t in made])
show(VectorQuantize(dim=8, codebook_size=32, codebook_dim=4, heads=2)(torch.randn(2, 5, 8)))
show(VectorQuantize(dim=8, codebook_size=32, accept_image_fmap=True).eval()(torch.randn(2, 8, 3, 4)))
show(ResidualVQ(dim=8, codebook_size=32, num_quantizers=3)(torch.randn(2, 5, 8)))
show(FSQ([8, 5, 5], dim=16)(torch.randn(2, 7, 16)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantizer = ResidualVQ(dim=16, codebook_size=32, num_quantizers=2)
    def forward(self, x):
        return self.quantizer(x)[0]
`);
  expect(printed(r)).toBe(
    "[(2, 5, 8), (2, 5, 2), (1,)]\n[(2, 8, 3, 4), (2, 3, 4), (1,)]\n[(2, 5, 8), (2, 5, 3), (1, 3)]\n[(2, 7, 16), (2, 7)]\n",
  );
  expect(operatorsOf(r, "Net").filter(t => /argmax/.test(t)).length).toBe(2);
});

test("perceptual distances look at slices of a network, and taming's losses are what its star import brings", () => {
  const r = analysed(`
import lpips
from taming.modules.losses.vqperceptual import *
print(sum(p.numel() for p in lpips.LPIPS(net="alex").parameters()), lpips.LPIPS(net="squeeze").net.N_slices)
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.real = LPIPS().eval(), NLayerDiscriminator(3, n_layers=2)
    def forward(self, image, target):
        return self.near(image, target).mean() + hinge_d_loss(self.real(target), self.real(image))
`);
  expect(printed(r)).toBe("2470848 7\n");
  expect(operatorsOf(r, "Loss").filter(t => /conv2d/.test(t)).length).toBe(2 * 13 + 5 + 2 * 4);
});
