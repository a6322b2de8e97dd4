"""One layer in the place of many: ALBERT's parameter sharing."""

from __future__ import annotations

from torch import Tensor, nn


class Shared(nn.Module):
    """A stack of layers that all have the same parameters.

    Args:
        layer: the one that is there.
        times: how often it is applied.

    Source: Lan et al. 2020, arXiv 1909.11942, section 3.1.
    """

    def __init__(self, layer: nn.Module, times: int) -> None:
        super().__init__()
        self.layer = layer
        self.times = times

    def forward(self, x: Tensor) -> Tensor:
        """Returns what the layer makes of x, of that, and so on."""
        for _ in range(self.times):
            x = self.layer(x)
        return x
