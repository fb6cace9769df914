// Roots that run another way than the likeliest: with their channels last, on the CPU, with values that nobody knows.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf } from "./testing/analysed";

test("an input whose channels the code brings forward has them last", () => {
  const r = analysed(`
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.conv(x.permute(0, 3, 1, 2).contiguous())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x):
        return self.encoder(x)
`);
  expect(assumedOf(r, "Net")).toContain("x is float32[8, 224, 224, 3]");
});

test("a root whose kernels are compiled for the GPU alone runs on the CPU where its code has a way for it", () => {
  const r = analysed(`
def scaled(x):
    if x.device.type == "cuda":
        raise ImportError("the kernels are not compiled")
    return x * 2

class Net(nn.Module):
    def forward(self, x):
        return scaled(x).sin()
`);
  expect(operatorsOf(r, "Net")).toEqual(["operator.mul", "sin"]);
  expect(assumedOf(r, "Net")).toContain("on the CPU, where it needs no kernels of its own");
});

test("an array meets a value that is not known", () => {
  const r = analysed(`
import numpy as np
import scipy.signal

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        taps = scipy.signal.convolve(np.ones((4, 1)), [[1.0, 2.0]])
        taps[1, 0:2] += np.ones(2)
        self.register_buffer("taps", torch.as_tensor(taps, dtype=torch.float32))

    def forward(self, x):
        return x.cos()
`);
  expect(operatorsOf(r, "Net")).toEqual(["cos"]);
});
