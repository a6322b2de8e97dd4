"""Models with experts by their shapes: how many parameters they have, use for a token, and FLOP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MATRICES = 3
"""Of an expert with a gate: up, gate and down. One without has two."""
PASSES = 3
"""Of each product in a training step: forward, and backward for its inputs and its weights."""


@dataclass(frozen=True)
class Grouped:
    """Attention whose heads of queries share heads of keys.

    Attributes:
        heads, key_heads: of queries, and of keys.
        width: of a head.
        window: tokens back that every other layer sees; 0 where all layers see all.
    """

    heads: int
    key_heads: int
    width: int
    window: int = 0

    def weights(self, hidden: int) -> int:
        """Returns the parameters of one layer."""
        return hidden * self.width * (2 * self.heads + 2 * self.key_heads)

    def scores(self, sequence: int) -> float:
        """Returns the products of a token's scores and values, a layer on average."""
        whole = sequence / 2
        if not self.window:
            return 2 * self.heads * self.width * whole
        window = min(self.window, sequence)
        seen = window - window * (window - 1) / (2 * sequence)
        return 2 * self.heads * self.width * (whole + seen) / 2


@dataclass(frozen=True)
class Latent:
    """Attention whose queries, keys and values go through narrow layers, as DeepSeek-V2's.

    Attributes:
        heads: how many.
        query_rank, key_rank: widths of the narrow layers.
        plain, rotary: width of a head's key without a position, and with one.
        value: width of a head's value.
    """

    heads: int
    query_rank: int = 1536
    key_rank: int = 512
    plain: int = 128
    rotary: int = 64
    value: int = 128

    def weights(self, hidden: int) -> int:
        """Returns the parameters of one layer."""
        queries = self.query_rank * (hidden + self.heads * (self.plain + self.rotary) + 1)
        keys = self.key_rank * (hidden + self.heads * (self.plain + self.value) + 1)
        return queries + keys + hidden * self.rotary + self.heads * self.value * hidden

    def scores(self, sequence: int) -> float:
        """Returns the products of a token's scores and values, a layer."""
        return self.heads * (self.plain + self.rotary + self.value) * sequence / 2


@dataclass(frozen=True)
class Mamba:
    """Layers of Mamba-2 among the others.

    Attributes:
        layers: how many.
        heads, width: of the inner state's inputs.
        groups, state: of the state.
    """

    layers: int
    heads: int
    width: int
    groups: int
    state: int

    @property
    def inner(self) -> int:
        """The width inside."""
        return self.heads * self.width

    def weights(self, hidden: int) -> int:
        """Returns the parameters of one layer's two large products."""
        return hidden * (3 * self.inner + 2 * self.groups * self.state + self.heads)


@dataclass(frozen=True)
class Model:
    """A model with experts.

    Attributes:
        hidden: its width.
        layers: with experts.
        attention: what one layer of it is.
        experts, chosen: in a layer, and of them for a token.
        inner: width inside of an expert.
        vocabulary: entries of the input table and of the output layer.
        shared: width inside of the experts that all tokens use, together.
        dense, dense_inner: layers without experts before the others, and their width inside.
        matrices: of an expert.
        biases: whether the products of attention and experts have biases.
        attention_layers: where not every layer has attention.
        mamba: layers of another kind, if any.
    """

    hidden: int
    layers: int
    attention: Grouped | Latent
    experts: int
    chosen: int
    inner: int
    vocabulary: int
    shared: int = 0
    dense: int = 0
    dense_inner: int = 0
    matrices: int = MATRICES
    biases: bool = False
    attention_layers: int = 0
    mamba: Mamba | None = None

    @property
    def expert(self) -> int:
        """Parameters of one expert."""
        biases = (self.matrices - 1) * self.inner + self.hidden if self.biases else 0
        return self.matrices * self.hidden * self.inner + biases

    @property
    def table(self) -> int:
        """Parameters of the input table, and as many of the output layer."""
        return self.hidden * self.vocabulary

    @property
    def with_attention(self) -> int:
        """Layers that have attention."""
        return self.attention_layers or self.layers + self.dense

    def _beside_experts(self) -> int:
        """Returns the parameters of all that every token uses, but for tables."""
        always = self.with_attention * self.attention.weights(self.hidden)
        always += self.dense * self.matrices * self.hidden * self.dense_inner
        always += self.layers * self.hidden * (self.experts + self.matrices * self.shared)
        if self.mamba:
            always += self.mamba.layers * self.mamba.weights(self.hidden)
        return always

    def parameters(self, tables: int = 2) -> int:
        """Returns how many there are.

        Args:
            tables: of input and output table, how many are counted.
        """
        return (
            self._beside_experts() + self.layers * self.experts * self.expert + self.tabled(tables)
        )

    def active(self, tables: int = 2) -> int:
        """Returns how many a token uses.

        Args:
            tables: of input and output table, how many are counted.
        """
        return (
            self._beside_experts() + self.layers * self.chosen * self.expert + self.tabled(tables)
        )

    def tabled(self, tables: int) -> int:
        """Returns the parameters of so many tables."""
        return tables * self.table

    def flop_per_token(self, sequence: int, further: int = 0) -> float:
        """Returns what a step computes for a token: each product three times, 2 FLOP each.

        The router's products are left out, as Megatron leaves them out, and biases.

        Args:
            sequence: tokens of one; causal attention sees half of them on average.
            further: tokens that are predicted beyond the next, each by a layer of its own.

        Source: NVIDIA-NeMo/Megatron-Bridge, `training/utils/flop_utils.py` at 0494433.
        """
        layers, h = self.layers + further, self.hidden
        attention = self.attention.weights(h) + self.attention.scores(sequence)
        expert = self.matrices * h * (self.chosen * self.inner + self.shared)
        products = (self.with_attention + further) * attention + layers * expert
        products += self.dense * self.matrices * h * self.dense_inner
        products += (1 + further) * self.table + further * h * (2 * h + 3)
        if self.mamba:
            products += self.mamba.layers * self._mamba_products()
        return 2 * PASSES * products

    def _mamba_products(self) -> float:
        """Returns those of a Mamba layer as Megatron counts them: an inner width of 2 hidden."""
        assert self.mamba is not None
        m, inner = self.mamba, 2 * self.hidden
        ends = self.hidden * (3 * inner + 2 * m.groups * m.state + m.heads)
        return ends + 3.5 * inner * m.state


MODELS: Mapping[str, Model] = {
    "DeepSeek-V3": Model(
        7168, 58, Latent(128), 256, 8, 2048, 129280, shared=2048, dense=3, dense_inner=18432
    ),
    "Kimi K2": Model(
        7168, 60, Latent(64), 384, 8, 2048, 163840, shared=2048, dense=1, dense_inner=18432
    ),
    "Qwen3 235B-A22B": Model(4096, 94, Grouped(64, 4, 128), 128, 8, 1536, 151936),
    "Qwen3 30B-A3B": Model(2048, 48, Grouped(32, 4, 128), 128, 8, 768, 151936),
    "GPT-OSS 120B": Model(
        2880, 36, Grouped(64, 8, 64, window=129), 128, 4, 2880, 201088, biases=True
    ),
    "Nemotron 3 Nano": Model(
        2688, 23, Grouped(32, 2, 128), 128, 6, 1856, 131072, shared=3712, matrices=2,
        attention_layers=6, mamba=Mamba(23, 64, 64, 8, 128),
    ),
}  # fmt: skip
"""Models by name, with the shapes of their configurations.

Source: the `config.json` of each on Hugging Face, and Megatron-Bridge's providers.
"""
