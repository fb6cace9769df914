// Layers that put the nearest entries of a codebook in the place of vectors (van den Oord et al. 2017; Mentzer et al. 2023),
// as model files import them of taming and vector_quantize_pytorch. In: nothing. Out: Python text.

const TAMING = `
class _Codebook(nn.Module):
    def __init__(self, n_e, e_dim, beta):
        super().__init__()
        self.n_e, self.e_dim, self.beta = n_e, e_dim, beta
        self.embedding = nn.Embedding(n_e, e_dim)
        self.embedding.weight.data.uniform_(-1.0 / n_e, 1.0 / n_e)

    def _nearest(self, flat):
        table = self.embedding.weight
        d = (torch.sum(flat ** 2, dim=1, keepdim=True) + torch.sum(table ** 2, dim=1)
             - 2 * torch.einsum("bd,dn->bn", flat, table.t()))
        return torch.argmin(d, dim=1)

    def get_codebook_entry(self, indices, shape=None):
        found = self.embedding(indices.reshape(-1))
        return found if shape is None else found.view(shape).permute(0, 3, 1, 2).contiguous()


class VectorQuantizer(_Codebook):
    def __init__(self, n_e, e_dim, beta):
        super().__init__(n_e, e_dim, beta)

    def forward(self, z):
        z = z.permute(0, 2, 3, 1).contiguous()
        indices = self._nearest(z.view(-1, self.e_dim)).unsqueeze(1)
        chosen = torch.zeros(indices.shape[0], self.n_e).to(z)
        chosen.scatter_(1, indices, 1)
        z_q = torch.matmul(chosen, self.embedding.weight).view(z.shape)
        loss = torch.mean((z_q.detach() - z) ** 2) + self.beta * torch.mean((z_q - z.detach()) ** 2)
        z_q = z + (z_q - z).detach()
        share = torch.mean(chosen, dim=0)
        perplexity = torch.exp(-torch.sum(share * torch.log(share + 1e-10)))
        return z_q.permute(0, 3, 1, 2).contiguous(), loss, (perplexity, chosen, indices)


class VectorQuantizer2(_Codebook):
    def __init__(self, n_e, e_dim, beta, remap=None, unknown_index="random", sane_index_shape=False, legacy=True):
        super().__init__(n_e, e_dim, beta)
        self.legacy, self.remap, self.re_embed, self.sane_index_shape = legacy, None, n_e, sane_index_shape

    def forward(self, z, temp=None, rescale_logits=False, return_logits=False):
        z = z.permute(0, 2, 3, 1).contiguous()
        indices = self._nearest(z.view(-1, self.e_dim))
        z_q = self.embedding(indices).view(z.shape)
        weights = (1, self.beta) if self.legacy else (self.beta, 1)
        loss = weights[0] * torch.mean((z_q.detach() - z) ** 2) + weights[1] * torch.mean((z_q - z.detach()) ** 2)
        z_q = (z + (z_q - z).detach()).permute(0, 3, 1, 2).contiguous()
        if self.sane_index_shape:
            indices = indices.reshape(z_q.shape[0], z_q.shape[2], z_q.shape[3])
        return z_q, loss, (None, None, indices)


class GumbelQuantize(nn.Module):
    def __init__(self, num_hiddens, embedding_dim, n_embed, straight_through=True, kl_weight=5e-4, temp_init=1.0,
                 use_vqinterface=True, remap=None, unknown_index="random"):
        super().__init__()
        self.embedding_dim, self.n_embed, self.kl_weight = embedding_dim, n_embed, kl_weight
        self.straight_through, self.temperature, self.use_vqinterface = straight_through, temp_init, use_vqinterface
        self.proj, self.embed = nn.Conv2d(num_hiddens, n_embed, 1), nn.Embedding(n_embed, embedding_dim)

    def forward(self, z, temp=None, return_logits=False):
        hard = self.straight_through if self.training else True
        logits = self.proj(z)
        chosen = F.gumbel_softmax(logits, tau=self.temperature if temp is None else temp, dim=1, hard=hard)
        z_q = torch.einsum("bnhw,nd->bdhw", chosen, self.embed.weight)
        share = F.softmax(logits, dim=1)
        diff = self.kl_weight * torch.sum(share * torch.log(share * self.n_embed + 1e-10), dim=1).mean()
        indices = chosen.argmax(dim=1)
        return (z_q, diff, (None, None, indices)) if self.use_vqinterface else (z_q, diff, indices)
`;

