// Layers that are one call of a function: what they keep, and the call that they make.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../../infer/testing/analysed";

test("recurrent layers list their weights by layer and direction", () => {
  const r = analysed(`
lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True, bias=False)
print(lstm._all_weights[1], len(lstm.all_weights), lstm.all_weights[2][0].shape)
`);
  expect(printed(r)).toBe("['weight_ih_l0_reverse', 'weight_hh_l0_reverse'] 4 torch.Size([12, 6])\n");
});

test("losses and pools call the function of their name with what their constructors got", () => {
  const r = analysed(`
class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.margin, self.labels = nn.MultiMarginLoss(margin=0.5), nn.MultiLabelSoftMarginLoss()

    def forward(self, x):
        wanted = torch.zeros(x.shape[0], dtype=torch.long, device=x.device)
        return self.margin(x, wanted) + self.labels(x, (x > 0).float())


class Unpool(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.back, self.norm = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2), nn.LPPool2d(2, 3)

    def forward(self, x):
        y, at = self.pool(x)
        return self.norm(self.back(y, at, output_size=x.size()))


print([type(m).__name__ for m in (nn.CTCLoss(), nn.LPPool1d(2, 3), nn.MaxUnpool3d((1, 2, 2)))])
print(nn.MaxUnpool3d((1, 2, 2)).stride, nn.MaxUnpool1d(2, padding=1).padding)
`);
  const of = (name: string): string => operatorsOf(r, name).join();
  expect(of("Scores")).toMatch(/multi_margin_loss.*multilabel_soft_margin_loss/);
  expect(of("Unpool")).toMatch(/max_pool2d.*max_unpool2d.*lp_pool2d/);
  expect(printed(r)).toBe("['CTCLoss', 'LPPool1d', 'MaxUnpool3d']\n(1, 2, 2) (1,)\n");
});

test("a lazy layer becomes the layer that its first input asks for", () => {
  const r = analysed(`
net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5, bias=False)).eval()
net(torch.randn(2, 3, 6, 6))
print([type(m).__name__ for m in net], net[0].weight.shape, net[1].num_features, net[3].weight.shape, net[1].training)
`);
  const shapes = "torch.Size([8, 3, 3, 3]) 8 torch.Size([5, 128])";
  expect(printed(r)).toBe(`['Conv2d', 'BatchNorm2d', 'Flatten', 'Linear'] ${shapes} False\n`);
});

test("parametrizations are computed once in a cached() region", () => {
  const r = analysed(`
import torch.nn.utils.parametrize as parametrize

class Sym(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).mT

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        parametrize.register_parametrization(self.lin, "weight", Sym())

    def forward(self, x):
        with parametrize.cached():
            return self.lin(self.lin(x))

print(torch.compile(Net())(torch.randn(2, 4)).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 4])\n");
  expect(operatorsOf(r, "Net").filter(o => o === "triu")).toHaveLength(2);
});
