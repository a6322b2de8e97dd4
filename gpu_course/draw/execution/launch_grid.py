"""Who am I: the threads of a launch with threadIdx, blockIdx and the global index they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count, dim_text
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, cell_text, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Dim3

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Extent = int | Sequence[int]
MAX_THREADS = 256
MAX_IN_A_LINE = 13
_KEY = "In each thread: its number in the block, and below it its number in the whole grid"
_EDGE = 0.3
_TOP = 0.85
_APART = 0.16
_CAPTION = 0.27


def draw_launch_grid(
    grid: Extent, block: Extent, size: Extent | None = None, ax: Axes | None = None
) -> Figure:
    """Returns the blocks of a launch and in each thread its threadIdx and its global index.

    Args:
        grid: blocks, an int or (x, y).
        block: threads in a block, an int or (x, y).
        size: cells there are: a thread whose global index is below it has one; for two
            dimensions (x, y). Default: all have.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: more than 256 threads, or a third dimension.
    """
    blocks, threads = _extent(grid), _extent(block)
    _refuse_too_many(blocks, threads)
    limit = None if size is None else _extent(size)
    flat = blocks[1] == threads[1] == 1
    cell_w, cell_h = (0.5, 0.6) if flat else (0.6, 0.54)
    columns = min(threads[0], MAX_IN_A_LINE) if flat else threads[0]
    lines = -(-threads[0] // columns) if flat else threads[1]
    room = p.WIDEST - 2 * _EDGE
    per_row = max(1, int((room + _APART) // (columns * cell_w + _APART)))
    wrap = flat and blocks[0] > per_row
    across = min(blocks[0], per_row) if flat else blocks[0]
    down = -(-blocks[0] // per_row) if wrap else blocks[1]
    apart = min(_APART, 0.25 * room / across)
    cell_w = min(cell_w, (room - (across - 1) * apart) / (across * columns))
    box_w = columns * cell_w
    box_h = lines * cell_h + _CAPTION
    width = max(across * (box_w + apart) - apart + 2 * _EDGE, 6.6)
    height = _TOP + down * (box_h + _APART) + 0.62

    last = (blocks[0] * threads[0] - 1, blocks[1] * threads[1] - 1)
    with p.style():
        figure, axes = p.sheet(width, height, ax)
        legend = Legend()
        words = f"grid {dim_text(blocks)}, block {dim_text(threads)}"
        title(axes, _EDGE, words, _KEY, mono=False)
        for number in range(blocks[0] * blocks[1]):
            bx, by = number % blocks[0], number // blocks[0]
            column, row = (number % per_row, number // per_row) if wrap else (bx, by)
            x = _EDGE + column * (box_w + apart)
            y = _TOP + row * (box_h + _APART)
            _draw_block(
                axes,
                (bx, by),
                threads,
                limit,
                flat,
                (x, y),
                (cell_w, cell_h, columns),
                last,
                legend,
            )
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_launch_grid(grid, block, size))


def describe_launch_grid(grid: Extent, block: Extent, size: Extent | None = None) -> str:
    """Returns in words what `draw_launch_grid` shows."""
    blocks, threads = _extent(grid), _extent(block)
    limit = None if size is None else _extent(size)
    flat = blocks[1] == threads[1] == 1
    total = blocks[0] * blocks[1] * threads[0] * threads[1]
    first = (
        f"Who am I: a grid of {count(blocks[0] * blocks[1], 'block')}, each of"
        f" {count(threads[0] * threads[1], 'thread')} (grid {dim_text(blocks)},"
        f" block {dim_text(threads)})."
    )
    said = [first]
    if flat:
        for bx in range(blocks[0]):
            low, high = bx * threads[0], (bx + 1) * threads[0] - 1
            said.append(f"Block {bx} holds the global indices {low} to {high}.")
    else:
        said.append(
            f"Global indices x run from 0 to {blocks[0] * threads[0] - 1},"
            f" y from 0 to {blocks[1] * threads[1] - 1}."
        )
    if limit is not None:
        inside = min(limit[0], blocks[0] * threads[0])
        if not flat:
            inside *= min(limit[1], blocks[1] * threads[1])
        none = total - inside
        have = "has" if none == 1 else "have"
        said.append(f"{inside} of {total} threads have a cell; {none} {have} none.")
    return " ".join(said)


def _extent(value: Extent) -> Dim3:
    numbers = (value,) if isinstance(value, int) else tuple(int(v) for v in value)
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1 or (len(numbers) == 3 and numbers[2] != 1):
        raise CourseError(
            f"{value!r} is not a size this picture can draw",
            "give an int or a pair, each 1 or more",
        )
    x, y = (*numbers, 1)[:2]
    return x, y, 1


def _refuse_too_many(blocks: Dim3, threads: Dim3) -> None:
    total = blocks[0] * blocks[1] * threads[0] * threads[1]
    if total > MAX_THREADS:
        raise CourseError(
            f"{total:,} threads are more than this picture holds",
            f"draw at most {MAX_THREADS} threads",
        )


def _draw_block(
    axes: Axes,
    place: tuple[int, int],
    threads: Dim3,
    limit: Dim3 | None,
    flat: bool,
    corner: tuple[float, float],
    cell: tuple[float, float, int],
    last: tuple[int, int],
    legend: Legend,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    (bx, by), (x, y), (w, h, columns) = place, corner, cell
    lines = -(-threads[0] // columns) * threads[1]
    # Where a cell is narrower than the longest number, the picture shows the shape alone.
    longest = f"{last[0]}" if flat else f"{last[0]},{last[1]}"
    labelled = w * 0.88 >= 0.074 * len(longest)
    axes.add_artist(
        FancyBboxPatch(
            (x, y),
            columns * w,
            lines * h + _CAPTION,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=p.SHADE,
            edgecolor=p.RULE,
            linewidth=0.9,
        )
    )
    name = f"blockIdx {bx}" if flat else f"blockIdx {bx},{by}"
    short = f"{bx}" if flat else f"{bx},{by}"
    wide = columns * w - 0.08
    caption = next((t for t in (name, short) if wide >= 0.09 * len(t)), "")
    axes.text(
        x + 0.08, y + 0.15, caption, fontsize=p.SMALL, color=p.QUIET, va="center", fontweight="bold"
    )
    for ty in range(threads[1]):
        for tx in range(threads[0]):
            gx, gy = bx * threads[0] + tx, by * threads[1] + ty
            active = limit is None or (gx < limit[0] and (flat or gy < limit[1]))
            legend.add(
                *(("active", "thread with a cell") if active else ("idle", "thread without a cell"))
            )
            line, at = divmod(tx, columns)
            middle = (x + (at + 0.5) * w, y + _CAPTION + (ty + line + 0.5) * h - 0.03)
            top = f"{tx}" if flat else f"{tx},{ty}"
            bottom = f"{gx}" if flat else f"{gx},{gy}"
            _draw_thread(axes, middle, (w * 0.88, h * 0.86), top, bottom, active, labelled)


def _draw_thread(
    axes: Axes,
    middle: tuple[float, float],
    extent: tuple[float, float],
    local: str,
    index: str,
    active: bool,
    labelled: bool,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    (x, y), (w, h) = middle, extent
    axes.add_artist(
        FancyBboxPatch(
            (x - w / 2, y - h / 2),
            w,
            h,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=p.ACTIVE if active else p.IDLE,
            edgecolor=p.ACTIVE if active else p.RULE,
            linestyle="solid" if active else p.OUTSIDE_DASHES,
            linewidth=1.0,
        )
    )
    ink = p.PAPER if active else p.QUIET
    if not labelled:
        return
    cell_text(axes, x, y - h * 0.22, local, ink)
    axes.text(
        x,
        y + h * 0.22,
        index,
        fontsize=p.NORMAL if w >= 0.1 * len(index) else p.SMALL,
        fontweight="bold" if w >= 0.1 * len(index) else "normal",
        color=ink,
        ha="center",
        va="center_baseline",
        zorder=6,
    )
