"""What lesson 07 shows: a kernel line by line, what its instructions are, and how it compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.hardware.compiled.record import figures
from gpu_course.hardware.compute_capability import capability as limits_of
from gpu_course.hardware.occupancy import occupancy
from gpu_course.lessons.under_the_hood.listings import Listing, compiled_here, recorded
from gpu_course.lessons.under_the_hood.pictures import draw_line
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MAX_ROWS = 32
"""Instructions of one line that are written out."""


@telling
def listing(name: str, capability: str = "8.0") -> Listing:
    """Returns a kernel of this lesson line by line, from the record.

    Args:
        name: "fused", "matmul_register" ...
        capability: that it was compiled for.
    """
    return recorded(name, capability)


def line_picture(shown: Listing, line: int) -> Figure:
    """Returns one line of a kernel beside its machine code, for a slider."""
    return draw_line(shown, line)


@telling
def show_line(shown: Listing, part: str) -> Picture:
    """Returns the picture of the first line that has some text in it.

    Args:
        shown: what `listing` gave.
        part: of the line, such as "sums[i, j] +=".
    """
    return Picture(draw_line(shown, shown.line_of(part)))


@telling
def own_line(
    kernel: Callable[..., Any], *arguments: Any, line: int = 1, capability: str = "8.0"
) -> Picture:
    """Returns the picture of a line of a kernel of yours, compiled here.

    Args:
        kernel: of `cuda.jit`, or plain Python.
        arguments: as a launch gets them; only their types count.
        line: of the kernel's own text; its decorator is line 1.
        capability: the compute capability to compile for.
    """
    return Picture(draw_line(compiled_here(kernel, *arguments, capability=capability), line))


@telling
def line_by_line(shown: Listing) -> Note:
    """Returns a row for each line that became instructions: how many, and of which kinds."""
    rows = [f"{count(shown.instructions, 'instruction')}, compute capability {shown.capability}"]
    rows += [shown.source, "line  SASS  live  source"]
    for number, text in enumerate(shown.lines, 1):
        under = shown.under(number)
        if under:
            live = max(each for _, each, _ in under)
            head = f"{number:>4}  {len(under):>4}  {live:>4}  "
            rows.append(head + _cut(text, 70 - len(head)))
    return Note("\n".join(rows))


@telling
def ptx_and_sass(shown: Listing, part: str) -> Note:
    """Returns what became of one line, in PTX and in SASS.

    Args:
        shown: what `listing` gave.
        part: of the line.
    """
    line = shown.line_of(part)
    rows = [shown.lines[line - 1].strip(), "PTX"]
    rows += [f"  {_cut(each, 66)}" for each in _few(shown.ptx_under(line), MAX_ROWS)]
    rows += ["SASS"]
    rows += [
        f"  {_cut(each, 66)}" for each in _few([text for _, _, text in shown.under(line)], MAX_ROWS)
    ]
    return Note("\n".join(rows))


@telling
def mixes(*shown: Listing) -> Note:
    """Returns the kinds of instructions of some kernels, side by side."""
    kinds = list(dict.fromkeys(kind for each in shown for kind in each.mix))
    rows = [f"{'':<22}" + "".join(f"{letter:>10}" for letter in _letters(len(shown)))]
    for kind in kinds:
        rows.append(f"{kind:<22}" + "".join(f"{each.mix.get(kind, 0):>10,}" for each in shown))
    rows.append(f"{'all':<22}" + "".join(f"{each.instructions:>10,}" for each in shown))
    for words, field in (("registers of a thread", "registers"), ("bytes of stack", "stack_bytes")):
        rows.append(f"{words:<22}" + "".join(f"{getattr(e.code, field):>10,}" for e in shown))
    names = [
        f"{letter}: {each.name}, compute capability {each.capability}"
        for letter, each in zip(_letters(len(shown)), shown, strict=True)
    ]
    return Note("\n".join([*rows, "", *names, shown[0].source]))


@telling
def on_an_sm(puzzle: str, threads: int, capabilities: Sequence[str]) -> Note:
    """Returns what the compiler used for a solution, and how many of its blocks an SM holds.

    Args:
        puzzle: its full name; its kernel has the last part of it.
        threads: of a block.
        capabilities: compute capabilities, a row each.
    """
    rows = [f"{puzzle.rpartition('/')[2]}, blocks of {count(threads, 'thread')}"]
    rows.append("cc      registers    shared    blocks    warps  limited by")
    for version in capabilities:
        found = figures(puzzle, puzzle.rpartition("/")[2], version)
        fits = occupancy(limits_of(version), found.registers, found.shared_bytes, threads)
        rows.append(
            f"{version:<8}{found.registers:>9}{found.shared_bytes:>10,}{fits.blocks:>10}"
            f"{fits.fraction:>9.0%}  {' and '.join(fits.limited_by)}"
        )
    return Note("\n".join(rows))


def _letters(number: int) -> str:
    return "ABCDEFGH"[:number]


def _few(rows: Sequence[str], most: int) -> list[str]:
    if len(rows) <= most:
        return list(rows)
    return [*rows[: most - 1], f"... and {len(rows) - most + 1:,} more"]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
