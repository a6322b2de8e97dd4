"""What Adam and GaLore's Adam hold for a LLaMA, from its shape alone."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.measure.llama_shapes import Llama

BF16 = 2
"""Bytes of a number, where nothing else is said."""


@dataclass(frozen=True)
class Numbers:
    """How many numbers an optimizer holds.

    Attributes:
        moments: in both moments together.
        bases: in the bases of the projections.
    """

    moments: int
    bases: int = 0

    @property
    def all(self) -> int:
        """Both together."""
        return self.moments + self.bases


def adam_numbers(model: Llama) -> Numbers:
    """Returns what plain Adam holds: two moments for each parameter."""
    return Numbers(2 * model.parameters)


def galore_numbers(model: Llama, rank: int) -> Numbers:
    """Returns what Adam holds with its matrices' gradients in `rank` directions.

    A matrix has a basis of its shorter side and two moments of (rank, longer side). What is in no
    matrix of a layer is held as ever.

    >>> tiny = Llama(hidden=4, mlp=8, layers=1, vocabulary=10)
    >>> galore_numbers(tiny, rank=2)
    Numbers(moments=344, bases=56)

    Source: Zhao et al. 2024, arXiv 2403.03507, table 1.
    """
    bases = sum(rank * min(shape) for shape in model.matrices)
    moments = sum(2 * rank * max(shape) for shape in model.matrices)
    return Numbers(model.layers * moments + 2 * model.elsewhere, model.layers * bases)
