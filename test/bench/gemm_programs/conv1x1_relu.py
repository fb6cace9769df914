"""A 1x1 convolution over channels-last images, its bias and relu: a bottleneck's last layer."""
import torch
import torch.nn.functional as F


@torch.compile(mode="max-autotune-no-cudagraphs")
def conv1x1_relu(x, w, bias):
    return F.relu(F.conv2d(x, w, bias))


x = torch.randn(32, 256, 56, 56, device="cuda", dtype=torch.float16).to(memory_format=torch.channels_last)
w = torch.randn(1024, 256, 1, 1, device="cuda", dtype=torch.float16)
bias = torch.randn(1024, device="cuda", dtype=torch.float16)
with torch.no_grad():
    conv1x1_relu(x, w, bias)
