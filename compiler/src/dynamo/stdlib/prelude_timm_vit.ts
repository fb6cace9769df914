// timm's Vision Transformer (Dosovitskiy et al. 2021): what model files derive from, take apart, or make by a name. In: nothing.
// Out: Python text; weights are never loaded.

export const TIMM_VIT = `
from timm.layers import DropPath, LayerScale, Mlp, PatchEmbed, trunc_normal_, use_fused_attn


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=False, qk_norm=False, proj_bias=True, attn_drop=0.0, proj_drop=0.0,
                 norm_layer=nn.LayerNorm, **kwargs):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.fused_attn = use_fused_attn()
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x, attn_mask=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        if self.fused_attn:
            x = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask,
                                               dropout_p=self.attn_drop.p if self.training else 0.0)
        else:
            q = q * self.scale
            attn = q @ k.transpose(-2, -1)
            attn = attn.softmax(dim=-1)
            attn = self.attn_drop(attn)
            x = attn @ v
        x = x.transpose(1, 2).reshape(B, N, C)
        x = self.proj(x)
        x = self.proj_drop(x)
        return x


class Block(nn.Module):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, qkv_bias=False, qk_norm=False, proj_bias=True, proj_drop=0.0,
                 attn_drop=0.0, init_values=None, drop_path=0.0, act_layer=nn.GELU, norm_layer=nn.LayerNorm,
                 mlp_layer=Mlp, **kwargs):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads=num_heads, qkv_bias=qkv_bias, qk_norm=qk_norm, proj_bias=proj_bias,
                              attn_drop=attn_drop, proj_drop=proj_drop, norm_layer=norm_layer)
        self.ls1 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = mlp_layer(in_features=dim, hidden_features=int(dim * mlp_ratio), act_layer=act_layer, bias=proj_bias,
                             drop=proj_drop)
        self.ls2 = LayerScale(dim, init_values=init_values) if init_values else nn.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0.0 else nn.Identity()

    def forward(self, x, attn_mask=None):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x), attn_mask=attn_mask)))
        x = x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))
        return x


def resample_abs_pos_embed(posemb, new_size, old_size=None, num_prefix_tokens=1, interpolation="bicubic", antialias=True,
                           verbose=False):
    # positions of a grid for one of another size; those of the tokens before it stay
    prefix, grid = posemb[:, :num_prefix_tokens], posemb[:, num_prefix_tokens:]
    side = int(grid.shape[1] ** 0.5)
    old = old_size or (side, side)
    if tuple(old) == tuple(new_size):
        return posemb
    grid = grid.reshape(1, old[0], old[1], -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=tuple(new_size), mode=interpolation, antialias=antialias)
    grid = grid.permute(0, 2, 3, 1).reshape(1, new_size[0] * new_size[1], -1)
    return torch.cat([prefix, grid], dim=1)


class VisionTransformer(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, num_classes=1000, global_pool="token", embed_dim=768,
                 depth=12, num_heads=12, mlp_ratio=4.0, qkv_bias=True, qk_norm=False, init_values=None, class_token=True,
                 pos_embed="learn", no_embed_class=False, reg_tokens=0, pre_norm=False, final_norm=True, fc_norm=None,
                 dynamic_img_size=False, dynamic_img_pad=False, drop_rate=0.0, pos_drop_rate=0.0, patch_drop_rate=0.0,
                 proj_drop_rate=0.0, attn_drop_rate=0.0, drop_path_rate=0.0, norm_layer=None, act_layer=None,
                 block_fn=Block, mlp_layer=Mlp, embed_layer=PatchEmbed, **kwargs):
        super().__init__()
        norm_layer = norm_layer or (lambda d: nn.LayerNorm(d, eps=1e-6))
        act_layer = act_layer or nn.GELU
        self.num_classes, self.global_pool = num_classes, global_pool
        self.num_features = self.head_hidden_size = self.embed_dim = embed_dim
        self.num_prefix_tokens = (1 if class_token else 0) + reg_tokens
        self.num_reg_tokens, self.has_class_token = reg_tokens, class_token
        self.no_embed_class, self.dynamic_img_size, self.grad_checkpointing = no_embed_class, dynamic_img_size, False
        self.patch_embed = embed_layer(img_size=img_size, patch_size=patch_size, in_chans=in_chans, embed_dim=embed_dim,
                                       **({"bias": False} if pre_norm else {}))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim)) if class_token else None
        if reg_tokens:
            self.reg_token = nn.Parameter(torch.zeros(1, reg_tokens, embed_dim))
        embedded = self.patch_embed.num_patches + (0 if no_embed_class else self.num_prefix_tokens)
        self.pos_embed = nn.Parameter(torch.zeros(1, embedded, embed_dim)) if pos_embed and pos_embed != "none" else None
        self.pos_drop = nn.Dropout(p=pos_drop_rate)
        self.patch_drop = nn.Identity()
        self.norm_pre = norm_layer(embed_dim) if pre_norm else nn.Identity()
        self.blocks = nn.Sequential(*[
            block_fn(dim=embed_dim, num_heads=num_heads, mlp_ratio=mlp_ratio, qkv_bias=qkv_bias, qk_norm=qk_norm,
                     init_values=init_values, proj_drop=proj_drop_rate, attn_drop=attn_drop_rate,
                     drop_path=drop_path_rate * i / max(1, depth - 1), norm_layer=norm_layer, act_layer=act_layer)
            for i in range(depth)])
        patch = self.patch_embed.patch_size
        self.feature_info = [dict(module="blocks.%d" % i, num_chs=embed_dim, reduction=patch[0]) for i in range(depth)]
        pooled = global_pool in ("avg", "avgmax", "max") if fc_norm is None else fc_norm
        self.norm = norm_layer(embed_dim) if final_norm and not pooled else nn.Identity()
        self.fc_norm = norm_layer(embed_dim) if final_norm and pooled else nn.Identity()
        self.pre_logits = nn.Identity()
        self.head_drop = nn.Dropout(drop_rate)
        self.head = nn.Linear(embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def init_weights(self, mode=""):
        pass

    def _init_weights(self, m):
        pass

    def no_weight_decay(self):
        return {"pos_embed", "cls_token", "dist_token"}

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def get_classifier(self):
        return self.head

    def reset_classifier(self, num_classes, global_pool=None):
        self.num_classes = num_classes
        self.global_pool = self.global_pool if global_pool is None else global_pool
        self.head = nn.Linear(self.embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def _pos_embed(self, x):
        before = [t.expand(x.shape[0], -1, -1) for t in (self.cls_token, getattr(self, "reg_token", None)) if t is not None]
        table = self.pos_embed
        if table is not None and self.dynamic_img_size:
            table = resample_abs_pos_embed(table, self._grid, self.patch_embed.grid_size,
                                           0 if self.no_embed_class else self.num_prefix_tokens)
        if self.no_embed_class and table is not None:
            x = x + table
        if before:
            x = torch.cat(before + [x], dim=1)
        if not self.no_embed_class and table is not None:
            x = x + table
        return self.pos_drop(x)

    def _embedded(self, x):
        patch = self.patch_embed.patch_size
        if x.ndim == 4:
            self._grid = (x.shape[-2] // patch[0], x.shape[-1] // patch[1])
        return self.norm_pre(self.patch_drop(self._pos_embed(self.patch_embed(x))))

    def forward_features(self, x):
        return self.norm(self.blocks(self._embedded(x)))

    def _of_blocks(self, x, indices):
        wanted = range(len(self.blocks) - indices, len(self.blocks)) if isinstance(indices, int) else indices
        wanted = [i % len(self.blocks) for i in (range(len(self.blocks)) if wanted is None else wanted)]
        x, found = self._embedded(x), []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i in wanted:
                found.append(x)
        return x, found

    def _parts(self, x, norm, maps):
        x = self.norm(x) if norm else x
        tokens, n = x[:, self.num_prefix_tokens:], self.num_prefix_tokens
        if maps:
            tokens = tokens.reshape(x.shape[0], self._grid[0], self._grid[1], -1).permute(0, 3, 1, 2).contiguous()
        return tokens, x[:, :n]

    def get_intermediate_layers(self, x, n=1, reshape=False, return_prefix_tokens=False, norm=False, **kwargs):
        parts = [self._parts(y, norm, reshape) for y in self._of_blocks(x, n)[1]]
        return tuple(parts) if return_prefix_tokens else tuple(tokens for tokens, _ in parts)

    def forward_intermediates(self, x, indices=None, return_prefix_tokens=False, norm=False, stop_early=False,
                              output_fmt="NCHW", intermediates_only=False, **kwargs):
        x, found = self._of_blocks(x, indices)
        parts = [self._parts(y, norm, output_fmt == "NCHW") for y in found]
        parts = parts if return_prefix_tokens else [tokens for tokens, _ in parts]
        return parts if intermediates_only else (self.norm(x), parts)

    def pool(self, x, pool_type=None):
        kind = self.global_pool if pool_type is None else pool_type
        if not kind:
            return x
        if kind == "token":
            return x[:, 0]
        x = x[:, self.num_prefix_tokens:]
        return x.amax(dim=1) if kind == "max" else x.mean(dim=1)

    def forward_head(self, x, pre_logits=False):
        x = self.head_drop(self.fc_norm(self.pool(x)))
        return x if pre_logits else self.head(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.forward_head(x)


class VisionTransformerDistilled(VisionTransformer):
    # a second token, which learns of a teacher, and a classifier of its own
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        width, self.num_prefix_tokens = self.embed_dim, 2
        self.num_tokens, self.distilled_training = 2, False
        self.dist_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.patch_embed.num_patches + 2, width))
        self.head_dist = nn.Linear(width, self.num_classes) if self.num_classes > 0 else nn.Identity()

    def _pos_embed(self, x):
        before = [t.expand(x.shape[0], -1, -1) for t in (self.cls_token, self.dist_token)]
        return self.pos_drop(torch.cat(before + [x], dim=1) + self.pos_embed)

    def forward_head(self, x, pre_logits=False):
        x, x_dist = x[:, 0], x[:, 1]
        if pre_logits:
            return (x + x_dist) / 2
        x, x_dist = self.head(x), self.head_dist(x_dist)
        return (x, x_dist) if self.distilled_training and self.training else (x + x_dist) / 2


def _by_name(name):
    def make(pretrained=False, **kwargs):
        from timm.models import create_model
        return create_model(name, pretrained, **kwargs)
    return make


for _name in [*["%s_%s_patch%s" % (family, size, patch) for family in ("vit", "deit") for size in ("tiny", "small", "base", "large")
                for patch in ("16_224", "16_384", "32_224", "32_384", "8_224")], "vit_huge_patch14_224"]:
    globals()[_name] = _by_name(_name)


def _cfg(url="", **kwargs):
    return {"url": url, **kwargs}
`;
