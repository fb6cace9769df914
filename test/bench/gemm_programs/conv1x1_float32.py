"""A 1x1 convolution over channels-last float32 images, TF32 not allowed for products, its bias and relu."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def conv1x1_float32(x, w, bias):
    return F.relu(F.conv2d(x, w, bias))


x = torch.randn(32, 256, 56, 56, device="cuda").to(memory_format=torch.channels_last)
w = torch.randn(1024, 256, 1, 1, device="cuda")
bias = torch.randn(1024, device="cuda")
with torch.no_grad():
    conv1x1_float32(x, w, bias)