const VECTOR_QUANTIZE = `
class _Entries(nn.Module):
    def __init__(self, dim, size, decay, eps, cosine):
        super().__init__()
        self.decay, self.eps, self.cosine, self.codebook_size = decay, eps, cosine, size
        self.register_buffer("initted", torch.tensor([True]))
        self.register_buffer("cluster_size", torch.ones(1, size))
        self.register_buffer("embed_avg", torch.randn(1, size, dim))
        self.register_buffer("embed", torch.randn(1, size, dim))

    def forward(self, x, learns=True):
        shape, flat = x.shape, x.float().reshape(1, -1, x.shape[-1])
        if self.cosine:
            flat = F.normalize(flat, dim=-1)
        distances = torch.einsum("hnd,hcd->hnc", flat, self.embed) if self.cosine else -torch.cdist(flat, self.embed, p=2)
        indices = distances.argmax(dim=-1)
        found = F.embedding(indices[0], self.embed[0]).reshape(shape)
        if self.training and learns:
            chosen = F.one_hot(indices, self.codebook_size).type(flat.dtype)
            self.cluster_size.data.lerp_(chosen.sum(dim=1), 1 - self.decay)
            self.embed_avg.data.lerp_(torch.einsum("hnd,hnc->hcd", flat.detach(), chosen), 1 - self.decay)
            total = self.cluster_size.sum(dim=-1, keepdim=True)
            size = (self.cluster_size + self.eps) / (total + self.codebook_size * self.eps) * total
            self.embed.data.copy_(self.embed_avg / size.unsqueeze(-1))
        return found.type(x.dtype), indices.reshape(shape[:-1])


class VectorQuantize(nn.Module):
    def __init__(self, dim, codebook_size, codebook_dim=None, heads=1, decay=0.8, eps=1e-5, use_cosine_sim=False,
                 accept_image_fmap=False, channel_last=True, commitment_weight=1.0, **kwargs):
        super().__init__()
        codebook_dim = codebook_dim or dim
        self.dim, self.heads, self.codebook_size, self.commitment_weight = dim, heads, codebook_size, commitment_weight
        self.accept_image_fmap, self.channel_last = accept_image_fmap, channel_last
        inner = codebook_dim * heads
        self.project_in = nn.Linear(dim, inner) if inner != dim else nn.Identity()
        self.project_out = nn.Linear(inner, dim) if inner != dim else nn.Identity()
        self._codebook = _Entries(codebook_dim, codebook_size, decay, eps, use_cosine_sim)

    @property
    def codebook(self):
        return self._codebook.embed[0]

    def get_codes_from_indices(self, indices):
        return F.embedding(indices, self.codebook)

    def get_output_from_indices(self, indices):
        return self.project_out(self.get_codes_from_indices(indices))

    def forward(self, x, indices=None, mask=None, freeze_codebook=False, **kwargs):
        if self.accept_image_fmap:
            height, width = x.shape[-2:]
            x = x.flatten(2).transpose(1, 2)
        elif not self.channel_last:
            x = x.transpose(1, 2)
        x = self.project_in(x)
        if self.heads > 1:
            x = x.reshape(*x.shape[:-1], self.heads, -1)
        quantize, found = self._codebook(x, learns=not freeze_codebook)
        loss = torch.zeros(1, device=x.device, requires_grad=self.training)
        if self.training:
            commit = quantize.detach()
            quantize = x + (quantize - x).detach()
            if self.commitment_weight > 0:
                loss = loss + F.mse_loss(commit, x) * self.commitment_weight
        quantize = self.project_out(quantize.flatten(-2) if self.heads > 1 else quantize)
        if self.accept_image_fmap:
            quantize = quantize.transpose(1, 2).reshape(x.shape[0], -1, height, width)
            found = found.reshape(x.shape[0], height, width, *found.shape[2:])
        elif not self.channel_last:
            quantize = quantize.transpose(1, 2)
        return quantize, found, loss


class ResidualVQ(nn.Module):
    def __init__(self, *, dim, num_quantizers, codebook_dim=None, accept_image_fmap=False, quantize_dropout=False, **kwargs):
        super().__init__()
        inner = codebook_dim or dim
        self.num_quantizers, self.accept_image_fmap = num_quantizers, accept_image_fmap
        self.project_in = nn.Linear(dim, inner) if inner != dim else nn.Identity()
        self.project_out = nn.Linear(inner, dim) if inner != dim else nn.Identity()
        self.layers = nn.ModuleList([
            VectorQuantize(dim=inner, accept_image_fmap=accept_image_fmap, **kwargs) for _ in range(num_quantizers)])

    @property
    def codebooks(self):
        return torch.stack([layer._codebook.embed for layer in self.layers]).squeeze(1)

    def get_codes_from_indices(self, indices):
        return torch.stack([layer.get_codes_from_indices(indices[..., i]) for i, layer in enumerate(self.layers)])

    def get_output_from_indices(self, indices):
        return self.project_out(self.get_codes_from_indices(indices).sum(dim=0))

    def forward(self, x, mask=None, return_all_codes=False, **kwargs):
        x = self.project_in(x)
        out, residual, losses, indices, codes = 0.0, x, [], [], []
        for layer in self.layers:
            quantized, found, loss = layer(residual)
            residual, out = residual - quantized.detach(), out + quantized
            indices.append(found)
            losses.append(loss)
            codes.append(quantized)
        made = (self.project_out(out), torch.stack(indices, dim=-1), torch.stack(losses, dim=-1))
        return (*made, torch.stack(codes)) if return_all_codes else made


class FSQ(nn.Module):
    def __init__(self, levels, dim=None, num_codebooks=1, keep_num_codebooks_dim=None, scale=None, channel_first=False,
                 projection_has_bias=True, return_indices=True, **kwargs):
        super().__init__()
        self.register_buffer("_levels", torch.tensor(levels, dtype=torch.int32), persistent=False)
        steps = [1]
        for n in levels[:-1]:
            steps.append(steps[-1] * n)
        self.register_buffer("_basis", torch.tensor(steps, dtype=torch.int32), persistent=False)
        self.codebook_size = steps[-1] * levels[-1]
        self.codebook_dim, self.num_codebooks, self.channel_first = len(levels), num_codebooks, channel_first
        self.effective_codebook_dim, self.returns = len(levels) * num_codebooks, return_indices
        self.keep = num_codebooks > 1 if keep_num_codebooks_dim is None else keep_num_codebooks_dim
        self.dim = dim or self.effective_codebook_dim
        projects = self.dim != self.effective_codebook_dim
        linear = lambda a, b: nn.Linear(a, b, bias=projection_has_bias) if projects else nn.Identity()
        self.project_in = linear(self.dim, self.effective_codebook_dim)
        self.project_out = linear(self.effective_codebook_dim, self.dim)

    def bound(self, z, eps=1e-3):
        half = (self._levels - 1) * (1 + eps) / 2
        offset = torch.where(self._levels % 2 == 0, 0.5, 0.0)
        return (z + (offset / half).atanh()).tanh() * half - offset

    def quantize(self, z):
        bounded = self.bound(z)
        return (bounded + (bounded.round() - bounded).detach()) / (self._levels // 2)

    def codes_to_indices(self, codes):
        half = self._levels // 2
        return ((codes * half + half) * self._basis).sum(dim=-1).round().to(torch.int32)

    def forward(self, z):
        as_map = z.ndim >= 4 or self.channel_first
        if as_map:
            space = z.shape[2:]
            z = z.flatten(2).transpose(1, 2)
        z = self.project_in(z)
        codes = self.quantize(z.reshape(*z.shape[:-1], self.num_codebooks, self.codebook_dim))
        indices = self.codes_to_indices(codes) if self.returns else None
        out = self.project_out(codes.flatten(-2))
        if as_map:
            out = out.transpose(1, 2).reshape(out.shape[0], -1, *space)
            indices = None if indices is None else indices.reshape(out.shape[0], *space, self.num_codebooks)
        if indices is not None and not self.keep:
            indices = indices.squeeze(-1)
        return out, indices
`;

export const QUANTIZERS: Readonly<Record<string, string>> = {
  "taming.modules.vqvae.quantize": TAMING,
  vector_quantize_pytorch: VECTOR_QUANTIZE,
};

/** packages that hold them */
export const QUANTIZER_PACKAGES = ["taming", "taming.modules", "taming.modules.vqvae"] as const;
