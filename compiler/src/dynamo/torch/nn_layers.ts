// The layers of torch.nn. A layer that is one functional call is a line of a table: its constructor, and the call as the
// pre-grad graph shows it (argument order and keywords matter: they decide the order of graph inputs). Layers with
// structure are written out. Everything is compiled on first use.

/** name, constructor parameters (each kept as an attribute), forward's expression over `input` */
const SIMPLE: readonly (readonly [string, string, string])[] = [
  ["ReLU", "inplace=False", "F.relu(input, inplace=self.inplace)"],
  [
    "RReLU",
    "lower=0.125, upper=0.3333333333333333, inplace=False",
    "F.rrelu(input, self.lower, self.upper, self.training, self.inplace)",
  ],
  [
    "Hardtanh",
    "min_val=-1.0, max_val=1.0, inplace=False",
    "F.hardtanh(input, self.min_val, self.max_val, self.inplace)",
  ],
  ["Sigmoid", "", "torch.sigmoid(input)"],
  ["Hardsigmoid", "inplace=False", "F.hardsigmoid(input, self.inplace)"],
  ["Tanh", "", "torch.tanh(input)"],
  ["SiLU", "inplace=False", "F.silu(input, inplace=self.inplace)"],
  ["Mish", "inplace=False", "F.mish(input, inplace=self.inplace)"],
  ["Hardswish", "inplace=False", "F.hardswish(input, self.inplace)"],
  ["ELU", "alpha=1.0, inplace=False", "F.elu(input, self.alpha, self.inplace)"],
  ["CELU", "alpha=1.0, inplace=False", "F.celu(input, self.alpha, self.inplace)"],
  ["SELU", "inplace=False", "F.selu(input, self.inplace)"],
  ["GLU", "dim=-1", "F.glu(input, self.dim)"],
  ["GELU", "approximate='none'", "F.gelu(input, approximate=self.approximate)"],
  ["Hardshrink", "lambd=0.5", "F.hardshrink(input, self.lambd)"],
  ["LeakyReLU", "negative_slope=0.01, inplace=False", "F.leaky_relu(input, self.negative_slope, self.inplace)"],
  ["LogSigmoid", "", "F.logsigmoid(input)"],
  ["Softplus", "beta=1.0, threshold=20.0", "F.softplus(input, self.beta, self.threshold)"],
  ["Softshrink", "lambd=0.5", "F.softshrink(input, self.lambd)"],
  ["Softsign", "", "F.softsign(input)"],
  ["Tanhshrink", "", "F.tanhshrink(input)"],
  ["Threshold", "threshold, value, inplace=False", "F.threshold(input, self.threshold, self.value, self.inplace)"],
  ["Softmin", "dim=None", "F.softmin(input, self.dim, _stacklevel=5)"],
  ["Softmax", "dim=None", "F.softmax(input, self.dim, _stacklevel=5)"],
  ["Softmax2d", "", "F.softmax(input, -3, _stacklevel=5)"],
  ["LogSoftmax", "dim=None", "F.log_softmax(input, self.dim, _stacklevel=5)"],
  ["Dropout", "p=0.5, inplace=False", "F.dropout(input, self.p, self.training, self.inplace)"],
  ["Dropout1d", "p=0.5, inplace=False", "F.dropout1d(input, self.p, self.training, self.inplace)"],
  ["Dropout2d", "p=0.5, inplace=False", "F.dropout2d(input, self.p, self.training, self.inplace)"],
  ["Dropout3d", "p=0.5, inplace=False", "F.dropout3d(input, self.p, self.training, self.inplace)"],
  ["AlphaDropout", "p=0.5, inplace=False", "F.alpha_dropout(input, self.p, self.training)"],
  ["FeatureAlphaDropout", "p=0.5, inplace=False", "F.feature_alpha_dropout(input, self.p, self.training)"],
  ["Flatten", "start_dim=1, end_dim=-1", "input.flatten(self.start_dim, self.end_dim)"],
  ["Unflatten", "dim, unflattened_size", "input.unflatten(self.dim, self.unflattened_size)"],
  ["PixelShuffle", "upscale_factor", "F.pixel_shuffle(input, self.upscale_factor)"],
  ["PixelUnshuffle", "downscale_factor", "F.pixel_unshuffle(input, self.downscale_factor)"],
  ["ChannelShuffle", "groups", "F.channel_shuffle(input, self.groups)"],
  [
    "Unfold",
    "kernel_size, dilation=1, padding=0, stride=1",
    "F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)",
  ],
  [
    "Fold",
    "output_size, kernel_size, dilation=1, padding=0, stride=1",
    "F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)",
  ],
  [
    "LocalResponseNorm",
    "size, alpha=0.0001, beta=0.75, k=1.0",
    "F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)",
  ],
  ["AdaptiveAvgPool1d", "output_size", "F.adaptive_avg_pool1d(input, self.output_size)"],
  ["AdaptiveAvgPool2d", "output_size", "F.adaptive_avg_pool2d(input, self.output_size)"],
  ["AdaptiveAvgPool3d", "output_size", "F.adaptive_avg_pool3d(input, self.output_size)"],
  [
    "AdaptiveMaxPool1d",
    "output_size, return_indices=False",
    "F.adaptive_max_pool1d(input, self.output_size, self.return_indices)",
  ],
  [
    "AdaptiveMaxPool2d",
    "output_size, return_indices=False",
    "F.adaptive_max_pool2d(input, self.output_size, self.return_indices)",
  ],
  [
    "AdaptiveMaxPool3d",
    "output_size, return_indices=False",
    "F.adaptive_max_pool3d(input, self.output_size, self.return_indices)",
  ],
  [
    "Upsample",
    "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
    "F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners, recompute_scale_factor=self.recompute_scale_factor)",
  ],
  ["CosineSimilarity", "dim=1, eps=1e-08", "F.cosine_similarity(input, *rest, self.dim, self.eps)"],
  [
    "PairwiseDistance",
    "p=2.0, eps=1e-06, keepdim=False",
    "F.pairwise_distance(input, *rest, self.p, self.eps, self.keepdim)",
  ],
];

