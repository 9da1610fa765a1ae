"""The PASC neuron in closed form: a train that is earliest-first is told by its count alone."""

from torch import Tensor

from pascal.neurons.channels import along_channels
from pascal.neurons.modules import PASC


class CountingPASC(PASC):
    """count = clip(⌊(z + θ*/2)/θ*⌋, 0, L), which is where Algorithm 1 arrives (Theorem 3.4).

    Shape: preactivation (N, ...) → the same, whole numbers in the preactivation's own arithmetic.
    """

    half_arrives = False  # θ*/2 is part of the preactivation already
    overwrites = False  # nobody else reads the preactivation
    hands_on_counts = False  # whoever reads the output multiplies by θ*

    def count(self, preactivation: Tensor) -> Tensor:
        """The spikes of each neuron. The step divides here: folded into weights, it would lose ties to rounding."""
        owned, step = self.overwrites, along_channels(self.step, preactivation)
        if not self.half_arrives:
            half = step / 2
            preactivation, owned = (preactivation.add_(half) if owned else preactivation + half), True
        quotient = preactivation.div_(step) if owned else preactivation / step
        return quotient.floor_().clamp_(0, self.levels)

    def hand_on(self, count: Tensor) -> Tensor:
        """What readers receive: counts where they know the step, else activations. Consumes its argument."""
        return count if self.hands_on_counts else count.mul_(along_channels(self.step, count))

    def forward(self, preactivation: Tensor) -> Tensor:  # type: ignore[override]
        return self.hand_on(self.count(preactivation))
