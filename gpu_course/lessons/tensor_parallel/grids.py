"""What a product of two square matrices sends when it is cut along one, two or three directions.

All take n x n matrices that lie spread over p ranks, with n large enough that everything divides.
Counted is what a rank sends on average, over the numbers of a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """A way to cut a product.

    Attributes:
        sent: numbers that a rank sends, of matrices with n^2 numbers each, over n^2.
        held: numbers that a rank holds of A, B and C at most, over n^2, panels left out.
    """

    sent: float
    held: float


def one_direction(ranks: int) -> Cut:
    """Returns the cut by columns of B: A is gathered everywhere.

    >>> one_direction(4)
    Cut(sent=0.75, held=1.5)
    """
    p = ranks
    return Cut((p - 1) / p, 1 + 2 / p)


def summa_grid(ranks: int) -> Cut:
    """Returns SUMMA on a square grid: A goes along the rows, B along the columns.

    >>> summa_grid(4)
    Cut(sent=0.5, held=0.75)
    """
    q = _root(ranks, 2)
    return Cut(2 * (q - 1) / ranks, 3 / ranks)


def cannon(ranks: int) -> Cut:
    """Returns Cannon's way, by following every block on its grid.

    First block (i, j) of A moves i places to the left and that of B j places up; then all move by
    one, q - 1 times. A block that need not move is not sent.

    >>> cannon(4)
    Cut(sent=0.75, held=0.75)
    """
    q = _root(ranks, 2)
    grid = [(i, j) for i in range(q) for j in range(q)]
    into_place = sum((i % q > 0) + (j % q > 0) for i, j in grid)
    blocks = into_place + 2 * (q - 1) * len(grid)
    return Cut(blocks / ranks / ranks, 3 / ranks)


def two_and_a_half(ranks: int, layers: int = 2) -> Cut:
    """Returns the 2.5D way: `layers` copies of a grid, each of which does some of the panels.

    The blocks are handed to the other layers, each layer multiplies its share of the panels, and
    the results are summed over the layers.

    Args:
        ranks: `layers` times a square.
        layers: copies of A and B (c).

    >>> two_and_a_half(8).sent
    0.625

    Source: Solomonik, Demmel, Communication-optimal parallel 2.5D matrix multiplication and LU
    factorization algorithms, Euro-Par 2011.
    """
    q = _root(ranks // layers, 2)
    block = 1 / q**2
    # Copies to the other layers, panels within each, and a reduction of C, for the whole machine.
    copies = 2 * (layers - 1)
    panels = 2 * (q - 1)
    sums = layers - 1
    return Cut((copies + panels + sums) / ranks, 3 * block)


def three_directions(ranks: int) -> Cut:
    """Returns the 3D way: one product per rank of a cube, then a sum along one direction.

    Source: Agarwal and others, A three-dimensional approach to parallel matrix multiplication, IBM
    Journal of Research and Development 39(5), 1995.

    >>> three_directions(8).sent
    0.375
    """
    q = _root(ranks, 3)
    # A goes to q ranks along one direction, B along another, C is summed along the third.
    return Cut(3 * (q - 1) / ranks, 3 / q**2)


CUTS: Mapping[str, Callable[[int], Cut]] = {
    "one direction": one_direction,
    "SUMMA": summa_grid,
    "Cannon": cannon,
    "2.5D, 4 layers": lambda ranks: two_and_a_half(ranks, 4),
    "3D": three_directions,
}
"""The ways by name, for a number of ranks that suits them."""


def _root(ranks: int, power: int) -> int:
    side = round(ranks ** (1 / power))
    if side**power != ranks or ranks < 1 or not math.isfinite(ranks):
        raise ValueError(f"{ranks} ranks are no {'square' if power == 2 else 'cube'}")
    return side
