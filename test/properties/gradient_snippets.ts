// Snippets for operators that test/recorded has none for, and for the operands that a recorded one leaves out: each
// pointwise operator of two tensors over views and broadcast operands in either place, each operator on lists.
// Out: snippets in the form of test/recorded/operators.json.gz. Names that start with n take no gradient.
import type { OpRecord } from "@fuselens/compiler/aten/types";
import type { Snippet } from "./gradient_case";

const EYE = 'torch.eye(3, dtype=torch.float64, device="cuda")';
const RAMP = 'torch.diag(torch.arange(3, dtype=torch.float64, device="cuda"))';

/** code, inputs; a matrix is kept away from singular and equal eigenvalues by what is added to its diagonal */
const BY_HAND: readonly (readonly [string, string])[] = [
  ["torch.special.erfcx(a)", "a:f[4,5]"],
  ["torch.sgn(a)", "a:f[4,5]"],
  ["torch.round(a, decimals=1)", "a:f[3,3]"],
  [
    'torch.ops.aten.div.Scalar_mode(a, 0.7, rounding_mode="floor"), torch.ops.aten.div.Scalar_mode(a, 0.7, rounding_mode=None)',
    "a:f[3,3]",
  ],
  ["torch.fmod(a, 0.7)", "a:f[3,3]"],
  ["torch.pow(1.3, a)", "a:f[3,3]"],
  ["torch.clamp(a, b, c), torch.clamp(a, max=b), torch.clamp(a, min=c)", "a:f[3,5] b:f[5] c:f[3,1]"],
  ["torch.clamp_min(a, b), torch.clamp_max(b, a)", "a:f[3,5] b:f[5]"],
  ["torch.copysign(a, -1.0), torch.copysign(a, 0.5)", "a:f[3,3]"],
  ["F.celu_(a * 1.0, 0.7)", "a:f[3,3]"],
  ["torch.ops.aten._lazy_clone(a)", "a:f[4,5]"],
  ["torch.ops.aten.alias(a)", "a:f[4,5]"],
  ["torch.max(a, 1).values, torch.max(a, 0, keepdim=True)[0]", "a:f[4,5]"],
  ["torch.min(a, 1).values, torch.min(a, 0, keepdim=True)[0]", "a:f[4,5]"],
  ["torch.median(a, 1).values, torch.median(a, 0, keepdim=True)[0]", "a:f[4,5]"],
  ["torch.nanmedian(a, 1).values, torch.nanmedian(a, 0, keepdim=True)[0]", "a:f[4,5]"],
  ["torch.squeeze(a), torch.squeeze(a, (0, 2))", "a:f[1,3,1,2]"],
  ["torch.ops.aten.slice_backward(a, [3, 7], 1, 1, 7, 2)", "a:f[3,3]"],
  ["torch.ops.aten.select_backward(a, [3, 3], 1, 2)", "a:f[3]"],
  ["torch.split_with_sizes(a, [1, 2], 1)", "a:f[3,3]"],
  ["torch.diagonal(a, 1), torch.diagonal(a, -1, 0, 1)", "a:f[3,3]"],
  ["torch.ops.aten.diagonal_backward(a, [3, 3], 1, 0, 1)", "a:f[2]"],
  ["a.unfold(1, 3, 2)", "a:f[3,7]"],
  ["torch.ops.aten.unfold_backward(a, [3, 7], 1, 3, 2)", "a:f[3,3,3]"],
  ["torch.as_strided(a * 1.0, (3, 2), (1, 3), 1), torch.as_strided(a * 1.0, (2, 2), (1, 1))", "a:f[3,3]"],
  ["a[i], a[:, j], a[i, j], a[i.view(3, 1), j]", "a:f[3,5] i:i[3] j:i[3]"],
  ["torch.ops.aten._unsafe_masked_index(a, m, [i, i], 0.5)", "a:f[3,3] m:B[3] i:i[3]"],
  ["torch.take(a, i)", "a:f[3,3] i:i[2,3]"],
  ["torch.masked_fill(a, m, b)", "a:f[3,4] m:B[3,1] b:f[]"],
  [
    "torch.ops.aten._unsafe_index_put(a, [i], b), torch.ops.aten._unsafe_index_put(a, [None, i], c, True)",
    "a:f[3,3] b:f[3,3] c:f[3,1] i:i[3]",
  ],
  ["torch.index_fill(a, 1, i, b)", "a:f[3,3] i:i[2] b:f[]"],
  ["torch.put(a, i, b), torch.put(a, j, c, True)", "a:f[3,3] i:i[3] b:f[3] j:i[2,3] c:f[2,3]"],
  ["torch.masked_scatter(a, m, b)", "a:f[3,4] m:B[3,4] b:f[3,4]"],
  ["torch.scatter(a, 1, i, 0.7)", "a:f[3,3] i:i[3,2]"],
  ...["amax", "amin", "mean", "prod"].flatMap((how): [string, string][] =>
    ["True", "False"].map(self => [
      `torch.index_reduce(a, 1, i, b, "${how}", include_self=${self})`,
      "a:f[3,5] i:i[3] b:f[3,3]",
    ]),
  ),
  ["torch.select_scatter(a, b, 1, 2)", "a:f[3,3] b:f[3]"],
  ["torch.slice_scatter(a, b, 1, 1, 7, 2)", "a:f[3,7] b:f[3,3]"],
  ["torch.diagonal_scatter(a, b, 1)", "a:f[3,3] b:f[2]"],
  ["torch.block_diag(a, b, c)", "a:f[2,3] b:f[3] c:f[1,2]"],
  ...["reflect", "replicate"].flatMap((how): [string, string][] => [
    [`F.pad(a, (1, 2), mode="${how}")`, "a:f[2,3,5]"],
    [`F.pad(a, (1, 2, 2, 0), mode="${how}")`, "a:f[2,3,3,5]"],
    [`F.pad(a, (1, 2, 2, 0, 1, 1), mode="${how}")`, "a:f[1,2,3,3,5]"],
  ]),
  ["torch.addbmm(a, b, c, beta=0.7, alpha=1.3)", "a:f[3] b:f[2,2,4] c:f[2,4,3]"],
  ["torch.mv(a, b)", "a:f[3,4] b:f[4]"],
  ['torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist")', "a:f[2,3,5] b:f[4,5]"],
  ["torch.vdot(a, b)", "a:f[5] b:f[5]"],
  ["torch.addmv(a, b, c, beta=0.7, alpha=1.3)", "a:f[3] b:f[3,4] c:f[4]"],
  ["torch.addmv(a, b, c)", "a:f[] b:f[3,4] c:f[4]"],
  ["torch.addr(a, b, c, beta=0.7, alpha=1.3)", "a:f[4] b:f[3] c:f[4]"],
  ["F.bilinear(a, b, w, v)", "a:f[2,3] b:f[2,5] w:f[3,3,5] v:f[3]"],
  ["torch.ops.aten._trilinear(a, b, c, [1, 3], [0], [1, 2], [2, 3])", "a:f[2,3] b:f[5,3,2] c:f[2,2]"],
  ["torch.fill(a, b)", "a:f[3,4] b:f[]"],
  ["torch.ops.aten.lift_fresh_copy(a), torch.ops.aten.lift(a), torch.ops.aten.lift_fresh(a)", "a:f[3,4]"],
  [
    `torch.linalg.solve(a + 3 * ${EYE}, b), torch.linalg.solve(a + 3 * ${EYE}, b.mT, left=False)`,
    "a:f[2,3,3] b:f[2,3,2]",
  ],
  [
    `torch.linalg.solve_triangular(a + 3 * ${EYE}, b, upper=True), torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True), torch.linalg.solve_triangular(a + 3 * ${EYE}, b.mT, upper=False, left=False)`,
    "a:f[3,3] b:f[3,2]",
  ],
  [`torch.linalg.det(a + 3 * ${EYE})`, "a:f[2,3,3]"],
  [`torch.linalg.slogdet(a + 3 * ${EYE})`, "a:f[2,3,3]"],
  ["torch.linalg.matrix_exp(a)", "a:f[2,3,3]"],
  [`torch.linalg.cholesky(a @ a.mT + ${EYE}), torch.linalg.cholesky(a @ a.mT + ${EYE}, upper=True)`, "a:f[2,3,3]"],
  [`torch.cholesky(a @ a.mT + ${EYE}), torch.cholesky(a @ a.mT + ${EYE}, upper=True)`, "a:f[3,3]"],
  [
    `torch.cholesky_solve(b, torch.tril(a + 3 * ${EYE})), torch.cholesky_solve(b, torch.triu(a + 3 * ${EYE}), upper=True)`,
    "a:f[3,3] b:f[3,2]",
  ],
  [
    `torch.cholesky_inverse(torch.tril(a + 3 * ${EYE})), torch.cholesky_inverse(torch.triu(a + 3 * ${EYE}), upper=True)`,
    "a:f[3,3]",
  ],
  [`torch.linalg.svd(a + 3 * ${RAMP} + ${EYE}, full_matrices=False)`, "a:f[3,3]"],
  [`torch.linalg.svdvals(a[:2] + ${RAMP}[1:])`, "a:f[3,3]"],
  [`torch.linalg.qr(a + 3 * ${EYE}), torch.linalg.qr((a + 3 * ${EYE})[:, :2])`, "a:f[3,3]"],
  [`torch.linalg.eigh(a + a.mT + 5 * ${RAMP}), torch.linalg.eigvalsh(a + a.mT + 5 * ${RAMP})`, "a:f[3,3]"],
  [`torch.linalg.inv(a + 3 * ${EYE}), torch.linalg.inv_ex(a + 3 * ${EYE})[0]`, "a:f[2,3,3]"],
  [`torch.linalg.pinv((a + 3 * ${EYE})[:, :2])`, "a:f[3,3]"],
  [`torch.linalg.lstsq((a + 3 * ${EYE})[:, :2], b).solution`, "a:f[3,3] b:f[3,2]"],
  ...["bilinear", "nearest", "bicubic"].flatMap((how): [string, string][] =>
    ["zeros", "border", "reflection"].map(pad => [
      `F.grid_sample(a, b, mode="${how}", padding_mode="${pad}", align_corners=False)`,
      "a:f[1,2,5,7] b:f[1,3,2,2]",
    ]),
  ),
  ['F.grid_sample(a, b, mode="bilinear", align_corners=True)', "a:f[1,2,3,5,4] b:f[1,2,2,3,3]"],
  ["torch.ops.aten.cudnn_grid_sampler(a, b)", "a:f[1,2,5,7] b:f[1,3,2,2]"],
  ["p, i = F.max_pool2d(a, 2, return_indices=True)\nreturn F.max_unpool2d(p * p, i, 2)", "a:f[1,2,4,6]"],
  ["p, i = F.max_pool3d(a, 2, return_indices=True)\nreturn F.max_unpool3d(p * p, i, 2)", "a:f[1,2,4,6,4]"],
  ["F.max_pool3d(a, 2, stride=1, padding=1)", "a:f[1,2,3,4,5]"],
  ['F.interpolate(a, size=(3, 4), mode="bilinear", antialias=True)', "a:f[1,2,5,7]"],
  ['F.interpolate(a, size=(7, 4), mode="bicubic", antialias=True)', "a:f[1,2,5,7]"],
  ["F.adaptive_avg_pool3d(a, (2, 3, 2))", "a:f[1,2,3,5,4]"],
  ["F.adaptive_max_pool3d(a, (2, 3, 2))", "a:f[1,2,3,5,4]"],
  ["F.batch_norm(a, None, None, w, b, True)", "a:f[3,2,5] w:f[2] b:f[2]"],
  ["F.batch_norm(a, nm * 0.1, nv * nv + 0.5, w, b, False)", "a:f[3,2,5] nm:f[2] nv:f[2] w:f[2] b:f[2]"],
  [
    "m, v = nm * 0.1, nv * nv + 0.5\nreturn F.batch_norm(a, m, v, w, b, True)",
    "a:f[3,2,5] nm:f[2] nv:f[2] w:f[2] b:f[2]",
  ],
  ["F.nll_loss(a, t), F.nll_loss(a, t, nw)", "a:f[2,3,2,2] t:i[2,2,2] nw:f[3]"],
  [
    "F.triplet_margin_with_distance_loss(a, b, c, swap=True), F.triplet_margin_with_distance_loss(a, b, c, distance_function=lambda x, y: (x - y).abs().sum(-1), reduction='sum')",
    "a:f[3,5] b:f[3,5] c:f[3,5]",
  ],
  ["torch.cumprod(a, 1), torch.cumprod(a, 0)", "a:f[3,4]"],
  ["torch.sort(a, stable=True, dim=0, descending=True).values", "a:f[4,5]"],
  ["torch.xlogy(1.3, a), torch.xlogy(a, 0.7)", "a:f[3,3]"],
  ["torch.prod(a, 1), torch.prod(a, 0, keepdim=True)", "a:f[3,4]"],
  ["F.dropout(a, 0.5, True)", "a:f[4,5]"],
  ["torch.diagonal_copy(a, -1), torch.ops.aten.diagonal_copy(a, 1)", "a:f[3,3]"],
];

