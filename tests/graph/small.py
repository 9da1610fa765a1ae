"""Small networks that hold every kind of connection conversion must keep exact."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.networks import lively as lively  # fitted thresholds, of which tests make use too
from pascal import QCFS


class Branches(nn.Module):
    """Residual sum, concatenation, split, shuffle, padding, slicing, grouped and dilated convolutions, constants."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.bn, self.act1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), QCFS()
        self.grouped, self.act2 = nn.Conv2d(8, 8, 3, padding=1, groups=4), QCFS()
        self.dilated, self.act3 = nn.Conv2d(8, 8, 3, padding=2, dilation=2), QCFS()
        self.depthwise, self.act4 = nn.Conv2d(16, 16, 3, padding=1, groups=16), QCFS()
        self.late_bn, self.act5 = nn.BatchNorm2d(20), QCFS()
        self.offset = nn.Parameter(torch.randn(20, 1, 1))
        self.fc1, self.act6, self.fc2 = nn.Linear(20, 12), QCFS(), nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.act1(self.bn(self.stem(x)))
        y = self.act2(self.grouped(x))
        y = self.act3(self.dilated(y) + x - 0.5 * y)
        z = torch.cat((F.max_pool2d(x, 2), F.max_pool2d(y, 2)), 1)
        batch, channels, height, width = z.size()
        z = z.view(batch, 2, channels // 2, height, width).transpose(1, 2).reshape(batch, channels, height, width)
        z = self.act4(self.depthwise(z))
        first, second = z.chunk(2, 1)
        joined = torch.cat([first, F.avg_pool2d(second, 3, 1, 1), F.pad(first[:, :4, 1:, 1:], (1, 0, 1, 0))], 1)
        joined = self.act5(self.late_bn(joined) + self.offset)
        pooled = joined.mean((2, 3))
        return self.fc2(F.dropout(self.act6(self.fc1(pooled)), training=self.training))