/** losses: constructor parameters, forward(input, target) */
const LOSSES: readonly (readonly [string, string, string])[] = [
  ["L1Loss", "size_average=None, reduce=None, reduction='mean'", "F.l1_loss(input, target, reduction=self.reduction)"],
  [
    "MSELoss",
    "size_average=None, reduce=None, reduction='mean'",
    "F.mse_loss(input, target, reduction=self.reduction)",
  ],
  [
    "SmoothL1Loss",
    "size_average=None, reduce=None, reduction='mean', beta=1.0",
    "F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)",
  ],
  [
    "HuberLoss",
    "reduction='mean', delta=1.0",
    "F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)",
  ],
  [
    "KLDivLoss",
    "size_average=None, reduce=None, reduction='mean', log_target=False",
    "F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)",
  ],
  [
    "SoftMarginLoss",
    "size_average=None, reduce=None, reduction='mean'",
    "F.soft_margin_loss(input, target, reduction=self.reduction)",
  ],
  [
    "HingeEmbeddingLoss",
    "margin=1.0, size_average=None, reduce=None, reduction='mean'",
    "F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)",
  ],
  [
    "PoissonNLLLoss",
    "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'",
    "F.poisson_nll_loss(input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction)",
  ],
  [
    "MultiLabelMarginLoss",
    "size_average=None, reduce=None, reduction='mean'",
    "F.multilabel_margin_loss(input, target, reduction=self.reduction)",
  ],
];

const WEIGHTED: readonly (readonly [string, string, string])[] = [
  [
    "CrossEntropyLoss",
    "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
    "F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, label_smoothing=self.label_smoothing)",
  ],
  [
    "NLLLoss",
    "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
    "F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)",
  ],
  [
    "BCELoss",
    "weight=None, size_average=None, reduce=None, reduction='mean'",
    "F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)",
  ],
  [
    "BCEWithLogitsLoss",
    "weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None",
    "F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction)",
  ],
];

/** pooling and padding by number of spatial dims */
function pools(): (readonly [string, string, string])[] {
  const out: (readonly [string, string, string])[] = [];
  for (const n of [1, 2, 3]) {
    out.push([
      `MaxPool${n}d`,
      "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
      `F.max_pool${n}d(input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode, return_indices=self.return_indices)`,
    ]);
    const divisor = n === 1 ? "" : ", divisor_override=None";
    out.push([
      `AvgPool${n}d`,
      `kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True${divisor}`,
      `F.avg_pool${n}d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad${n === 1 ? "" : ", self.divisor_override"})`,
    ]);
  }
  return out;
}

