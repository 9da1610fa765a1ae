"""What the networks share: scaled widths, convolutions without bias, pooling by name, initial weights."""

from torch import nn

from pascal.errors import PascalError


def scaled(channels: int, width: float) -> int:
    """`channels` × width multiplier, at least one."""
    return max(1, round(channels * width))


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """A convolution without bias (batch norm follows), padded so that stride 1 keeps the size."""
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


def pool2d(kind: str, kernel: int, stride: int, padding: int = 0) -> nn.Module:
    """Max or average pooling. Both convert exactly; max keeps spikes binary."""
    if kind == "max":
        return nn.MaxPool2d(kernel, stride, padding)
    if kind == "avg":
        return nn.AvgPool2d(kernel, stride, padding)
    raise PascalError(f"pool: got {kind!r}, expected 'max' or 'avg'")


def initialise(network: nn.Module) -> None:
    """Kaiming-normal weights; smaller ones would leave the first levels of VGG's fully connected layers unreached."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            nn.init.zeros_(module.bias)
