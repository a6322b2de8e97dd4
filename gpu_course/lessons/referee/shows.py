"""What lesson 31 shows: printed tables and their suspects, the Playbook's runs, and the board."""

from __future__ import annotations

import textwrap

from gpu_course.claims import board, published
from gpu_course.errors import CourseError
from gpu_course.lessons.referee import audit
from gpu_course.lessons.referee.consistency import holds, spans, sum_of, suspects
from gpu_course.lessons.referee.pictures import Pair, draw_twins
from gpu_course.lessons.referee.printed_tables import LATER, TABLES, Table
from gpu_course.notebook.marks import asks_for_answers, tells_of_all_lessons
from gpu_course.notebook.note import telling
from gpu_course.notebook.pictures import Picture
from gpu_course.planner.playbook import PlaybookRun

WIDTH = 70
EVERY = "all"
MODELS = (EVERY, "1.34B", "3.57B", "8.86B", "80B")


def _table(name: str) -> Table:
    if name not in TABLES:
        raise CourseError(f"there is no table {name!r}", f"there are: {', '.join(TABLES)}")
    return TABLES[name]


@telling
def checked(name: str) -> str:
    """Returns each rule of a printed table: what its sum may be, and what is printed.

    Args:
        name: of a table.
    """
    table = _table(name)
    known = spans(table.printed)
    lines = [*textwrap.wrap(table.source, WIDTH), f"{'':31}{'the sum may be':>22}{'printed':>11}"]
    for rule in table.rules:
        low, high = sum_of(rule, known)
        may_be = f"{low:,.5g}" if low == high else f"{low:,.5g} to {high:,.5g}"
        said = "" if holds(rule, known) else " fails"
        lines.append(f"  {rule[0]:<29.29}{may_be:>22}{table.printed[rule[0]]!s:>11}{said}")
    return "\n".join(lines)


def slip_or_not(name: str) -> str:
    """Returns "a slip" for a table that contradicts itself, and "no slip" for another.

    Args:
        name: of a table.
    """
    table = _table(name)
    return "no slip" if suspects(table.printed, table.rules) is None else "a slip"


@telling
def desk() -> str:
    """Returns every printed table but one with the cells that could be to blame."""
    lines = []
    for name, table in TABLES.items():
        if name == LATER:
            continue
        lines.append(name)
        found = suspects(table.printed, table.rules)
        if found is None:
            lines.append("    all rules hold, once rounding is allowed for")
        elif not found:
            lines.append("    rules fail, and no single cell mends them")
        for cell, (low, high) in (found or {}).items():
            lines.append(
                f"    {cell}: printed {table.printed[cell]}, should be {low:.4g} to {high:.4g}"
            )
    return "\n".join(lines)


@telling
def letter(name: str) -> str:
    """Returns a short letter to the author of a table, made from what was found in it.

    Args:
        name: of a table.
    """
    table = _table(name)
    found = suspects(table.printed, table.rules)
    if found is None:
        return "There is nothing to write: all rules hold."
    broken = [rule[0] for rule in table.rules if not holds(rule, spans(table.printed))]
    thanks = (
        f"Thank you for {table.source}. I checked its numbers against each other, and all but "
        f"{len(broken)} of {len(table.rules)} relations hold."
    )
    which = "The one that does not is" if len(broken) == 1 else "Those that do not are"
    parts = [thanks, f"{which}: {', '.join(broken)}."]
    for cell, (low, high) in found.items():
        parts.append(
            f"With {low:.4g} to {high:.4g} for {cell!r}, where I read {table.printed[cell]}, "
            "everything would agree."
        )
    if not found:
        parts.append(
            "I found no single number that would mend it, so I may well be missing a fact."
        )
    parts.append("Did I read the table as you meant it? My few lines of code are attached.")
    return "\n\n".join(textwrap.fill(part, WIDTH) for part in parts)


