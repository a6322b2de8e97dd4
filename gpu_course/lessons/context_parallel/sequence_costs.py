"""What attention over a sequence costs where ranks share it: bytes sent, bytes held, operations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attention:
    """The attention of one layer over one sequence.

    Attributes:
        tokens: of the sequence.
        heads: of queries.
        kv_heads: of keys and values; they divide `heads`.
        width: of a head.
        element_bytes: of a number.
    """

    tokens: int
    heads: int
    kv_heads: int
    width: int = 128
    element_bytes: int = 2

    @property
    def query_bytes(self) -> int:
        """Bytes of q, and of out, over the whole sequence."""
        return self.tokens * self.heads * self.width * self.element_bytes

    @property
    def key_bytes(self) -> int:
        """Bytes of k, and of v, over the whole sequence."""
        return self.tokens * self.kv_heads * self.width * self.element_bytes


def ring_bytes(attention: Attention, ranks: int) -> float:
    """Returns what a rank sends in the forward pass: all blocks of k and v but one.

    >>> ring_bytes(Attention(tokens=8, heads=4, kv_heads=4, width=1, element_bytes=1), 4)
    48.0
    """
    return 2 * attention.key_bytes * (ranks - 1) / ranks


def ring_backward_bytes(attention: Attention, ranks: int) -> float:
    """Returns what a rank sends in the backward pass: k and v again, and dk and dv."""
    return 2 * ring_bytes(attention, ranks)


def gather_bytes(attention: Attention, ranks: int) -> float:
    """Returns what a rank sends where all keys and values are gathered by a ring."""
    return ring_bytes(attention, ranks)


def ulysses_bytes(attention: Attention, ranks: int) -> float:
    """Returns what a rank sends in the forward pass: of q, k, v and out all but its own share.

    >>> ulysses_bytes(Attention(tokens=8, heads=4, kv_heads=4, width=1, element_bytes=1), 4)
    24.0
    """
    return 2 * (attention.query_bytes + attention.key_bytes) * (ranks - 1) / ranks**2


def ulysses_ranks(attention: Attention) -> int:
    """Returns the most ranks that can share the heads without a copy of any."""
    return attention.kv_heads


def held_bytes(attention: Attention, ranks: int, way: str) -> float:
    """Returns what a rank holds at one time for this attention, forward.

    Args:
        attention: of one layer.
        ranks: that share the sequence.
        way: "one GPU" (q, k, v, out whole), "ring" (its own, one more block of k and v, and one
            merge in 32 bits), "gather" (its own, and k and v whole), "Ulysses" (its own, and the
            same again by heads).
    """
    own = 2 * (attention.query_bytes + attention.key_bytes)
    merge = 2 * attention.query_bytes * 4 / attention.element_bytes
    match way:
        case "one GPU":
            return own
        case "ring":
            return (own + 2 * attention.key_bytes + merge) / ranks
        case "gather":
            return own / ranks + 2 * attention.key_bytes
        case "Ulysses":
            return 2 * own / ranks
    raise ValueError(f"no way is called {way!r}")


def hiding_tokens(
    attention: Attention, seen: float, flop_per_s: float, bytes_per_s: float
) -> float:
    """Returns from how many tokens on a rank a ring's next block arrives before this one is done.

    With c tokens a rank has c queries and c keys to work on: 4 c² FLOP for each head and number of
    its width, two products of a multiply-add each. Meanwhile a block of c keys and values arrives.

    Args:
        attention: heads, width and bytes of a number; the length does not matter.
        seen: the share of a block's scores that are computed: 1 without a mask.
        flop_per_s: of a rank.
        bytes_per_s: of its link, one way.

    >>> hiding_tokens(Attention(tokens=1, heads=8, kv_heads=8), 1.0, 1e15, 50e9)
    20000.0
    """
    flop = 4 * attention.heads * attention.width * seen
    moved = 2 * attention.kv_heads * attention.width * attention.element_bytes
    return flop_per_s * moved / (bytes_per_s * flop)


def attention_over_rest(tokens: int, hidden: int) -> float:
    """Returns the operations of scores and their sums over those of a layer's matrices.

    4 s h for a token, every score counted, against 24 h².

    Source: Harm de Vries, In the long (context) run, 2023.

    >>> round(attention_over_rest(2048, 12288), 3)
    0.028
    """
    return tokens / (6 * hidden)
