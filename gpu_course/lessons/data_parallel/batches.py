"""What lesson 22 shows of large batches: losses, minima, and how sharp they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gpu_course.errors import CourseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpu_course.lessons.data_parallel.large_batch import Rows, Trained


EPOCHS = 20
BIG_RATES = {"lars": (1.0, 0.05), "lamb": (0.05, 0.001)}
"""Optimizer -> (full rate, the one a warm-up begins with), found by trying a few."""
_rows: list[Rows] = []


def rows() -> Rows:
    """Returns the rows of the lesson, drawn once."""
    from gpu_course.lessons.data_parallel.large_batch import draw_rows

    if not _rows:
        _rows.append(draw_rows())
    return _rows[0]


def trained(way: str, batch: int) -> Trained:
    """Returns a small model after 20 epochs.

    Args:
        way: "same rate", "scaled", "scaled, warmed up", "lars" or "lamb".
        batch: rows of a step, a divisor of 2,048.

    Raises:
        CourseError: there is no such way.
    """
    from gpu_course.lessons.data_parallel import large_batch as lb

    full = lb.BASE_RATE * batch / lb.BASE_BATCH
    warmup = 5 * lb.ROWS // batch
    if way in BIG_RATES:
        most, start = BIG_RATES[way]
        rate = lb.warmed_up(most, start, warmup)
        return lb.train(rows(), batch, rate, optimizer=way, epochs=EPOCHS)
    rates = {
        "same rate": lambda at: lb.BASE_RATE,
        "scaled": lambda at: full,
        "scaled, warmed up": lb.warmed_up(full, lb.BASE_RATE, warmup),
    }
    if way not in rates:
        known = ", ".join([*rates, *BIG_RATES])
        raise CourseError(f"no way of training is called {way!r}", f"try {known}")
    return lb.train(rows(), batch, rates[way], epochs=EPOCHS)


WAYS = ("same rate", "scaled", "scaled, warmed up", "lars", "lamb")


def loss_after(way: str, batch: int) -> float:
    """Returns the loss of all training rows after 20 epochs.

    Args:
        way, batch: as in `trained`.
    """
    return trained(way, batch).losses[-1]


def batches_text(batch: int, ways: Sequence[str] = WAYS) -> str:
    """Returns a table of small models, each trained its own way with the same rows.

    Args:
        batch: rows of a step.
        ways: as `trained` takes them.
    """
    lines = [f"batches of {batch:,}", f"{'':<20}{'steps':>6}{'loss':>8}"]
    for way in ways:
        run = trained(way, batch)
        loss = "lost" if run.diverged else f"{run.losses[-1]:.2f}"
        lines.append(f"{way:<20}{run.steps:>6}{loss:>8}")
    return "\n".join(lines)


SHARP_GOAL, LARGE = 0.45, 512


def minima() -> dict[str, Trained]:
    """Returns three models that were trained until they had the same loss, or a little less.

    Returns:
        "small batch", "large batch" at the same rate, and "large batch, scaled rate".
    """
    from gpu_course.lessons.data_parallel import large_batch as lb

    base, full = lb.BASE_RATE, lb.BASE_RATE * LARGE / lb.BASE_BATCH
    warm = lb.warmed_up(full, base, 5 * lb.ROWS // LARGE)
    runs: dict[str, tuple[int, Callable[[int], float]]] = {
        "small batch": (lb.BASE_BATCH, lambda at: base),
        "large batch": (LARGE, lambda at: base),
        "large batch, scaled rate": (LARGE, warm),
    }
    return {
        name: lb.train(rows(), batch, rate, epochs=200, goal=SHARP_GOAL)
        for name, (batch, rate) in runs.items()
    }


def sharpness_of(run: Trained) -> float:
    """Returns how sharp the minimum is that a run came to, in %.

    Args:
        run: of `minima`.
    """
    from gpu_course.lessons.data_parallel.large_batch import sharpness

    return sharpness(run.model, rows().x, rows().y)


def sharpness_text(runs: Mapping[str, Trained]) -> str:
    """Returns a table of minima: how sharp each is, and how well it does on rows it never saw.

    Args:
        runs: as `minima` gives them.
    """
    lines = [f"{'':<26}{'steps':>6}{'loss':>7}{'sharp':>7}{'right':>7}"]
    for name, run in runs.items():
        lines.append(
            f"{name:<26}{run.steps:>6}{run.losses[-1]:>7.2f}{sharpness_of(run):>6.0f}%"
            f"{run.test_percent:>6.0f}%"
        )
    return "\n".join(lines)


def losses(batch: int = 1024) -> Figure:
    """Returns the losses of all ways of training over the epochs, for a batch.

    Args:
        batch: rows of a step, a divisor of 2,048.
    """
    from gpu_course.draw.training.training_runs import draw_losses
    from gpu_course.lessons.data_parallel.large_batch import ROWS

    runs = {way: trained(way, batch).losses for way in WAYS}
    return draw_losses(runs, ROWS // batch)