function simpleClass(
  [name, params, expression]: readonly [string, string, string],
  inputs = "input",
  base = "Module",
): string {
  const names = params === "" ? [] : params.split(",").map(p => p.trim().split("=")[0] ?? "");
  const keep = names.filter(n => n !== "size_average" && n !== "reduce" && !(n === "weight" && base === "_Weighted"));
  const rest = expression.includes("*rest") ? ", *rest" : "";
  const lines = keep.map(
    n => `        self.${n} = ${n === "stride" && /Pool/.test(name) ? "kernel_size if stride is None else stride" : n}`,
  );
  const weight = base === "_Weighted" ? "        self.register_buffer('weight', weight)\n" : "";
  const pos = names.includes("pos_weight") ? "        self.register_buffer('pos_weight', pos_weight)\n" : "";
  const body = lines.filter(l => !l.includes("self.pos_weight")).join("\n");
  const init =
    params === "" && base === "Module"
      ? ""
      : `    def __init__(self${params ? `, ${params}` : ""}):\n        super().__init__()\n${weight}${pos}${body ? `${body}\n` : ""}\n`;
  return `class ${name}(${base === "_Weighted" ? "Module" : base}):\n${init}    def forward(self, ${inputs}${rest}):\n        return ${expression}\n`;
}

const STRUCTURED: Readonly<Record<string, string>> = {
  Identity: `
class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input
`,
  ReLU6: `
class ReLU6(Hardtanh):
    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)
`,
  PReLU: `
class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(torch.empty(num_parameters, device=device, dtype=dtype))

    def forward(self, input):
        return F.prelu(input, self.weight)
`,
  Linear: `
class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    pass
`,
  Bilinear: `
class Bilinear(Module):
    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.weight = Parameter(torch.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)
`,
  Embedding: `
class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None and padding_idx < 0:
            padding_idx = num_embeddings + padding_idx
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            _weight = torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
        self.weight = Parameter(_weight, requires_grad=not _freeze)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
                           self.scale_grad_by_freq, self.sparse)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **kwargs):
        rows, cols = embeddings.shape
        return cls(rows, cols, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze, **kwargs)
`,
  EmbeddingBag: `
class EmbeddingBag(Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self.padding_idx = padding_idx
        self.weight = Parameter(torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset,
                               self.padding_idx)
`,
  LayerNorm: `
class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(torch.empty(self.normalized_shape, device=device, dtype=dtype))
            if bias:
                self.bias = Parameter(torch.empty(self.normalized_shape, device=device, dtype=dtype))
            else:
                self.register_parameter("bias", None)
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)
`,
  RMSNorm: `
class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(torch.empty(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)
`,
  GroupNorm: `
class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        if affine:
            self.weight = Parameter(torch.empty(num_channels, device=device, dtype=dtype))
            self.bias = Parameter(torch.empty(num_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)

    def reset_parameters(self):
        pass

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)
`,
  _NormBase: `
class _NormBase(Module):
    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = Parameter(torch.empty(num_features, device=device, dtype=dtype))
            self.bias = Parameter(torch.empty(num_features, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", torch.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.long, device=device))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)

    def reset_parameters(self):
        pass

    reset_running_stats = reset_parameters

    def _check_input_dim(self, input):
        if input.dim() not in self._ranks:
            wanted = " or ".join(f"{n}D" for n in self._ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    factor = 1.0 / float(self.num_batches_tracked)
        if self.training:
            use_batch = True
        else:
            use_batch = (self.running_mean is None) and (self.running_var is None)
        return F.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight, self.bias, use_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        return module


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None,
                 dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check_input_dim(input)
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               self.momentum if self.momentum is not None else 0.0, self.eps)


class InstanceNorm1d(_InstanceNorm):
    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    _ranks = (4, 5)
`,
  _ConvNd: `
class _ConvNd(Module):
    def __init__(self, rank, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed,
                 output_padding, groups, bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _repeat(rank, kernel_size)
        self.stride = _repeat(rank, stride)
        self.padding = padding if isinstance(padding, str) else _repeat(rank, padding)
        self.dilation = _repeat(rank, dilation)
        self.transposed = transposed
        self.output_padding = _repeat(rank, output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._edges()
        shape = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(torch.empty((*shape, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        pass

    def _edges(self):
        edges = []
        for i in reversed(range(len(self.kernel_size))):
            if isinstance(self.padding, str):
                total = self.dilation[i] * (self.kernel_size[i] - 1) if self.padding == "same" else 0
                edges += [total // 2, total - total // 2]
            else:
                edges += [self.padding[i], self.padding[i]]
        return edges


class Conv1d(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(1, in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias,
                         padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv1d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, (0,), self.dilation, self.groups)
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(2, in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias,
                         padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv2d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, (0, 0), self.dilation, self.groups)
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(3, in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias,
                         padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv3d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, (0, 0, 0), self.dilation, self.groups)
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    def _output_padding(self, input, output_size, rank):
        if output_size is None:
            return self.output_padding
        sizes = list(output_size)[-rank:]
        extra = []
        for d in range(rank):
            least = ((input.size(d + 2) - 1) * self.stride[d] - 2 * self.padding[d]
                     + self.dilation[d] * (self.kernel_size[d] - 1) + 1)
            extra.append(sizes[d] - least)
        return extra


class ConvTranspose1d(_ConvTransposeNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(1, in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return F.conv_transpose1d(input, self.weight, self.bias, self.stride, self.padding,
                                  self._output_padding(input, output_size, 1), self.groups, self.dilation)


class ConvTranspose2d(_ConvTransposeNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(2, in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return F.conv_transpose2d(input, self.weight, self.bias, self.stride, self.padding,
                                  self._output_padding(input, output_size, 2), self.groups, self.dilation)


class ConvTranspose3d(_ConvTransposeNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(3, in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return F.conv_transpose3d(input, self.weight, self.bias, self.stride, self.padding,
                                  self._output_padding(input, output_size, 3), self.groups, self.dilation)
`,
  UpsamplingNearest2d: `
class UpsamplingNearest2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
`,
  _Padding: `
class _Padding(Module):
    _rank, _mode = 1, "constant"

    def __init__(self, padding, value=0.0):
        super().__init__()
        self.padding = _repeat(2 * self._rank, padding)
        self.value = value

    def forward(self, input):
        if self._mode == "constant":
            return F.pad(input, self.padding, "constant", self.value)
        return F.pad(input, self.padding, self._mode)


${["Constant", "Zero", "Reflection", "Replication", "Circular"]
  .flatMap(kind =>
    [1, 2, 3].map(
      n =>
        `class ${kind}Pad${n}d(_Padding):\n    _rank, _mode = ${n}, "${
          {
            Constant: "constant",
            Zero: "constant",
            Reflection: "reflect",
            Replication: "replicate",
            Circular: "circular",
          }[kind]
        }"\n`,
    ),
  )
  .join("\n\n")}
