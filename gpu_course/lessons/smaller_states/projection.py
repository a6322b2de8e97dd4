"""A gradient's main directions: the small space in which GaLore keeps its moments."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def from_the_left(shape: Sequence[int]) -> bool:
    """True where a matrix of this shape is projected from the left: no more rows than columns.

    The shorter side is cut down to the rank. It has fewer directions, so the same rank is a larger
    share of those that later gradients can have.

    >>> from_the_left((64, 256)), from_the_left((256, 64))
    (True, False)
    """
    return shape[0] <= shape[1]


def main_directions(gradient: Tensor, rank: int) -> Tensor:
    """Returns the first singular vectors of a gradient on its shorter side, as columns.

    Args:
        gradient: (rows, columns).
        rank: how many; no more than the shorter side has.

    Returns:
        (rows, rank) where the gradient has no more rows than columns, else (columns, rank), in
        memory of its own. A singular vector is as right with the other sign: here the largest
        number of each is positive, so that the same gradient gives the same basis everywhere.

    Source: Zhao et al. 2024, arXiv 2403.03507, section 3 and algorithm 2.
    """
    left, _, right = torch.linalg.svd(gradient.detach(), full_matrices=False)
    basis = left if from_the_left(gradient.shape) else right.mT
    basis = basis[:, :rank]
    largest = basis.gather(0, basis.abs().argmax(0, keepdim=True))
    # The product is a tensor of its own: a slice would keep all of the singular vectors alive.
    return (basis * largest.sign()).contiguous()


def shrink(gradient: Tensor, basis: Tensor) -> Tensor:
    """Returns a gradient in the basis: (rank, columns) from the left, else (rows, rank)."""
    if from_the_left(gradient.shape):
        return basis.mT @ gradient  # (rank, rows) @ (rows, columns)
    return gradient @ basis  # (rows, columns) @ (columns, rank)


def grow(small: Tensor, basis: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns what is in the basis as a matrix of full shape again."""
    return basis @ small if from_the_left(shape) else small @ basis.mT
