// Roots whose own code takes gradients: they are analysed with grad, and what they differentiate by keeps gradients.
import { expect, test } from "vitest";
import { analysed, assumedOf, framesOf } from "./testing/analysed";

test("a module that takes gradients in forward is analysed with grad, split where it takes them", () => {
  const r = analysed(`
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, x):
        x = x.requires_grad_()
        slope = torch.autograd.grad(self.net(x).sum(), x, create_graph=True)[0]
        return slope.flip(-1)
`);
  expect(assumedOf(r, "Field")).toContain("in eval() with grad");
  expect(framesOf(r, "Field")).toHaveLength(2);
});

test("inputs that it differentiates by keep gradients, gradients of gradients too", () => {
  const r = analysed(`
class Equation(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x, t):
        u = self.net(torch.cat([x, t], 1))
        ones = torch.ones_like(u)
        u_x = torch.autograd.grad(u, x, ones, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, ones, create_graph=True)[0]
        return u * u_x - 0.01 * u_xx
`);
  expect(assumedOf(r, "Equation")).toMatch(/x is float32\[8, 1\]; t is float32\[8, 1\]/);
});

test("a module that ends with a step of its optimizer is analysed with grad", () => {
  const r = analysed(`
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(12, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
`);
  expect(assumedOf(r, "Learner")).toContain("in eval() with grad");
});