/** writes: through views, of slices and indices, over what a gradient needs */
const WRITES: readonly (readonly [string, string])[] = [
  ["y = a.clone()\ny.index_put_((i,), b, accumulate=True)\ny[i] += 1.0\nreturn y * y", "a:f[3,5] b:f[3,5] i:i[3]"],
  ["y = a.clone()\ny.index_put_((i,), b)\ny[:, j] *= 2.0\nreturn y * y", "a:f[3,3] b:f[3,3] i:i[3] j:i[2]"],
  [
    "y = a.clone()\nv = y.view(6, 4)[1:3]\nt = v.t()[1:3]\nt.mul_(3.0)\nv[0].add_(1.0)\ny.view(-1)[::5].zero_()\nreturn y.sin(), v.sum(), t.cos()",
    "a:f[2,3,4]",
  ],
  [
    "o = torch.zeros(6, 8, dtype=a.dtype, device=a.device)\no[:3].copy_(a)\no[3:, 1::2] = b\no[3:, ::2].copy_(c.expand(3, 4))\nreturn o.exp()",
    "a:f[3,8] b:f[3,4] c:f[4]",
  ],
  ["y = a.sin()\ny.mul_(a)\ny.neg_()\ny += a\ny /= 3.0\nreturn y * b", "a:f[3,4] b:f[3,4]"],
  ["y = a.clone()\ny.masked_fill_(m, -1.0)\ny[m] = 2.0\nreturn torch.where(m, y, y.exp())", "a:f[3,4] m:B[3,4]"],
  [
    "y = a.clone()\nt = y.transpose(0, 1)\nt[0] = t[1] * 2.0\ntorch.diagonal(y).fill_(0.5)\nreturn y, t.exp()",
    "a:f[3,3]",
  ],
  [
    "y = a.clone()\np, q = y.chunk(2, -1)\np *= torch.sigmoid(q)\ny[:, -1:].copy_(y[:, :2].sum(-1, keepdim=True))\nreturn y * y",
    "a:f[3,4]",
  ],
  [
    "o = torch.empty_like(a)\no[..., ::2] = a[..., ::2] * b - a[..., 1::2] * c\no[..., 1::2] = a[..., ::2] * c + a[..., 1::2] * b\nreturn o * o",
    "a:f[2,3,8] b:f[3,4] c:f[3,4]",
  ],
  [
    "o = torch.zeros(4, 6, dtype=a.dtype, device=a.device)\no[1] = a\no[:, 2] += b\no[2, 3:] = o[1, :3] * 2.0\no[-1, -1] = a[0] * b[0]\nreturn o * o",
    "a:f[6] b:f[4]",
  ],
  [
    "o = torch.zeros(5, 3, dtype=a.dtype, device=a.device)\no.scatter_add_(0, i, a)\no.scatter_(1, i[:, :1], b)\nreturn o * o",
    "a:f[3,3] b:f[3,1] i:i[3,3]",
  ],
  [
    "s = a.clone()\no = []\nfor k in range(3):\n    s.mul_(0.5).add_(b[k])\n    o.append(s.tanh())\nreturn torch.stack(o)",
    "a:f[4] b:f[3,4]",
  ],
  ["x, y = a.clone(), b.clone()\nt = x.clone()\nx.copy_(y * 2.0)\ny.copy_(t)\nreturn x - y.exp()", "a:f[5] b:f[5]"],
  ["y = a.clone()\ny.unsqueeze(0).expand(2, 3, 4)[0].mul_(2.0)\ny.t_()\nreturn y.sin()", "a:f[3,4]"],
  ["y = a.clone()\nw = torch.as_strided(y, (2, 2), (4, 1), 1)\nw.mul_(w)\nreturn y.sin(), w", "a:f[3,4]"],
  [
    "y = a.clone()\ny.index_copy_(1, i, b)\ny.index_add_(1, i, b, alpha=2.0)\ny.index_fill_(0, i[:1], 0.5)\nreturn y * y",
    "a:f[3,3] b:f[3,3] i:i[3]",
  ],
  [
    "y = [a.clone(), b.clone()]\ntorch._foreach_mul_(y, 2.0)\ntorch._foreach_addcmul_(y, [b, a], [a, b], 0.5)\ny[0].lerp_(y[1], 0.3)\nreturn y[0] * y[1]",
    "a:f[3,4] b:f[3,4]",
  ],
];

