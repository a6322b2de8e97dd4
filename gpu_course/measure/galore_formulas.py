"""What GaLore's optimizer holds for a LLaMA, from its shape alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Llama:
    """The shape of a LLaMA with as many key heads as query heads.

    Attributes:
        hidden: width.
        mlp: width inside the MLP, which has three matrices.
        layers: how many.
        vocabulary: tokens.
        tied: True where one table serves as embedding and as head; LLaMA has two.
    """

    hidden: int
    mlp: int
    layers: int
    vocabulary: int = 32000
    tied: bool = False

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        """The shapes of one layer's matrices: Q, K, V, O, and gate, up and down."""
        square, wide = (self.hidden, self.hidden), (self.hidden, self.mlp)
        return (square,) * 4 + (wide,) * 3

    @property
    def in_matrices(self) -> int:
        """Parameters in the matrices of all layers."""
        return self.layers * sum(rows * columns for rows, columns in self.matrices)

    @property
    def elsewhere(self) -> int:
        """Parameters in embedding, head and norms.

        >>> llama = Llama(hidden=4096, mlp=11008, layers=32)
        >>> llama.in_matrices + llama.elsewhere
        6738415616
        """
        tables = 1 if self.tied else 2
        return tables * self.vocabulary * self.hidden + (2 * self.layers + 1) * self.hidden

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.in_matrices + self.elsewhere

    @property
    def largest(self) -> int:
        """Numbers in the largest parameter tensor: the one gradient there is at a time, where each
        parameter is updated as soon as its gradient is known."""
        return max(self.vocabulary * self.hidden, self.hidden * self.mlp)

    @property
    def decomposed(self) -> int:
        """Numbers in the largest matrix and in the three factors of its decomposition."""
        rows, columns = max(self.matrices, key=lambda shape: shape[0] * shape[1])
        short, long = sorted((rows, columns))
        return 2 * short * long + short * short + short


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