def _run(run: PlaybookRun) -> str:
    return (
        f"{run.model:>6} {run.gpus:>3} GPUs dp {run.dp:<3} pp {run.pp:<2} tp {run.tp:<2} "
        f"mbs {run.microbatch:<2} zero {run.zero}"
    )


@telling
def memory_groups(most: int = 6) -> str:
    """Returns runs without ZeRO that differ in data parallelism alone, the farthest apart first.

    Args:
        most: how many groups.
    """
    groups = audit.same_memory()
    lines = [f"{len(groups)} groups; GiB by dp, the farthest apart first"]
    for group in groups[:most]:
        peaks = ", ".join(f"dp {run.dp}: {run.peak_gib}" for run in group.runs)
        layout = f"tp {group.tp:<2} pp {group.pp:<2} mbs {group.microbatch:<2}"
        lines.append(f"  {group.model:>6} {layout} {peaks}")
    return "\n".join(lines)


def twins(model: str = EVERY, times: float = 2) -> Picture:
    """Returns a picture of the pairs of runs that differ in ZeRO alone.

    Args:
        model: one of MODELS.
        times: from how many times on a pair is marked.
    """
    pairs = [pair for pair in audit.twins() if model in (EVERY, pair.slow.model)]
    drawn = [
        Pair(pair.slow.tokens_per_s_gpu or 1.0, pair.fast.tokens_per_s_gpu or 1.0) for pair in pairs
    ]
    return Picture(draw_twins(drawn, times))


def worst_twins(most: int = 4) -> str:
    """Returns the pairs that lie farthest apart.

    Args:
        most: how many.
    """
    lines = []
    for pair in audit.twins()[:most]:
        for run in (pair.fast, pair.slow):
            lines.append(f"{_run(run)}  {run.tokens_per_s_gpu:>7,.0f} tokens/s")
        lines.append(f"{'':>52}{pair.times:.0f} times")
    return "\n".join(lines)


def failures_text() -> str:
    """Returns how many of the failed runs need under half a card."""
    found = audit.failed_with_room()
    many = sum(run.pp >= audit.MANY_STAGES for run, _ in found)
    failed = sum(run.failed for run in audit.playbook_runs())
    return (
        f"{failed} runs failed\n"
        f"{len(found)} of them need under {audit.HALF_A_CARD_GIB} GiB, by the planner\n"
        f"{many} of these have {audit.MANY_STAGES} stages or more"
    )


def best_cells() -> str:
    """Returns the cells in which the best layout by MFU is not the fastest."""
    lines = []
    for cell in audit.cells():
        if not cell.agree:
            for word, run in (("MFU", cell.by_mfu), ("tokens", cell.by_tokens)):
                lines.append(
                    f"{word:<7}{_run(run)} {100 * (run.mfu or 0):>5.1f} %"
                    f"{run.tokens_per_s_gpu:>8,.0f}"
                )
    return "\n".join(lines)


def labels() -> str:
    """Returns the runs whose MFU is not that of the model that they are labelled with."""
    lines = []
    for run in audit.mislabelled():
        lines.append(
            f"{_run(run)} {100 * (run.mfu or 0):>5.1f} %, label "
            f"{100 * (run.mfu or 0) + audit.off_label(run):.1f}"
        )
    return "\n".join(lines)


SLOW = frozenset({"18_optimal_checkpointing", "27_zero_bubble"})
"""Lessons whose models search for schedules, for several seconds."""


LISTED = 5
"""A model is listed in the lesson if it is held against so many numbers."""


@asks_for_answers
@tells_of_all_lessons
def the_board() -> str:
    """Returns every kind counted, how far off each model is, what is sealed, and your forecasts."""
    every = published.rows()
    quick = [row for row in every if not SLOW & set(row.lessons)]
    left = (
        f"{len(every) - len(quick)} numbers of lessons 18 and 27 take some seconds to compute, and "
        "are left out here; gpu-course doctor --published has them all."
    )
    score = board.score(quick, LISTED)
    return "\n\n".join([published.count(quick), textwrap.fill(left, WIDTH), score])
