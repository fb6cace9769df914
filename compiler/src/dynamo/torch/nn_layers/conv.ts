// Layers of torch.nn: convolutions, padding and upsampling. Python text by unit, compiled when one of its classes is asked for.

const RANKS: readonly number[] = [1, 2, 3];

function conv(n: number): string {
  const none = n === 1 ? "(0,)" : `(${Array(n).fill("0").join(", ")})`;
  return `class Conv${n}d(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(${n}, in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias,
                         padding_mode, device, dtype)

    def _conv_forward(self, input, weight, bias):
        if self.padding_mode != "zeros":
            return F.conv${n}d(F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), weight, bias,
                            self.stride, ${none}, self.dilation, self.groups)
        return F.conv${n}d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)
`;
}

function transposed(n: number): string {
  return `class ConvTranspose${n}d(_ConvTransposeNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
                 bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(${n}, in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
                         groups, bias, padding_mode, device, dtype)

    def forward(self, input, output_size=None):
        return F.conv_transpose${n}d(input, self.weight, self.bias, self.stride, self.padding,
                                  self._output_padding(input, output_size, ${n}), self.groups, self.dilation)
`;
}

export const CONV: Readonly<Record<string, string>> = {
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
        return edges if isinstance(self.padding, str) else tuple(edges)


${RANKS.map(conv).join("\n\n")}

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


${RANKS.map(transposed).join("\n\n")}`,
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
};
