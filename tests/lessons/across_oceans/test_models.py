"""Lesson 33's models: rounds over links, Harm's trade-off, lengths of files; and its claims."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.across_oceans import lengths, scaling, shows
from gpu_course.lessons.across_oceans.links import Islands, link_of

LESSON = "33_across_oceans"


@pytest.mark.parametrize("h", [1, 10, 1000])
def test_a_round_is_its_steps_and_one_exchange(h: int) -> None:
    islands = Islands(10, 4, 2.0, h, 0.5, 4)
    # Three quarters of 40 GB, twice, at half a GB/s.
    assert islands.exchange_s == pytest.approx(2 * 0.75 * 40 / 0.5)
    assert islands.utilisation == pytest.approx(2 * h / (2 * h + 120))


def test_a_link_is_what_gives_its_exchange() -> None:
    rate = link_of(10, 1, 14, 103)
    assert Islands(10, 1, 22.8, 100, rate, 14).exchange_s == pytest.approx(103)


@pytest.mark.parametrize("exponents", [(0.32, 0.28), (0.336, 0.283), (0.5, 0.25)])
@pytest.mark.parametrize("k_n", [0.3, 0.5, 0.9, 1.0, 2.0])
def test_a_smaller_model_reaches_the_same_loss(exponents: tuple[float, float], k_n: float) -> None:
    alpha, beta = exponents
    parameters, tokens = scaling.optimum(1e23, alpha, beta)

    def loss(n: float, d: float) -> float:
        return scaling.A / n**alpha + scaling.B / d**beta

    best = loss(parameters, tokens)
    factor = scaling.tokens_factor(k_n, alpha, beta)
    if math.isfinite(factor):
        assert loss(k_n * parameters, factor * tokens) == pytest.approx(best, rel=1e-9)
    else:
        assert loss(k_n * parameters, 1e60) > best
    # No other split of as many FLOP has a lower loss.
    for off in (0.9, 1.1):
        assert loss(off * parameters, tokens / off) > best


def test_two_cells_of_the_table_leave_one_pair_of_exponents() -> None:
    two = shows.PRINTED_CELLS[0], shows.PRINTED_CELLS[3]
    grid = [place / 1000 for place in range(250, 451)]
    (pair,) = (
        (alpha, beta)
        for alpha in grid
        for beta in grid
        if all(cell.agrees(alpha, beta) for cell in two)
    )
    assert pair == (0.336, 0.283)
    assert all(cell.agrees(*pair) for cell in shows.PRINTED_CELLS)
    assert sum(cell.agrees(*scaling.PRINTED) for cell in shows.PRINTED_CELLS) == 2


def test_files_are_counted_by_powers_of_two(tmp_path: Path) -> None:
    for number, size in enumerate((0, 1, 3, 4, 5, 7, 1024)):
        (tmp_path / f"{number}.py").write_bytes(b"x" * size)
    (tmp_path / "other.txt").write_bytes(b"x" * 9)
    found = lengths.count_lengths(tmp_path)
    assert [(b.at_least, b.files, b.total_bytes) for b in found] == [
        (1, 1, 1), (2, 1, 3), (4, 3, 16), (1024, 1, 1024),
    ]  # fmt: skip


def test_the_counted_files_are_those_of_pytorch_where_it_is_the_same_version() -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__ != "2.13.0+cpu":
        pytest.skip("counted in PyTorch 2.13.0+cpu")
    assert tuple(lengths.count_lengths(Path(torch.__file__).parent)) == lengths.counted()


def test_pairs_lie_within_one_file_where_it_fills_the_window() -> None:
    bins = [lengths.Bin(4096, 3, 3 * 6000)]
    assert lengths.own_pairs(bins, 1000, 1.0) == 1.0
    # Two files to a window: half of all pairs.
    assert lengths.own_pairs([lengths.Bin(256, 4, 4 * 500)], 1000, 1.0) == 0.5
    assert lengths.longer(bins, 1000, 1.0) == (1.0, 1.0)
    assert lengths.longer(bins, 7000, 1.0) == (0.0, 0.0)


def test_what_the_post_cut_off_stays_outside() -> None:
    outside = [row.what for row in rows(LESSON) if row.holds is False]
    assert outside == [
        "at half the size", "at a quarter of the size", "SantaCoder, at 0.46 of the size",
    ]  # fmt: skip
    assert len(rows(LESSON)) >= 20
    assert len({row.forecast.name for row in forecasts(LESSON) if row.forecast}) == 2
