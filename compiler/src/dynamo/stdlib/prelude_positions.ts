// axial_positional_embedding: positions as sums, or rows, of one vector for each axis. In: nothing. Out: its text.

export const AXIAL_POSITIONS = `
class AxialPositionalEmbedding(nn.Module):
    def __init__(self, dim, axial_shape, axial_dims=None):
        super().__init__()
        self.dim, self.shape, self.summed = dim, tuple(axial_shape), axial_dims is None
        self.max_seq_len = 1
        for n in self.shape:
            self.max_seq_len *= n
        rank = len(self.shape)
        self.axial_dims = (dim,) * rank if self.summed else tuple(axial_dims)
        assert self.summed or sum(self.axial_dims) == dim, "axial dims must sum up to the target dimension"
        self.weights = nn.ParameterList([
            nn.Parameter(torch.randn(1, *[n if i == at else 1 for i in range(rank)], width))
            for at, (n, width) in enumerate(zip(self.shape, self.axial_dims))])

    def forward(self, x):
        batch, length, _ = x.shape
        assert length <= self.max_seq_len, f"sequence length ({length}) must be less than {self.max_seq_len}"
        rows = [w.expand(batch, *self.shape, w.shape[-1]).reshape(batch, self.max_seq_len, -1) for w in self.weights]
        made = sum(rows) if self.summed else torch.cat(rows, dim=-1)
        return made[:, :length].to(x)
`;
