"""What pipelines with one rate for all stages take, as formulas; simulation says the same.

Each returns the longest time from a rank's first start to its last end, in the unit of the times.
They hold where the pipeline is filled: at least as many microbatches as ranks, for ZB-H2 at least
2 ranks - 1, and where no time is far larger than another.

Source: without messages these are Table 2 of Qi et al. (arXiv 2401.10241), and (p - 1) / v of
Narayanan et al. 2021. What messages add was found by the simulation here, and holds in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """What F, I, W and a message take, in one unit."""

    forward: float
    input: float
    weight: float
    comm: float = 0.0

    @property
    def whole(self) -> float:
        """Of a microbatch through one rank and back."""
        return self.forward + self.input + self.weight


def zb_h1_cost(ranks: int, microbatches: int, times: Times) -> float:
    """Returns what ZB-H1 takes.

    >>> zb_h1_cost(4, 8, Times(1, 1, 1))
    27.0
    """
    waits = times.forward + times.input - times.weight + 4 * times.comm
    return microbatches * times.whole + (ranks - 1) * waits


def zb_h2_cost(ranks: int, microbatches: int, times: Times) -> float:
    """Returns what ZB-H2 takes.

    >>> zb_h2_cost(4, 8, Times(1, 1, 1))
    24.0
    """
    waits = times.forward + times.input - 2 * times.weight + 2 * times.comm
    return microbatches * times.whole + (ranks - 1) * waits


def interleaved_cost(ranks: int, microbatches: int, chunks: int, times: Times) -> float:
    """Returns what the interleaved order takes by the rule behind published rates.

    The order of Megatron-LM, followed action by action, takes ranks * comm longer than this.

    >>> interleaved_cost(4, 8, 2, Times(1, 1, 1))
    28.5
    """
    messages = ((2 * chunks - 1) * ranks - 2) * times.comm
    return microbatches * times.whole + (ranks - 1) * times.whole / chunks + messages
