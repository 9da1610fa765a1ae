"""A network of connections that engines cannot fold into weights."""

from torch import Tensor, nn
from torch.nn import functional as F

from pascal import QCFS


class Awkward(nn.Module):
    """What must fall back: a view of channels-last currents, sums that broadcast, count + count, two uses of one sum,
    a difference that starts with counts, a neuron behind a pooling, tied weights, activations as logits."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.act1 = nn.Conv2d(3, 6, 3, padding=1), QCFS()
        self.conv, self.squeeze, self.act2 = nn.Conv2d(6, 6, 3, padding=1), nn.Conv2d(6, 6, 1), QCFS()
        self.act3, self.act4, self.act5, self.act6, self.act7 = QCFS(), QCFS(), QCFS(), QCFS(), QCFS()
        self.again = nn.Conv2d(6, 6, 3, padding=1, bias=False)
        self.again.weight = self.conv.weight
        self.fc, self.act8 = nn.Linear(6 * 16, 5), QCFS()

    def forward(self, x: Tensor) -> Tensor:
        x = self.act1(self.stem(x))
        total = self.squeeze(x.mean((2, 3), keepdim=True)) + self.conv(x)
        y = self.act3(total) + self.act2(total - 0.25)
        z = self.act4(x - self.again(y)) + self.act5(F.avg_pool2d(y, 3, 1, 1))
        z = self.act6(z + z) - self.act7(self.squeeze(z))
        z = F.avg_pool2d(z, 2)
        return self.act8(self.fc(z.view(z.size(0), -1)))
