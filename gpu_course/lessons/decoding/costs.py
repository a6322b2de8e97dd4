"""What a token costs: the cache it reads, the time of a step, the launches in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BITS_IN_A_BYTE = 8


@dataclass(frozen=True)
class Cache:
    """What a model keeps of each token.

    Attributes:
        layers: how many keep something.
        heads: of the queries.
        kv_heads: of keys and values; each serves heads / kv_heads of the queries.
        head_size: numbers in a head.
        bits: of each number.
        latent: numbers in the one vector that stands for all keys and values of a token; 0 where
            they are kept themselves.
        rotary: numbers of a key beside that vector, shared by all heads.
    """

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    bits: int = 16
    latent: int = 0
    rotary: int = 0

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Cache:
        """Returns the cache for plain values by their names."""
        return cls(**config)

    @property
    def numbers(self) -> int:
        """Numbers kept of a token in one layer.

        >>> Cache(80, 64, 8, 128).numbers, Cache(61, 128, 128, 128, latent=512, rotary=64).numbers
        (2048, 576)
        """
        return self.latent + self.rotary if self.latent else 2 * self.kv_heads * self.head_size

    @property
    def token_bits(self) -> int:
        """Bits kept of a token in all layers."""
        return self.layers * self.numbers * self.bits

    @property
    def token_bytes(self) -> float:
        """Bytes kept of a token in all layers.

        >>> Cache(32, 32, 32, 128).token_bytes, Cache(32, 32, 8, 128).token_bytes
        (524288.0, 131072.0)
        """
        return self.token_bits / BITS_IN_A_BYTE


def pages_of(lengths: Sequence[int], page: int, shared: int = 0) -> tuple[int, int]:
    """Returns how many pages sequences take, and how many tokens' room in them is empty.

    A page belongs to one sequence, unless all its tokens are in the beginning that all share.

    Args:
        lengths: tokens of each sequence.
        page: tokens that a page has room for.
        shared: tokens at the beginning that are the same in all sequences.

    >>> pages_of([5, 9], page=4), pages_of([5, 9], page=4, shared=5)
    ((5, 6), (4, 6))
    """
    if not lengths:
        return 0, 0
    common = shared // page
    needed = [-(-length // page) for length in lengths]
    empty = sum(pages * page - length for pages, length in zip(needed, lengths, strict=True))
    return common + sum(pages - common for pages in needed), empty


@dataclass(frozen=True)
class Step:
    """One token for each sequence of a batch, in parts.

    Attributes:
        matrices_s: seconds of all products with weights.
        attention_s: seconds of all attentions.
        gaps_s: seconds between kernels.
        tokens: one for each sequence.
    """

    matrices_s: float
    attention_s: float
    gaps_s: float
    tokens: int

    @property
    def seconds(self) -> float:
        """Of the whole step."""
        return self.matrices_s + self.attention_s + self.gaps_s

    @property
    def tokens_per_s(self) -> float:
        """Of all sequences together."""
        return self.tokens / self.seconds if self.tokens else 0.0


def step_of(
    matrices: Sequence[tuple[int, int, float]],
    cache: Cache,
    lengths: Sequence[int],
    peak: float,
    bandwidth: float,
    small: int,
    gap_s: float,
) -> Step:
    """Returns the step of a batch, each kernel at the roof of its arithmetic or its bytes.

    Args:
        matrices: (inputs, outputs, bits of a weight) of each.
        cache: what the model keeps of each token.
        lengths: tokens in the cache, for each sequence.
        peak, bandwidth: FLOP/s and bytes/s of the card.
        small: kernels that take no more than their gap.
        gap_s: seconds before each kernel.
    """
    batch = len(lengths)
    if not batch:
        return Step(0.0, 0.0, 0.0, 0)

    def roof(flop: float, moved: float) -> float:
        return max(flop / peak, moved / bandwidth)

    products = sum(
        roof(2 * batch * inputs * outputs, inputs * outputs * bits / BITS_IN_A_BYTE)
        for inputs, outputs, bits in matrices
    )
    tokens = sum(lengths)
    flop = 4 * cache.heads * cache.head_size * tokens
    moved = cache.numbers * cache.bits / BITS_IN_A_BYTE * tokens
    kernels = len(matrices) + cache.layers + small
    return Step(products, cache.layers * roof(flop, moved), kernels * gap_s, batch)


def ways_of(
    kernels: Sequence[int],
    bandwidth: float,
    launch_s: float,
    gap_s: float,
    barrier_s: float,
    ahead: int,
) -> tuple[float, float, float]:
    """Returns the seconds of a token: launched one by one, as a graph, as one kernel.

    Args:
        kernels: bytes that each of them moves, in order.
        bandwidth: bytes/s of the card.
        launch_s: seconds of the host for a launch.
        gap_s: seconds between two kernels on the GPU.
        barrier_s: seconds of the barrier that takes the place of a gap within one kernel.
        ahead: bytes of the next weights that there is room for meanwhile.
    """
    if not kernels:
        return 0.0, 0.0, 0.0
    work = [moved / bandwidth for moved in kernels]
    issued, end = 0.0, float("-inf")
    for each in work:
        issued += launch_s
        end = max(issued, end + gap_s) + each
    graph = launch_s + sum(work) + (len(work) - 1) * gap_s
    fetched = [min(moved, ahead, barrier_s * bandwidth) / bandwidth for moved in kernels[1:]]
    whole = launch_s + sum(work) + sum(barrier_s - each for each in fetched)
    return end, graph, whole