`,
  TripletMarginLoss: `
class TripletMarginLoss(Module):
    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.p, self.eps, self.swap, self.reduction = margin, p, eps, swap, reduction

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps,
                                     swap=self.swap, reduction=self.reduction)


class TripletMarginWithDistanceLoss(Module):
    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function, self.margin, self.swap, self.reduction = distance_function, margin, swap, reduction

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                   margin=self.margin, swap=self.swap, reduction=self.reduction)


class CosineEmbeddingLoss(Module):
    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(Module):
    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.reduction = margin, reduction

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class GaussianNLLLoss(Module):
    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)
`,
  Sequential: `
class Sequential(Module):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _at(self, index):
        keys = list(self._modules.keys())
        return keys[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(dict(list(self._modules.items())[index]))
        return self._modules[self._at(index)]

    def __setitem__(self, index, module):
        return setattr(self, self._at(index), module)

    def __delitem__(self, index):
        chosen = list(self._modules.keys())[index]
        for key in chosen if isinstance(index, slice) else [chosen]:
            delattr(self, key)
        kept = list(self._modules.values())
        self._modules.clear()
        for i, module in enumerate(kept):
            self._modules[str(i)] = module

    def __len__(self):
        return len(self._modules)

    def __add__(self, other):
        return self.__class__(*self, *other)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._modules.clear()
        for i, m in enumerate(kept):
            self._modules[str(i)] = m
        return self

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def forward(self, input):
        for module in self:
            input = module(input)
        return input
`,
  ModuleList: `
class ModuleList(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _key(self, index):
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        return setattr(self, self._key(index), module)

    def __delitem__(self, index):
        kept = list(self._modules.values())
        del kept[index]
        self._modules.clear()
        for i, module in enumerate(kept):
            self._modules[str(i)] = module

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        return ModuleList([*self, *other])

    def __iadd__(self, modules):
        return self.extend(modules)

    def __contains__(self, module):
        return any(m is module for m in self._modules.values())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        for i, m in enumerate(kept):
            self._modules[str(i)] = m

    def extend(self, modules):
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module
`,
  ModuleDict: `
class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def get(self, key, default=None):
        return self._modules.get(key, default)

    def update(self, modules):
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module
`,
  ParameterList: `
class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.__class__([getattr(self, str(i)) for i in range(self._size)[index]])
        return getattr(self, str(index + self._size if index < 0 else index))

    def __setitem__(self, index, value):
        setattr(self, str(index), value)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def append(self, value):
        index = self._size
        self._size += 1
        if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        self[index] = value
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)


class ParameterDict(Module):
    def __init__(self, values=None):
        super().__init__()
        self._keys = {}
        if values is not None:
            for key, value in values.items():
                self[key] = value

    def __getitem__(self, key):
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)

    def __contains__(self, key):
        return key in self._keys

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((k, self[k]) for k in self._keys)

    def values(self):
        return (self[k] for k in self._keys)
