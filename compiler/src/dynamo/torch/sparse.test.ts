// Sparse matrices: opaque operators of the shape that they are told.
import { expect, test } from "vitest";
import { analysed } from "../infer/testing/analysed";

test("a sparse matrix is an opaque one of the size that it is told, and products with it go on", () => {
  const r = analysed(`
class Propagate(nn.Module):
    def forward(self, indices, values, h):
        a = torch.sparse_coo_tensor(indices, values, torch.Size([h.shape[0], h.shape[0]])).coalesce()
        b = torch.sparse.FloatTensor(indices, values, (h.shape[0], h.shape[0]))
        return torch.sparse.mm(a, h) + b.to_dense() @ h

def run(indices: torch.Tensor, values: torch.Tensor):
    return torch.compile(Propagate())(indices, values, torch.randn(16, 8, device="cuda"))

run(torch.zeros(2, 40, dtype=torch.int64, device="cuda"), torch.ones(40, device="cuda"))
`);
  const frame = r.events.flatMap(e => (e.kind === "frame" ? [e.frame] : []))[0];
  const nodes = frame?.graph.nodes ?? [];
  const opaque = nodes.filter(n => n.meta.opaque !== undefined);
  expect(opaque.map(n => n.meta.val)).toMatchObject([{ shape: [16, 16].map(size) }, { shape: [16, 16].map(size) }]);
  expect(nodes.some(n => n.target === "torch.mm")).toBe(true);
});

const size = (n: number): unknown => expect.objectContaining({ value: n });
