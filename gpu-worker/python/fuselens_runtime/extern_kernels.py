"""The library kernels that generated wrappers call, by the names that Inductor calls them."""

import torch


class _ExternKernels:
    mm = staticmethod(torch.mm)
    bmm = staticmethod(torch.bmm)

    @staticmethod
    def addmm(bias, a, b, *, alpha=1, beta=1, out):
        return torch.addmm(bias, a, b, alpha=alpha, beta=beta, out=out)

    @staticmethod
    def bias_addmm(bias, a, b, *, alpha=1, beta=1, out):
        # a bias that is expanded over rows is one row
        row = bias[0] if bias.dim() == 2 and bias.stride(0) == 0 else bias
        return torch.addmm(row, a, b, alpha=alpha, beta=beta, out=out)

    @staticmethod
    def baddbmm(bias, a, b, *, alpha=1, beta=1, out):
        return torch.baddbmm(bias, a, b, alpha=alpha, beta=beta, out=out)

    @staticmethod
    def convolution(x, weight, *, bias=None, stride, padding, dilation, transposed, output_padding, groups):
        return torch.ops.aten.convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)

    def __getattr__(self, name):
        return getattr(torch.ops.aten, name)


extern_kernels = _ExternKernels()
