"""What lesson 10 shows: kernels under the roof of a card, and rates that somebody measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpu_course.errors import CourseError
from gpu_course.lessons.roofline.pictures import Kernel, Roofs, draw_roofline, draw_under_roof
from gpu_course.lessons.roofline.roofs import FLOAT32, TENSOR, recorded_bytes_per_s, roof
from gpu_course.lessons.roofline.this_cpu import Times
from gpu_course.lessons.roofline.work import Work, asked_bytes, flop, solved_works
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture
from gpu_course.units import format_time_s
from simt.report import Report
from simt.text import count


@telling
def roofline(
    card: str,
    reports: Mapping[str, Report] | None = None,
    least_bytes: int = 0,
    arithmetic: str = FLOAT32,
    span: tuple[float, float] | None = None,
    reached: tuple[float, float] | None = None,
    timed: Mapping[str, tuple[float, float, float]] | None = None,
) -> Picture:
    """Returns the roof of a card as a picture, with launches of your own below it.

    Args:
        card: such as "H100".
        reports: {name: report of a launch}; run your kernel anew, and its point moves.
        least_bytes: of the arrays, each input read once and each output written once.
        arithmetic: "float32" or "tensor cores".
        span: the least and the largest FLOP for each byte that are shown.
        reached: (FLOP/s, bytes/s) that somebody measured on such a card: a second roof.
        timed: {name: (FLOP, bytes moved at least, seconds)} of kernels that somebody timed on such
            a card: points with a height.
    """
    measured = None if reached is None else Roofs(f"{card}, reached", *reached)
    kernels = [kernel_of(name, report, least_bytes) for name, report in (reports or {}).items()]
    across = "FLOP for each byte asked for" if kernels else "FLOP for each byte"
    limits = _roofs(card, arithmetic)
    kernels += [_timed(name, limits, *each) for name, each in (timed or {}).items()]
    return Picture(draw_roofline(limits, kernels, span, across, measured))


@telling
def layer_under_roof(
    card: str, b: int, d: int, f: int, width: int = 2, span: tuple[float, float] | None = None
) -> Picture:
    """Returns the roof of a card's tensor cores with one layer below it: (b, d) times (d, f).

    Args:
        card: such as "H100".
        b, d, f: sides.
        width: bytes of every number.
        span: the least and the largest FLOP for each byte that are shown.
    """
    kernel = Kernel(count(b, "row"), layer_intensity(b, d, f, width))
    across = "FLOP for each byte, every array moved once"
    return Picture(draw_roofline(_roofs(card, TENSOR), [kernel], span, across))


@telling
def roofline_of_this_cpu(tried: Mapping[tuple[int, int], Times]) -> Picture:
    """Returns what one core of this computer reached, as a roof with the runs themselves below it.

    No data sheet has a part in it: the roof is the best FLOP/s and the best bytes/s of all runs.

    Args:
        tried: {(numbers, degree): what `three_times` gave for them}.
    """
    flops, rates, kernels = [], [], []
    for (numbers, degree), (seconds, more_flop, more_data) in tried.items():
        work, moved = 2 * degree * numbers, 8 * numbers
        flops += [work / seconds, 2 * work / more_flop, 2 * work / more_data]
        rates += [moved / seconds, moved / more_flop, 2 * moved / more_data]
    limits = Roofs("one core of this computer", max(flops), max(rates), "the best of all runs")
    for (numbers, degree), (seconds, *_) in tried.items():
        intensity = degree / 4
        share = 2 * degree * numbers / seconds / limits.at(intensity)
        kernels.append(Kernel(f"{numbers:,} numbers", intensity, intensity, share))
    return Picture(draw_roofline(limits, kernels, (1 / 8, 64), "FLOP for each byte"))


def layer_intensity(b: int, d: int, f: int, width: int = 2) -> float:
    """Returns the FLOP for each byte of a layer, (b, d) times (d, f), each array moved once."""
    return 2 * b * d * f / (width * (b * d + d * f + b * f))


@asks_for_answers
@telling
def solved_under_roof(card: str) -> Picture | Note:
    """Returns every kernel that you have solved so far as a list below the roof of a card.

    FLOP and bytes are the simulator's counts of your kernel in the puzzle's largest case. A height
    is shown only where a record of that card says how fast the solution is.

    Args:
        card: such as "H100".
    """
    works = solved_works()
    if not works:
        return Note("No kernel puzzle of yours passes yet. Solve one, and it appears here.")
    return Picture(draw_under_roof(_roofs(card), kernels_of(works, card)))


def kernels_of(works: Iterable[Work], card: str) -> list[Kernel]:
    """Returns solved kernels as a picture shows them."""
    return [
        Kernel(
            work.puzzle.rpartition("/")[2],
            work.intensity,
            work.best_intensity,
            measured_share(work, card),
        )
        for work in works
    ]


def kernel_of(name: str, report: Report, least_bytes: int = 0) -> Kernel:
    """Returns a launch as a picture shows it.

    Args:
        name: what to call it.
        report: of the launch.
        least_bytes: of its arrays, each moved once; 0 where that is not known.

    Raises:
        CourseError: the launch asked for no byte of global memory.
    """
    asked = asked_bytes(report.counters)
    if not asked:
        raise CourseError(f"{name} touches no global memory", "a roofline is FLOP for each byte")
    done = flop(report.counters)
    return Kernel(name, done / asked, done / least_bytes if least_bytes else 0.0)


def _timed(name: str, roofs: Roofs, flop: float, least_bytes: float, seconds: float) -> Kernel:
    intensity = flop / least_bytes
    return Kernel(name, intensity, intensity, flop / seconds / roofs.at(intensity))


def measured_share(work: Work, card: str) -> float | None:
    """Returns how much of the roof at best a solution reaches, None where no record says so.

    A record holds seconds and the least bytes at a size past the L2. They say how much of the
    bandwidth is reached; of a kernel that is bound by compute they say nothing here.
    """
    limits = roof(card)
    if limits.bound(work.best_intensity) == "compute":
        return None
    rate = recorded_bytes_per_s(work.puzzle, card)
    return None if rate is None else rate / limits.bytes_per_s


def _roofs(card: str, arithmetic: str = FLOAT32) -> Roofs:
    found = roof(card, arithmetic)
    return Roofs(found.name, found.flop_per_s, found.bytes_per_s)


def rate_text(times: Iterable[tuple[str, tuple[float, float, float]]]) -> str:
    """Returns three times of several operations as a table: seconds, and how much they grew.

    Args:
        times: (name, (seconds, with twice the FLOP, with twice the data)) of each.
    """
    rows = [("", "time", "2 x FLOP", "2 x data")]
    for name, (seconds, *more) in times:
        flop, data = (f"{longer / seconds:.2f}x" for longer in more)
        rows.append((name, format_time_s(seconds), flop, data))
    widths = [
        max(narrowest, 2 + max(len(row[column]) for row in rows))
        for column, narrowest in enumerate((34, 9, 11, 11))
    ]
    return "\n".join(
        f"{name:<{widths[0]}}"
        + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        for name, *cells in rows
    )
