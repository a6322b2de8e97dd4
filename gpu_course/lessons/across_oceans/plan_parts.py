"""What a plan is made of, where its numbers may come from, and what was found of it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, fields
from typing import Any

from gpu_course.errors import UnknownName
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Layout
from gpu_course.puzzle import index

PARTS: dict[str, tuple[str, ...]] = {
    "model": tuple(each.name for each in fields(Transformer)),
    "cluster": ("machine", "gpus"),
    "layout": tuple(each.name for each in fields(Layout) if each.name != "recipe"),
    "batch": ("sequences", "tokens"),
    "run": ("tokens", "memory_gib", "step_s", "days"),
    "failures": ("gpu_hours_each", "write_s", "recover_s", "interval_s", "goodput"),
    "cost": ("price", "pue", "gpu_hours", "mwh", "dollars"),
}
"""Part of a plan -> what may be said in it."""


SOURCED = (
    "model", "machine", "run.tokens", "memory_gib", "step_s", "gpu_hours_each", "write_s",
    "recover_s", "price", "pue",
)  # fmt: skip
"""What a plan takes from elsewhere, and so has to give a source of. The rest follows from these."""


WIDTH = 70


@dataclass(frozen=True)
class Finding:
    """What was found of one criterion.

    Attributes:
        key, title: of the criterion.
        points: that it is worth.
        met: whether it is; None where it waits for something.
        fact: what was found, in a sentence.
        advice: what to try; "" where there is nothing.
    """

    key: str
    title: str
    points: int
    met: bool | None
    fact: str
    advice: str = ""

    @property
    def word(self) -> str:
        """How it is said in a table."""
        return {True: "met", False: "not met", None: "waits"}[self.met]


@dataclass(frozen=True)
class Grade:
    """A graded plan.

    Attributes:
        title: of the plan.
        findings: one for each criterion, in their order.
    """

    title: str
    findings: tuple[Finding, ...]

    @property
    def points(self) -> int:
        """Of the criteria that are met."""
        return sum(each.points for each in self.findings if each.met)

    @property
    def of(self) -> int:
        """Of all criteria."""
        return sum(each.points for each in self.findings)

    @property
    def passed(self) -> bool:
        """Whether all of them are met."""
        return self.points == self.of

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self.points} of {self.of} points"]
        for each in self.findings:
            start = f"  {each.word:<8}{each.key:<10}"
            lines += textwrap.wrap(
                each.fact, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
            )
            if each.advice:
                begin = " " * (len(start) - 5) + "try: "
                lines += textwrap.wrap(
                    each.advice, WIDTH, initial_indent=begin, subsequent_indent=" " * len(start)
                )
        return "\n".join(lines)


SOURCE_WORDS = (
    "an address, an arXiv number, the name of a puzzle, a lesson, or 'measured: how', "
    "'assumed: why'"
)


def source_kind(source: Any) -> str:
    """Returns what kind of source a text names; "" for none.

    >>> source_kind("https://arxiv.org/abs/2407.21783, Table 5"), source_kind("somewhere")
    ('address', '')
    >>> source_kind("puzzle bytes_saved"), source_kind("assumed: as for Llama 3")
    ('puzzle', 'assumed')
    """
    said = source.strip() if isinstance(source, str) else ""
    if re.search(r"https?://[\w-]+(\.[\w-]+)+", said):
        return "address"
    if re.search(r"\barXiv:? ?\d{4}\.\d{4,5}\b", said, re.IGNORECASE):
        return "paper"
    if found := re.match(r"(measured|assumed): *(\S.{7,})", said, re.DOTALL):
        return found[1]
    if found := re.match(r"(puzzle|lesson) (\w+)", said):
        look = index.find if found[1] == "puzzle" else index.lesson
        try:
            look(found[2])  # type: ignore[operator]
        except UnknownName:
            return ""
        return found[1]
    return ""
