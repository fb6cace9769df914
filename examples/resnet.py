"""A residual network: convolutions with batch norm, shortcuts that change shape, blocks handed over as classes."""
from collections import OrderedDict
from typing import List, Type, Union

import torch
import torch.nn as nn
import torch.nn.functional as F


def conv3x3(inp: int, out: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inp, out, 3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inp: int, width: int, stride: int = 1, shortcut: nn.Module | None = None):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(inp, width, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv3x3(width, width), nn.BatchNorm2d(width)
        self.shortcut = shortcut

    def forward(self, x):
        kept = x if self.shortcut is None else self.shortcut(x)
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += kept
        return F.relu(out)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inp: int, width: int, stride: int = 1, shortcut: nn.Module | None = None):
        super().__init__()
        out = width * self.expansion
        self.body = nn.Sequential(OrderedDict([
            ("reduce", nn.Conv2d(inp, width, 1, bias=False)),
            ("bn1", nn.BatchNorm2d(width)),
            ("relu1", nn.ReLU(inplace=True)),
            ("conv", conv3x3(width, width, stride)),
            ("bn2", nn.BatchNorm2d(width)),
            ("relu2", nn.ReLU(inplace=True)),
            ("expand", nn.Conv2d(width, out, 1, bias=False)),
            ("bn3", nn.BatchNorm2d(out)),
        ]))
        self.shortcut = shortcut or nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, block: Type[Union[BasicBlock, Bottleneck]], layers: List[int], classes: int = 10):
        super().__init__()
        self.inplanes = 16
        self.stem = nn.Sequential(conv3x3(3, 16), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        for i, count in enumerate(layers, start=1):
            setattr(self, f"layer{i}", self.make_layer(block, 16 * 2 ** (i - 1), count, stride=1 if i == 1 else 2))
        self.stages = len(layers)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(self.inplanes, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def make_layer(self, block, width, count, stride):
        shortcut = None
        out = width * block.expansion
        if stride != 1 or self.inplanes != out:
            shortcut = nn.Sequential(nn.Conv2d(self.inplanes, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        blocks = [block(self.inplanes, width, stride, shortcut)]
        self.inplanes = out
        blocks += [block(out, width) for _ in range(1, count)]
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.stem(x)
        for i in range(self.stages):
            x = getattr(self, f"layer{i + 1}")(x)
        return self.fc(torch.flatten(self.pool(x), 1))


def resnet_small(**kwargs):
    return ResNet(BasicBlock, [1, 1, 1], **kwargs)


def resnet_bottleneck(**kwargs):
    return ResNet(Bottleneck, [1, 1], **kwargs)


if __name__ == "__main__":
    net = torch.compile(resnet_small().cuda())
    images = torch.randn(8, 3, 32, 32, device="cuda")
    labels = torch.randint(0, 10, (8,), device="cuda")
    F.cross_entropy(net(images), labels).backward()
