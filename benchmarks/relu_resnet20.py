"""A ResNet-20 for CIFAR-10 as a user would bring it: trained by others, with ReLU, knowing nothing of spikes."""

from pathlib import Path

from torch import Tensor, nn
from torch.nn import functional as F

import pascal

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # the colours it was trained with


class ReluResNet20(nn.Module):
    """Functional ReLUs, shortcuts that subsample and pad with zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        for stage, (inputs, outputs) in enumerate(((16, 16), (16, 32), (32, 64)), start=1):
            blocks = [_PaddedBlock(inputs if n == 0 else outputs, outputs) for n in range(3)]
            self.add_module(f"layer{stage}", nn.Sequential(*blocks))
        self.linear = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.get_submodule("layer3")(self.get_submodule("layer2")(self.get_submodule("layer1")(x)))
        x = F.avg_pool2d(x, x.size()[3])
        return self.linear(x.view(x.size(0), -1))


class _PaddedBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.grows = outputs != inputs
        self.padding = (outputs - inputs) // 2
        self.conv1 = nn.Conv2d(inputs, outputs, 3, 2 if self.grows else 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.grows:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.padding, self.padding), "constant", 0)
        out += x
        return F.relu(out)


def load_relu_resnet20(path: Path) -> nn.Module:
    """The network with its owners' weights, in evaluation mode."""
    network = ReluResNet20()
    pascal.load_weights(network, path)
    return network.eval()
