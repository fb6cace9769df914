// What data parallelism is made of, on one device.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

test("inputs are scattered to the devices that there are, and what the replicas give is gathered", () => {
  const r = analysed(`
from torch.nn.parallel._functions import Gather, Scatter
from torch.nn.parallel.scatter_gather import gather, scatter_kwargs
from torch.nn.parallel.parallel_apply import parallel_apply
from torch.nn.parallel.replicate import replicate

x = torch.zeros(6, 3)
print(len(Scatter.apply([0], None, 0, x)), [t.shape[0] for t in Scatter.apply([0, 1], [4, 2], 0, x)])
args, kwargs = scatter_kwargs((x, [x, 2]), {"scale": x}, [0, 1])
print(len(args), args[1][0].shape, args[1][1][1], kwargs[0]["scale"].shape)
nets = replicate(lambda x, y, scale: {"sum": x + y[0], "n": scale.sum()}, [0, 1])
out = gather(parallel_apply(nets, args, kwargs), 0)
print(out["sum"].shape, out["n"].shape, Gather.apply(0, 1, x, x).shape)
print(torch.zeros_like(x, memory_format=torch.legacy_contiguous_format).shape)
`);
  expect(printed(r).split("\n")).toEqual([
    "1 [4, 2]",
    "2 torch.Size([3, 3]) 2 torch.Size([3, 3])",
    "torch.Size([6, 3]) torch.Size([2]) torch.Size([6, 6])",
    "torch.Size([6, 3])",
    "",
  ]);
});
