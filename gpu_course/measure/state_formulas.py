"""Bytes of parameters, gradients and optimizer states: what a model takes before any data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How many bytes a training recipe holds for each parameter.

    Attributes:
        name: how it is called in tables.
        weight: of the parameter the layers compute with.
        gradient: of its gradient.
        accumulator: of a second, wider gradient that microbatches are added up in.
        master: of a wider copy of the parameter that the optimizer updates.
        moments: of all the optimizer remembers.
    """

    name: str
    weight: int
    gradient: int
    accumulator: int
    master: int
    moments: int

    @property
    def states(self) -> int:
        """What the optimizer holds: the copy it updates, and all it remembers.

        >>> MIXED_ADAM.weight, MIXED_ADAM.gradient, MIXED_ADAM.states
        (2, 2, 12)
        """
        return self.master + self.moments

    @property
    def bytes_per_parameter(self) -> int:
        """All of it together."""
        return self.weight + self.gradient + self.accumulator + self.states


FLOAT32_ADAM = Recipe("float32, Adam", weight=4, gradient=4, accumulator=0, master=0, moments=8)
MIXED_ADAM = Recipe(
    "bfloat16 with a float32 copy, Adam", weight=2, gradient=2, accumulator=0, master=4, moments=8
)
MIXED_ADAM_ACCUMULATING = Recipe(
    "the same, gradients added up in float32",
    weight=2,
    gradient=2,
    accumulator=4,
    master=4,
    moments=8,
)
MEGATRON_ADAM = Recipe(
    "16 bit with a float32 copy, gradients in float32 alone, Adam",
    weight=2,
    gradient=4,
    accumulator=0,
    master=4,
    moments=8,
)


def state_bytes(parameters: float, recipe: Recipe) -> float:
    """Returns the bytes of parameters, gradients and optimizer states together.

    >>> state_bytes(7e9, MIXED_ADAM) / 1e9  # GB
    112.0
    """
    return parameters * recipe.bytes_per_parameter


def layer_parameters(hidden: int, layers: int) -> int:
    """Returns the parameters of a transformer's layers without biases and norms: 12 L h^2.

    Four matrices of h by h in the attention, and two of h by 4h in the MLP.
    """
    return 12 * layers * hidden**2