`,
  MultiheadAttention: `
class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False,
                 kdim=None, vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        kw = {"device": device, "dtype": dtype}
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(torch.empty((3 * embed_dim, embed_dim), **kw))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(torch.empty((embed_dim, embed_dim), **kw))
            self.k_proj_weight = Parameter(torch.empty((embed_dim, self.kdim), **kw))
            self.v_proj_weight = Parameter(torch.empty((embed_dim, self.vdim), **kw))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(torch.empty(3 * embed_dim, **kw))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **kw)
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty((1, 1, embed_dim), **kw))
            self.bias_v = Parameter(torch.empty((1, 1, embed_dim), **kw))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        for mask in (attn_mask, key_padding_mask):
            if mask is not None:
                mask.dtype
        is_batched = query.dim() == 3
        if query.is_nested or key.is_nested or value.is_nested:
            raise AssertionError("nested tensors are not supported here")
        if self.batch_first and is_batched:
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = (x.transpose(1, 0) for x in (query, key))
                    value = key
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        attn_output, attn_output_weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights,
            attn_mask=attn_mask, average_attn_weights=average_attn_weights, is_causal=is_causal,
            **({} if self._qkv_same_embed_dim else dict(
                use_separate_proj_weight=True, q_proj_weight=self.q_proj_weight,
                k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight)))
        if self.batch_first and is_batched:
            return attn_output.transpose(1, 0), attn_output_weights
        return attn_output, attn_output_weights
`,
  TransformerEncoderLayer: `
class TransformerEncoderLayer(Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        kw = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **kw)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **kw)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **kw)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal=is_causal)
            x = x + self._ff_block(self.norm2(x))
        else:
            x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal))
            x = self.norm2(x + self._ff_block(x))
        return x

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        x = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False,
                           is_causal=is_causal)[0]
        return self.dropout1(x)

    def _ff_block(self, x):
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)


class TransformerDecoderLayer(Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        kw = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **kw)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias,
                                                 **kw)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **kw)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **kw)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            x = x + self._ff_block(self.norm3(x))
        else:
            x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
            x = self.norm2(x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
            x = self.norm3(x + self._ff_block(x))
        return x

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        x = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal,
                           need_weights=False)[0]
        return self.dropout1(x)

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        x = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                is_causal=is_causal, need_weights=False)[0]
        return self.dropout2(x)

    def _ff_block(self, x):
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)


class TransformerEncoder(Module):
    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        output = src
        for mod in self.layers:
            output = mod(output, src_mask=mask, is_causal=bool(is_causal), src_key_padding_mask=src_key_padding_mask)
        if self.norm is not None:
            output = self.norm(output)
        return output


