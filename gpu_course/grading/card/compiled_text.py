"""What the compiler made of a kernel, as text and as plain data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from simt.text import clean

if TYPE_CHECKING:
    from gpu_course.grading.card.compiled import Seen

WIDTH = 70
TOGETHER = "\N{NO-BREAK SPACE}"


def summary_text(seen: Seen) -> str:
    """Returns a kernel's figures in a few lines: registers, occupancy, kinds of instructions."""
    lines = (textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in _summary(seen))
    return "\n".join(lines).replace(TOGETHER, " ")


def _summary(seen: Seen) -> Iterator[str]:
    figures, fits = seen.figures, seen.occupancy
    name = f"{seen.puzzle}: {seen.function}" if seen.puzzle else seen.function
    yield f"{name}, compute capability {seen.capability}"
    if seen.compiled is None:
        yield "from the record of the course's own solution, not your answer"
    yield f"compiled by {seen.compiler}"
    yield (
        f"{figures.registers} registers, {_bytes_or_no(figures.spill_bytes, 'spills')}, "
        f"{_bytes_or_no(figures.stack_bytes, 'stack')}, "
        f"{_bytes_or_no(figures.shared_bytes, 'shared memory')}"
    )
    if fits.blocks:
        yield (
            f"{fits.blocks} blocks of {seen.threads} threads on an SM, {fits.fraction:.0%} of its "
            f"warps; limited by {' and '.join(fits.limited_by)}"
        )
    else:
        yield f"a block of {seen.threads} threads does not fit on an SM"
    if seen.compiled is not None and seen.compiled.aligned:
        yield (
            "With line numbers the compiler makes other code of this kernel: what stands below a "
            "line is like it, and may be off in places."
        )
    elif seen.compiled is not None and set(seen.compiled.by_line) == {0}:
        yield "The compiler makes no code of this kernel with line numbers: lines are not known."
    kinds = ", ".join(f"{count:,}{TOGETHER}{kind}" for kind, count in figures.mix.items())
    yield f"{figures.instructions:,} instructions: {kinds}"


def _bytes_or_no(count: int, what: str) -> str:
    return f"{count:,} bytes of {what}" if count else f"no {what}"


def line_table(seen: Seen) -> str:
    """Returns one row for each line of the file that became instructions; "" without code."""
    if seen.compiled is None:
        return ""
    ptx = _ptx_counts(seen)
    rows = ["line   PTX  SASS  live  source"]
    for line, instructions in seen.compiled.by_line.items():
        live = max(each.registers for each in instructions)
        head = f"{line:>4}  {ptx.get(line, 0):>4}  {len(instructions):>4}  {live:>4}  "
        rows.append(head + _source(seen, line, WIDTH - len(head)))
    rows.append("live: the most registers that a thread has in use within the line")
    return "\n".join(rows)


def sass_text(seen: Seen) -> str:
    """Returns the machine code in its order, each run of it below the line it came from."""
    if seen.compiled is None:
        return ""
    runs = groupby(seen.compiled.instructions, key=lambda each: each.line)
    return "\n".join(
        _under(seen, line, [f"{each.registers:>5}  {each.text}" for each in instructions])
        for line, instructions in runs
    )


def ptx_text(seen: Seen) -> str:
    """Returns the PTX in its order, each run of it below the line it came from."""
    if seen.compiled is None:
        return ""
    runs = groupby(seen.compiled.ptx, key=lambda each: each[0])
    return "\n".join(
        _under(seen, line, [f"       {text}" for _, text in statements])
        for line, statements in runs
    )


def _under(seen: Seen, line: int, rows: Sequence[str]) -> str:
    head = f"{line:>4}  {_source(seen, line, WIDTH - 6)}" if line else "      declarations"
    return "\n".join([head.rstrip(), *rows])


def _source(seen: Seen, line: int, width: int) -> str:
    text = clean(seen.text[line - 1]) if 0 < line <= len(seen.text) else ""
    return text if len(text) <= width else text[: width - 3] + "..."


def _ptx_counts(seen: Seen) -> Mapping[int, int]:
    assert seen.compiled is not None
    counts: dict[int, int] = {}
    for line, text in seen.compiled.ptx:
        if not text.startswith(".") and not text.endswith(":") and text not in "{}":
            counts[line] = counts.get(line, 0) + 1
    return counts


def to_json(seen: Seen) -> dict[str, Any]:
    """Returns a kernel's figures and code as plain data."""
    figures, fits, found = seen.figures, seen.occupancy, seen.compiled
    return {
        "puzzle": seen.puzzle,
        "function": seen.function,
        "capability": seen.capability,
        "from": "record" if found is None else "compiler",
        "compiler": seen.compiler,
        "registers": figures.registers,
        "spill_bytes": figures.spill_bytes,
        "stack_bytes": figures.stack_bytes,
        "shared_bytes": figures.shared_bytes,
        "instructions": figures.instructions,
        "mix": dict(figures.mix),
        "threads": seen.threads,
        "blocks_per_sm": fits.blocks,
        "occupancy": fits.fraction,
        "limited_by": list(fits.limited_by),
        "sass": []
        if found is None
        else [
            {"line": each.line, "text": each.text, "registers": each.registers}
            for each in found.instructions
        ],
        "ptx": [] if found is None else [{"line": line, "text": text} for line, text in found.ptx],
    }
