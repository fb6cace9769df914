// Lazy layers of torch.nn, which take a size from their first input. Python text, one unit. A lazy layer becomes the layer
// that it stands for when it is called first.

/** class → what it becomes, its constructor's parameters, and the arguments of the layer's beside the size */
const LAZY: readonly (readonly [name: string, parameters: string])[] = [
  ["Linear", "out_features, bias=True"],
  ...[1, 2, 3].flatMap((n): (readonly [string, string])[] => [
    [
      `Conv${n}d`,
      "out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode='zeros'",
    ],
    [
      `ConvTranspose${n}d`,
      "out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros'",
    ],
    [`BatchNorm${n}d`, "eps=1e-5, momentum=0.1, affine=True, track_running_stats=True"],
    [`InstanceNorm${n}d`, "eps=1e-5, momentum=0.1, affine=True, track_running_stats=True"],
  ]),
];

/** channels stand before as many dims as a convolution has, in a batch or without one */
const sizeOf = (name: string): string => {
  if (name === "Linear") return "input.shape[-1]";
  const rank = /\d/.exec(name)?.[0] ?? "1";
  return name.startsWith("Conv") ? `input.shape[-${Number(rank) + 1}]` : "input.shape[1]";
};

function lazyClass([name, parameters]: readonly [string, string]): string {
  const names = parameters.split(", ").map(p => p.split("=")[0] ?? "");
  const kept = names.map(n => `${n}=${n}`).join(", ");
  return `class Lazy${name}(_Lazy):
    cls_to_become = ${name}

    def __init__(self, ${parameters}, device=None, dtype=None):
        super().__init__()
        self._lazy = dict(${kept}, dtype=dtype)

    def _size(self, input):
        return ${sizeOf(name)}
`;
}

export const LAZY_LAYERS: Readonly<Record<string, string>> = {
  LazyLayers: `
class _Lazy(Module):
    def has_uninitialized_params(self):
        return True

    def initialize_parameters(self, input):
        training = self.training
        layer = type(self).cls_to_become(self._size(input), device=input.device, **self._lazy)
        self.__class__ = type(layer)
        self.__dict__.update(layer.__dict__)
        self.train(training)

    def __call__(self, input, *args, **kwargs):
        self.initialize_parameters(input)
        return self(input, *args, **kwargs)


${LAZY.map(lazyClass).join("\n\n")}`,
};
