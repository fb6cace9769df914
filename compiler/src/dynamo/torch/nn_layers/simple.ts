// Layers of torch.nn that are one functional call: a line of a table each.

/** name, constructor parameters (each kept as an attribute), forward's expression over `input` */
export const SIMPLE: readonly (readonly [string, string, string])[] = [
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
export const LOSSES: readonly (readonly [string, string, string])[] = [
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

export const WEIGHTED: readonly (readonly [string, string, string])[] = [
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
    "MultiLabelSoftMarginLoss",
    "weight=None, size_average=None, reduce=None, reduction='mean'",
    "F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)",
  ],
  [
    "MultiMarginLoss",
    "p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'",
    "F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)",
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
export function pools(): (readonly [string, string, string])[] {
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