/** sizes that depend on each other stay as they are */
const FIXED: readonly (readonly [string, string])[] = [
  [
    "torch.ops.aten._thnn_fused_lstm_cell(a, b, c, d, e)[:2], torch.ops.aten._thnn_fused_lstm_cell(a, b, c)[:2]",
    "a:f[2,12] b:f[2,12] c:f[2,3] d:f[12] e:f[12]",
  ],
  [
    "torch.ops.aten._thnn_fused_gru_cell(a, b, c, d, e)[0], torch.ops.aten._thnn_fused_gru_cell(a, b, c)[0]",
    "a:f[2,9] b:f[2,9] c:f[2,3] d:f[9] e:f[9]",
  ],
  [
    "torch._weight_norm(a, b, 0), torch._weight_norm(a, c, 1), torch._weight_norm(a, e, 2), torch._weight_norm(a, d, -1)",
    "a:f[2,3,4] b:f[2,1,1] c:f[1,3,1] d:f[] e:f[1,1,4]",
  ],
  [
    "torch.lstm(a, [b, c], [d, e, h, k], True, 1, 0.0, True, False, False)",
    "a:f[3,2,4] b:f[1,2,3] c:f[1,2,3] d:f[12,4] e:f[12,3] h:f[12] k:f[12]",
  ],
  ["torch.gru(a, b, [d, e], False, 1, 0.0, True, False, True)", "a:f[2,3,4] b:f[1,2,3] d:f[9,4] e:f[9,3]"],
];

