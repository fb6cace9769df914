// Layers of torch.nn: pooling by a norm, and the way back from the largest. Python text by unit, compiled when one of its
// classes is asked for.

const lpPool = (n: number): string => `
class LPPool${n}d(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return F.lp_pool${n}d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
`;

const maxUnpool = (n: number): string => `
class MaxUnpool${n}d(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        each = lambda v: v if isinstance(v, tuple) else (v,) * ${n}
        self.kernel_size, self.padding = each(kernel_size), each(padding)
        self.stride = each(kernel_size if stride is None else stride)

    def forward(self, input, indices, output_size=None):
        return F.max_unpool${n}d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
`;

export const POOL: Readonly<Record<string, string>> = Object.fromEntries(
  [1, 2, 3].flatMap(n => [[`LPPool${n}d`, lpPool(n)] as const, [`MaxUnpool${n}d`, maxUnpool(n)] as const]),
);
