"""What is asked of a published number before it is told, and what a simple model may leave out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from gpu_course.errors import CatalogueError

BREAKS = {
    "cache": (
        "The model sends every byte that is asked for to DRAM. A cache kept some of them, so fewer "
        "were moved."
    ),
    "latency": (
        "The model has enough work in flight to hide every wait. Here each step waits for the one "
        "before it, or there is too little to do meanwhile."
    ),
    "overhead": (
        "The model counts the work of the kernel alone. Starting it, or what the host does around "
        "it, took time too."
    ),
    "power": (
        "The model takes the clock as fixed. The chip lowers its clock to stay within its power, "
        "and how much power is drawn depends on the data."
    ),
    "overlap": (
        "The model adds up parts, or takes the longest of them. In the machine they overlapped "
        "otherwise."
    ),
    "contention": (
        "The model lets every access through at once. Accesses to the same place had to queue."
    ),
    "saturation": (
        "The model grows in proportion. One part of the machine was full before that, and more "
        "gained nothing."
    ),
    "occupancy": (
        "The model takes more resident warps for more speed. What counts is the work in flight, "
        "and one thread can bring several pieces of it."
    ),
    "instructions": (
        "The model counts bytes alone. The instructions that move and add them were what the "
        "kernel waited for."
    ),
    "granularity": (
        "The model moves single sectors of 32 bytes. Some part of the machine moves more than that "
        "at a time, whether it was asked for or not."
    ),
    "protocol": (
        "The model has one fixed time and one rate for all sizes. In between, the library went "
        "over to another algorithm or protocol, which has others."
    ),
    "topology": (
        "The model has one kind of link between any two. In the machine some messages pass more "
        "switches than others, or share a way with them."
    ),
    "facility": (
        "The model counts the computers alone. What cools them, and what is lost between the grid "
        "and their plugs, is paid for as well."
    ),
    "activations": (
        "The model counts weights, gradients and states. What a batch leaves behind in each layer "
        "was held as well, and it is not cut over the ranks."
    ),
}
"""An assumption of a simple model that may fail -> the sentence that says how."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Question:
    """What a learner is asked before a published number is told.

    Attributes:
        name: unique in the course, such as "t4-stride-16".
        question: one sentence or two, with the unit; it gives nothing away.
        seen: what was seen and why, told after the guess.
        breaks: the assumption of the row's model that fails, a key of BREAKS; "" where none does.
    """

    name: str
    question: str
    seen: str
    breaks: str = ""

    @property
    def broken(self) -> str:
        """The assumption that fails, and how; "" where none does."""
        return f"{self.breaks}. {BREAKS[self.breaks]}" if self.breaks else ""


class Forecast(msgspec.Struct, forbid_unknown_fields=True):
    """What the table `forecast` of a row says; the fields are those of Question."""

    name: str
    question: str
    seen: str
    breaks: str | None = None


def read_question(given: Forecast, is_open: bool, where: str) -> Question:
    """Returns the question of a row.

    Args:
        given: what its table says.
        is_open: whether the row has no verdict, and a note that says why.
        where: the row, for messages.

    Raises:
        CatalogueError: a text is empty; the name is not in kebab-case; the question does not ask;
            or an assumption is broken that is unknown, or that the row gives a verdict on.
    """
    for key in given.__struct_fields__:
        value = getattr(given, key)
        if value is not None and not value.strip():
            raise CatalogueError(f"{where}: {key} of the forecast is empty", "fill it in")
    if not _NAME.fullmatch(given.name):
        raise CatalogueError(
            f"{where}: the forecast is called {given.name!r}",
            'write it in small letters and digits with hyphens, such as "t4-stride-16"',
        )
    if not given.question.rstrip().endswith("?"):
        raise CatalogueError(
            f"{where}: the question of {given.name} does not ask", "end it with a question mark"
        )
    if given.breaks and given.breaks not in BREAKS:
        raise CatalogueError(
            f"{where}: breaks is {given.breaks!r}, and no assumption of that name is known",
            f"it is one of {', '.join(BREAKS)}",
        )
    if given.breaks and not is_open:
        raise CatalogueError(
            f"{where}: the model breaks ({given.breaks}), so no verdict can be given",
            "write `verdict = false`, and a `note` that says what is known of the difference",
        )
    question, seen = (" ".join(text.split()) for text in (given.question, given.seen))
    return Question(given.name, question, seen, given.breaks or "")