/** computed in float32 whatever the inputs are: measured with a larger step */
const COARSE: readonly (readonly [string, string])[] = [
  ["a.to(torch.float32).to(torch.float64)", "a:f[3,3]"],
  // attention kernels that the dispatcher would not choose for float64
  ...["flash", "efficient", "cudnn"].map((how): [string, string] => [
    `torch.ops.aten._scaled_dot_product_${how}_attention(a, b, c${how === "flash" ? "" : ", None, True"})[0]`,
    "a:f[1,2,3,4] b:f[1,2,5,4] c:f[1,2,5,4]",
  ]),
];

/** operators on lists, one snippet each, read off the schema */
function onLists(records: readonly OpRecord[]): Snippet[] {
  return records.flatMap(r => {
    if (r.derivative === undefined || r.derivative.kind === "none") return [];
    const m = /^(_foreach_\w+?)(?:\.\w+)?\((.*)\) ->/.exec(r.schema);
    if (!m) return [];
    const [, name = "", parameters = ""] = m;
    const lists = ["[a, b]", "[c, d]", "[b.t(), a.t()]"];
    if (name.endsWith("_")) return [];
    const args = parameters.split(", ").flatMap((p): string[] => {
      if (p === "*" || /=|non_blocking/.test(p)) return [];
      if (p.startsWith("Tensor[]")) return [lists.shift() ?? "[a, b]"];
      if (p.startsWith("Scalar[]")) return ["[1.3, 0.7]"];
      if (p.startsWith("Scalar")) return [name === "_foreach_norm" ? "2" : "1.3"];
      return p.startsWith("Tensor") ? ["e"] : [];
    });
    if (lists.length === 0) args[2] = "[d, c]";
    return [
      { code: `torch.ops.aten.${name}(${args.join(", ")})`, inputs: "a:f[3,3] b:f[3,3] c:f[3,3] d:f[3,3] e:f[]" },
    ];
  });
}