class TransformerDecoder(Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        output = tgt
        for mod in self.layers:
            output = mod(output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                         tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                         tgt_is_causal=bool(tgt_is_causal), memory_is_causal=memory_is_causal)
        if self.norm is not None:
            output = self.norm(output)
        return output


class Transformer(Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation=None, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        kw = {"device": device, "dtype": dtype}
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*shared, **kw), num_encoder_layers,
            LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw))
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*shared, **kw), num_decoder_layers,
            LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **kw))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                            memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return torch.triu(torch.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _activation(given):
    if given is None or given == "relu":
        return F.relu
    return F.gelu if given == "gelu" else given


def _clones(module, n):
    import copy
    return ModuleList([copy.deepcopy(module) for i in range(n)])
`,
  RNNBase: `
class RNNBase(Module):
    _gates, _mode = 1, "RNN_TANH"

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.mode = self._mode if self._gates > 1 else ("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        directions = 2 if bidirectional else 1
        rows = self._gates * hidden_size
        real = proj_size if proj_size > 0 else hidden_size
        self._flat_weights_names = []
        for layer in range(num_layers):
            for direction in range(directions):
                columns = input_size if layer == 0 else real * directions
                suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                shapes = [("weight_ih", (rows, columns)), ("weight_hh", (rows, real))]
                if bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if proj_size > 0:
                    shapes += [("weight_hr", (proj_size, hidden_size))]
                for name, shape in shapes:
                    setattr(self, name + suffix, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                    self._flat_weights_names.append(name + suffix)

    def flatten_parameters(self):
        pass

    def forward(self, input, hx=None):
        return _recurrent(self, input, hx)


class RNN(RNNBase):
    pass


class LSTM(RNNBase):
    _gates, _mode = 4, "LSTM"


class GRU(RNNBase):
    _gates, _mode = 3, "GRU"


class RNNCellBase(Module):
    _gates = 1

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.nonlinearity = input_size, hidden_size, bias, nonlinearity
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)


class RNNCell(RNNCellBase):
    def forward(self, input, hx=None):
        single = input.dim() == 1
        hidden = hx is not None and hx.dim() == 1
        input = input.unsqueeze(0) if single else input
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif hidden:
            hx = hx.unsqueeze(0)
        cell = torch.rnn_relu_cell if self.nonlinearity == "relu" else torch.rnn_tanh_cell
        ret = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret.squeeze(0) if single else ret


class LSTMCell(RNNCellBase):
    _gates = 4

    def forward(self, input, hx=None):
        single = input.dim() == 1
        if hx is not None:
            for value in hx:
                value.dim()
        input = input.unsqueeze(0) if single else input
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        elif single:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        ret = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (ret[0].squeeze(0), ret[1].squeeze(0)) if single else ret


class GRUCell(RNNCellBase):
    _gates = 3

    def forward(self, input, hx=None):
        single = input.dim() == 1
        hidden = hx is not None and hx.dim() == 1
        input = input.unsqueeze(0) if single else input
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif hidden:
            hx = hx.unsqueeze(0)
        ret = torch.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret.squeeze(0) if single else ret
`,
  DataParallel: `
class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    def __init__(self, module, *args, **kwargs):
        super().__init__(module)
`,
};

function buildUnits(): ReadonlyMap<string, string> {
  const units = new Map<string, string>();
  for (const e of [...SIMPLE, ...pools()]) units.set(e[0], simpleClass(e));
  for (const e of LOSSES) units.set(e[0], simpleClass(e, "input, target"));
  for (const e of WEIGHTED) units.set(e[0], simpleClass(e, "input, target", "_Weighted"));
  for (const [name, text] of Object.entries(STRUCTURED)) units.set(name, text);
  return units;
}

/** unit name → Python text; a unit may define several classes */
export const LAYER_UNITS: ReadonlyMap<string, string> = buildUnits();

/** class → the unit that defines it */
export const LAYER_HOME: ReadonlyMap<string, string> = new Map(
  [...LAYER_UNITS].flatMap(([unit, text]) =>
    [...text.matchAll(/^(?:class|def) (\w+)/gm)].map(m => [m[1] ?? "", unit] as const),
  ),
);
