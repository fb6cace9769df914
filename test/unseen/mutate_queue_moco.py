import torch
import torch.nn as nn


class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.randn(32, 64))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    def forward(self, keys):
        idx = (self.ptr + torch.arange(keys.size(0), device=keys.device)) % self.queue.size(1)
        logits = keys @ self.queue
        self.queue.index_copy_(1, idx, keys.t())
        self.ptr.copy_((self.ptr + keys.size(0)) % self.queue.size(1))
        return logits


with torch.no_grad():
    torch.compile(Queue().cuda())(torch.randn(16, 32, device="cuda"))