/** pointwise operators of two tensors, over views, broadcast in either place and both */
const OF_TWO: readonly string[] = [
  "torch.add",
  "torch.sub",
  "torch.mul",
  "torch.div",
  "torch.true_divide",
  "torch.pow",
  "torch.fmod",
  "torch.remainder",
  "torch.atan2",
  "torch.hypot",
  "torch.maximum",
  "torch.minimum",
  "torch.fmax",
  "torch.fmin",
  "torch.copysign",
  "torch.logaddexp",
  "torch.logaddexp2",
  "torch.xlogy",
  "torch.special.xlog1py",
  "torch.ldexp",
  "torch.rsub",
  "F.mse_loss",
];

function ofTwo(name: string): Snippet {
  const call = (x: string, y: string) => `${name}(${x}, ${y})`;
  const pairs: readonly (readonly [string, string])[] = [
    ["a.t()", "b.t()"],
    ["a", "b.t().contiguous().t()"],
    ["c", "b"],
    ["a", "d"],
    ["d", "c"],
    ["e", "b"],
    ["a", "e"],
    ["a[:, ::2]", "b[:, 1:3]"],
    ["a[1:]", "b[:1]"],
    ["c.expand(3, 4)", "d.expand(3, 4)"],
    ["a.flip(0)", "c"],
  ];
  return { code: pairs.map(([x, y]) => call(x, y)).join(", "), inputs: "a:f[3,4] b:f[3,4] c:f[4] d:f[3,1] e:f[]" };
}

/** all of the above; `records`: the operators of the table */
export function ownSnippets(records: readonly OpRecord[]): Snippet[] {
  return [
    ...BY_HAND.map(([code, inputs]) => ({ code, inputs })),
    ...WRITES.map(([code, inputs]) => ({ code, inputs, fixed: true })),
    ...FIXED.map(([code, inputs]) => ({ code, inputs, fixed: true })),
    ...COARSE.map(([code, inputs]) => ({ code, inputs, coarse: true })),
    ...onLists(records),
    ...OF_TWO.map(ofTwo),
  ];
}
