// Functions as they were written before PyTorch 1.5: forward is no static method, and an instance is called.
import { expect, test } from "vitest";
import { analysed, operatorsOf, printed } from "../infer/testing/analysed";

test("an instance of a Function is its own context and runs its forward and backward", () => {
  const r = analysed(`
class Scale(torch.autograd.Function):
    def __init__(self, by):
        self.by = by

    def forward(self, x):
        self.save_for_backward(x)
        with torch.cuda.device_of(x):
            out = x.new(1).zero_() + x * self.by
        return out

    def backward(self, grad):
        x, = self.saved_tensors
        return grad * self.by + x.cos()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return Scale(3.0)(self.linear(x)).sin()

print(Scale(2.0)(torch.ones(2, 3)).shape, torch.ones(2).new().resize_(3, 4).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 3]) torch.Size([3, 4])\n");
  expect(operatorsOf(r, "Net").slice(-2)).toEqual(["operator.add", "sin"]);
});
