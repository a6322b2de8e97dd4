"""What a kernel should reach on a card, and what a record says it did.

The shares stand in `targets.toml`, and nothing else decides. A kernel that no record knows has
never run: that is no failure, and no pass either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from gpu_course.errors import CatalogueError
from gpu_course.hardware.records import Timing
from gpu_course.puzzle import KernelPuzzle, index

REACHED, SHORT, NEVER_RUN, NO_LIBRARY = "reached", "short", "never run", "no library timed"


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of work, and the share of a card that a solution of it should reach.

    Attributes:
        name: such as "streaming".
        of: "copy", the bytes it needs per second over a copy's; "library", the library's time for
            the same work over its own.
        share: of that.
        puzzles: short names.
    """

    name: str
    of: Literal["copy", "library"]
    share: float
    puzzles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """Where a kernel stands beside its target.

    Attributes:
        puzzle: its full name; `kind` the kind of its work.
        state: one of REACHED, SHORT, NEVER_RUN, and NO_LIBRARY where it was timed and the
            library's call was not.
        reached: the share of `kind.of`, or None.
        timing: the record it comes from, or None.
    """

    puzzle: str
    kind: Kind
    state: str
    reached: float | None = None
    timing: Timing | None = None


@lru_cache(maxsize=1)
def kinds() -> tuple[Kind, ...]:
    """Returns the table of targets."""
    return read_kinds(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))


def read_kinds(text: str) -> tuple[Kind, ...]:
    """Returns the kinds of a TOML text.

    Raises:
        CatalogueError: it has another form, a share that is none, or a puzzle twice.
    """
    try:
        found = msgspec.toml.decode(text, type=dict[str, tuple[Kind, ...]])["kind"]
    except (msgspec.DecodeError, KeyError) as error:
        raise CatalogueError(f"targets.toml: {error}", "see the kinds there for the form") from None
    named = [puzzle for kind in found for puzzle in kind.puzzles]
    if twice := {name for name in named if named.count(name) > 1}:
        raise CatalogueError(f"targets.toml has {min(twice)} twice", "a puzzle has one target")
    if wrong := [kind.name for kind in found if not 0 < kind.share <= 1]:
        raise CatalogueError(f"the share of {wrong[0]} is not between 0 and 1")
    return found


def kind_of(puzzle: str) -> Kind | None:
    """Returns what a puzzle's kernel should reach, by its name, or None without a target."""
    short = puzzle.rpartition("/")[2]
    return next((kind for kind in kinds() if short in kind.puzzles), None)


def standing(puzzle: str, timing: Timing | None) -> Standing | None:
    """Returns where a kernel stands by a record of it; None where it has no target.

    Args:
        puzzle: its full name.
        timing: what a record says, or None.
    """
    kind = kind_of(puzzle)
    if kind is None:
        return None
    if timing is None:
        return Standing(puzzle, kind, NEVER_RUN)
    reached = timing.share_of_copy if kind.of == "copy" else timing.share_of_library
    if reached is None:
        return Standing(puzzle, kind, NO_LIBRARY, None, timing)
    return Standing(puzzle, kind, REACHED if reached >= kind.share else SHORT, reached, timing)


def standings(timing: Callable[[str], Timing | None]) -> tuple[Standing, ...]:
    """Returns where every kernel with a target stands, in the order of the course.

    Args:
        timing: (full name) -> what a record says, or None.
    """
    names = [each.name for each in index.puzzles() if isinstance(each, KernelPuzzle)]
    found = (standing(name, timing(name)) for name in names)
    return tuple(each for each in found if each is not None)


def rows(found: Sequence[Standing]) -> list[tuple[str, ...]]:
    """Returns one row per kernel: puzzle, kind, target, reached and state."""
    return [
        (
            each.puzzle.rpartition("/")[2],
            each.kind.name,
            f"{each.kind.share:.0%} of a {each.kind.of}'s",
            "" if each.reached is None else f"{each.reached:.0%}",
            each.state,
        )
        for each in found
    ]


HEAD = ("puzzle", "kind", "target", "reached", "")


def to_json(found: Sequence[Standing]) -> dict[str, Any]:
    """Returns {"targets": [...]}, ready for `json.dumps`."""
    return {
        "targets": [
            {
                "puzzle": each.puzzle,
                "kind": each.kind.name,
                "of": each.kind.of,
                "target": each.kind.share,
                "reached": each.reached,
                "state": each.state,
                "device": each.timing.device if each.timing else None,
                "date": each.timing.date if each.timing else None,
            }
            for each in found
        ]
    }
