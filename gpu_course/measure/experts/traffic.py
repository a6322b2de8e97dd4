"""What tokens for experts send, by the kind of link they cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

FP8_BLOCK = 128
"""How many FP8 numbers share a float32 scale in DeepSeek-V3."""


class Links(NamedTuple):
    """Bytes, or copies, by the link they cross: inside a node and between nodes."""

    nvlink: int
    rdma: int


def fp8_row_bytes(width: int) -> int:
    """Returns the bytes of a row in FP8: a byte each, and a float32 scale for each 128 of them.

    >>> fp8_row_bytes(7168), fp8_row_bytes(130)
    (7392, 138)

    Source: DeepSeek-V3, arXiv 2412.19437, section 3.3.2 (tiles of 1 x 128).
    """
    return width + 4 * -(-width // FP8_BLOCK)


def bf16_row_bytes(width: int) -> int:
    """Returns the bytes of a row in BF16."""
    return 2 * width


def copies(experts: Sequence[Sequence[int]], rank: int, per_rank: int, per_node: int) -> Links:
    """Returns how often rows of a rank's tokens cross links, once per node and once per rank.

    A token crosses to each other node once, to the rank with its own rank's place there; from
    where it lies in a node it goes to each other rank that has one of its experts.

    Args:
        experts: for each token of the rank its experts; -1 goes nowhere.
        rank: whose tokens they are.
        per_rank: experts of each rank, rank 0 having the first.
        per_node: ranks of each node, node 0 having the first.

    Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.2; deepseek-ai/DeepEP, README.

    >>> copies([[0, 1, 9]], rank=0, per_rank=2, per_node=2)
    Links(nvlink=0, rdma=1)
    >>> copies([[2, 6]], rank=0, per_rank=2, per_node=2)
    Links(nvlink=2, rdma=1)
    """
    node, place = divmod(rank, per_node)
    nvlink = rdma = 0
    for chosen in experts:
        ranks = {expert // per_rank for expert in chosen if expert >= 0}
        nodes = {each // per_node for each in ranks}
        landed = {each * per_node + place for each in nodes}
        nvlink += len(ranks - landed - {rank})
        rdma += len(nodes - {node})
    return Links(nvlink, rdma)
