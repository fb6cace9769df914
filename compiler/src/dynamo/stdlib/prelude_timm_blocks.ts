// Blocks of timm's that its layers are put together from: pooling by name, convolutions with norm and activation. In:
// nothing. Out: Python text that follows the layers' own.

export const TIMM_BLOCKS = `
def get_padding(kernel_size, stride=1, dilation=1, **kwargs):
    return ((stride - 1) + dilation * (kernel_size - 1)) // 2


def create_conv2d(in_channels, out_channels, kernel_size, stride=1, padding="", dilation=1, depthwise=False, groups=1,
                  bias=False, **kwargs):
    padding = get_padding(kernel_size, stride, dilation) if isinstance(padding, str) else padding
    return nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation,
                     groups=in_channels if depthwise else groups, bias=bias)


def _act(act_layer, inplace=True):
    if act_layer is None:
        return nn.Identity()
    return create_act_layer(act_layer) if isinstance(act_layer, str) else act_layer()


class BatchNormAct2d(nn.BatchNorm2d):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, apply_act=True,
                 act_layer=nn.ReLU, inplace=True, drop_layer=None, **kwargs):
        super().__init__(num_features, eps, momentum, affine, track_running_stats)
        self.drop = drop_layer() if drop_layer is not None else nn.Identity()
        self.act = _act(act_layer) if apply_act else nn.Identity()

    def forward(self, x):
        return self.act(self.drop(super().forward(x)))


class ConvNormAct(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size=1, stride=1, padding="", dilation=1, groups=1, bias=False,
                 apply_norm=True, apply_act=True, norm_layer=nn.BatchNorm2d, act_layer=nn.ReLU, drop_layer=None, **kwargs):
        super().__init__()
        self.conv = create_conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation, groups=groups, bias=bias)
        norms = norm_layer if apply_norm and norm_layer is not None else None
        self.bn = nn.Sequential(nn.Identity() if norms is None else norms(out_channels),
                                _act(act_layer) if apply_act else nn.Identity())

    def forward(self, x):
        return self.bn(self.conv(x))


ConvBnAct = ConvNormActAa = ConvNormAct


class GlobalResponseNorm(nn.Module):
    def __init__(self, dim, eps=1e-6, channels_last=True):
        super().__init__()
        self.eps = eps
        self.spatial_dim, self.channel_dim = ((1, 2), -1) if channels_last else ((2, 3), 1)
        self.wb_shape = (1, 1, 1, -1) if channels_last else (1, -1, 1, 1)
        self.weight, self.bias = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        x_g = x.norm(p=2, dim=self.spatial_dim, keepdim=True)
        x_n = x_g / (x_g.mean(dim=self.channel_dim, keepdim=True) + self.eps)
        return x + torch.addcmul(self.bias.view(self.wb_shape), self.weight.view(self.wb_shape), x * x_n)


def adaptive_pool_feat_mult(pool_type="avg"):
    return 2 if pool_type.endswith("catavgmax") else 1


class SelectAdaptivePool2d(nn.Module):
    def __init__(self, output_size=1, pool_type="fast", flatten=False, input_fmt="NCHW"):
        super().__init__()
        self.pool_type, self.output_size = pool_type or "", output_size
        self.axes = (2, 3) if input_fmt == "NCHW" else (1, 2)
        self.flatten = nn.Flatten(1) if flatten and not self.pool_type.startswith("fast") else nn.Identity()
        self.keep = not flatten

    def is_identity(self):
        return not self.pool_type

    def feat_mult(self):
        return adaptive_pool_feat_mult(self.pool_type)

    def forward(self, x):
        kind = self.pool_type
        if kind.startswith("fast"):
            over, kind = self.axes, kind[4:]
            mean = lambda: x.mean(over, keepdim=self.keep)
            most = lambda: x.amax(over, keepdim=self.keep)
        else:
            mean = lambda: F.adaptive_avg_pool2d(x, self.output_size)
            most = lambda: F.adaptive_max_pool2d(x, self.output_size)
        if kind == "max":
            x = most()
        elif kind == "avgmax":
            x = 0.5 * (mean() + most())
        elif kind == "catavgmax":
            x = torch.cat((mean(), most()), 1)
        elif self.pool_type:
            x = mean()
        return self.flatten(x)


def create_classifier(num_features, num_classes, pool_type="avg", use_conv=False, **kwargs):
    pool = SelectAdaptivePool2d(pool_type=pool_type, flatten=not use_conv)
    num_features = num_features * pool.feat_mult()
    if num_classes <= 0:
        return pool, nn.Identity()
    return pool, nn.Conv2d(num_features, num_classes, 1) if use_conv else nn.Linear(num_features, num_classes)


class AttentionPoolLatent(nn.Module):
    # learned queries that look at all tokens, and an MLP beside
    def __init__(self, in_features, out_features=None, embed_dim=None, num_heads=8, feat_size=None, mlp_ratio=4.0, qkv_bias=True,
                 qk_norm=False, latent_len=1, latent_dim=None, pos_embed="", pool_type="token", norm_layer=None,
                 act_layer=nn.GELU, drop=0.0, **kwargs):
        super().__init__()
        width = embed_dim or in_features
        assert width % num_heads == 0
        self.num_heads, self.head_dim, self.pool = num_heads, width // num_heads, pool_type
        self.latent_dim, self.latent_len = latent_dim or width, latent_len
        self.latent = nn.Parameter(torch.zeros(1, latent_len, width))
        self.pos_embed = nn.Parameter(torch.zeros(feat_size, in_features)) if pos_embed == "abs" else None
        self.q, self.kv = nn.Linear(width, width, bias=qkv_bias), nn.Linear(width, width * 2, bias=qkv_bias)
        layer = norm_layer or nn.LayerNorm
        self.q_norm, self.k_norm = (layer(self.head_dim) if qk_norm else nn.Identity() for _ in range(2))
        self.proj, self.proj_drop = nn.Linear(width, width), nn.Dropout(drop)
        out_features = in_features if out_features is None else out_features
        self.norm = layer(out_features) if out_features > 0 else nn.Identity()
        self.mlp = Mlp(out_features, int(out_features * mlp_ratio), act_layer=act_layer) if out_features > 0 and mlp_ratio > 0 else None

    def forward(self, x, attn_mask=None):
        B, N, C = x.shape
        if self.pos_embed is not None:
            x = x + self.pos_embed.unsqueeze(0).to(x.dtype)
        q = self.q(self.latent.expand(B, -1, -1)).reshape(B, self.latent_len, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = self.kv(x).reshape(B, N, 2, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, attn_mask=attn_mask)
        x = self.proj_drop(self.proj(x.transpose(1, 2).reshape(B, self.latent_len, C)))
        if self.mlp is not None:
            x = x + self.mlp(self.norm(x))
        return x[:, 0] if self.pool == "token" else x.mean(1) if self.pool == "avg" else x
`;
