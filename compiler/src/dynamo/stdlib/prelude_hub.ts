// What torch.hub.load gives: models of known repositories, as torchvision's and timm's, DINO's and DINOv2's Vision Transformers
// (Caron et al. 2021, Oquab et al. 2023), and what a hubconf.py of the project makes. In: nothing. Out: Python text; weights are
// never loaded, and what is not known is an unknown value.

export const HUB = `
import re
from timm.models.vision_transformer import VisionTransformer, resample_abs_pos_embed


class DinoVisionTransformer(VisionTransformer):
    def __init__(self, patch_size, registers=0, **kwargs):
        super().__init__(patch_size=patch_size, num_classes=0, dynamic_img_size=True, **kwargs)
        width = self.embed_dim
        self.mask_token = nn.Parameter(torch.zeros(1, width))
        self.register_tokens = nn.Parameter(torch.zeros(1, registers, width)) if registers else None
        self.num_register_tokens, self.num_prefix_tokens = registers, 1 + registers
        self.patch_size, self.n_blocks, self.num_heads = patch_size, len(self.blocks), self.blocks[0].attn.num_heads

    def _pos_embed(self, x):
        table = resample_abs_pos_embed(self.pos_embed, self._grid, self.patch_embed.grid_size)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + table
        if self.register_tokens is not None:
            x = torch.cat([x[:, :1], self.register_tokens.expand(x.shape[0], -1, -1), x[:, 1:]], dim=1)
        return x

    def prepare_tokens_with_masks(self, x, masks=None):
        return self._embedded(x)

    def forward_features(self, x, masks=None):
        x = self.blocks(self._embedded(x))
        normed = self.norm(x)
        return {"x_norm_clstoken": normed[:, 0], "x_norm_regtokens": normed[:, 1:self.num_prefix_tokens],
                "x_norm_patchtokens": normed[:, self.num_prefix_tokens:], "x_prenorm": x, "masks": masks}

    def get_intermediate_layers(self, x, n=1, reshape=False, return_class_token=False, norm=True):
        parts = [self._parts(y, norm, reshape) for y in self._of_blocks(x, n)[1]]
        return tuple((tokens, before[:, 0]) for tokens, before in parts) if return_class_token else tuple(t for t, _ in parts)

    def forward(self, x, masks=None, is_training=False):
        found = self.forward_features(x, masks)
        return found if is_training else self.head(found["x_norm_clstoken"])


class _FirstDino(VisionTransformer):
    def get_intermediate_layers(self, x, n=1):
        return [self.norm(y) for y in self._of_blocks(x, n)[1]]

    def forward(self, x):
        return self.forward_features(x)[:, 0]


_SIZES = {"s": (384, 12, 6), "b": (768, 12, 12), "l": (1024, 24, 16)}


def _dino(model):
    found = re.match(r"^(dino|dinov2)_vit([sbl])(\\d+)(_reg)?$", model)
    if found is None:
        return None
    family, size, patch, registers = found.groups()
    width, depth, heads = _SIZES[size]
    given = dict(embed_dim=width, depth=depth, num_heads=heads)
    if family == "dino":
        return _FirstDino(patch_size=int(patch), num_classes=0, dynamic_img_size=True, **given)
    return DinoVisionTransformer(int(patch), img_size=518, init_values=1e-5, registers=4 if registers else 0, **given)


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
         skip_validation=False, **kwargs):
    if not isinstance(repo_or_dir, str) or not isinstance(model, str):
        return _unknown("torch.hub.load(...)")
    entries = _project_hub(repo_or_dir) if source == "local" else None
    if entries is not None:
        return getattr(entries, model)(*args, **kwargs)
    given = {k: v for k, v in kwargs.items() if k not in ("pretrained", "weights", "progress")}
    repository = repo_or_dir.split(":")[0]
    if repository in ("facebookresearch/dino", "facebookresearch/dinov2"):
        made = _dino(model)
        if made is not None:
            return made
    if repository.startswith("rwightman/") or repository == "huggingface/pytorch-image-models":
        import timm
        return timm.create_model(model, **given)
    name = re.sub(r"_(wsl|swsl|ssl)$", "", model)
    if repository == "pytorch/vision" or name != model:
        import torchvision
        known = getattr(torchvision.models, name, None)
        if known is not None:
            return known(**given)
    return _unknown("torch.hub.load(...)")

`;
