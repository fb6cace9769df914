// Which convolutions are lowered to a matrix product.
import { describe, expect, it } from "vitest";
import { Session } from "../../session";
import { defaultSessionOptions } from "../../session_options";

interface Convolution {
  readonly call?: string;
  readonly x?: string;
  readonly w?: string;
  readonly config?: readonly (readonly [string, unknown])[];
}

const AS_MM = [["conv_1x1_as_mm", true]] as const;
const TUNED = [["max_autotune", true]] as const;

/** kernels of a convolution, 1x1 unless told otherwise */
function kernels({
  call = "F.conv2d(x, w)",
  x = "2, 8, 5, 7",
  w = "16, 8, 1, 1",
  config = AS_MM,
}: Convolution): string[] {
  const source = `import torch\nimport torch.nn.functional as F\n\n\n@torch.compile\ndef f(x, w):\n    return ${call}\n\n\nwith torch.no_grad():\n    f(torch.randn(${x}, device="cuda"), torch.randn(${w}, device="cuda"))\n`;
  const options = {
    ...defaultSessionOptions(),
    preset: "torch-2.11" as const,
    config: new Map<string, unknown>(config),
  };
  const [c] = new Session(p => (p === "/m.py" ? source : undefined), options).run("/m.py").compilations;
  return (c?.graph.kernels ?? []).map(k => k.name).filter(name => name.startsWith("extern_kernels."));
}

const PRODUCT = ["extern_kernels.mm"];
const CONVOLUTION = ["extern_kernels.convolution"];

describe("a convolution is a matrix product", () => {
  it("with windows of one element, where the configuration says so", () => {
    expect(kernels({})).toEqual(PRODUCT);
    expect(kernels({ config: [] })).toEqual(CONVOLUTION);
    expect(kernels({ x: "2, 8, 5", w: "16, 8, 1", call: "F.conv1d(x, w)" })).toEqual(PRODUCT);
    expect(kernels({ x: "2, 8, 3, 5, 7", w: "16, 8, 1, 1, 1", call: "F.conv3d(x, w)" })).toEqual(PRODUCT);
  });

  it("where products are tuned and channels lie together", () => {
    const last = "F.conv2d(x.to(memory_format=torch.channels_last), w)";
    expect(kernels({ call: last, config: TUNED })).toEqual(PRODUCT);
    const apart = [...TUNED, ["layout_optimization", false]] as const;
    expect(kernels({ config: apart })).toEqual(CONVOLUTION);
    expect(kernels({ call: last, config: apart })).toEqual(PRODUCT);
  });

  it.each([
    { w: "16, 8, 3, 3" },
    { call: "F.conv2d(x, w, stride=2)" },
    { call: "F.conv2d(x, w, padding=1)" },
    { call: "F.conv2d(x, w, groups=2)", w: "16, 4, 1, 1" },
    { call: "F.conv_transpose2d(x, w)", w: "8, 16, 1, 1" },
  ])("not with %j", convolution => {
    expect(kernels(convolution)).toEqual(CONVOLUTION);
  });
});
