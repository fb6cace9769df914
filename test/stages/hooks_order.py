"""Which input comes first where hooks and callable objects read parameters."""
import torch
import torch.nn as nn


class Scale:
    def __call__(self, module, inputs):
        module.w2 = module.weight * 2


class Apply:
    def __init__(self, net):
        self.net = net

    def __call__(self, x):
        y = self.net.weight * 3
        return x + y.sum()


def scale(module, inputs):
    module.w2 = module.weight * 2


class Lin(nn.Linear):
    def forward(self, x):
        return x @ self.w2.t()


class A(nn.Module):
    def __init__(self, hook):
        super().__init__()
        self.lin = Lin(8, 8, bias=False)
        self.lin.register_forward_pre_hook(hook)

    def forward(self, x):
        return self.lin(x).relu()


class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8, bias=False)
        self.apply_it = Apply(self.lin)

    def forward(self, x):
        return self.apply_it(x).relu()


class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8, bias=False)
        self.lin.register_forward_hook(lambda m, args, out: out * m.weight.sum())

    def forward(self, x):
        return self.lin(x).relu()


x = torch.randn(4, 8, device="cuda")
for m in (A(Scale()), A(scale), B(), C()):
    torch.compile(m.cuda())(x)
