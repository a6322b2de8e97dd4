"""Bytes of products on grids, against blocks that are moved one by one."""

from __future__ import annotations

from itertools import product

import pytest

from gpu_course.lessons.tensor_parallel import grids


def moved(
    needs: dict[int, set[tuple[str, int, int]]], home: dict[tuple[str, int, int], int]
) -> int:
    """How many blocks go to a rank that needs them and does not have them."""
    return sum(1 for rank, blocks in needs.items() for block in blocks if home[block] != rank)


@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_summa_sends_each_block_once_to_each_rank_that_needs_it(q: int) -> None:
    home = {(m, i, j): i * q + j for m in "AB" for i, j in product(range(q), repeat=2)}
    needs = {
        i * q + j: {("A", i, k) for k in range(q)} | {("B", k, j) for k in range(q)}
        for i, j in product(range(q), repeat=2)
    }
    blocks = moved(needs, home)
    assert grids.summa_grid(q * q).sent == pytest.approx(blocks / q**2 / q**2)


@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_cannons_blocks_meet_and_every_move_is_counted(q: int) -> None:
    ranks = list(product(range(q), repeat=2))
    a = {(i, j): (i, j) for i, j in ranks}
    b = dict(a)
    moves = 0
    seen: dict[tuple[int, int], set[int]] = {rank: set() for rank in ranks}
    for step in range(q):
        by_a = {(i, j): i if step == 0 else 1 for i, j in ranks}
        by_b = {(i, j): j if step == 0 else 1 for i, j in ranks}
        moves += sum(by_a[r] % q > 0 for r in ranks) + sum(by_b[r] % q > 0 for r in ranks)
        a = {(i, (j - by_a[i, j]) % q): a[i, j] for i, j in ranks}
        b = {((i - by_b[i, j]) % q, j): b[i, j] for i, j in ranks}
        for i, j in ranks:
            (row, inner), (other, column) = a[i, j], b[i, j]
            assert (row, column) == (i, j) and inner == other
            seen[i, j].add(inner)
    assert all(found == set(range(q)) for found in seen.values())
    assert grids.cannon(q * q).sent == pytest.approx(moves / q**4)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_three_directions_are_two_gathers_and_a_reduction(q: int) -> None:
    # Each rank (i, j, l) needs block (i, l) of A and (l, j) of B, of which a q-th is its own.
    gathered = 2 * q**3 * (q - 1) / q * (1 / q**2)
    reduced = q**3 * (q - 1) / q * (1 / q**2)
    assert grids.three_directions(q**3).sent == pytest.approx((gathered + reduced) / q**3)


def test_other_numbers_of_ranks_are_refused() -> None:
    for way, ranks in ((grids.summa_grid, 8), (grids.cannon, 2), (grids.three_directions, 9)):
        with pytest.raises(ValueError, match=f"{ranks} ranks are no"):
            way(ranks)


def test_more_copies_send_less() -> None:
    sent = [grids.two_and_a_half(4096, layers).sent for layers in (1, 4)]
    assert sent[0] == pytest.approx(grids.summa_grid(4096).sent) and sent[1] < sent[0]
    assert grids.three_directions(4096).sent < sent[1]
    assert grids.three_directions(4096).held > grids.two_and_a_half(4096, 4).held
