"""Shapes of LLaMA models: how many parameters there are, and where."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.measure.transformer_shapes import Transformer


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
    def shape(self) -> Transformer:
        """The same as a transformer of any kind; how its heads are cut changes no count here."""
        return Transformer(
            self.layers,
            self.hidden,
            heads=1,
            mlp=self.mlp,
            gated=True,
            vocabulary=self.vocabulary,
            tied=self.tied,
            norm="rms",
        )

    @property
    def in_matrices(self) -> int:
        """Parameters in the matrices of all layers."""
        parts = self.shape.parts()
        return parts["attention"] + parts["MLP"]

    @property
    def elsewhere(self) -> int:
        """Parameters in embedding, head and norms.

        >>> llama = Llama(hidden=4096, mlp=11008, layers=32)
        >>> llama.in_matrices + llama.elsewhere
        6738415616
        """
        return self.parameters - self.in_matrices

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.shape.parameters

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


LLAMAS = {
    "60M": Llama(512, 1376, 8),
    "130M": Llama(768, 2048, 12),
    "350M": Llama(1024, 2736, 24),
    "1B": Llama(2048, 5461, 24),
}
"""Those that GaLore was tried on. Source: configs/ of github.com/jiaweizzhao/GaLore."""
LLAMA_7B = Llama(4096, 11008, 32)
