// Values of small tensors and arrays that the program writes item by item, and normalisations of libraries that are not there.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("values written by ints, slices, tuples of them and masks stay known", () => {
  const r = analysed(`
import numpy as np
s = np.array([1, 2, 4, 8])
s[2:] = s[1]
s[0] = 7
print(list(s[1:] // s[1]), s[0])
t = torch.zeros(2, 3)
t[0] = 1
t[:, 1] = torch.arange(2)
t[t > 0.5] = 5
print(t.tolist())
`);
  expect(printed(r)).toBe("[1, 1, 1] 7\n[[5.0, 0.0, 5.0], [0.0, 5.0, 0.0]]\n");
});

test("values written in place stay known, and the smaller of two is", () => {
  const r = analysed(`
import numpy as np
pad = np.array([36, 36]) * 2
same = pad
pad -= 3
pad //= 2
t = torch.ones(2)
t.mul_(6).fill_(2).add_(torch.tensor([1.0, 2.0]))
print([int(n) for n in same], t.tolist(), torch.min(torch.as_tensor(4), torch.as_tensor(8)).item())
`);
  expect(printed(r)).toBe("[34, 34] [3.0, 4.0] 4\n");
});

test("what differs in a list of numbers is known, and loops over it go on in compiled code", () => {
  const r = analysed(`
sizes = torch.tensor([224, 224, 96])
print(torch.unique_consecutive(sizes, return_counts=True)[1].tolist(), torch.unique(torch.tensor([3, 1, 3])).tolist())

class Crops(nn.Module):
    def forward(self, x):
        ends = torch.cumsum(torch.unique_consecutive(torch.tensor([c.shape[-1] for c in x]), return_counts=True)[1], 0)
        start, out = 0, torch.empty(0, device=x[0].device)
        for end in ends:
            out = torch.cat((out, torch.cat(x[start:end]).mean(dim=(2, 3))))
            start = end
        return out

crops = [torch.randn(2, 3, n, n, device="cuda") for n in (32, 32, 16)]
print(torch.compile(Crops())(crops).shape)
`);
  expect(printed(r)).toBe("[2, 1] [1, 3]\ntorch.Size([6, 3])\n");
});

test("what is written by a value that nobody knows is not known", () => {
  const r = analysed(`
t = torch.zeros(3)
t[1] = torch.randn(1)[0]
print("known" if t.tolist()[0] == 0 else "other")
`);
  expect(r.diagnostics.some(d => d.code === "assumed-branch" || d.code === "data-dependent")).toBe(true);
});

test("a normalisation that processes share, of a library that is not there, is BatchNorm", () => {
  const r = analysed(`
from sync_batchnorm import SynchronizedBatchNorm2d

class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = SynchronizedBatchNorm2d(8, affine=False)

    def forward(self, x):
        return self.norm(x)
`);
  expect(operatorsOf(r, "Normed")).toEqual(["torch.nn.functional.batch_norm"]);
});
